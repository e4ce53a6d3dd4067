"""An offset index entry points past the batch that holds its offset.

What is wrong: To find an offset, the broker reads from the position of the last index entry at or below it. The batch
with the offset of an entry is before that position, or no batch holds it.

What the broker does: It does not check this when it starts. Lookups begin after the wanted records and never find them.
Readers continue with later records.

What to do: The broker can rebuild the file from the `.log`, if every batch of the `.log` is intact.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries whose offset is before their position, or in no batch."""
    return entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.SKIPS, EntryFault.GAP),
        _message,
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed="lookups skip records as if they did not exist",
        release=release,
    )


def _message(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.GAP:
        return f"names offset {entry.offset}, which no batch holds"
    return f"names offset {entry.offset}, but its batch is before position {entry.value}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
