"""A segment ends inside of a batch.

What is wrong: the last batch is cut short by the end of the file, or so few bytes are left there that they cannot be
one. A broker that was killed while it wrote leaves this in its last segment.

What the broker does:

- After an unclean stop it cuts the rest off at its next start, in the last segment. That batch was never whole.
- After a clean stop it does not look. It appends behind the rest: what is produced then cannot be read.
- In a segment that is not the last one, readers go on in the next segment: the offsets between are gone.

What to do: after an unclean stop nothing, except to compare with the other replicas. Otherwise keep a copy, and let
the replica be fetched anew if another one is in sync.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import COMPARE, KEEP_A_COPY, REFETCH, beyond_in_words, beyond_row, ends_early, recovered_end
from kcheck.rules._words import counted, kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment whose last batch is not whole."""
    if view.end is not End.TORN or view.zeros:
        return
    severity, effect = _effect(view, release)
    left = counted(view.size - view.valid_size, "byte")
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"position {view.valid_size}: {left} behind the last whole batch{beyond_in_words(view)}",
        effect=effect,
        advice=COMPARE if severity is Severity.INFO else f"{KEEP_A_COPY} {REFETCH}",
        severity=severity,
        data={"valid_size": view.valid_size, "end_offset": view.end_offset, "beyond": beyond_row(view)},
    )


def _effect(view: SegmentView, release: Release) -> tuple[Severity, str]:
    who, end = kafka(release), recovered_end(view) if view.scanned else view.end_offset
    if view.scanned is None:
        return Severity.WARNING, f"After an unclean stop {who} cuts it off; after a clean one it appends behind it."
    if view.scanned and view.active:
        severity = Severity.INFO if view.beyond is None else Severity.ERROR
        return severity, f"{who} cuts it off at its next start: the log ends at offset {end}."
    if view.scanned:
        return Severity.ERROR, f"{who} cuts the log at offset {end} at its next start and deletes every later segment."
    if view.active:
        return Severity.ERROR, f"{who} does not look and appends behind it: what is produced then cannot be read."
    return Severity.ERROR, f"{who} does not look: readers go on in the next segment, without what stood from {end} on."


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early)
