"""A transaction index names a last stable offset that is too high.

What is wrong: Each entry of a `.txnindex` holds the last stable offset at the time of its ABORT marker. That is the
first offset of the earliest other transaction that was still open, or the offset after the marker. The value is higher,
because a bit was flipped or the file was edited.

What the broker does (0.11 and later): It does not notice. It searches the entries for a fetch of a consumer that reads
committed records. The search ends at the first entry whose last stable offset is not below the end of the fetch. So it
misses transactions that are aborted later, and the consumer gets their records. After an unclean shutdown the broker
rebuilds the file for the segments from the recovery point on.

kcheck reports a value only where no broker can have written it. It does not report a value that is too low, which only
makes the search longer. It does not judge compacted logs and segments with missing offsets.

What to do: Stop the broker, keep a copy, and rebuild the file (`kcheck repair`). Or, if another replica is in sync,
move this partition directory outside every log dir. The broker re-replicates it.
"""

from collections.abc import Iterable, Iterator

from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import Aborted, AbortedEntry, SegmentView
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._segments import KEEP_A_COPY, is_undamaged, rebuilt, rebuilt_or_unnoticed
from kcheck.rules._words import DATA_MAX, and_further


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the entries of each segment with the open transactions at their markers."""
    if not served(view) or view.is_compacted or not release.has_producer_state:
        return
    segments = [segment for segment in view.read or () if segment.stated]
    indexed = tuple(_indexed(segments, view.log_start_offset or 0))
    still_open = _earliest_open([entry for segment in segments for entry in segment.stated], indexed)
    for segment in segments:
        wrong = [(entry, limit) for entry, limit in _limits(segment, still_open) if entry.last_stable_offset > limit]
        if wrong:
            yield _finding(segment, wrong, release)


def _indexed(segments: list[SegmentView], log_start: int) -> Iterator[Aborted]:
    """Yield the aborted transactions whose entries have their first offset, so that the broker knew them from there."""
    for segment in segments:
        entries = {(entry.producer_id, entry.last_offset): entry.first_offset for entry in segment.stated}
        for txn in segment.transactions.aborted if segment.transactions is not None and is_undamaged(segment) else ():
            first = txn.first_offset
            if first is not None and first >= log_start and entries.get((txn.producer_id, txn.last_offset)) == first:
                yield txn


def _earliest_open(entries: list[AbortedEntry], indexed: tuple[Aborted, ...]) -> dict[int, int]:
    """Return by marker the first offset of the earliest transaction of another producer that is open there.

    The loop goes from the last marker to the first, so that it looks at each transaction once. It keeps the earliest
    transactions of two producers, as an entry ignores its own producer.
    """
    ending = sorted(indexed, key=lambda txn: txn.last_offset)
    earliest: dict[int, int] = {}
    earliest_starts: dict[int, int] = {}
    for entry in sorted(entries, key=lambda entry: entry.last_offset, reverse=True):
        while ending and ending[-1].last_offset > entry.last_offset:
            txn = ending.pop()
            assert txn.first_offset is not None
            earliest[txn.producer_id] = min(txn.first_offset, earliest.get(txn.producer_id, txn.first_offset))
            earliest = dict(sorted(earliest.items(), key=lambda item: item[1])[:2])
        others = [first for producer_id, first in earliest.items() if producer_id != entry.producer_id]
        if others and others[0] < entry.last_offset:
            earliest_starts[entry.last_offset] = others[0]
    return earliest_starts


def _limits(segment: SegmentView, still_open: dict[int, int]) -> Iterator[tuple[AbortedEntry, int]]:
    """Yield each entry with the highest last stable offset that a broker can have written for it.

    A follower appends many batches at once. So it can know of a transaction that begins after the marker. It takes the
    first offset of that transaction if no other one is open.
    """
    if segment.transactions is None or not is_undamaged(segment) or segment.holes:
        return
    for entry in segment.stated:
        marker = entry.last_offset
        limit = still_open.get(marker)
        if limit is None:
            after = segment.transactions.next_starts.get(marker)
            limit = after if after is not None and after == entry.last_stable_offset else Offset(marker + 1)
        yield entry, limit


def _finding(segment: SegmentView, wrong: list[tuple[AbortedEntry, int]], release: Release) -> Finding:
    one, limit = wrong[0]
    return RULE.finding(
        segment.where._replace(file=(segment.where.file or "").removesuffix(".log") + ".txnindex"),
        f"the entry of the transaction of producer {one.producer_id}, aborted at offset {one.last_offset}, has the last"
        f" stable offset {one.last_stable_offset}, above {limit}{and_further(len(wrong), 'one')}",
        effect=rebuilt_or_unnoticed(
            segment, release, "consumers that read committed records alone get aborted ones of later transactions"
        ),
        advice=f"{KEEP_A_COPY} Rebuild the file with kcheck repair.",
        severity=Severity.WARNING if rebuilt(segment, release) else Severity.ERROR,
        data={
            "count": len(wrong),
            "entries": tuple({**entry._asdict(), "highest": highest} for entry, highest in wrong[:DATA_MAX]),
        },
    )


RULE = Rule(severity=Severity.ERROR, scope=Scope.READ_PARTITION, check=check)
