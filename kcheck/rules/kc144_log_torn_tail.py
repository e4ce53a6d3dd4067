"""A segment ends in an incomplete batch.

What is wrong: The file ends before its last batch does, or too few bytes are left for a batch. A broker that was killed
while writing leaves this in its last segment.

What the broker does:

- After an unclean shutdown it truncates the incomplete batch when it starts, in the last segment. That batch was never
  complete.
- After a clean shutdown it does not check. It appends after the incomplete batch, and the new records cannot be read.
- In an older segment, readers continue in the next segment, and the offsets between are lost.

What to do: After an unclean shutdown, only compare with the other replicas. Otherwise keep a copy, and re-replicate
this replica if another one is in sync.

See: operations/power-loss.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import (
    COMPARE,
    KEEP_A_COPY,
    REFETCH,
    batches_after_damage,
    beyond_row,
    cuts,
    ends_early,
    keeps,
    recovered_end,
)
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find a segment whose last batch is incomplete."""
    if view.end is not End.TORN or view.zeros:
        return
    severity, effect = _effect(view, release)
    left = counted(view.size - view.valid_size, "byte")
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"position {view.valid_size}: {left} after the last complete batch{batches_after_damage(view)}",
        effect=effect,
        advice=COMPARE if severity is Severity.INFO else f"{KEEP_A_COPY} {REFETCH}",
        severity=severity,
        data={"valid_size": view.valid_size, "end_offset": view.end_offset, "beyond": beyond_row(view)},
    )


def _effect(view: SegmentView, release: Release) -> tuple[Severity, str | Effect]:
    who, end = kafka(release), recovered_end(view) if view.scanned else view.end_offset
    if view.scanned is None:
        return Severity.WARNING, f"After an unclean shutdown {who} truncates it; after a clean one it appends after it."
    if view.scanned and view.active:
        severity = Severity.INFO if view.beyond is None else Severity.ERROR
        return severity, cuts(f"{who} truncates it when it starts. The log then ends at offset {end}.", end)
    if view.scanned:
        words = f"{who} truncates the log to offset {end} when it starts, and deletes every later segment."
        return Severity.ERROR, cuts(words, end)
    if view.active:
        words = f"{who} does not check and appends after it. New records cannot be read."
    else:
        words = f"{who} does not check. Readers continue in the next segment, without the records from offset {end} on."
    return Severity.ERROR, keeps(words, view)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early, depends_on_others=True)
