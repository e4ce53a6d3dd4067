"""Which transactions a log aborts, found by following its batches from the first segment to the last.

Each segment is followed by itself, so that segments can be read side by side; `follow` then goes from one to the next.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kcheck.formats.record_batch import ABORT_MARKER, NO_MARKER, TRANSACTIONAL
from kcheck.model.entries import Offset
from kcheck.model.segments import Aborted, Transactions

if TYPE_CHECKING:
    from kcheck.segments.header_columns import HeaderColumns

OPEN_COUNT_MAX = 100_000
"""So many producers are followed at a time, and so many aborted transactions of a segment are kept."""

Open = Mapping[int, Offset]
"""The first offset of the open transaction of each producer."""


class Following:
    """The transactions of one segment (ProducerStateManager, ProducerAppendInfo.appendEndTxnMarker 0.11 to 4.3.1).

    A batch whose records were all cleaned away opens none: compaction may have dropped the index entry with them.
    """

    def __init__(self) -> None:
        """Begin with the first batch of a segment."""
        self._open: dict[int, Offset] = {}
        self._ended: dict[int, Offset] = {}
        self._aborted: list[Aborted] = []
        self._next_starts: dict[Offset, Offset] = {}
        self._without_next: list[Aborted] = []
        self._followed = True

    def take(self, columns: "HeaderColumns") -> None:
        """Follow the batches of one window."""
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
        """Remember where a transaction begins for the aborted ones of other producers before it."""
        left = [each for each in self._without_next if each.producer_id == producer_id]
        self._next_starts |= {each.last_offset: first for each in self._without_next if each.producer_id != producer_id}
        self._without_next = left

    def view(self) -> Transactions | None:
        """Return what the segment tells, None where it could not be followed."""
        if not self._followed:
            return None
        return Transactions(tuple(self._aborted), self._ended, self._open, self._next_starts)


def follow(before: Open | None, found: Transactions | None) -> tuple[Open | None, Transactions | None]:
    """Return what is open behind a segment, and the segment with what was open before it taken into account.

    None is what could not be followed, and all that stands behind it.
    """
    if before is None or found is None:
        return None, None
    if not before:
        return found.open, found
    aborted = tuple(
        each._replace(first_offset=before[each.producer_id])
        if each.producer_id in before and found.ended[each.producer_id] == each.last_offset
        else each
        for each in found.aborted
    )
    still = {producer_id: first for producer_id, first in before.items() if producer_id not in found.ended}
    after = {**found.open, **still}
    return after if len(after) <= OPEN_COUNT_MAX else None, found._replace(aborted=aborted)
