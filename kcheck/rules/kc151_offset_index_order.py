"""The entries of an offset index do not rise, or its last one is cut short.

What is wrong: each entry of an `.index` has a larger offset and a larger position than the one before it. Here one
has not, or it holds a negative number, or the file ends inside of an entry.

What the broker does: from 2.3 on it does not check the file at a start. Lookups take it as it stands: reads begin at
wrong places, miss records or fail. A start after an unclean stop builds it anew for the segments from the recovery
point on. Up to 2.2 a file of a length that is no multiple of 8 is built anew at every start.

What to do: the file can be built anew from the `.log`, if every batch of that is whole.
"""

from collections.abc import Iterable

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import EntryFault, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import entries_finding, has_faulty_entries, torn_finding


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that do not lie above the one before them, and a torn end."""
    unnoticed = "lookups in it go wrong, and reads miss records or fail"
    yield from entries_finding(
        RULE,
        view,
        view.offset_index,
        (EntryFault.ORDER,),
        lambda entry: f"(offset {entry.offset}, position {entry.value}) does not lie above the one before it",
        slot_size=OFFSET_INDEX_ENTRY.size,
        unnoticed=unnoticed,
        release=release,
    )
    yield from torn_finding(RULE, view, view.offset_index, release)


RULE = Rule(severity=Severity.ERROR, scope=Scope.FAULTY_SEGMENT, check=check, when=has_faulty_entries)
