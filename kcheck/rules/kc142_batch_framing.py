"""A segment has bytes that are not a batch, so nothing after them can be read.

What is wrong: Each batch states its length, and the next one begins where it ends. One length is impossible, so the
rest of the file is unreadable. Either a length is corrupt, or something overwrote the batches. Zeros at the end of a
file are KC143.

What the broker does:

- After an unclean shutdown, log recovery reads the segments from the recovery point on. It truncates the log where the
  valid batches end, and deletes every later segment.
- After a clean shutdown it reads only the end of the last segment, after its last index entry. If those bytes are
  corrupt, the broker does not start. Its second attempt counts as unclean.
- Elsewhere it does not check. Reads fail there with CorruptRecordException, again and again.

What to do: Keep a copy. kcheck reports whether complete batches follow. They are intact, but no broker will find them.
If another replica is in sync, re-replicate this one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Claimed, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import says
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, batches_after_damage, beyond_row, cut_or_unnoticed, ends_early
from kcheck.rules._words import kafka
from kcheck.words import counted


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the position where the batches of a segment end in corrupt bytes."""
    if view.end is not End.CORRUPT or view.zeros:
        return
    fatal = view.active and view.scanned is False and not _is_passed(view)
    left = counted(view.size - view.valid_size, "byte")
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"position {view.valid_size}: no valid batch, {left} cannot be read{batches_after_damage(view)}",
        effect=says(
            f"{kafka(release)} does not start. Its second attempt truncates the log there.",
            Claimed.FAILS,
        )
        if fatal
        else cut_or_unnoticed(view, release, f"reads from offset {view.end_offset} on fail"),
        advice=f"{KEEP_A_COPY} {REFETCH}",
        severity=Severity.FATAL if fatal else Severity.ERROR,
        data={"valid_size": view.valid_size, "end_offset": view.end_offset, "beyond": beyond_row(view)},
    )


def _is_passed(view: SegmentView) -> bool:
    """Return whether the last index entry points past the corruption, so that the broker searches from there."""
    return view.offset_index is not None and EntryFault.BEYOND in view.offset_index.counts


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early, depends_on_others=True)
