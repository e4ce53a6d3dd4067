"""A segment holds bytes that cannot be a batch: nothing behind them can be read.

What is wrong: each batch names its length, and the next one begins behind it. Here a length is impossible, so the
file can be read no further. Either a length was destroyed, or something else was written over the batches. Zeros at
the end of a file are KC143.

What the broker does:

- At a start after an unclean stop it cuts the log there, in the segments from the recovery point on, and deletes
  every later segment.
- After a clean stop it reads only the end of the last segment, behind its last index entry. Damage there makes the
  start fail, and the broker stops; the start after that is an unclean one.
- Elsewhere it does not look. Reads fail there with CorruptRecordException, again and again.

What to do: keep a copy. kcheck tells whether whole batches stand behind the damage: they are intact, but no broker
will find them. If another replica is in sync, let this one be fetched anew.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import KEEP_A_COPY, REFETCH, beyond_in_words, beyond_row, cut_or_unnoticed, ends_early
from kcheck.rules._words import counted, kafka


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find the place where a segment stops to be batches."""
    if view.end is not End.CORRUPT or view.zeros:
        return
    fatal = view.active and view.scanned is False and not _is_passed(view)
    left = counted(view.size - view.valid_size, "byte")
    yield RULE.finding(
        view.where._replace(position=view.valid_size),
        f"position {view.valid_size}: what stands there is no batch, {left} cannot be read{beyond_in_words(view)}",
        effect=f"{kafka(release)} fails on it at its next start and stops; the start after that cuts the log there."
        if fatal
        else cut_or_unnoticed(view, release, f"reads from offset {view.end_offset} on fail"),
        advice=f"{KEEP_A_COPY} {REFETCH}",
        severity=Severity.FATAL if fatal else Severity.ERROR,
        data={"valid_size": view.valid_size, "end_offset": view.end_offset, "beyond": beyond_row(view)},
    )


def _is_passed(view: SegmentView) -> bool:
    """Whether the last index entry points behind the damage: the end of the log is then looked for from there."""
    return view.offset_index is not None and EntryFault.BEYOND in view.offset_index.counts


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=ends_early)
