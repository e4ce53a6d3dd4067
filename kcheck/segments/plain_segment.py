"""A small segment without a fault, read without numpy, as its import costs more than a few batches do.

If anything differs from a broker's output, the answer is None, and `columnar_segment` finds the fault.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Epoch, Offset
from kcheck.model.finding import Location
from kcheck.model.producers import Producing, Range, Seen
from kcheck.model.segments import GAPS_KEPT, End, EpochRun, Gap, IndexView, SegmentView, Transactions
from kcheck.model.source import Filled, Source
from kcheck.records import entry_file
from kcheck.records.batch import CONTROL, HEADER, OVERHEAD, TRANSACTIONAL, body_from, crc32c, increment_sequence
from kcheck.records.layout import Layout
from kcheck.segments.producers import CUT_COUNT_MAX

SIZE_MAX = 256 << 10
_BATCH_COUNT_MAX = 100
"""More batches than this are read faster with numpy."""
_CRC_FROM = body_from(2)
_NO_TRANSACTIONS = Transactions((), {}, {})


class _PlainBatches(NamedTuple):
    """The batches of a segment; the first five fields have one item for each batch."""

    position: Sequence[int]
    """Its position in the `.log`."""
    base_offset: Sequence[int]
    """Its first offset."""
    last_offset: Sequence[int]
    """Its last offset."""
    timestamp: Sequence[int]
    """Its largest timestamp."""
    highest: Sequence[int]
    """The largest timestamp of the batches before it."""
    epoch_begins: list[tuple[Epoch, int]]
    """Each leader epoch, with the number of its first batch."""
    producers: dict[int, Seen]
    """The producers by id."""
    solid_from: Offset
    """From this offset to the end no offset is missing."""
    records: int
    """Number of records, by the headers."""

    def epochs(self) -> tuple[EpochRun, ...]:
        """Return the runs of batches of one leader epoch."""
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
        gaps = (Gap(Offset(end), Offset(first)) for end, first in zip(ends, self.base_offset[1:], strict=False))
        return tuple(islice((gap for gap in gaps if gap.start < gap.end), GAPS_KEPT))


def read_plain(
    source: Source, indexes: Mapping[str, Filled | None], where: Location, base: Offset,
    *, verify: bool, cuts: Sequence[Offset],
) -> SegmentView | None:  # fmt: skip
    """Return the facts about a small segment without a fault; None for any other.

    `indexes` are its indexes by file extension, None for an unreadable one.
    """
    size = source.size
    data = source.pread(size, 0)
    batches = _batches(data, base, verify=verify) if len(data) == size else None
    if batches is None:
        return None
    stem = (where.file or "").removesuffix(".log")
    views = []
    for ending, layout, agrees in _INDEXES:
        entries, view = indexes[ending], None
        if entries is not None:
            view = _index(entries, layout, agrees, where.of_file(stem + ending), base, batches)
            if view is None:
                return None
        views.append(view)
    count = len(batches.position)
    first = Offset(batches.base_offset[0]) if count else None
    end = Offset(batches.last_offset[-1] + 1) if count else base
    latest_cuts = cuts[-CUT_COUNT_MAX:]
    if latest_cuts and min(latest_cuts) < end:
        return None
    producers = None if first is None else Range(first, end, batches.solid_from, batches.producers)
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
        max_timestamp=max(batches.timestamp, default=-1),
        epochs=batches.epochs(),
        faults=(),
        counts={},
        beyond=None,
        offset_index=views[0],
        time_index=views[1],
        transactions=_NO_TRANSACTIONS,
        producers=Producing(producers, dict.fromkeys(latest_cuts, producers), (), {}),
        holes=end - base - batches.records,
        gaps=() if batches.records == end - base else batches.gaps(),
    )


def _batches(data: bytes, base: Offset, *, verify: bool) -> _PlainBatches | None:
    """Return the batches; None if one is transactional, or not as a broker appends it."""
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


def _offset_entries(rows: list[tuple[int, int]], base: Offset, batches: _PlainBatches) -> bool:
    """Return whether entries ascend, and each points to its batch or an earlier one."""
    position_before, offset_before = -1, base - 1
    for relative, position in rows:
        offset = base + relative
        at = bisect_left(batches.last_offset, offset)
        if (
            not (offset_before < offset and position_before < position)
            or at == len(batches.position)
            or not batches.base_offset[at] <= offset
            or position > batches.position[at]
            or position not in batches.position
        ):
            return False
        position_before, offset_before = position, offset
    return True


def _time_entries(rows: list[tuple[int, int]], base: Offset, batches: _PlainBatches) -> bool:
    """Return whether entries ascend, and each has the timestamp of the batch at its offset, larger than any before."""
    timestamp_before, offset_before = -1, int(base)
    for timestamp, relative in rows:
        offset = base + relative
        at = bisect_left(batches.last_offset, offset)
        if (
            not (timestamp_before < timestamp and offset_before <= offset)
            or at == len(batches.position)
            or not batches.base_offset[at] <= offset
            or not batches.highest[at] < batches.timestamp[at] == timestamp
        ):
            return False
        timestamp_before, offset_before = timestamp, offset
    return True


_Agrees = Callable[[list[tuple[int, int]], Offset, _PlainBatches], bool]
_INDEXES: tuple[tuple[str, Layout, _Agrees], ...] = (
    (".index", OFFSET_INDEX_ENTRY, _offset_entries),
    (".timeindex", TIME_INDEX_ENTRY, _time_entries),
)


def _index(
    file: Filled, layout: Layout, agrees: _Agrees, where: Location, base: Offset, batches: _PlainBatches
) -> IndexView | None:
    """Return the facts about an index; None if an entry is wrong."""
    data, size = file
    used = entry_file.used_part(data, size, layout) if data else data
    rows = list(layout.iter_unpack(used))
    if rows and not agrees(rows, base, batches):
        return None
    torn = size % layout.size
    last = rows[-1][0] if rows and layout is TIME_INDEX_ENTRY else None
    return IndexView(where, size, len(rows), size - torn - len(used), torn, (), {}, last)
