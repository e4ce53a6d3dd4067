"""Which transactions are open at an offset of a log, and what a truncation to it does to transactions.

kcheck reads batch headers from the newest producer snapshot on that is not above the offset, as a broker does.
"""

from itertools import islice

import numpy as np

from kcheck.core.replication.lost_transactions import (
    OPEN_COUNT_MAX,
    LostTransactions,
    OpenTransaction,
    TransactionReplay,
)
from kcheck.formats import producer_snapshot
from kcheck.model.entries import Offset
from kcheck.model.names import FileKind, segment_prefix
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import COMMIT_MARKER, CONTROL, NO_MARKER, TRANSACTIONAL
from kcheck.replicas.loss import logs_from
from kcheck.replicas.replica import LogFile
from kcheck.segments.header_columns import HeaderColumns, HeaderReader
from kcheck.segments.producer_snapshots import snapshot_offsets


def lost_transactions(logs: tuple[LogFile, ...], start: Offset, end: Offset) -> LostTransactions | None:
    """Return what a truncation to `start` does to the transactions of a log that ends at `end`.

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
    try:
        for log in logs_from(logs, begin):
            if log.base_offset >= end:
                break
            with log.open() as source:
                reader = HeaderReader(source, log.size, verify=False)
                for columns in reader:
                    _take(columns, replay, begin, end)
                    if columns.base_offset[-1] >= end:
                        return replay
                if reader.position < log.size:
                    return None
    except UnreadableError:
        return None
    return replay


def _take(columns: HeaderColumns, replay: TransactionReplay, begin: Offset, end: Offset) -> None:
    """Add the transactional batches of a window that are in `[begin, end)`."""
    rows = np.flatnonzero((columns.attributes & TRANSACTIONAL != 0) & (columns.magic >= 2))
    if not rows.size:
        return
    rows = rows[(columns.last_offset[rows] >= begin) & (columns.last_offset[rows] < end)]
    is_data = (columns.record_count > 0) & (columns.attributes & CONTROL == 0) & (columns.producer_id >= 0)
    for producer_id, epoch, base, last, data, marker in zip(
        columns.producer_id[rows].tolist(), columns.producer_epoch[rows].tolist(), columns.base_offset[rows].tolist(),
        columns.last_offset[rows].tolist(), is_data[rows].tolist(), columns.marker[rows].tolist(),
        strict=True,
    ):  # fmt: skip
        if marker != NO_MARKER:
            replay.marker(producer_id, Offset(base), commits=marker == COMMIT_MARKER)
        elif data:
            replay.data(OpenTransaction(producer_id, epoch, Offset(base)), Offset(last))


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
