"""A time index does not tell what the batches of its segment tell.

What is wrong: an entry of a `.timeindex` names the largest timestamp up to there and the batch that brought it. Here
that batch has another one, or no batch holds the offset; or the last entry of a closed segment is older than the
newest batch in it. A closed segment without any entry is a warning: a follower that truncates one after a start that
did not read it leaves it so.

What the broker does: it does not check this at a start. Lookups by time give wrong offsets. The last entry tells how
old the segment is: too small, and retention deletes records too early; too large, and it never does.
Without any entry retention goes by the time of the file, and lookups by time may pass over the segment.

What to do: the file can be built anew from the `.log`, if every batch of that is whole.
"""

from collections.abc import Iterable

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import REBUILD, closed, entries_finding, rebuilt, rebuilt_or_unnoticed

_UNNOTICED = "lookups by time go wrong, and retention may delete the segment too early or never"
_NO_ENTRY = "retention goes by the time of the file, and lookups by time may pass over the segment"


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that contradict the batches, and a last entry that is too old."""
    index = view.time_index
    if index is None or view.end in (End.SHRUNK, End.CORRUPT):
        return
    told = entries_finding(
        RULE,
        view,
        index,
        (EntryFault.TIMESTAMP, EntryFault.GAP, EntryFault.BEYOND),
        _saying,
        slot_size=TIME_INDEX_ENTRY.size,
        unnoticed=_UNNOTICED,
        release=release,
    )
    yield from told
    last = -1 if index.last_timestamp is None else index.last_timestamp
    if not told and not index.counts and closed(view) and last < view.max_timestamp:
        stated, unnoticed, severity = f"its last entry has the timestamp {last}", _UNNOTICED, Severity.ERROR
        if index.last_timestamp is None:
            stated, unnoticed, severity = "it has no entry", _NO_ENTRY, Severity.WARNING
        yield RULE.finding(
            index.where,
            f"{stated}, the newest batch has {view.max_timestamp}",
            effect=rebuilt_or_unnoticed(view, release, unnoticed),
            advice=REBUILD,
            severity=Severity.WARNING if rebuilt(view, release) else severity,
            data={"last_timestamp": index.last_timestamp, "max_timestamp": view.max_timestamp},
        )


def _saying(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.TIMESTAMP:
        return f"says {entry.value} of offset {entry.offset}, its batch and those before it say otherwise"
    return f"names offset {entry.offset}, which no batch holds"


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
