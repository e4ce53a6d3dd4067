"""The entries of a time index do not rise, or its last one is cut short.

What is wrong: each entry of a `.timeindex` has a larger timestamp than the one before it, and an offset that is not
smaller. Here one has not, or it holds a negative number, or the file ends inside of an entry.

What the broker does: from 2.3 on it does not check the file at a start. Lookups by time give wrong offsets. The last
entry tells how old the segment is: retention deletes it too early or never.

What to do: the file can be built anew from the `.log`, if every batch of that is whole.
"""

from collections.abc import Iterable

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries, torn_finding


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that do not lie above the one before them, and a torn end."""
    yield from entries_finding(
        RULE,
        view,
        view.time_index,
        (EntryFault.ORDER,),
        lambda entry: f"(timestamp {entry.value}, offset {entry.offset}) does not lie above the one before it",
        slot_size=TIME_INDEX_ENTRY.size,
        unnoticed="lookups by time go wrong, and retention may delete the segment too early or never",
        release=release,
    )
    yield from torn_finding(RULE, view, view.time_index, release)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
