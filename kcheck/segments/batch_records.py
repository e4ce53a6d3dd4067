"""The records inside of batches: decompressed, decoded, and held against what the header says of them."""

from collections import Counter
from collections.abc import Callable

import numpy as np

from kcheck.formats._compression import ZSTD, decompress
from kcheck.formats._control_batch import control_problem
from kcheck.formats._decompressed import too_large
from kcheck.formats._message_set import look_into
from kcheck.formats.record_batch import (
    ABORT_MARKER,
    CODEC_MASK,
    COMMIT_MARKER,
    COMPRESSION,
    CONTROL,
    HEADER,
    LOG_APPEND_TIME,
    MAGIC_AT,
)
from kcheck.model.entries import Offset
from kcheck.model.segments import FAULT_COUNT_MAX, FaultyRecord, RecordFault, RecordsView
from kcheck.model.source import Source
from kcheck.segments.header_columns import PADDING, Column, HeaderColumns, Mask
from kcheck.segments.record_columns import Bodies, Buffer, Fields, Steps, fields, step

BODY_SIZE_MAX = 10 << 20
"""So many bytes of records are looked into of one batch, after decompression."""
_POOL_SIZE = 4 << 20
"""Batches are decompressed until they have so many bytes together, and then stepped side by side."""
_MARKER_SIZE = 78
_MARKER_PLACES = (66, 70, 71)
"""Where in a marker the version of its key begins, the size of its value stands, and the version of that begins."""
_MARKER_VALUE_SIZE = 6 << 1
_NEVER = 2**31


class _BatchBodies:
    """Some batches of a window: which rows of its columns they are, and where their records stand in a buffer."""

    def __init__(self, columns: HeaderColumns, stamps: Column, rows: Column, buffer: Buffer, bodies: Bodies) -> None:
        self.columns, self.rows, self.buffer, self.bodies = columns, rows, buffer, bodies
        self.stamps = stamps[rows]
        self.reach = columns.last_offset[rows] - columns.base_offset[rows]
        """The largest offset delta that a record may have; any, where the header itself makes no sense."""
        self.reach[self.reach < 0] = _NEVER
        self.last = np.full(rows.size, -1, np.int64)
        """The offset delta of the last record seen."""
        self.highest = np.full(rows.size, -1, np.int64)
        """The largest timestamp of its records. A leader names none below -1, whatever the producer said."""
        self.broken = np.full(rows.size, _NEVER, np.int64)
        """The number of the first record that cannot be decoded."""
        self.told = np.zeros(rows.size, np.bool_)
        """Whether an offset of it was told to be wrong."""


Say = Callable[[int], tuple[int | None, str]]
"""Tells of one of some batches which record is wrong, and how."""


class Records:
    """Looks into the batches of a segment, window by window."""

    def __init__(self, source: Source, *, reads_zstd: bool) -> None:
        """Take the open file: batches larger than a window are read anew; and whether the release knows zstd."""
        self._source = source
        self._reads_zstd = reads_zstd
        self._count = 0
        self._faults: list[FaultyRecord] = []
        self._counts: Counter[RecordFault] = Counter()

    def view(self) -> RecordsView:
        """Return what was found."""
        return RecordsView(self._count, tuple(self._faults), dict(self._counts))

    def take(self, columns: HeaderColumns, window: bytearray) -> None:
        """Look into the batches of one window, which begins with the first of them; only where the CRC matches."""
        at = columns.position - columns.position[0]
        stamps = columns.base_timestamp.astype(np.int64)
        begin, end = at + HEADER.size, at + columns.size
        buffer: Buffer = window
        if int(end[-1]) > len(window) - PADDING:
            size = int(end[0] - begin[0])
            if size > BODY_SIZE_MAX:
                self._tell_row(RecordFault.SIZE, columns, 0, f"it has {size} bytes of records")
                return
            buffer = self._source.pread(size + HEADER.size, int(columns.position[0]))
            end = np.array([len(buffer)])
        sound = np.ones(at.size, np.bool_) if columns.valid is None else columns.valid
        wanted = sound & (columns.magic == 2) & (columns.record_count >= 0)
        for row in np.flatnonzero(sound & (columns.magic >= 0) & (columns.magic < 2)).tolist():
            self._look_into_messages(columns, row, memoryview(buffer)[int(at[row]) : int(end[row])])
        for row in np.flatnonzero(wanted & _odd_controls(columns, buffer, at)).tolist():
            batch = bytearray(buffer[int(at[row]) : int(end[row])])
            batch[MAGIC_AT] = 2  # A link of the CRCs may stand there.
            found = control_problem(memoryview(batch), BODY_SIZE_MAX)
            if found is not None:
                self._tell_row(found.fault, columns, row, found.problem, found.record)
        packed = columns.attributes & CODEC_MASK != 0
        rows = np.flatnonzero(wanted & ~packed)
        if rows.size:
            bodies = Bodies(begin[rows], end[rows], columns.record_count[rows])
            self._look(_BatchBodies(columns, stamps, rows, buffer, bodies))
        rows = np.flatnonzero(wanted & packed)
        if rows.size:
            self._unpack(columns, stamps, rows, buffer, begin, end)

    def _unpack(
        self, columns: HeaderColumns, stamps: Column, rows: Column, buffer: Buffer, begin: Column, end: Column
    ) -> None:
        """Decompress batch by batch, and look into as many at a time as fit into the pool."""
        source = memoryview(buffer)
        pool, packed, bounds = bytearray(), list[int](), [0]
        codecs = columns.attributes & CODEC_MASK
        for row, codec, start, stop in zip(
            rows.tolist(), codecs[rows].tolist(), begin[rows].tolist(), end[rows].tolist(), strict=True
        ):
            if codec == ZSTD and not self._reads_zstd:
                unknown = f"{COMPRESSION[codec]}: no release before 2.1 knows it"
                self._tell_row(RecordFault.COMPRESSION, columns, row, unknown)
                continue
            data, problem = decompress(codec, source[start:stop], magic=2, size_max=BODY_SIZE_MAX)
            if problem is not None:
                name = COMPRESSION[codec] if codec < len(COMPRESSION) else f"codec {codec}"
                fault = RecordFault.SIZE if problem == too_large(BODY_SIZE_MAX) else RecordFault.COMPRESSION
                self._tell_row(fault, columns, row, f"{name}: {problem}")
                continue
            if packed and len(pool) + len(data) > _POOL_SIZE:
                self._look(_unpacked(columns, stamps, packed, pool, bounds))
                pool, packed, bounds = bytearray(), [], [0]
            if packed or not isinstance(data, bytearray):
                pool += data
            else:
                pool = data
            packed.append(row)
            bounds.append(len(pool))
        if packed:
            self._look(_unpacked(columns, stamps, packed, pool, bounds))

    def _look(self, batches: _BatchBodies) -> None:
        """Decode the records of batches, and compare them with their headers."""
        columns, rows, bodies = batches.columns, batches.rows, batches.bodies
        steps = step(batches.buffer, bodies)
        for piece in fields(batches.buffer, steps):
            self._take_piece(batches, piece)
            del piece  # Its columns make room in the cache for those of the next one.
        broken = np.where(steps.found < bodies.stated, np.minimum(batches.broken, steps.found), batches.broken)
        self._count += int(np.minimum(broken, steps.found).sum())
        whole = broken == _NEVER

        def framing(at: int) -> tuple[int | None, str]:
            return _framing(steps, bodies, at, int(broken[at]))

        wrong, empty = ~whole | (steps.behind != bodies.end), bodies.stated == 0
        self._tell(RecordFault.FRAMING, batches, wrong & ~empty, framing)
        self._tell(RecordFault.PASSED, batches, wrong & empty, framing)
        stated = columns.max_timestamp[rows]

        def timestamp(at: int) -> tuple[int | None, str]:
            return None, f"the largest timestamp is {stated[at]} in its header and {batches.highest[at]} in its records"

        created = (columns.attributes[rows] & LOG_APPEND_TIME == 0) & (bodies.stated > 0)
        self._tell(RecordFault.TIMESTAMP, batches, whole & created & (batches.highest != stated), timestamp)

    def _take_piece(self, batches: _BatchBodies, piece: Fields) -> None:
        """Compare records with the one before each, and gather what is compared with the header."""
        batch, number, delta, stamp = piece.batch, piece.number, piece.offset_delta, piece.timestamp_delta
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

    def _take_offsets(
        self, batches: _BatchBodies, batch: Column, number: Column, delta: Column, before: Column
    ) -> None:
        """Tell of each batch the first of these records, whose offsets are wrong."""
        places, each = np.unique(batch, return_index=True)
        first = dict(zip(places.tolist(), each.tolist(), strict=True))
        fresh = np.zeros(batches.rows.size, np.bool_)
        fresh[places] = ~batches.told[places]
        batches.told[places] = True

        def offset(at: int) -> tuple[int | None, str]:
            record = first[at]
            base, last = (int(column[batches.rows[at]]) for column in batches.columns[3:5])
            own, previous = base + int(delta[record]), base + int(before[record])
            if delta[record] > before[record]:
                return int(number[record]), f"it has offset {own}, and the batch ends at {last}"
            if number[record]:
                return int(number[record]), f"it has offset {own}, and the one before it {previous}"
            return 0, f"it has offset {own}, and the batch begins at {base}"

        self._tell(RecordFault.OFFSET, batches, fresh, offset)

    def _tell(self, fault: RecordFault, batches: _BatchBodies, wrong: Mask, say: Say) -> None:
        """Count the batches that are wrong, and keep the first of them with what is to be said of each."""
        found = np.flatnonzero(wrong)
        if found.size:
            room = max(FAULT_COUNT_MAX - self._counts[fault], 0)
            self._counts[fault] += found.size
            for at in found[:room].tolist():
                self._faults.append(_faulty(fault, batches.columns, int(batches.rows[at]), *say(at)))

    def _tell_row(
        self, fault: RecordFault, columns: HeaderColumns, row: int, problem: str, record: int | None = None
    ) -> None:
        """Tell what is wrong with one batch."""
        self._counts[fault] += 1
        if self._counts[fault] <= FAULT_COUNT_MAX:
            self._faults.append(_faulty(fault, columns, row, record, problem))

    def _look_into_messages(self, columns: HeaderColumns, row: int, entry: memoryview) -> None:
        """Look into a message of magic 0 or 1, or a wrapper of them."""
        found = look_into(entry, BODY_SIZE_MAX)
        self._count += found.decoded
        if found.fault is not None:
            self._tell_row(found.fault, columns, row, found.problem, found.record)


def _odd_controls(columns: HeaderColumns, buffer: Buffer, at: Column) -> Mask:
    """Return which control batches are not the end of a transaction as every broker writes it."""
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


def _framing(steps: Steps, bodies: Bodies, at: int, broken: int) -> tuple[int | None, str]:
    """Return which record of a batch is framed wrongly, and how."""
    begin, end, count = int(bodies.begin[at]), int(bodies.end[at]), int(bodies.stated[at])
    behind, found = int(steps.behind[at]), int(steps.found[at])
    if broken == _NEVER:
        return None, f"{end - behind} of {end - begin} bytes stand behind its {count} records"
    if broken < found:
        start = int(steps.at[steps.first[at] + broken]) - begin
        return broken, f"its fields, from byte {start} of {end - begin} on, do not end where its length says"
    if behind == end:
        return None, f"its header names {count} records, its {end - begin} bytes hold {found}"
    return broken, f"its length, at byte {behind - begin} of {end - begin}, cannot be"


def _unpacked(columns: HeaderColumns, stamps: Column, rows: list[int], pool: Buffer, bounds: list[int]) -> _BatchBodies:
    """Return batches that stand one behind the other in a buffer."""
    edges, which = np.array(bounds), np.array(rows)
    return _BatchBodies(columns, stamps, which, pool, Bodies(edges[:-1], edges[1:], columns.record_count[which]))
