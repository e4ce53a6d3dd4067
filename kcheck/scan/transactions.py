"""Which transactions a log aborts, found by following its batches from the first segment to the last."""

import numpy as np

from kcheck.formats.record_batch import ABORT_MARKER, TRANSACTIONAL
from kcheck.model.entries import Offset
from kcheck.model.segments import Aborted
from kcheck.scan.columns import NO_MARKER, Columns

OPEN_COUNT_MAX = 100_000
"""So many producers are followed at a time, and so many aborted transactions of a segment are kept."""


class Transactions:
    """The open transactions of a log (ProducerStateManager, ProducerAppendInfo.appendEndTxnMarker 0.11 to 4.3.1).

    A batch whose records were all cleaned away opens none: compaction may have dropped the index entry with them.
    """

    def __init__(self) -> None:
        """Begin with the first segment."""
        self._open: dict[int, Offset] = {}
        self._aborted: list[Aborted] = []
        self._followed = True

    def take(self, columns: Columns) -> None:
        """Follow the batches of one window."""
        rows = np.flatnonzero((columns.attributes & TRANSACTIONAL != 0) & (columns.producer_id >= 0))
        if not self._followed or not rows.size:
            return
        for producer_id, base, marker, count in zip(
            columns.producer_id[rows].tolist(), columns.base_offset[rows].tolist(), columns.marker[rows].tolist(),
            columns.record_count[rows].tolist(), strict=True,
        ):  # fmt: skip
            if marker == NO_MARKER:
                if count > 0:
                    self._open.setdefault(producer_id, Offset(base))
                continue
            first = self._open.pop(producer_id, None)
            if marker == ABORT_MARKER:
                self._aborted.append(Aborted(producer_id, first, Offset(base)))
        self._followed = max(len(self._open), len(self._aborted)) <= OPEN_COUNT_MAX

    def end_segment(self) -> tuple[Aborted, ...] | None:
        """Return what was aborted since the last call, None where it could not be followed."""
        aborted, self._aborted = self._aborted, []
        return tuple(aborted) if self._followed else None
