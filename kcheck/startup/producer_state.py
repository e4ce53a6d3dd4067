"""The producer state of a log that is loaded: ProducerStateManager with its snapshots, 2.8 to 4.3.1."""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice, pairwise

import numpy as np

from kcheck.core.start.predictions import new_content
from kcheck.core.start.producer_state import (
    Completed,
    DataBatch,
    EmptyMarker,
    Entry,
    Marker,
    ProducerReplay,
    ProducerStates,
    ReplayStep,
)
from kcheck.core.start.producer_state import TransactionStateError as StateError
from kcheck.core.start.startup import stray_snapshots
from kcheck.formats import producer_snapshot
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.entries import Offset
from kcheck.model.names import DELETED, segment_prefix
from kcheck.model.release import Release
from kcheck.records.batch import (
    CODEC_MASK,
    CONTROL,
    HEADER,
    LOG_APPEND_TIME,
    NO_SEQUENCE,
    TRANSACTIONAL,
    increment_sequence,
)
from kcheck.records.control_record import ABORT, COMMIT
from kcheck.records.record import Record, read_records
from kcheck.segments.header_columns import Array, HeaderColumns
from kcheck.startup.segment import Segment
from kcheck.startup.sorted_map import Snapshots
from kcheck.startup.virtual_files import SNAPSHOT, Folder, StartError

_MARKER_BATCH_SIZE = 78
_MARKER = struct.Struct(">bbbbbhhbhib")
_MARKER_FROM = 61
_BASE_TIMESTAMP = HEADER.names.index("base_timestamp")
_MARKER_VALUE_SIZE = 6
_NO_PRODUCER_ID = -1
_RUN_COUNT_MIN = 32
"""Shorter runs of batches are appended one by one."""
_PRODUCER_COUNT_MAX = 1000


class Producers:
    """The producers, and the snapshots in the directory.

    `map_end` is the offset up to which the state is known. `certain` is False if the state depends on the clock, as a
    producer of a snapshot may have expired.
    """

    def __init__(self, folder: Folder, release: Release, *, for_recovery: bool = False) -> None:
        """List the snapshots; StartError for a name without a number. `for_recovery`: a state apart from the log's."""
        self._folder = folder
        self.release: Release = release
        self._anew = for_recovery and release.replays_recovery_anew
        self.states: ProducerStates = ProducerStates(release)
        self.map_end: int = 0
        self._snapshot_end = 0
        self.certain: bool = True
        # A recovery has a producer state of its own, whose snapshots the state of the log does not know.
        own = release.keeps_snapshot_per_segment and not for_recovery
        self._snapshots = Snapshots(folder.snapshots.names) if own else folder.snapshots
        self._gone: set[int] = set()
        self._listed()

    def _list(self) -> None:
        """List the snapshots again."""
        self._snapshots = self._folder.snapshots
        self._gone.clear()
        self._listed()

    def _listed(self) -> None:
        if not self.release.has_producer_state:
            self._snapshots = Snapshots()
        if self._snapshots.unnumbered:
            name = min(self._snapshots.unnumbered)
            raise StartError(f"NumberFormatException: {name} is not a valid producer snapshot name")

    @property
    def latest_snapshot(self) -> int | None:
        """The offset of the newest snapshot; in 2.7 and earlier the broker lists the directory each time."""
        if not self.release.keeps_snapshot_per_segment:
            self._list()
        return next((offset for offset in reversed(self._snapshots.offsets) if offset not in self._gone), None)

    def remove(self, offset: int) -> None:
        """Delete a snapshot."""
        name = self._pop(offset)
        if name is not None:
            self._folder.remove(name)

    def mark_deleted(self, offset: int) -> None:
        """Rename a snapshot to .deleted (removeAndMarkSnapshotForDeletion)."""
        name = self._pop(offset)
        if name is not None:
            self._folder.rename(name, name + DELETED)

    def _pop(self, offset: int) -> str | None:
        if offset in self._gone or offset not in self._snapshots:
            return None
        self._gone.add(offset)
        return self._snapshots[offset]

    def remove_stray(self, bases: Iterable[int]) -> None:
        """List the snapshots again, and delete those without a segment (removeStraySnapshots)."""
        self._list()
        for offset in stray_snapshots(self._snapshots.offsets, set(bases)):
            self.remove(offset)

    def start_at(self, offset: int) -> None:
        """Delete all snapshots, and start with no producer (truncateFullyAndStartAt)."""
        self.states = ProducerStates(self.release)
        for snapshot in list(self._snapshots.offsets):
            self.remove(snapshot)
        self._snapshot_end, self.map_end = 0, offset

    def reload(self, start: int, end: int) -> None:
        """Delete the snapshots out of range, and load the newest of the others (truncateAndReload)."""
        if not self.release.keeps_snapshot_per_segment:
            self._list()
        offsets = self._snapshots.offsets
        below, above = bisect_right(offsets, start), bisect_right(offsets, end)
        for offset in (*offsets[:below], *offsets[max(below, above) :]):
            self.remove(offset)
        if end == self.map_end:
            self.map_end = max(self.map_end, start)
            newest = self.latest_snapshot
            self._snapshot_end = start if newest is None else newest
            return
        self.states, self.certain = ProducerStates(self.release), True
        while (newest := self.latest_snapshot) is not None:
            entries = self._read(self._snapshots[newest])
            if entries is not None:
                if self.release.forgets_producers_below_log_start:
                    entries = tuple(producer for producer in entries if producer.last_offset >= start)
                self.states = ProducerStates(self.release, map(Entry.of_snapshot, entries))
                self.certain = all(producer.current_txn_first_offset >= 0 for producer in entries)
                self._snapshot_end = self.map_end = newest
                return
            self.remove(newest)
        self._snapshot_end = self.map_end = start

    def _read(self, name: str) -> Sequence[Producer] | None:
        """Return the producers of a snapshot; None if the broker deletes it; StartError if the broker fails on it."""
        reads = producer_snapshot.broker_reads(self._folder.read_whole(name), self.release)
        if reads.error not in (None, producer_snapshot.CORRUPT):
            raise StartError(f"{reads.error}: {name} cannot be read")
        return None if reads.value is None else reads.value.producers

    def replay(self) -> ProducerReplay:
        """Return the state to which the batches of a replayed segment are appended."""
        return ProducerReplay(self.states, anew=self._anew)

    def take_snapshot(self) -> None:
        """Write a snapshot unless there is one at or above this offset (takeSnapshot)."""
        if self.map_end <= self._snapshot_end or not self.release.has_producer_state:
            return
        name = segment_prefix(Offset(self.map_end)) + SNAPSHOT
        entries = tuple(Producer._make(entry.fields) for entry in self.states.snapshot())
        data = producer_snapshot.serialize(ProducerSnapshot(producer_snapshot.VERSION, entries))
        self._folder.put(name, new_content(data, certain=self.certain))
        self._snapshots.add(name)
        self._gone.discard(self.map_end)
        self._snapshot_end = self.map_end


def follow(
    segment: Segment,
    columns: HeaderColumns,
    rows: Array,
    states: ProducerStates | ProducerReplay,
    aborted: list[AbortedTxn],
) -> tuple[int, str | None]:
    """Append some batches of a window to the state.

    Return the last row, and why the broker reads no batch after it. Aborted transactions go into `aborted`. StartError
    if the broker aborts.
    """
    rows = rows[columns.producer_id[rows] > _NO_PRODUCER_ID]
    if not rows.size:
        return -1, None
    control = columns.attributes[rows] & CONTROL != 0
    places = [-1, *np.flatnonzero(control).tolist(), len(rows)]
    for before, place in pairwise(places):
        run = rows[before + 1 : place]
        if not _append_together(columns, run, states):
            for row in run.tolist():
                _append(segment, _data(columns, row), states, aborted)
        if place < len(rows):
            row = int(rows[place])
            step = _step(segment, columns, row)
            if isinstance(step, str):
                return row, step
            _append(segment, step, states, aborted)
    return int(rows[-1]), None


def _append(
    segment: Segment, step: ReplayStep, states: ProducerStates | ProducerReplay, aborted: list[AbortedTxn]
) -> None:
    with ends_start(segment):
        completed = states.append(step)
    if completed is not None and completed.aborted:
        _take_aborted(segment, completed, aborted)


@contextmanager
def ends_start(segment: Segment) -> Iterator[None]:
    """Turn a transaction that the broker refuses into a StartError."""
    try:
        yield
    except StateError as error:
        raise StartError(f"{error} ({segment.log_name})") from error


def _append_together(columns: HeaderColumns, rows: Array, states: ProducerStates | ProducerReplay) -> bool:
    """Append a long run of batches at once if no transaction can end the load; return whether that was done."""
    if len(rows) < _RUN_COUNT_MIN:
        return False
    ids = columns.producer_id[rows].astype(np.int64)
    order = np.argsort(ids, kind="stable")
    begins = np.flatnonzero(np.concatenate(([True], np.diff(ids[order]) != 0)))
    if len(begins) > _PRODUCER_COUNT_MAX:
        return False
    inside = columns.attributes[rows] & TRANSACTIONAL != 0
    latest: dict[int, Entry] = {}
    opened: dict[int, int] = {}
    runs = (order[begin:end] for begin, end in pairwise([*begins.tolist(), len(order)]))
    for mine in sorted(runs, key=lambda mine: int(mine[0])):  # A hash table depends on the order of insertion.
        producer_id = int(ids[mine[0]])
        first = len(mine) if states.entry(producer_id).current_txn_first_offset is None else 0
        if inside[mine].any():
            first = min(first, int(np.argmax(inside[mine])))
            opening = _data(columns, int(rows[mine[first]]))
            opened[producer_id] = opening.last_offset - opening.offset_delta(states.release)
        if not inside[mine][first:].all():
            return False
        latest[producer_id] = _entry(_data(columns, int(rows[mine[-1]])), states.release)
    states.update(latest, opened)
    return True


def _take_aborted(segment: Segment, completed: Completed, aborted: list[AbortedTxn]) -> None:
    if aborted and aborted[-1].last_offset >= completed.last_offset:
        raise StartError(
            f"IllegalArgumentException: the marker at offset {completed.last_offset} of {segment.log_name} is not"
            f" above that of the aborted transaction before it"
        )
    aborted.append(
        AbortedTxn(
            0, completed.producer_id, completed.first_offset, completed.last_offset, completed.last_stable_offset
        )
    )


def _entry(data: DataBatch, release: Release) -> Entry:
    return Entry(
        data.producer_id, data.producer_epoch, data.last_sequence, data.last_offset, data.offset_delta(release),
        data.max_timestamp,
    )  # fmt: skip


def _data(columns: HeaderColumns, row: int) -> DataBatch:
    base, last, sequence = int(columns.base_offset[row]), int(columns.last_offset[row]), int(columns.base_sequence[row])
    return DataBatch(
        producer_id=int(columns.producer_id[row]),
        producer_epoch=int(columns.producer_epoch[row]),
        base_offset=base,
        last_offset=last,
        base_sequence=sequence,
        last_sequence=NO_SEQUENCE if sequence == NO_SEQUENCE else increment_sequence(sequence, last - base),
        max_timestamp=int(columns.max_timestamp[row]),
        transactional=bool(columns.attributes[row] & TRANSACTIONAL),
    )


def _step(segment: Segment, columns: HeaderColumns, row: int) -> ReplayStep | str:
    """Return the marker in a control batch, or the reason of an InvalidRecordException; StartError for others."""
    producer_id = int(columns.producer_id[row])
    position, size = int(columns.position[row]), int(columns.size[row])
    if size < HEADER.size:
        raise StartError(f"IndexOutOfBoundsException: the control batch at position {position} has {size} bytes")
    if not columns.record_count[row]:
        return EmptyMarker(producer_id)
    data = segment.read(position, size)
    offset, epoch = int(columns.base_offset[row]), int(columns.producer_epoch[row])
    appended = columns.attributes[row] & LOG_APPEND_TIME != 0
    timestamp = int(columns.max_timestamp[row]) if appended else HEADER.unpack_from(data)[_BASE_TIMESTAMP]
    if size == _MARKER_BATCH_SIZE and columns.record_count[row] == 1 and not columns.attributes[row] & CODEC_MASK:
        length, _, delta, more, key, version, kind, value, value_version, coordinator, headers = _MARKER.unpack_from(
            data, _MARKER_FROM
        )
        plain = (length, delta, more, key, value, headers) == (32, 0, 0, 8, 12, 0) and version >= 0
        if plain and kind in (ABORT, COMMIT) and value_version >= 0:
            return Marker(producer_id, epoch, offset, coordinator, timestamp, kind == ABORT)
    return _unusual(segment, data[:size], position, Marker(producer_id, epoch, offset, 0, timestamp, aborts=False))


def _unusual(segment: Segment, data: bytes, position: int, marker: Marker) -> Marker | str:
    """Return the marker in a control batch that no broker writes in this form (EndTransactionMarker.deserialize)."""
    where = f"the control batch at position {position} of {segment.log_name}"
    records = list(islice(read_records(data), 2))
    compressed = bool(data[22] & CODEC_MASK)
    first = records[0] if records else None
    last = records[-1] if records else None
    # The broker reads only the first of several records, unless they are compressed.
    message = None if last is None or isinstance(last, Record) else last.message
    only = compressed or _count(data) == 1
    if not isinstance(first, Record) or (message is not None and only):
        if compressed:
            raise StartError(f"KafkaException: {where} cannot be decompressed: {message}")
        return f"{where} cannot be read: {message}"
    if first.key is None:
        raise StartError(f"NullPointerException: {where} has no key")
    key = bytes(first.key)
    if len(key) < 4 or key[0] >= 0x80:
        return f"{where} has a key that cannot be read"
    kind = int.from_bytes(key[2:4], "big", signed=True)
    if kind not in (ABORT, COMMIT):
        raise StartError(f"IllegalArgumentException: {where} has the type {kind}, which is neither ABORT nor COMMIT")
    if first.value is None:
        raise StartError(f"NullPointerException: {where} has no value")
    value = bytes(first.value)
    if len(value) < _MARKER_VALUE_SIZE:
        negative = len(value) >= 2 and value[0] >= 0x80
        if segment.context.release.aborts_on_short_markers and not negative:
            raise StartError(f"BufferUnderflowException: {where} has a value of {len(value)} bytes")
        return f"{where} has a value of {len(value)} bytes"
    if value[0] >= 0x80:
        return f"{where} has a value of a negative version"
    coordinator = int.from_bytes(value[2:6], "big", signed=True)
    timestamp = marker.timestamp if first.timestamp is None else first.timestamp
    return marker._replace(coordinator_epoch=coordinator, timestamp=timestamp, aborts=kind == ABORT)


def _count(data: bytes) -> int:
    return int.from_bytes(data[57:61], "big", signed=True)
