"""A small segment in which nothing is wrong, read without numpy, which costs more to begin than few batches cost.

Whatever is not as a broker writes it leads to None, and to `kcheck.segments.segment`, which finds out what it is.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from kcheck.formats import _entry_file
from kcheck.formats._layout import Layout
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.record_batch import CONTROL, HEADER, OVERHEAD, TRANSACTIONAL, body_from, crc32c, increment_sequence
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Epoch, Offset
from kcheck.model.finding import Location
from kcheck.model.producers import Producing, Range, Seen
from kcheck.model.segments import GAPS_KEPT, End, EpochRun, Gap, IndexView, SegmentView, Transactions
from kcheck.model.source import Filled, Source
from kcheck.segments.producers import CUT_COUNT_MAX

SIZE_MAX = 128 << 10
_BATCH_COUNT_MAX = 100
"""About so many batches cost as much here as they do there."""
_CRC_FROM = body_from(2)
_NO_TRANSACTIONS = Transactions((), {}, {})


class _PlainBatches(NamedTuple):
    """What the batches of a segment say, one item each in the first five; `highest` is the largest timestamp before.

    `epoch_begins` tells which batch is the first of each leader epoch.
    """

    position: Sequence[int]
    base_offset: Sequence[int]
    last_offset: Sequence[int]
    timestamp: Sequence[int]
    highest: Sequence[int]
    epoch_begins: list[tuple[Epoch, int]]
    producers: dict[int, Seen]
    solid_from: Offset
    records: int

    def epochs(self) -> tuple[EpochRun, ...]:
        """Return the runs of batches with one epoch."""
        if len(self.epoch_begins) == 1:
            return (EpochRun(self.epoch_begins[0][0], Offset(self.base_offset[0]), Offset(self.last_offset[-1])),)
        ends = [begin - 1 for _, begin in self.epoch_begins[1:]] + [-1]
        return tuple(
            EpochRun(epoch, Offset(self.base_offset[begin]), Offset(self.last_offset[end]))
            for (epoch, begin), end in zip(self.epoch_begins, ends, strict=False)
        )

    def gaps(self) -> tuple[Gap, ...]:
        """Return the first gaps between batches."""
        ends = (last + 1 for last in self.last_offset)
        found = (Gap(Offset(end), Offset(first)) for end, first in zip(ends, self.base_offset[1:], strict=False))
        return tuple(islice((gap for gap in found if gap.start < gap.end), GAPS_KEPT))


def sound(
    source: Source, indexes: Mapping[str, Filled | None], where: Location, base: Offset,
    *, verify: bool, cuts: Sequence[Offset],
) -> SegmentView | None:  # fmt: skip
    """Return what `examine` of `segments/segment.py` returns of a small segment without a fault, else None.

    `indexes` are those beside it by their endings, None where one cannot be read.
    """
    size = source.size
    data = source.pread(size, 0)
    found = _batches(data, base, verify=verify) if len(data) == size else None
    if found is None:
        return None
    stem = (where.file or "").removesuffix(".log")
    views = []
    for ending, layout, holds in _INDEXES:
        entries, view = indexes[ending], None
        if entries is not None:
            view = _index(entries, layout, holds, where.of_file(stem + ending), base, found)
            if view is None:
                return None
        views.append(view)
    count = len(found.position)
    first = Offset(found.base_offset[0]) if count else None
    end = Offset(found.last_offset[-1] + 1) if count else base
    asked = cuts[-CUT_COUNT_MAX:]
    if asked and min(asked) < end:
        return None
    whole = None if first is None else Range(first, end, found.solid_from, found.producers)
    return SegmentView(
        where=where,
        base_offset=base,
        size=size,
        valid_size=size,
        end=End.WHOLE,
        zeros=False,
        batches=count,
        first_offset=first,
        end_offset=end,
        max_timestamp=max(found.timestamp, default=-1),
        epochs=found.epochs(),
        faults=(),
        counts={},
        beyond=None,
        offset_index=views[0],
        time_index=views[1],
        transactions=_NO_TRANSACTIONS,
        producers=Producing(whole, dict.fromkeys(asked, whole), (), {}),
        holes=end - base - found.records,
        gaps=() if found.records == end - base else found.gaps(),
    )


def _batches(data: bytes, base: Offset, *, verify: bool) -> _PlainBatches | None:
    """Return what the batches say, None where one is not as a broker appends it, or is of a transaction."""
    rows: list[tuple[int, int, int, int, int]] = []
    epoch_begins: list[tuple[Epoch, int]] = []
    producers: dict[int, Seen] = {}
    size, header_size, ceiling = len(data), HEADER.size, base + RELATIVE_OFFSET_MAX
    at, before, highest, solid, records, epoch_before = 0, base - 1, -1, 0, 0, 0
    unpack_from, summed = HEADER.unpack_from, memoryview(data)
    while at < size:
        if size - at < header_size or len(rows) == _BATCH_COUNT_MAX:
            return None
        (
            first, length, epoch, magic, crc, attributes, delta, _, timestamp, producer_id, producer_epoch, sequence,
            count,
        ) = unpack_from(data, at)  # fmt: skip
        end, last = at + OVERHEAD.size + length, first + delta
        if (
            magic != 2
            or not at + header_size <= end <= size
            or not before < first <= last <= ceiling
            or not 0 < count <= delta + 1
            or epoch < epoch_before
            or attributes & (TRANSACTIONAL | CONTROL)
            or (verify and crc32c(summed[at + _CRC_FROM : end]) != crc)
        ):
            return None
        if first != before + 1 or not rows:
            solid = first
        if producer_id >= 0:
            final = -1 if sequence < 0 else increment_sequence(sequence, delta)
            seen = producers.get(producer_id)
            if seen is None:
                begin = producer_epoch, sequence, first, solid
            elif (
                sequence > 0
                and seen.last_epoch == producer_epoch
                and sequence != increment_sequence(seen.last_sequence, 1)
            ):
                return None
            else:
                begin = seen[1:5]
            producers[producer_id] = Seen(producer_epoch, *begin, producer_epoch, final, last, -1, -1, -1)
        if epoch > epoch_before or not rows:
            epoch_begins.append((Epoch(epoch), len(rows)))
        rows.append((at, first, last, timestamp, highest))
        highest = max(highest, timestamp)
        at, before, epoch_before, records = end, last, epoch, records + count
    columns: Iterable[Sequence[int]] = zip(*rows, strict=True) if rows else ((),) * 5
    position, base_offset, last_offset, timestamps, before_each = columns
    return _PlainBatches(
        position, base_offset, last_offset, timestamps, before_each, epoch_begins, producers, Offset(solid), records
    )


def _offset_entries(rows: list[tuple[int, int]], base: Offset, found: _PlainBatches) -> bool:
    """Whether each entry points to a batch at or before the one that holds its offset, and all rise."""
    position_before, offset_before = -1, base - 1
    for relative, position in rows:
        offset = base + relative
        at = bisect_left(found.last_offset, offset)
        if (
            not (offset_before < offset and position_before < position)
            or at == len(found.position)
            or not found.base_offset[at] <= offset
            or position > found.position[at]
            or position not in found.position
        ):
            return False
        position_before, offset_before = position, offset
    return True


def _time_entries(rows: list[tuple[int, int]], base: Offset, found: _PlainBatches) -> bool:
    """Whether each entry has the timestamp of the batch that holds its offset, the largest so far, and all rise."""
    timestamp_before, offset_before = -1, int(base)
    for timestamp, relative in rows:
        offset = base + relative
        at = bisect_left(found.last_offset, offset)
        if (
            not (timestamp_before < timestamp and offset_before <= offset)
            or at == len(found.position)
            or not found.base_offset[at] <= offset
            or not found.highest[at] < found.timestamp[at] == timestamp
        ):
            return False
        timestamp_before, offset_before = timestamp, offset
    return True


_Holds = Callable[[list[tuple[int, int]], Offset, _PlainBatches], bool]
_INDEXES: tuple[tuple[str, Layout, _Holds], ...] = (
    (".index", OFFSET_INDEX_ENTRY, _offset_entries),
    (".timeindex", TIME_INDEX_ENTRY, _time_entries),
)


def _index(
    file: Filled, layout: Layout, holds: _Holds, where: Location, base: Offset, found: _PlainBatches
) -> IndexView | None:
    """Return the view of an index, None where an entry of it does not hold."""
    data, size = file
    used = _entry_file.used_part(data, size, layout) if data else data
    rows = list(layout.iter_unpack(used))
    if rows and not holds(rows, base, found):
        return None
    torn = size % layout.size
    last = rows[-1][0] if rows and layout is TIME_INDEX_ENTRY else None
    return IndexView(where, size, len(rows), size - torn - len(used), torn, (), {}, last)
