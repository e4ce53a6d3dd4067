"""A segment ends in zeros.

What is wrong: Only zeros follow the last batch. A killed broker with `preallocate` leaves them. So does a file system
that kept the length of the file but not its bytes, after a power failure.

What the broker does:

- After an unclean shutdown it truncates the zeros in the last segment and in those from the recovery point on. If they
  replaced records, those records are lost.
- After a clean shutdown it does not look for them. With 18 zeros or more in the last segment, the broker does not
  start. Its second attempt counts as unclean and truncates them. In an older segment readers fail there.
- In a file of more than 2147483647 bytes, KC230 applies first.

What to do: After an unclean shutdown, only compare with the other replicas. After a clean one, stop the broker and keep
a copy. Then remove the file .kafka_cleanshutdown, so that the broker recovers its logs. It will read the segments from
their recovery points on.

See: operations/power-loss.md
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says
from kcheck.rules._segments import COMPARE, KEEP_A_COPY, REFETCH, cuts, ends_early, keeps, oversized_log, recovered_end
from kcheck.rules._words import kafka
from kcheck.words import counted

_READABLE_SIZE_MAX = 17
"""A reader treats up to this many trailing bytes as the end of the file."""


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find zeros after the last batch."""
    if not view.zeros:
        return
    severity, effect = _effect(view, release)
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"position {view.valid_size}: {counted(view.size - view.valid_size, 'zero byte')} after the last batch",
        effect=effect,
        advice=COMPARE if severity is Severity.INFO else f"{KEEP_A_COPY} {REFETCH}",
        severity=severity,
        data={"valid_size": view.valid_size, "size": view.size, "end_offset": view.end_offset},
    )


def _effect(view: SegmentView, release: Release) -> tuple[Severity, str | Effect]:
    who, end = kafka(release), recovered_end(view) if view.scanned else view.end_offset
    too_large = oversized_log(view.size, release)
    if too_large is not None:
        return too_large
    if view.scanned is None:
        return Severity.WARNING, f"After an unclean shutdown {who} truncates them; after a clean one it fails on them."
    if view.scanned and view.active:
        return Severity.INFO, cuts(f"{who} truncates them when it starts. The log then ends at offset {end}.", end)
    if view.scanned:
        words = f"{who} truncates the log to offset {end} when it starts, and deletes every later segment."
        return Severity.ERROR, cuts(words, end)
    if not view.active:
        return Severity.ERROR, keeps(f"{who} does not check. Readers that reach offset {end} fail.", view)
    if view.size - view.valid_size > _READABLE_SIZE_MAX:
        words = f"{who} does not start. Its second attempt truncates them."
        return Severity.FATAL, says(words, Claimed.FAILS)
    return Severity.ERROR, keeps(f"{who} keeps them and appends after them. New records cannot be read.", view)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early, depends_on_others=True)
