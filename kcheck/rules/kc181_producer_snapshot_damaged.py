"""A producer snapshot is damaged.

What is wrong: a `.snapshot` holds what the broker knows of each producer at an offset, under a CRC. Here the CRC does
not match, the version is unknown, or the entries cannot be.

What the broker does: a file that it cannot read it deletes, and takes the next older one; without any it reads the
log again from its start, which may take long; 0.11.0.0 does not start where the version is unknown or bytes are
missing. A file whose CRC matches it believes: duplicates get in, or producers are refused.

What to do: nothing for a file that the broker refuses. Keep a copy of the others, and remove them with the broker
stopped, as long as an older one is left.
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
    severity, effect = Severity.WARNING, "deletes it and takes an older one"
    if view.refusal is None:
        severity, effect = Severity.ERROR, "believes it: duplicates get in"
    elif view.refusal != CORRUPT:
        severity, effect = Severity.FATAL, "does not start once it reads it"
    yield RULE.finding(
        at(view, view.parsed.defects[0]),
        first_of(view.parsed.defects),
        effect=f"{kafka(release)} {effect}.",
        advice="Keep a copy. An older snapshot must be left before this one is removed.",
        severity=severity,
        data={"defect_count": len(view.parsed.defects), "defects": defect_rows(view.parsed.defects)},
    )


RULE = Rule(severity=Severity.WARNING, scope=Scope.FILE, check=check, kinds=("producer-snapshot",))
