"""A time index contradicts the batches of its segment.

What is wrong: An entry of a `.timeindex` gives the largest timestamp so far and the batch that has it. That batch has
another timestamp, or no batch holds the offset. Or the last entry of a closed segment is older than its newest batch. A
closed segment without any entry is a warning. A follower leaves this when it truncates a segment that it has not read
since it started.

What the broker does: It does not check this when it starts. Lookups by time return wrong offsets. The last entry gives
the age of the segment. If it is too small, retention deletes records too early. If it is too large, retention never
deletes them. Without any entry, retention uses the modification time of the file, and lookups by time may skip the
segment.

What to do: The broker can rebuild the file from the `.log`, if every batch of the `.log` is intact.
"""

from collections.abc import Iterable

from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import End, EntryFault, FaultyEntry, SegmentView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._segments import REBUILD, closed, entries_finding, rebuilt, rebuilt_or_unnoticed

_UNNOTICED = "lookups by time return wrong offsets, and retention may delete the segment too early or never"
_NO_ENTRY = "retention uses the modification time of the file, and lookups by time may skip the segment"


def check(view: SegmentView, release: Release) -> Iterable[Finding]:
    """Find entries that contradict the batches, and a last entry that is too old."""
    index = view.time_index
    if index is None or view.end in (End.SHRUNK, End.CORRUPT):
        return
    entry_findings = entries_finding(
        RULE,
        view,
        index,
        (EntryFault.TIMESTAMP, EntryFault.GAP, EntryFault.BEYOND),
        _message,
        slot_size=TIME_INDEX_ENTRY.size,
        unnoticed=_UNNOTICED,
        release=release,
    )
    yield from entry_findings
    last = -1 if index.last_timestamp is None else index.last_timestamp
    if not entry_findings and not index.counts and closed(view) and last < view.max_timestamp:
        stated, unnoticed, severity = f"the last entry has timestamp {last}", _UNNOTICED, Severity.ERROR
        if index.last_timestamp is None:
            stated, unnoticed, severity = "no entry", _NO_ENTRY, Severity.WARNING
        yield RULE.finding(
            index.where,
            f"{stated}; the newest batch has timestamp {view.max_timestamp}",
            effect=rebuilt_or_unnoticed(view, release, unnoticed),
            advice=REBUILD,
            severity=Severity.WARNING if rebuilt(view, release) else severity,
            data={"last_timestamp": index.last_timestamp, "max_timestamp": view.max_timestamp},
        )


def _message(entry: FaultyEntry) -> str:
    if entry.fault is EntryFault.TIMESTAMP:
        return f"gives timestamp {entry.value} for offset {entry.offset}; the batches up to there contradict it"
    return f"names offset {entry.offset}, which no batch holds"


RULE = Rule(severity=Severity.ERROR, scope=Scope.SEGMENT, check=check)
