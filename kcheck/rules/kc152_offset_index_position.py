"""An entry of an offset index points to a position where no batch begins.

What is wrong: The position of an entry is inside a batch, or after the last one. The index belongs to another file, or
the end of the `.log` was lost.

What the broker does: In 2.3 and later it does not check this when it starts. A read that begins at this position parses
records as headers and fails. The last entry of the last segment may point past the data. After a clean shutdown the log
end offset is then the segment's base offset. New records get offsets that other records already have.

What to do: The broker can rebuild the file from the `.log`, if every batch of the `.log` is intact. Do not start the
broker before that.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that point to no batch; another finding covers a log that itself ends too early."""
    if view.end in (End.SHRUNK, End.CORRUPT):
        return
    unnoticed = "reads that begin there fail"
    if view.active:
        unnoticed += ", and the log end offset can fall to the base offset of the segment"
    yield from entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.NO_BATCH, EntryFault.BEYOND),
        _message,
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed=unnoticed,
        release=release,
    )


def _message(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.BEYOND:
        return f"(offset {entry.offset}, position {entry.value}) points past the last batch"
    return f"(offset {entry.offset}) points to position {entry.value}, where no batch begins"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
