"""An entry of an offset index leads past its offset.

What is wrong: whoever looks for an offset begins to read at the position of the largest entry that is not above it.
Here the batch that holds the offset of an entry lies before its position, or no batch holds it.

What the broker does: it does not check this at a start. Lookups begin behind the records that they look for, and
these are never found: readers go on with later ones.

What to do: the file can be built anew from the `.log`, if every batch of that is whole.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries whose offset stands before their position, or nowhere."""
    return entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.SKIPS, EntryFault.GAP),
        _saying,
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed="lookups skip records, as if they were not there",
        release=release,
    )


def _saying(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.GAP:
        return f"names offset {entry.offset}, which no batch holds"
    return f"names offset {entry.offset}, but its batch lies before position {entry.value}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
