"""The broker reads this checkpoint, but no broker has written it like this.

What is wrong: carriage returns at the line ends, plus signs, leading zeros, digits of another script, tabs or several
spaces, or no newline after the last line. Somebody edited the file, or a tool copied it as text.

A missing newline at the end is the case to worry about: if the file was cut there, the last number may have lost
digits, and 18437 became 184 without any error. The same holds for a file that only this release reads and others
refuse.

What the broker does, in every release: it reads the file without a warning, and writes it anew in its own way.

What to do: nothing for line ends, signs and spaces. If the last newline is missing, compare the last line with the
log and with a backup before the broker starts. In a recovery-point, replication-offset or cleaner-offset-checkpoint a
value that is too low is safe; in log-start-offset-checkpoint it makes removed records readable again, and in a
leader-epoch-checkpoint a wrong offset makes replicas truncate wrongly.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._checkpoints import CHECKPOINT_KINDS, LEADER_EPOCH_KIND
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._entries import holds_nothing, readable, repeated
from kcheck.rules._words import at, defect_rows, first_of, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find the defects that the reader of this release passes over."""
    if not view.parsed.defects or not readable(view) or holds_nothing(view):
        return
    if view.kind == LEADER_EPOCH_KIND and not release.epoch_cache:
        return
    refused = [] if repeated(view) else [defect for defect in view.parsed.defects if not defect.accepted]
    odd = [defect for defect in view.parsed.defects if defect.accepted]
    if not refused and not odd:
        return
    # Where the last line has no end, the defect stands behind the last byte.
    cut = [defect for defect in odd if defect.position == view.size]
    first = (refused or cut or odd)[0]
    others = [defect for defect in (*refused, *odd) if defect is not first]
    why = "other releases refuse it" if refused else "no broker has written it"
    yield RULE.finding(
        at(view, first),
        f"{view.name} is read, but {why}: {first_of([first, *others])}",
        effect=f"{kafka(release)} reads it without a warning and writes it anew."
        + (" If the file was cut there, the last number is too small." if cut else ""),
        advice="Compare the file with the log and with a backup before the broker starts."
        if refused or cut
        else "Nothing: the broker writes the file anew.",
        severity=Severity.WARNING if refused or cut else Severity.INFO,
        data={"defect_count": 1 + len(others), "defects": defect_rows([first, *others])},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
