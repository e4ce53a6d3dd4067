"""The entries of a time index do not increase, or the last one is incomplete.

What is wrong: Each entry of a `.timeindex` has a larger timestamp than the previous one, and no smaller offset. One
entry does not, or it holds a negative number, or the file ends within an entry.

What the broker does: In 2.3 and later it does not check the file when it starts. Lookups by time return wrong offsets.
The last entry gives the age of the segment. Retention deletes the segment too early or never.

What to do: The broker can rebuild the file from the `.log`, if every batch of the `.log` is intact.
"""

from collections.abc import Iterable

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries, torn_finding


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that are not above the previous one, and an incomplete last entry."""
    yield from entries_finding(
        RULE,
        view,
        view.time_index,
        (EntryFault.ORDER,),
        lambda entry: f"(timestamp {entry.value}, offset {entry.offset}) is not above the previous entry",
        slot_size=TIME_INDEX_ENTRY.size,
        unnoticed="lookups by time return wrong offsets, and retention may delete the segment too early or never",
        release=release,
    )
    yield from torn_finding(RULE, view, view.time_index, release)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
