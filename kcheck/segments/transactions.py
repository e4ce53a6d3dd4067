"""The aborted transactions of a log, found in its batches from the first segment to the last.

`SegmentTransactions` reads each segment by itself, so that processes can share them. `continue_transactions` then
carries open transactions from one segment to the next.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcheck.model.entries import Offset
from kcheck.model.segments import Aborted, Transactions
from kcheck.records.batch import ABORT_MARKER, NO_MARKER, TRANSACTIONAL

if TYPE_CHECKING:
    from kcheck.segments.header_columns import HeaderColumns

OPEN_COUNT_MAX = 100_000
"""At most this many producers are followed at a time, and this many aborted transactions of a segment are kept."""

OpenTransactions = Mapping[int, Offset]
"""The first offset of each open transaction, by producer id."""


class SegmentTransactions:
    """The transactions of one segment (ProducerStateManager, ProducerAppendInfo.appendEndTxnMarker 0.11 to 4.3.1).

    A batch without records, all removed by compaction, opens none, as its index entry may be deleted too.
    """

    def __init__(self) -> None:
        """Start before the first batch of a segment."""
        self._open: dict[int, Offset] = {}
        self._ended: dict[int, Offset] = {}
        self._aborted: list[Aborted] = []
        self._next_starts: dict[Offset, Offset] = {}
        self._without_next: list[Aborted] = []
        self._followed = True

    def take(self, columns: "HeaderColumns") -> None:
        """Take the batches of one window."""
        rows = (columns.attributes & TRANSACTIONAL).nonzero()[0]
        rows = rows[columns.producer_id[rows] >= 0]
        if not self._followed or not rows.size:
            return
        for producer_id, base, marker, count in zip(
            columns.producer_id[rows].tolist(), columns.base_offset[rows].tolist(), columns.marker[rows].tolist(),
            columns.record_count[rows].tolist(), strict=True,
        ):  # fmt: skip
            if marker == NO_MARKER:
                if count > 0 and producer_id not in self._open:
                    self._open[producer_id] = Offset(base)
                    self._begin(producer_id, Offset(base))
                continue
            first = self._open.pop(producer_id, None)
            self._ended.setdefault(producer_id, Offset(base))
            if marker == ABORT_MARKER:
                self._aborted.append(Aborted(producer_id, first, Offset(base)))
                self._without_next.append(self._aborted[-1])
        self._followed = max(map(len, (self._open, self._ended, self._aborted))) <= OPEN_COUNT_MAX

    def _begin(self, producer_id: int, first: Offset) -> None:
        """Remember where a transaction begins, for earlier aborted transactions of other producers."""
        own = [aborted for aborted in self._without_next if aborted.producer_id == producer_id]
        others = (aborted for aborted in self._without_next if aborted.producer_id != producer_id)
        self._next_starts |= {aborted.last_offset: first for aborted in others}
        self._without_next = own

    def view(self) -> Transactions | None:
        """Return the transactions of the segment; None if they are too many to follow."""
        if not self._followed:
            return None
        return Transactions(tuple(self._aborted), self._ended, self._open, self._next_starts)


def continue_transactions(
    before: OpenTransactions | None, segment: Transactions | None
) -> tuple[OpenTransactions | None, Transactions | None]:
    """Return the transactions open after a segment, and its own with the first offsets of those open before it.

    None for a segment whose transactions are too many to follow, and for all later ones.
    """
    if before is None or segment is None:
        return None, None
    if not before:
        return segment.open, segment
    aborted = tuple(
        transaction._replace(first_offset=before[transaction.producer_id])
        if transaction.producer_id in before and segment.ended[transaction.producer_id] == transaction.last_offset
        else transaction
        for transaction in segment.aborted
    )
    still_open = {producer_id: first for producer_id, first in before.items() if producer_id not in segment.ended}
    after = {**segment.open, **still_open}
    return after if len(after) <= OPEN_COUNT_MAX else None, segment._replace(aborted=aborted)
