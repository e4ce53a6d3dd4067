"""The producers in the batches of one segment (ProducerStateManager, ProducerAppendInfo 0.11 to 4.3.1)."""

from collections.abc import Sequence

import numpy as np

from kcheck.model.entries import Offset
from kcheck.model.producers import Producing, Range, Seen
from kcheck.records.batch import CONTROL, TRANSACTIONAL
from kcheck.segments.header_columns import Array, HeaderColumns
from kcheck.segments.producers import (
    CUT_COUNT_MAX,
    FAR,
    PRODUCER_COUNT_MAX,
    SEQUENCES,
    SequenceFaults,
    check_sequence,
    join_ranges,
)


class SegmentProducers:
    """The producers of one segment, window by window, also below `cuts`, ascending offsets above its first."""

    def __init__(self, cuts: Sequence[Offset]) -> None:
        """Start before the first batch of a segment."""
        self._cuts = list(cuts)[-CUT_COUNT_MAX:]
        self._whole: Range | None = None
        self._at: dict[Offset, Range | None] = {}
        self._faults = SequenceFaults()
        self._followed = True

    def take(self, columns: HeaderColumns) -> None:
        """Take the batches of one window."""
        begin = 0
        while self._cuts and self._followed and columns.last_offset[-1] >= self._cuts[0]:
            end = begin + int(np.searchsorted(columns.last_offset[begin:], self._cuts[0]))
            self._take(columns, begin, end)
            self._at[self._cuts.pop(0)] = self._whole
            begin = end
        self._take(columns, begin, len(columns.last_offset))

    def view(self) -> Producing | None:
        """Return the producers of the segment; None if they are too many to follow."""
        if not self._followed:
            return None
        at = {**self._at, **dict.fromkeys(self._cuts, self._whole)}
        return Producing(self._whole, at, tuple(self._faults.kept), self._faults.counts)

    def _take(self, columns: HeaderColumns, begin: int, end: int) -> None:
        if begin < end and self._followed:
            part = _producers_of(columns, slice(begin, end), self._faults)
            self._whole = part if self._whole is None else join_ranges(self._whole, part, self._faults)
            self._followed = len(self._whole.producers) <= PRODUCER_COUNT_MAX


def _producers_of(columns: HeaderColumns, rows: slice, faults: SequenceFaults) -> Range:
    """Return the producers of consecutive batches; a batch with a wrong CRC counts as missing."""
    base, last = columns.base_offset[rows], columns.last_offset[rows]
    breaks = np.ones(len(base), np.bool_)
    breaks[1:] = base[1:] != last[:-1] + 1
    ids = columns.producer_id[rows]
    mine = ids >= 0
    if columns.valid is not None:
        valid = columns.valid[rows]
        breaks[1:] |= ~valid[:-1]
        mine &= valid
    end = Offset(int(last[-1]) + 1)
    is_intact = columns.valid is None or bool(columns.valid[rows][-1])
    producers = Range(Offset(int(base[0])), end, Offset(int(base[breaks].max())) if is_intact else end, {})
    order = np.flatnonzero(mine)
    if not order.size:
        return producers
    solid = np.maximum.accumulate(np.where(breaks, base, base[0]))
    order = order[np.argsort(ids[order].astype(np.int64), kind="stable")]
    return producers._replace(producers=_producers(columns, rows.start, order, solid[order], faults))


def _producers(
    columns: HeaderColumns, begin: int, order: Array, solid: Array, faults: SequenceFaults
) -> dict[int, Seen]:
    """Return the producers of batches; `order` are their rows, counted from `begin`, sorted by producer id."""
    at = order + begin
    ids, epoch, first = (
        column[at].astype(np.int64) for column in (columns.producer_id, columns.producer_epoch, columns.base_sequence)
    )
    base, last, attributes = columns.base_offset[at], columns.last_offset[at], columns.attributes[at]
    final = np.where(first < 0, -1, (first + last - base) % SEQUENCES)
    control = attributes & CONTROL != 0
    place = np.arange(len(at))
    _check_sequences(np.flatnonzero(~control), ids, epoch, base, last, first, final, solid, faults)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    ends = np.concatenate((starts[1:], [len(at)]))
    marker = np.maximum.reduceat(np.where(control, place, -1), starts)
    full = columns.record_count[at] > 0
    with_epoch = np.maximum.reduceat(np.where(~control | full, place, -1), starts)
    ended = np.maximum.reduceat(np.where(control & full, place, -1), starts)
    opening = (attributes & TRANSACTIONAL != 0) & ~control & full
    opening &= place > np.repeat(marker, ends - starts)
    data_first = np.minimum.reduceat(np.where(control, FAR, place), starts)
    data_last = np.maximum.reduceat(np.where(control, -1, place), starts)
    opens = np.minimum.reduceat(np.where(opening, place, FAR), starts)

    def at_place(column: Array, places: Array) -> list[int]:
        known = (places >= 0) & (places < FAR)
        return np.where(known, column[np.where(known, places, 0)], -1).tolist()  # type: ignore[no-any-return]  # numpy's

    seen = zip(
        at_place(epoch, with_epoch),
        *(at_place(column, data_first) for column in (epoch, first, base, solid)),
        *(at_place(column, data_last) for column in (epoch, final, last)),
        *(at_place(base, places) for places in (marker, ended, opens)), strict=True,
    )  # fmt: skip
    return dict(zip(ids[starts].tolist(), map(Seen._make, seen), strict=True))


def _check_sequences(
    data: Array, ids: Array, epoch: Array, base: Array, last: Array, first: Array, final: Array, solid: Array,
    faults: SequenceFaults,
) -> None:  # fmt: skip
    """Find batches with records whose sequence numbers do not continue the previous batch of producer and epoch."""
    one, other = data[:-1], data[1:]
    same = (ids[one] == ids[other]) & (epoch[one] == epoch[other]) & (final[one] >= 0)
    wrong = same & (first[other] > 0) & ((first[other] - final[one]) % SEQUENCES != 1)
    for a, b in zip(one[wrong].tolist(), other[wrong].tolist(), strict=True):
        check_sequence(
            int(ids[b]), int(epoch[b]), (int(base[b]), int(first[b])), (int(last[a]), int(final[a])), int(solid[b]),
            faults,
        )  # fmt: skip
