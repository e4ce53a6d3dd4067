"""Decodes the records inside of batches, and compares them with the batch header."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from kcheck.model.entries import Offset
from kcheck.model.java import LONG_MIN
from kcheck.model.segments import FAULT_COUNT_MAX, FaultyRecord, RecordFault, RecordsView
from kcheck.model.source import Source
from kcheck.records.batch import (
    ABORT_MARKER,
    CODEC_MASK,
    COMMIT_MARKER,
    COMPRESSION,
    CONTROL,
    HEADER,
    LOG_APPEND_TIME,
    MAGIC_AT,
)
from kcheck.records.compression import ZSTD, decompress
from kcheck.records.control_batch import control_problem
from kcheck.records.decompressed import TooLarge
from kcheck.records.message_set import look_into
from kcheck.segments.header_columns import PADDING, Array, HeaderColumns, Mask
from kcheck.segments.record_columns import (
    BatchBodies,
    Buffer,
    RecordFields,
    RecordPositions,
    decode_fields,
    record_positions,
)
from kcheck.words import offset_span

BODY_SIZE_MAX = 10 << 20
"""kcheck does not decode a batch with more bytes of records than this, after decompression."""
_POOL_SIZE = 4 << 20
"""Batches are decompressed until they have this many bytes together, and then decoded in parallel."""
_MARKER_SIZE = 78
_MARKER_PLACES = (66, 70, 71)
"""The positions in a transaction marker of the key version, the value size and the value version."""
_MARKER_VALUE_SIZE = 6 << 1
_NEVER = 2**31


class _DecodedBatches:
    """Some batches of a window, with their rows in its columns, and the places of their records in a buffer."""

    def __init__(self, columns: HeaderColumns, stamps: Array, rows: Array, buffer: Buffer, bodies: BatchBodies) -> None:
        self.columns, self.rows, self.buffer, self.bodies = columns, rows, buffer, bodies
        self.stamps = stamps[rows]
        self.reach = columns.last_offset[rows] - columns.base_offset[rows]
        """The largest offset delta that a record may have; unbounded if the header itself is wrong."""
        self.reach[self.reach < 0] = _NEVER
        self.last = np.full(rows.size, -1, np.int64)
        """The offset delta of the last record so far."""
        self.highest = np.full(rows.size, -1, np.int64)
        """The largest timestamp of its records so far. A leader writes -1 for any lower one."""
        self.broken = np.full(rows.size, _NEVER, np.int64)
        """The number of the first record that cannot be decoded."""
        self.is_reported = np.zeros(rows.size, np.bool_)
        """True if a wrong offset in it has been reported."""


Describe = Callable[[int], tuple[int | None, str]]
"""Returns the number of the corrupt record in a batch (None for the batch itself), and the fault in words."""


class RecordCheck:
    """Decodes and checks the records of a segment, window by window."""

    def __init__(self, source: Source, *, reads_zstd: bool) -> None:
        """Take the open file, for batches larger than a window, and whether the release can read zstd."""
        self._source = source
        self._reads_zstd = reads_zstd
        self._count = self._keyless = 0
        self._last_offset = LONG_MIN
        self._faults: list[FaultyRecord] = []
        self._counts: Counter[RecordFault] = Counter()

    def view(self) -> RecordsView:
        """Return the result."""
        return RecordsView(self._count, tuple(self._faults), dict(self._counts), self._keyless)

    def take(self, columns: HeaderColumns, window: bytearray) -> None:
        """Check the batches of one window, which starts with the first of them; skip batches with a wrong CRC."""
        before = [self._last_offset, *columns.last_offset[:-1].tolist()]
        self._last_offset = int(columns.last_offset[-1])
        at = columns.position - columns.position[0]
        stamps = columns.base_timestamp.astype(np.int64)
        begin, end = at + HEADER.size, at + columns.size
        buffer: Buffer = window
        if int(end[-1]) > len(window) - PADDING:
            size = int(end[0] - begin[0])
            if size > BODY_SIZE_MAX:
                self._report_row(RecordFault.SIZE, columns, 0, f"it has {size} bytes of records")
                return
            buffer = self._source.pread(size + HEADER.size, int(columns.position[0]))
            end = np.array([len(buffer)])
        sound = np.ones(at.size, np.bool_) if columns.valid is None else columns.valid
        wanted = sound & (columns.magic == 2) & (columns.record_count >= 0)
        for row in np.flatnonzero(sound & (columns.magic >= 0) & (columns.magic < 2)).tolist():
            self._check_messages(columns, row, memoryview(buffer)[int(at[row]) : int(end[row])], before[row])
        for row in np.flatnonzero(wanted & _odd_controls(columns, buffer, at)).tolist():
            batch = bytearray(buffer[int(at[row]) : int(end[row])])
            batch[MAGIC_AT] = 2  # `HeaderReader` overwrites the bytes that no CRC covers.
            problem = control_problem(memoryview(batch), BODY_SIZE_MAX)
            if problem is not None:
                self._report_row(problem.fault, columns, row, problem.problem, problem.record)
        packed = columns.attributes & CODEC_MASK != 0
        rows = np.flatnonzero(wanted & ~packed)
        if rows.size:
            bodies = BatchBodies(begin[rows], end[rows], columns.record_count[rows])
            self._check(_DecodedBatches(columns, stamps, rows, buffer, bodies))
        rows = np.flatnonzero(wanted & packed)
        if rows.size:
            self._unpack(columns, stamps, rows, buffer, begin, end)

    def _unpack(
        self, columns: HeaderColumns, stamps: Array, rows: Array, buffer: Buffer, begin: Array, end: Array
    ) -> None:
        """Decompress batch by batch, and check as many at a time as fit into the pool."""
        source = memoryview(buffer)
        pool, packed, bounds = bytearray(), list[int](), [0]
        codecs = columns.attributes & CODEC_MASK
        for row, codec, start, stop in zip(
            rows.tolist(), codecs[rows].tolist(), begin[rows].tolist(), end[rows].tolist(), strict=True
        ):
            if codec == ZSTD and not self._reads_zstd:
                unknown = f"{COMPRESSION[codec]}: no release before 2.1 knows it"
                self._report_row(RecordFault.COMPRESSION, columns, row, unknown)
                continue
            data, problem = decompress(codec, source[start:stop], magic=2, size_max=BODY_SIZE_MAX)
            if problem is not None:
                name = COMPRESSION[codec] if codec < len(COMPRESSION) else f"codec {codec}"
                fault = RecordFault.SIZE if isinstance(problem, TooLarge) else RecordFault.COMPRESSION
                self._report_row(fault, columns, row, f"{name}: {problem}")
                continue
            if packed and len(pool) + len(data) > _POOL_SIZE:
                self._check(_unpacked(columns, stamps, packed, pool, bounds))
                pool, packed, bounds = bytearray(), [], [0]
            if packed or not isinstance(data, bytearray):
                pool += data
            else:
                pool = data
            packed.append(row)
            bounds.append(len(pool))
        if packed:
            self._check(_unpacked(columns, stamps, packed, pool, bounds))

    def _check(self, batches: _DecodedBatches) -> None:
        """Decode the records of batches, and compare them with their headers."""
        columns, rows, bodies = batches.columns, batches.rows, batches.bodies
        steps = record_positions(batches.buffer, bodies)
        for piece in decode_fields(batches.buffer, steps):
            self._take_piece(batches, piece)
            del piece  # Its columns make room in the CPU cache for the next ones.
        broken = np.where(steps.counts < bodies.stated, np.minimum(batches.broken, steps.counts), batches.broken)
        self._count += int(np.minimum(broken, steps.counts).sum())
        is_sound = broken == _NEVER

        def framing(at: int) -> tuple[int | None, str]:
            return _framing(steps, bodies, at, int(broken[at]))

        wrong, empty = ~is_sound | (steps.ends != bodies.end), bodies.stated == 0
        self._report(RecordFault.FRAMING, batches, wrong & ~empty, framing)
        self._report(RecordFault.PASSED, batches, wrong & empty, framing)
        stated = columns.max_timestamp[rows]

        def timestamp(at: int) -> tuple[int | None, str]:
            return None, f"the largest timestamp is {stated[at]} in its header and {batches.highest[at]} in its records"

        created = (columns.attributes[rows] & LOG_APPEND_TIME == 0) & (bodies.stated > 0)
        self._report(RecordFault.TIMESTAMP, batches, is_sound & created & (batches.highest != stated), timestamp)

    def _take_piece(self, batches: _DecodedBatches, piece: RecordFields) -> None:
        """Compare each record with the one before, and gather what is compared with the header."""
        batch, number, delta, stamp = piece.batch, piece.number, piece.offset_delta, piece.timestamp_delta
        keyless = piece.batch[piece.sound & (piece.key_size < 0)]
        controls = batches.columns.attributes[batches.rows[keyless]] & CONTROL
        self._keyless += int(np.count_nonzero(controls == 0))
        if not piece.sound.all():
            bad = ~piece.sound
            np.minimum.at(batches.broken, batch[bad], number[bad])
        live = number < batches.broken[batch]
        if not live.all():
            batch, number, delta, stamp = batch[live], number[live], delta[live], stamp[live]
        if not batch.size:
            return
        starts = np.concatenate(([0], np.flatnonzero(batch[1:] != batch[:-1]) + 1))
        ends = np.append(starts[1:], batch.size) - 1
        first = batch[starts]
        before = np.concatenate(([0], delta[:-1]))
        before[starts] = batches.last[first]
        batches.last[first] = delta[ends]
        highest = np.maximum.reduceat(stamp + batches.stamps[batch], starts)
        batches.highest[first] = np.maximum(batches.highest[first], highest)
        wrong = (delta <= before) | (delta > batches.reach[batch])
        if np.count_nonzero(wrong):
            self._take_offsets(batches, batch[wrong], number[wrong], delta[wrong], before[wrong])

    def _take_offsets(self, batches: _DecodedBatches, batch: Array, number: Array, delta: Array, before: Array) -> None:
        """Report the first record with a wrong offset of each batch."""
        places, first_rows = np.unique(batch, return_index=True)
        first = dict(zip(places.tolist(), first_rows.tolist(), strict=True))
        fresh = np.zeros(batches.rows.size, np.bool_)
        fresh[places] = ~batches.is_reported[places]
        batches.is_reported[places] = True

        def offset(at: int) -> tuple[int | None, str]:
            record = first[at]
            base, last = (int(column[batches.rows[at]]) for column in batches.columns[3:5])
            own, previous = base + int(delta[record]), base + int(before[record])
            if delta[record] > before[record]:
                return int(number[record]), f"it has offset {own}, and the batch ends at {last}"
            if number[record]:
                return int(number[record]), f"it has offset {own}, and the one before it {previous}"
            return 0, f"it has offset {own}, and the batch begins at {base}"

        self._report(RecordFault.OFFSET, batches, fresh, offset)

    def _report(self, fault: RecordFault, batches: _DecodedBatches, wrong: Mask, describe: Describe) -> None:
        """Count the wrong batches, and keep the first of them with a description."""
        numbers = np.flatnonzero(wrong)
        if numbers.size:
            room = max(FAULT_COUNT_MAX - self._counts[fault], 0)
            self._counts[fault] += numbers.size
            for at in numbers[:room].tolist():
                self._faults.append(_faulty(fault, batches.columns, int(batches.rows[at]), *describe(at)))

    def _report_row(
        self, fault: RecordFault, columns: HeaderColumns, row: int, problem: str, record: int | None = None
    ) -> None:
        """Report what is wrong with one batch."""
        self._counts[fault] += 1
        if self._counts[fault] <= FAULT_COUNT_MAX:
            self._faults.append(_faulty(fault, columns, row, record, problem))

    def _check_messages(self, columns: HeaderColumns, row: int, entry: memoryview, before: int) -> None:
        """Check a message of magic 0 or 1, or a wrapper of them, which follows the offset `before`."""
        messages = look_into(entry, BODY_SIZE_MAX)
        self._count += messages.decoded
        if messages.fault is not None:
            self._report_row(messages.fault, columns, row, messages.problem, messages.record)
        last = int(columns.last_offset[row])
        if messages.first is not None and messages.first <= before < last:
            held, there = (offset_span(messages.first, end + 1) for end in (last, before))
            self._report_row(RecordFault.OVERLAP, columns, row, f"it holds {held}, but {there} precede it")


def _odd_controls(columns: HeaderColumns, buffer: Buffer, at: Array) -> Mask:
    """Return which control batches differ from the transaction marker that every broker writes."""
    odd: Mask = columns.attributes & CONTROL != 0
    marked = (columns.marker == ABORT_MARKER) | (columns.marker == COMMIT_MARKER)
    plain = np.flatnonzero(marked & (columns.size == _MARKER_SIZE) & (columns.producer_id >= 0))
    if plain.size:
        octets = np.frombuffer(buffer, np.uint8)
        key_version, size, version = (octets[at[plain] + place] for place in _MARKER_PLACES)
        odd[plain] = (key_version > 127) | (size != _MARKER_VALUE_SIZE) | (version > 127)
    return odd


def _faulty(fault: RecordFault, columns: HeaderColumns, row: int, record: int | None, problem: str) -> FaultyRecord:
    base, last = Offset(int(columns.base_offset[row])), Offset(int(columns.last_offset[row]))
    return FaultyRecord(fault, int(columns.position[row]), base, last, record, problem)


def _framing(steps: RecordPositions, bodies: BatchBodies, at: int, broken: int) -> tuple[int | None, str]:
    """Return the first record whose length or fields are invalid, and why, in words."""
    begin, end, count = int(bodies.begin[at]), int(bodies.end[at]), int(bodies.stated[at])
    reached, record_count = int(steps.ends[at]), int(steps.counts[at])
    if broken == _NEVER:
        return None, f"{end - reached} of {end - begin} bytes follow its {count} records"
    if broken < record_count:
        start = int(steps.at[steps.first[at] + broken]) - begin
        return broken, f"its fields, from byte {start} of {end - begin} on, do not end where its length says"
    if reached == end:
        return None, f"its header names {count} records, its {end - begin} bytes hold {record_count}"
    return broken, f"its length, at byte {reached - begin} of {end - begin}, cannot be"


def _unpacked(
    columns: HeaderColumns, stamps: Array, rows: list[int], pool: Buffer, bounds: list[int]
) -> _DecodedBatches:
    """Return batches whose decompressed records follow each other in a buffer."""
    edges, which = np.array(bounds), np.array(rows)
    return _DecodedBatches(
        columns, stamps, which, pool, BatchBodies(edges[:-1], edges[1:], columns.record_count[which])
    )
