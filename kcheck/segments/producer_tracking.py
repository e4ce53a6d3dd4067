"""The producers of one segment, followed by its batches (ProducerStateManager, ProducerAppendInfo 0.11 to 4.3.1)."""

from collections.abc import Sequence

import numpy as np

from kcheck.formats.record_batch import CONTROL, TRANSACTIONAL
from kcheck.model.entries import Offset
from kcheck.model.producers import Producing, Range, Seen
from kcheck.segments.header_columns import Column, HeaderColumns
from kcheck.segments.producers import CUT_COUNT_MAX, FAR, PRODUCER_COUNT_MAX, SEQUENCES, Faults, compare, joined


class FollowingProducers:
    """The producers of one segment, window by window; `cuts` are offsets behind its first, ascending."""

    def __init__(self, cuts: Sequence[Offset]) -> None:
        """Begin with the first batch of a segment."""
        self._cuts = list(cuts)[-CUT_COUNT_MAX:]
        self._whole: Range | None = None
        self._at: dict[Offset, Range | None] = {}
        self._faults = Faults()
        self._followed = True

    def take(self, columns: HeaderColumns) -> None:
        """Follow the batches of one window."""
        begin = 0
        while self._cuts and self._followed and columns.last_offset[-1] >= self._cuts[0]:
            end = begin + int(np.searchsorted(columns.last_offset[begin:], self._cuts[0]))
            self._take(columns, begin, end)
            self._at[self._cuts.pop(0)] = self._whole
            begin = end
        self._take(columns, begin, len(columns.last_offset))

    def view(self) -> Producing | None:
        """Return what the segment tells, None where it could not be followed."""
        if not self._followed:
            return None
        at = {**self._at, **dict.fromkeys(self._cuts, self._whole)}
        return Producing(self._whole, at, tuple(self._faults.kept), self._faults.counts)

    def _take(self, columns: HeaderColumns, begin: int, end: int) -> None:
        if begin < end and self._followed:
            found = _range(columns, slice(begin, end), self._faults)
            self._whole = found if self._whole is None else joined(self._whole, found, self._faults)
            self._followed = len(self._whole.producers) <= PRODUCER_COUNT_MAX


def _range(columns: HeaderColumns, rows: slice, faults: Faults) -> Range:
    """Return the producers of some batches that follow each other; a batch with a wrong CRC counts as missing."""
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
    whole = columns.valid is None or bool(columns.valid[rows][-1])
    found = Range(Offset(int(base[0])), end, Offset(int(base[breaks].max())) if whole else end, {})
    order = np.flatnonzero(mine)
    if not order.size:
        return found
    solid = np.maximum.accumulate(np.where(breaks, base, base[0]))
    order = order[np.argsort(ids[order].astype(np.int64), kind="stable")]
    return found._replace(producers=_producers(columns, rows.start, order, solid[order], faults))


def _producers(columns: HeaderColumns, begin: int, order: Column, solid: Column, faults: Faults) -> dict[int, Seen]:
    """Return what batches tell that are sorted by producer; `order` are their rows behind `begin`."""
    at = order + begin
    ids, epoch, first = (
        column[at].astype(np.int64) for column in (columns.producer_id, columns.producer_epoch, columns.base_sequence)
    )
    base, last, attributes = columns.base_offset[at], columns.last_offset[at], columns.attributes[at]
    final = np.where(first < 0, -1, (first + last - base) % SEQUENCES)
    control = attributes & CONTROL != 0
    place = np.arange(len(at))
    _pairs(np.flatnonzero(~control), ids, epoch, base, last, first, final, solid, faults)
    starts = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
    ends = np.concatenate((starts[1:], [len(at)]))
    marker = np.maximum.reduceat(np.where(control, place, -1), starts)
    full = columns.record_count[at] > 0
    told = np.maximum.reduceat(np.where(~control | full, place, -1), starts)
    ended = np.maximum.reduceat(np.where(control & full, place, -1), starts)
    opening = (attributes & TRANSACTIONAL != 0) & ~control & full
    opening &= place > np.repeat(marker, ends - starts)
    data_first = np.minimum.reduceat(np.where(control, FAR, place), starts)
    data_last = np.maximum.reduceat(np.where(control, -1, place), starts)
    opens = np.minimum.reduceat(np.where(opening, place, FAR), starts)

    def at_place(column: Column, places: Column) -> list[int]:
        known = (places >= 0) & (places < FAR)
        return np.where(known, column[np.where(known, places, 0)], -1).tolist()  # type: ignore[no-any-return]  # numpy's

    seen = zip(
        at_place(epoch, told),
        *(at_place(column, data_first) for column in (epoch, first, base, solid)),
        *(at_place(column, data_last) for column in (epoch, final, last)),
        *(at_place(base, places) for places in (marker, ended, opens)), strict=True,
    )  # fmt: skip
    return dict(zip(ids[starts].tolist(), map(Seen._make, seen), strict=True))


def _pairs(
    data: Column, ids: Column, epoch: Column, base: Column, last: Column, first: Column, final: Column, solid: Column,
    faults: Faults,
) -> None:  # fmt: skip
    """Find the batches with data whose sequences do not go on from the batch of the same producer and epoch before."""
    one, other = data[:-1], data[1:]
    same = (ids[one] == ids[other]) & (epoch[one] == epoch[other]) & (final[one] >= 0)
    wrong = same & (first[other] > 0) & ((first[other] - final[one]) % SEQUENCES != 1)
    for a, b in zip(one[wrong].tolist(), other[wrong].tolist(), strict=True):
        compare(
            int(ids[b]), int(epoch[b]), (int(base[b]), int(first[b])), (int(last[a]), int(final[a])), int(solid[b]),
            faults,
        )  # fmt: skip
