"""The batches of transactions in a log, read by columns."""

from collections.abc import Iterable

import numpy as np

from kcheck.core.replication.lost_transactions import OpenTransaction, TransactionReplay
from kcheck.model.entries import Offset
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import COMMIT_MARKER, CONTROL, NO_MARKER, TRANSACTIONAL
from kcheck.replicas.replica import LogFile
from kcheck.segments.header_columns import HeaderColumns, HeaderReader


def taken(replay: TransactionReplay, logs: Iterable[LogFile], begin: Offset, end: Offset) -> bool:
    """Add the transactions in `[begin, end)`, and return whether the batches can be read up to `end`."""
    try:
        for log in logs:
            if log.base_offset >= end:
                break
            with log.open() as source:
                reader = HeaderReader(source, log.size, verify=False)
                for columns in reader:
                    _take(columns, replay, begin, end)
                    if columns.base_offset[-1] >= end:
                        return True
                if reader.position < log.size:
                    return False
    except UnreadableError:
        return False
    return True


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
