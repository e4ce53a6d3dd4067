"""A segment of any size with any fault, with its batches as columns, compared with its indexes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kcheck.model.entries import RELATIVE_OFFSET_MAX, Epoch, Offset
from kcheck.model.finding import Location
from kcheck.model.java import LONG_MIN
from kcheck.model.segments import (
    FAULT_COUNT_MAX,
    GAPS_KEPT,
    BatchFault,
    End,
    Epochless,
    EpochRun,
    FaultyBatch,
    Gap,
    SegmentView,
)
from kcheck.model.source import Filled, Source
from kcheck.segments.batches_after_damage import intact_batches, only_zeros
from kcheck.segments.header_columns import Array, HeaderColumns, HeaderReader, Mask, highest_before, newest
from kcheck.segments.indexes import OffsetIndexCheck, TimeIndexCheck
from kcheck.segments.producer_tracking import SegmentProducers
from kcheck.segments.transactions import SegmentTransactions

if TYPE_CHECKING:
    from kcheck.segments.batch_records import RecordCheck

_EPOCH_COUNT_MAX = 10_000


def read_columnar(
    source: Source,
    indexes: Mapping[str, Filled | None],
    where: Location,
    base: Offset,
    *,
    verify: bool,
    records: "RecordCheck | None",
    cuts: Sequence[Offset],
) -> SegmentView:
    """Return the facts about the segment of an open `.log`.

    `indexes` are its indexes by file extension, None for an unreadable one. `records` decodes every batch.
    """
    size = source.size
    batches, transactions, producers = _BatchChecks(base), SegmentTransactions(), SegmentProducers(cuts)
    checks = {ending: _index_check(indexes[ending], where, base, ending) for ending in _CHECKS}
    index = checks[".index"]
    starts = index.position if isinstance(index, OffsetIndexCheck) else None
    reader = HeaderReader(source, verify=verify, starts=starts, grow=records is None)
    for columns in reader:
        batches.take(columns)
        transactions.take(columns)
        if records is not None:
            records.take(columns, reader.window)
        producers.take(columns)
        for check in checks.values():
            if check is not None:
                check.take(columns)
    views = {ending: None if check is None else check.view() for ending, check in checks.items()}
    zeros = reader.end in (End.TORN, End.CORRUPT) and only_zeros(source, reader.position, size)
    beyond = None
    if reader.end in (End.TORN, End.CORRUPT) and not zeros:
        beyond = intact_batches(source, reader.position, size, base=base, after=batches.last_offset)
    return SegmentView(
        where=where,
        base_offset=base,
        size=size,
        valid_size=reader.position,
        end=reader.end,
        zeros=zeros,
        batches=batches.count,
        first_offset=batches.first_offset,
        end_offset=Offset(base if batches.count == 0 else batches.last_offset + 1),
        max_timestamp=batches.max_timestamp,
        epochs=tuple(batches.epochs),
        faults=tuple(batches.faults),
        counts={fault: count for fault, count in batches.counts.items() if count},
        beyond=beyond,
        offset_index=views[".index"],
        time_index=views[".timeindex"],
        transactions=transactions.view(),
        producers=producers.view(),
        holes=batches.holes,
        gaps=tuple(batches.gaps),
        lacks_epochs=batches.lacks_epochs,
        epochless=batches.epochless,
        records=None if records is None else records.view(),
    )


_IndexCheck = OffsetIndexCheck | TimeIndexCheck
_CHECKS: dict[str, type[_IndexCheck]] = {".index": OffsetIndexCheck, ".timeindex": TimeIndexCheck}


def _index_check(data: Filled | None, where: Location, base: Offset, ending: str) -> _IndexCheck | None:
    if data is None:
        return None
    name = (where.file or "").removesuffix(".log") + ending
    return _CHECKS[ending](data, where._replace(file=name), base)


class _BatchChecks:
    """The totals over the batches of a segment, and which batches have a fault."""

    def __init__(self, base: Offset) -> None:
        self.count = 0
        self.records = 0
        self.first_offset: Offset | None = None
        self.last_offset = Offset(LONG_MIN)  # Below every offset: there is no batch yet.
        self.max_timestamp = -1
        self.epochs: list[EpochRun] = []
        self.faults: list[FaultyBatch] = []
        self.counts: Counter[BatchFault] = Counter()
        self.gaps: list[Gap] = []
        self.lacks_epochs = False
        self.epochless: Epochless | None = None
        self._base = base
        self._highest_epoch = -1
        self._epochs_are_whole = True

    @property
    def holes(self) -> int:
        """Number of offsets up to the last one without a record, by the headers."""
        return self.last_offset + 1 - self._base - self.records if self.count else 0

    def take(self, columns: HeaderColumns) -> None:
        """Take the batches of one window."""
        if self.first_offset is None:
            self.first_offset = Offset(int(columns.base_offset[0]))
        before = np.concatenate(([self.last_offset], columns.last_offset[:-1]))
        self.count += len(columns.position)
        self.records += int(columns.record_count.sum(dtype=np.int64))
        for fault, mask, context in self._faults(columns, before):
            if mask.any():
                self._report(fault, columns, mask, context)
        self.last_offset = Offset(int(columns.last_offset[-1]))
        if self.holes and len(self.gaps) < GAPS_KEPT:
            self._take_gaps(columns, before)
        self.max_timestamp = max(self.max_timestamp, int(newest(columns).max()))
        self._take_epochs(columns)

    def _faults(self, columns: HeaderColumns, before: Array) -> Iterator[tuple[BatchFault, Mask, Array]]:
        """Yield each fault, the mask of the batches that have it, and for each batch what came before it."""
        base, last, epoch = columns.base_offset, columns.last_offset, columns.epoch
        if columns.valid is not None:
            yield BatchFault.CRC, ~columns.valid, before
        yield BatchFault.MAGIC, (columns.magic < 0) | (columns.magic > 2), before
        yield BatchFault.DELTA, last < base, before
        yield BatchFault.ORDER, base <= before, before
        outside = (base < self._base) | (last > self._base + RELATIVE_OFFSET_MAX)
        yield BatchFault.RANGE, outside, before
        count, room = columns.record_count, last - base + 1
        wrong = count.view(np.uint32) > room  # A negative one is huge.
        if wrong.any():
            wrong &= (columns.magic >= 2) & ((count < 0) | (room > 0))
        yield BatchFault.COUNT, wrong, before
        highest = highest_before(self._highest_epoch, epoch)
        yield BatchFault.EPOCH, (epoch != -1) & (epoch < highest[:-1]), highest[:-1]

    def _report(self, fault: BatchFault, columns: HeaderColumns, mask: Mask, before: Array) -> None:
        rows = mask.nonzero()[0]
        room = FAULT_COUNT_MAX - self.counts[fault]
        self.counts[fault] += len(rows)
        for at in rows[: max(room, 0)].tolist():
            self.faults.append(
                FaultyBatch(
                    fault=fault,
                    position=int(columns.position[at]),
                    size=int(columns.size[at]),
                    base_offset=Offset(int(columns.base_offset[at])),
                    last_offset=Offset(int(columns.last_offset[at])),
                    epoch=int(columns.epoch[at]),
                    record_count=int(columns.record_count[at]),
                    magic=int(columns.magic[at]),
                    before=int(before[at]),
                )
            )

    def _take_gaps(self, columns: HeaderColumns, before: Array) -> None:
        """Keep the first gaps; below magic 2 a header does not name the first offset."""
        has_gap = (columns.base_offset > before + 1) & (before >= self._base) & (columns.magic >= 2)
        rows = has_gap.nonzero()[0][: GAPS_KEPT - len(self.gaps)].tolist()
        self.gaps += (Gap(Offset(int(before[at]) + 1), Offset(int(columns.base_offset[at]))) for at in rows)

    def _take_epochless(self, columns: HeaderColumns) -> None:
        rows = ((columns.epoch == -1) & (columns.magic >= 2)).nonzero()[0]
        if rows.size:
            first = Epochless(0, int(columns.position[rows[0]]), Offset(int(columns.base_offset[rows[0]])))
            before = self.epochless or first
            self.epochless = before._replace(batches=before.batches + len(rows))

    def _take_epochs(self, columns: HeaderColumns) -> None:
        epoch, base, last = columns.epoch, columns.base_offset, columns.last_offset
        known = epoch >= 0
        if not known.all():
            self.lacks_epochs = True
            self._take_epochless(columns)
            epoch, base, last = epoch[known], base[known], last[known]
        if not epoch.size:
            return
        begins = [0, *((epoch[1:] != epoch[:-1]).nonzero()[0] + 1).tolist()]
        for begin, end in zip(begins, [*(begin - 1 for begin in begins[1:]), epoch.size - 1], strict=True):
            run = EpochRun(Epoch(int(epoch[begin])), Offset(int(base[begin])), Offset(int(last[end])))
            if self._epochs_are_whole and self.epochs and self.epochs[-1].epoch == run.epoch:
                self.epochs[-1] = self.epochs[-1]._replace(last_offset=run.last_offset)
            elif len(self.epochs) < _EPOCH_COUNT_MAX:
                self.epochs.append(run)
            else:
                self._epochs_are_whole = False
                break
        self._highest_epoch = max(self._highest_epoch, int(epoch.max()))
