"""An entry of an offset index points to a place where no batch begins.

What is wrong: the position of an entry is inside of a batch, or behind the last one. The index belongs to another
file, or the end of the `.log` was lost.

What the broker does: from 2.3 on it does not check this at a start. A read that begins at such a place takes records
for headers and fails. If the last entry of the last segment points behind the data, a clean start takes the segment's
base offset for the log end: new records get offsets that others have already.

What to do: the file can be built anew from the `.log`, if every batch of that is whole. Do not start the broker
before.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that point to no batch, unless batches end too early for all of them: that is told already."""
    if view.end in (End.SHRUNK, End.CORRUPT):
        return
    unnoticed = "reads that begin there fail"
    if view.active:
        unnoticed += ", and the log end can fall to the base offset of the segment"
    yield from entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.NO_BATCH, EntryFault.BEYOND),
        _saying,
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed=unnoticed,
        release=release,
    )


def _saying(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.BEYOND:
        return f"(offset {entry.offset}, position {entry.value}) points behind the last batch"
    return f"(offset {entry.offset}) points to position {entry.value}, where no batch begins"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
