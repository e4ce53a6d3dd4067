"""A producer snapshot is corrupt.

What is wrong: A `.snapshot` holds the state of each producer at an offset, with a CRC. The CRC does not match, the
version is unknown, or the entries are impossible.

What the broker does: It deletes a file that it cannot read, and loads the next older one. Without any it reads the log
from the beginning, which may take long. 0.11.0.0 does not start if the version is unknown or bytes are missing. It
trusts a file whose CRC matches. It then accepts duplicates, or refuses producers.

What to do: Nothing for a file that the broker refuses. Copy the others, and remove them with the broker stopped, as
long as an older one remains.
"""

from collections.abc import Iterable

from kcheck.formats.producer_snapshot import CORRUPT
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import at, defect_rows, first_of, kafka


def check(view: FileView, release: Release) -> Iterable[Finding]:
    """Find a producer snapshot with a defect."""
    if not view.parsed.defects:
        return
    severity, effect = Severity.WARNING, "deletes it and loads an older one"
    if view.refusal is None:
        severity, effect = Severity.ERROR, "trusts it and accepts duplicates"
    elif view.refusal != CORRUPT:
        severity, effect = Severity.FATAL, "does not start when it reads it"
    yield RULE.finding(
        at(view, view.parsed.defects[0]),
        first_of(view.parsed.defects),
        effect=f"{kafka(release)} {effect}.",
        advice="Keep a copy. Remove this snapshot only while an older one remains.",
        severity=severity,
        data={"defect_count": len(view.parsed.defects), "defects": defect_rows(view.parsed.defects)},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=("producer-snapshot",))
