"""The producer snapshots of a partition, held against its batches.

What the cleaner took, what expired and what lies before the first segment is not known: only what batches contradict
that are there is told.
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
from kcheck.segments.producers import FAR, PRODUCER_COUNT_MAX, Faults, joined


def snapshot_offsets(names: Iterable[str]) -> list[Offset]:
    """Return the offsets of the producer snapshots among the files of a partition directory, ascending."""
    files = map(parse_file, names)
    plain = (file.offset for file in files if file.kind is FileKind.PRODUCER_SNAPSHOT and not file.suffix)
    return sorted(offset for offset in plain if offset is not None)


def cuts(offsets: Sequence[Offset], base: Offset, behind: Offset | None) -> tuple[Offset, ...]:
    """Return those of the offsets that lie inside of a segment; `behind` is None: it is the last one."""
    end = len(offsets) if behind is None else bisect_left(offsets, behind)
    return tuple(offsets[bisect_right(offsets, base) : end])


class SnapshotChecker:
    """Goes from segment to segment of a partition, and holds what they tell against its snapshots."""

    def __init__(self, snapshots: Mapping[str, FileView]) -> None:
        """Take the small files by name; those that a broker refuses are none."""
        files = ((parse_file(name).offset, view) for name, view in snapshots.items())
        self._snapshots = {
            offset: view
            for offset, view in sorted(files, key=lambda item: item[0] or 0)
            if offset is not None and view.reads is not None and view.reads.value is not None
        }
        self._left = list(self._snapshots)
        self._before: Range | None = None
        self._followed = True
        self._faults = Faults()
        self._views: list[SnapshotView] = []

    def take(self, found: Producing | None, base: Offset) -> None:
        """Go over the next segment; None where it could not be followed, and with it all behind it."""
        if self._left:
            self._hold([offset for offset in self._left if offset <= base], {base: self._before})
        if found is None:
            self._followed, self._before = False, None
            return
        if found.at:
            at = {offset: found.at[offset] for offset in sorted(found.at) if offset in self._snapshots}
            self._hold(at, {offset: self._with(range_, Faults()) for offset, range_ in at.items()})
        if self._followed:
            if found.counts:
                for faulty in found.faults:
                    self._faults.take(faulty)
                self._faults.counts.update({fault: n - _kept(found, fault) for fault, n in found.counts.items()})
            self._before = self._with(found.whole, self._faults)
            self._followed = self._before is None or len(self._before.producers) <= PRODUCER_COUNT_MAX

    def view(self) -> ProducersView:
        """Return what was found, behind the last segment."""
        self._hold(list(self._left), {})
        end = FAR if self._before is None else self._before.end_offset
        newest = max((offset for offset in self._snapshots if offset <= end), default=None)
        snapshots = tuple(each._replace(newest=each.offset == newest) for each in self._views)
        known = still = None
        if self._followed:
            producers = {} if self._before is None else self._before.producers
            known, still = len(producers), sum(each.open_from >= 0 for each in producers.values())
        return ProducersView(snapshots, tuple(self._faults.kept), self._faults.counts, known, still)

    def _with(self, found: Range | None, faults: Faults) -> Range | None:
        if self._before is None or found is None:
            return self._before or found
        return joined(self._before, found, faults)

    def _hold(self, offsets: Iterable[Offset], at: Mapping[Offset, Range | None]) -> None:
        """Hold the snapshots of these offsets against the batches before each, where these are known."""
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


def _kept(found: Producing, fault: SequenceFault) -> int:
    return sum(each.fault is fault for each in found.faults)


def _faulty(producers: Iterable[Producer], offset: Offset, state: Range | None) -> Iterator[FaultyProducer]:
    """Yield what a snapshot says otherwise than the batches below its offset.

    Of each producer one thing is told. `state` is None where they could not be followed.
    """
    whole = state is not None and state.end_offset == offset
    solid_from = state.solid_from if state is not None and whole else Offset(FAR)
    by_id = {} if state is None else state.producers
    opened: set[int] = set()
    for each in producers:
        found = _contradiction(each, offset, by_id.get(each.producer_id), solid_from)
        if found is not None:
            yield FaultyProducer(found[0], each.producer_id, *found[1:])
        if each.current_txn_first_offset >= 0 or found is not None:
            opened.add(each.producer_id)
    for producer_id, seen in by_id.items():
        if seen.open_from >= solid_from and producer_id not in opened:
            yield FaultyProducer(SnapshotFault.LACKS, producer_id, -1, seen.open_from)


def _contradiction(
    entry: Producer, offset: Offset, seen: Seen | None, solid_from: Offset
) -> tuple[SnapshotFault, int, int] | None:
    """Return what an entry says wrongly, what it states, and what is so.

    Up to 1.0 a marker's offset can stand as the last one, with the sequence of the data before it.
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
    # A marker alone makes an entry without a batch where the producer had expired.
    if entry.last_offset >= 0 or seen.last_offset > seen.control_offset:
        if entry.producer_epoch == seen.last_epoch and entry.last_offset < seen.last_offset:
            return SnapshotFault.OLDER, entry.last_offset, seen.last_offset
        same = (entry.producer_epoch, entry.last_offset) == (seen.last_epoch, seen.last_offset)
        if same and entry.last_sequence != seen.last_sequence:
            return SnapshotFault.SEQUENCE, entry.last_sequence, seen.last_sequence
    if 0 <= entry.current_txn_first_offset <= seen.ended_offset:
        return SnapshotFault.ENDED, entry.current_txn_first_offset, seen.ended_offset
    return None
