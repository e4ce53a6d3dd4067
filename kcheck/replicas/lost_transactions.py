"""Finds the open transactions at an offset of a log, and the effect of a truncation on transactions.

kcheck reads batch headers from the newest producer snapshot that is not above the offset, as a broker does.
"""

from collections.abc import Iterable, Mapping
from itertools import islice

from kcheck.core.election.plans import CutTransactions
from kcheck.core.replication.lost_transactions import (
    OPEN_COUNT_MAX,
    LostTransactions,
    OpenTransaction,
    TransactionReplay,
)
from kcheck.core.replication.truncation_plans import TruncationPlan
from kcheck.formats import producer_snapshot
from kcheck.model.entries import Offset
from kcheck.model.names import FileKind, segment_prefix
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.replica import LogFile, ReplicaState, logs_from
from kcheck.segments.batches import Walk
from kcheck.segments.producer_snapshots import snapshot_offsets

_PLAIN_SIZE_MAX = 128 << 10
"""Logs up to this size are read without numpy. Its import takes longer."""


def cut_transactions(plan: TruncationPlan, states: Mapping[int | None, ReplicaState]) -> CutTransactions | None:
    """Return how the followers' truncations affect transactions; None without a truncation, or if not known."""
    committed = markers = 0
    cuts = [follower for follower in plan.followers if follower.lost is not None]
    for follower in cuts:
        assert follower.lost is not None
        transactions = lost_transactions(states[follower.broker_id].logs, follower.lost.start, follower.lost.end)
        if transactions is None:
            return None
        committed = max(committed, transactions.committed.total)
        markers = max(markers, transactions.markers.total)
    return CutTransactions(committed, markers) if cuts else None


def lost_transactions(logs: tuple[LogFile, ...], start: Offset, end: Offset) -> LostTransactions | None:
    """Return the effect of a truncation to `start` on the transactions of a log that ends at `end`.

    None if its batches cannot be read, or if more transactions are open than kcheck follows.
    """
    replay = _replayed(logs, start, end)
    return None if replay is None else replay.lost()


def open_transactions(logs: tuple[LogFile, ...], end: Offset) -> tuple[OpenTransaction, ...] | None:
    """Return the transactions that are open at the log end `end` (ProducerStateManager.ongoingTxns), by offset.

    None if the batches cannot be read, or if more transactions are open than kcheck follows.
    """
    replay = _replayed(logs, end, end)
    return None if replay is None else replay.open_at_start()


def _replayed(logs: tuple[LogFile, ...], start: Offset, end: Offset) -> TransactionReplay | None:
    """Return the transactions of a log with regard to `start`; None if its batches cannot be read up to `end`."""
    begin, already_open = _snapshot(logs, start)
    replay = TransactionReplay(start, already_open)
    logs = logs_from(logs, begin)
    if begin >= end and sum(log.size for log in logs) <= _PLAIN_SIZE_MAX:
        return replay if _is_readable(logs, end) else None
    from kcheck.replicas.transaction_batches import taken  # imports numpy

    return replay if taken(replay, logs, begin, end) else None


def _is_readable(logs: Iterable[LogFile], end: Offset) -> bool:
    """Return whether the batches can be read up to `end`."""
    try:
        for log in logs:
            if log.base_offset >= end:
                break
            with log.open() as source:
                walk = Walk(source, log.size)
                if any(batch.base_offset >= end for batch in walk):
                    return True
                if walk.position < log.size:
                    return False
    except UnreadableError:
        return False
    return True


def _snapshot(logs: tuple[LogFile, ...], offset: Offset) -> tuple[Offset, tuple[OpenTransaction, ...]]:
    """Return the offset of the newest intact producer snapshot up to `offset`, and the transactions open there.

    Without one, the first offset of the log. A broker that truncates its log deletes the snapshots above its end, so
    those below describe this log.
    """
    if not logs:
        return offset, ()
    files, first = logs[0].disk, logs[0].base_offset
    try:
        offsets = snapshot_offsets(files.entries().sizes)
    except UnreadableError:
        return first, ()
    for number in reversed([number for number in offsets if first <= number <= offset]):
        try:
            data = files.read_whole(f"{segment_prefix(number)}.{FileKind.PRODUCER_SNAPSHOT}")
        except UnreadableError:
            continue
        already_open = _open_in(data)
        if already_open is not None and all(transaction.first_offset < number for transaction in already_open):
            return number, already_open
    return first, ()


def _open_in(data: bytes) -> tuple[OpenTransaction, ...] | None:
    """Return the open transactions of a producer snapshot; None if a broker refuses the file."""
    parsed = producer_snapshot.parse(data)
    if any(not defect.accepted for defect in parsed.defects):
        return None
    still_open = (producer for producer in parsed.value.producers if producer.current_txn_first_offset >= 0)
    return tuple(
        OpenTransaction(producer.producer_id, producer.producer_epoch, Offset(producer.current_txn_first_offset))
        for producer in islice(still_open, OPEN_COUNT_MAX + 1)
    )
