"""The broker reads this checkpoint file, but no broker wrote it in this form.

What is wrong: The file has carriage returns, plus signs, leading zeros, digits of another script, tabs or several
spaces. Or the last line has no newline. The file was edited by hand, or a tool copied it as text.

Take a missing newline at the end seriously. If the file was truncated there, the last number may have lost digits:
18437 became 184 without any error. The same holds for a file that this release reads and others refuse.

What the broker does: It reads the file without a warning, and rewrites it in its own form.

What to do: Nothing about line ends, signs and spaces. If the last newline is missing, compare the last line with the
log and with a backup. Do this before the broker starts. In recovery-point-offset-checkpoint,
replication-offset-checkpoint and cleaner-offset-checkpoint a value that is too low is safe. In
log-start-offset-checkpoint it makes removed records readable again. A wrong offset in a leader-epoch-checkpoint makes
replicas truncate wrongly.
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
    """Find the defects that the reader of this release accepts."""
    if not view.parsed.defects or not readable(view) or holds_nothing(view):
        return
    if view.kind == LEADER_EPOCH_KIND and not release.epoch_cache:
        return
    refused = [] if repeated(view) else [defect for defect in view.parsed.defects if not defect.accepted]
    accepted = [defect for defect in view.parsed.defects if defect.accepted]
    if not refused and not accepted:
        return
    # If the last line has no newline, the defect is at the end of the file.
    cut = [defect for defect in accepted if defect.position == view.size]
    first = (refused or cut or accepted)[0]
    others = [defect for defect in (*refused, *accepted) if defect is not first]
    why = "other releases refuse it" if refused else "no broker writes it like this"
    yield RULE.finding(
        at(view, first),
        f"{view.name} is readable, but {why}: {first_of([first, *others])}",
        effect=f"{kafka(release)} reads it without a warning and rewrites it."
        + (" If the file was truncated there, the last number is too small." if cut else ""),
        advice="Compare the file with the log and with a backup before the broker starts."
        if refused or cut
        else "Nothing, because the broker rewrites the file.",
        severity=Severity.WARNING if refused or cut else Severity.INFO,
        data={"defect_count": 1 + len(others), "defects": defect_rows([first, *others])},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.FILE, check=check, kinds=CHECKPOINT_KINDS)
