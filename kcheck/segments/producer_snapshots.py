"""Checks whether the producer snapshots of a partition agree with its batches.

Batches may be compacted, deleted, or below the first segment. A producer may have expired. So kcheck reports only
contradictions of the remaining batches.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kcheck.formats.producer_snapshot import Producer
from kcheck.model.entries import Offset
from kcheck.model.names import FileKind, parse_file
from kcheck.model.producers import (
    FaultyProducer,
    ProducersView,
    Producing,
    Range,
    Seen,
    SequenceFault,
    SnapshotFault,
    SnapshotView,
)
from kcheck.model.segments import FAULT_COUNT_MAX
from kcheck.model.views import FileView
from kcheck.segments.producers import FAR, PRODUCER_COUNT_MAX, SequenceFaults, join_ranges


def snapshot_offsets(names: Iterable[str]) -> list[Offset]:
    """Return the offsets of the producer snapshots among the files of a partition directory, ascending."""
    files = map(parse_file, names)
    plain = (file.offset for file in files if file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix)
    return sorted(offset for offset in plain if offset is not None)


def offsets_within(offsets: Sequence[Offset], base: Offset, next_base: Offset | None) -> tuple[Offset, ...]:
    """Return the offsets within a segment; `next_base` is the base offset of the next one, None for the last."""
    end = len(offsets) if next_base is None else bisect_left(offsets, next_base)
    return tuple(offsets[bisect_right(offsets, base) : end])


class SnapshotChecker:
    """Compares the snapshots of a partition with its batches, segment by segment."""

    def __init__(self, snapshots: Mapping[str, FileView]) -> None:
        """Take the snapshots by name, without snapshots that a broker refuses."""
        files = ((parse_file(name).offset, view) for name, view in snapshots.items())
        self._snapshots = {
            offset: view
            for offset, view in sorted(files, key=lambda item: item[0] or 0)
            if offset is not None and view.reads is not None and view.reads.value is not None
        }
        self._left = list(self._snapshots)
        self._before: Range | None = None
        self._followed = True
        self._faults = SequenceFaults()
        self._views: list[SnapshotView] = []

    def take(self, segment: Producing | None, base: Offset) -> None:
        """Take the next segment; None for unknown producers, which makes them unknown in later segments too."""
        if self._left:
            self._compare([offset for offset in self._left if offset <= base], {base: self._before})
        if segment is None:
            self._followed, self._before = False, None
            return
        if segment.at:
            at = {offset: segment.at[offset] for offset in sorted(segment.at) if offset in self._snapshots}
            self._compare(at, {offset: self._with(range_, SequenceFaults()) for offset, range_ in at.items()})
        if self._followed:
            if segment.counts:
                for faulty in segment.faults:
                    self._faults.take(faulty)
                self._faults.counts.update({fault: n - _kept(segment, fault) for fault, n in segment.counts.items()})
            self._before = self._with(segment.whole, self._faults)
            self._followed = self._before is None or len(self._before.producers) <= PRODUCER_COUNT_MAX

    def view(self) -> ProducersView:
        """Return the result, after the last segment."""
        self._compare(list(self._left), {})
        end = FAR if self._before is None else self._before.end_offset
        newest = max((offset for offset in self._snapshots if offset <= end), default=None)
        snapshots = tuple(view._replace(newest=view.offset == newest) for view in self._views)
        known = still_open = None
        if self._followed:
            producers = {} if self._before is None else self._before.producers
            known, still_open = len(producers), sum(producer.open_from >= 0 for producer in producers.values())
        return ProducersView(snapshots, tuple(self._faults.kept), self._faults.counts, known, still_open)

    def _with(self, later: Range | None, faults: SequenceFaults) -> Range | None:
        if self._before is None or later is None:
            return self._before or later
        return join_ranges(self._before, later, faults)

    def _compare(self, offsets: Iterable[Offset], at: Mapping[Offset, Range | None]) -> None:
        """Compare the snapshots at these offsets with the producers below each, if these are known."""
        for offset in offsets:
            self._left.remove(offset)
            view = self._snapshots[offset]
            assert view.reads is not None
            assert view.reads.value is not None
            faults, counts = [], Counter[SnapshotFault]()
            for faulty in _faulty(view.reads.value.producers, offset, at.get(offset) if self._followed else None):
                counts[faulty.fault] += 1
                if counts[faulty.fault] <= FAULT_COUNT_MAX:
                    faults.append(faulty)
            self._views.append(SnapshotView(view.where, offset, False, tuple(faults), counts))


def _kept(segment: Producing, fault: SequenceFault) -> int:
    return sum(faulty.fault is fault for faulty in segment.faults)


def _faulty(producers: Iterable[Producer], offset: Offset, state: Range | None) -> Iterator[FaultyProducer]:
    """Yield the wrong and missing entries of a snapshot, one for each producer.

    `state` has the producers in the batches below its offset; None if they are not known.
    """
    is_followed = state is not None and state.end_offset == offset
    solid_from = state.solid_from if state is not None and is_followed else Offset(FAR)
    by_id = {} if state is None else state.producers
    opened: set[int] = set()
    for entry in producers:
        contradiction = _contradiction(entry, offset, by_id.get(entry.producer_id), solid_from)
        if contradiction is not None:
            yield FaultyProducer(contradiction[0], entry.producer_id, *contradiction[1:])
        if entry.current_txn_first_offset >= 0 or contradiction is not None:
            opened.add(entry.producer_id)
    for producer_id, seen in by_id.items():
        if seen.open_from >= solid_from and producer_id not in opened:
            yield FaultyProducer(SnapshotFault.LACKS, producer_id, -1, seen.open_from)


def _contradiction(
    entry: Producer, offset: Offset, seen: Seen | None, solid_from: Offset
) -> tuple[SnapshotFault, int, int] | None:
    """Return the fault of an entry, the value in it, and the value in the batches; None without a fault.

    In 1.0 and earlier the last offset can be a marker's, with the sequence number of the data before it.
    """
    highest = max(entry.last_offset, entry.current_txn_first_offset)
    if highest >= offset:
        return SnapshotFault.BEYOND, highest, offset
    reached = -1 if seen is None else max(seen.last_offset, seen.control_offset)
    if entry.last_offset > reached and entry.last_offset >= solid_from:
        return SnapshotFault.ABSENT, entry.last_offset, reached
    if seen is None:
        return None
    if entry.producer_epoch < seen.epoch:
        return SnapshotFault.EPOCH, entry.producer_epoch, seen.epoch
    # A marker of an expired producer makes an entry without a batch.
    if entry.last_offset >= 0 or seen.last_offset > seen.control_offset:
        if entry.producer_epoch == seen.last_epoch and entry.last_offset < seen.last_offset:
            return SnapshotFault.OLDER, entry.last_offset, seen.last_offset
        same = (entry.producer_epoch, entry.last_offset) == (seen.last_epoch, seen.last_offset)
        if same and entry.last_sequence != seen.last_sequence:
            return SnapshotFault.SEQUENCE, entry.last_sequence, seen.last_sequence
    if 0 <= entry.current_txn_first_offset <= seen.ended_offset:
        return SnapshotFault.ENDED, entry.current_txn_first_offset, seen.ended_offset
    return None
