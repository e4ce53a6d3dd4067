"""The entries of an offset index do not increase, or the last one is incomplete.

What is wrong: Each entry of an `.index` has a larger offset and position than the previous one. One entry does not, or
it holds a negative number, or the file ends within an entry.

What the broker does: In 2.3 and later it does not check the file when it starts. Lookups use it as it is, so reads
begin at wrong positions, miss records or fail. After an unclean shutdown it rebuilds the file for the segments from the
recovery point on. In 2.2 and earlier it always rebuilds a file whose length is not a multiple of 8.

What to do: The broker can rebuild the file from the `.log`, if every batch of the `.log` is intact.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries, torn_finding


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that are not above the previous one, and an incomplete last entry."""
    unnoticed = "lookups return wrong positions, and reads miss records or fail"
    yield from entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.ORDER,),
        lambda entry: f"(offset {entry.offset}, position {entry.value}) is not above the previous entry",
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed=unnoticed,
        release=release,
    )
    yield from torn_finding(RULE, view, view.offset_index, release)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
