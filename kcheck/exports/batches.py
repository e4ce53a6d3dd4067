"""The intact batches of a log, and the corrupt bytes, missing segments and unreadable files between them.

A broker's recovery truncates a log at its first corrupt batch. In an export the batches after it count too, if their
CRCs match.
"""

from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

from kcheck.exports.left_out import Omission
from kcheck.exports.sources import ExportLog, SegmentFile
from kcheck.model.entries import RELATIVE_OFFSET_MAX, Batch, Offset
from kcheck.model.source import Source
from kcheck.model.unreadable import Unreadable, UnreadableError
from kcheck.records.batch import body_from, checksum
from kcheck.records.record import BODY_SIZE_MAX
from kcheck.segments.batches import Walk

_MAGICS = (0, 1, 2)
_BEFORE_ALL = -1


class DamagedPlace(NamedTuple):
    """Bytes of a file that are not what a broker wrote."""

    path: str
    """The file."""
    position: int
    """Their position in the file, in bytes."""
    size: int
    """Their number of bytes."""
    message: str
    """Their problem."""

    def __str__(self) -> str:
        """Return `FILE: position 61, 88 bytes: ...`."""
        return f"{self.path}: position {self.position}, {self.size} bytes: {self.message}"


class IntactBatch(NamedTuple):
    """A batch whose CRC matches."""

    path: str
    """The file."""
    batch: Batch
    """Its header."""
    data: bytes
    """Its bytes."""

    @property
    def start(self) -> Offset:
        """Its first offset; below magic 2 the offset of the last message in a wrapper."""
        return self.batch.base_offset


class Break(NamedTuple):
    """A part of the log that has no intact batch."""

    why: Omission
    """Its problem."""
    start: Offset
    """The first offset that may have been in it."""
    end: Offset | None = None
    """The offset after the last one; None if it is not known."""
    records: int | None = None
    """Number of records in its own header; None if that is not credible."""
    place: DamagedPlace | None = None
    """Its place; None if it is in no file."""
    error: Unreadable | None = None
    """The reason why its file cannot be read; None if it can be."""


class Hole(NamedTuple):
    """Offsets between two segments that neither holds."""

    start: Offset
    """The first of them."""
    end: Offset
    """The offset after the last of them."""


class UnreadSegment(NamedTuple):
    """A segment that was not to be read."""

    start: Offset
    """Its base offset."""
    end: Offset | None
    """The base offset of the next one."""


Part: TypeAlias = "IntactBatch | Break | Hole | UnreadSegment"
"""A part of a log, in the order of offsets."""
IsWanted: TypeAlias = Callable[[Offset, Offset | None], bool]
"""True if a segment is to be read, by its base offset and the next one's."""


def every(_: Offset, __: Offset | None) -> bool:
    """Read every segment."""
    return True


def parts(log: ExportLog, is_wanted: IsWanted = every) -> Iterator[Part]:
    """Yield the parts of a log from its first segment to its last."""
    last, known_to = _BEFORE_ALL, None
    for segment, following in zip_longest(log.segments, log.segments[1:]):
        base = Offset(0) if segment.base is None else segment.base
        end = None if following is None else following.base
        if known_to is not None and base > known_to:
            yield Hole(known_to, base)
        if not is_wanted(base, end):
            yield UnreadSegment(base, end)
            last, known_to = max(last, base - 1 if end is None else end - 1), end
            continue
        known_to = base if known_to is None else max(base, known_to)
        reading = _SegmentParts(segment, base, end, last)
        for part in _in_order(reading.all_parts(), reading.last):
            known_to = max(known_to, _end_of(part, end))
            yield part
        last = reading.last


def _end_of(part: "IntactBatch | Break", end: Offset | None) -> Offset:
    """Return the offset up to which a part shows the content of the log; the next segment begins at `end`."""
    if isinstance(part, IntactBatch):
        return Offset(part.batch.last_offset + 1)
    return part.end or end or part.start


def _in_order(parts: "Iterator[IntactBatch | Break]", last: int) -> "Iterator[IntactBatch | Break]":
    """Yield the parts of a segment; a batch that jumps ahead of the next one has wrong offsets.

    No CRC covers the offsets. `last` is the last offset before the parts.
    """
    held: IntactBatch | None = None
    for part in parts:
        if held is not None:
            if isinstance(part, IntactBatch) and last < part.batch.base_offset <= part.batch.last_offset < held.start:
                yield _misplaced(held, Offset(last + 1), part.batch.base_offset)
            else:
                yield held
                last = max(last, held.batch.last_offset)
        held = part if isinstance(part, IntactBatch) else None
        if not isinstance(part, IntactBatch):
            yield part
    if held is not None:
        yield held


def _misplaced(part: IntactBatch, start: Offset, end: Offset) -> Break:
    batch = part.batch
    message = f"the offsets {batch.base_offset} to {batch.last_offset} come before lower ones"
    place = DamagedPlace(part.path, batch.position, batch.size, message)
    return Break(Omission.DAMAGED, start, end, batch.record_count, place)


class _SegmentParts:
    """One segment that is read from its beginning; `last` is the last offset so far."""

    def __init__(self, segment: SegmentFile, base: Offset, end: Offset | None, last: int) -> None:
        self.last = max(last, base - 1)
        self._segment, self._path = segment, segment.path
        self._floor: int | None = last + 1
        self._low = base
        self._high = base + RELATIVE_OFFSET_MAX if end is None else end - 1
        self._end = end
        self._position = 0

    def all_parts(self) -> Iterator[IntactBatch | Break]:
        """Yield the parts of the file; an unreadable one ends with a `Break`."""
        try:
            with self._segment.open() as source:
                yield from self._parts(source)
        except UnreadableError as error:
            place = DamagedPlace(self._path, self._position, 0, str(error))
            yield Break(Omission.DAMAGED, Offset(self.last + 1), self._end, place=place, error=error.why)

    def _parts(self, source: Source) -> Iterator[IntactBatch | Break]:
        """Yield the batches of the file, and the corrupt parts between them."""
        size = source.size
        while self._position < size:
            walk = Walk(source, size, position=self._position)
            message = None
            for batch in walk:
                data = source.pread(batch.size, batch.position) if batch.size <= BODY_SIZE_MAX else b""
                self._position, message = batch.position, self._problem(batch, data)
                if message is None:
                    yield IntactBatch(self._path, batch, data)
                    self.last = max(self.last, batch.last_offset)
                elif _is_framed(source, size, batch):
                    yield self._broken(batch, message)
                else:
                    break
                message = None
            else:
                self._position, message = walk.position, walk.corrupt or "the last batch is incomplete"
                if self._position >= size or _only_zeros(source, self._position, size):
                    return
            yield self._search(source, size, message or "")

    def _search(self, source: Source, size: int, message: str) -> Break:
        """Return the corrupt part up to the next intact batch, where reading continues, or up to the file's end."""
        from kcheck.segments.batches_after_damage import intact_batches  # imports numpy: only for damage

        begin, start = self._position, Offset(self.last + 1)
        beyond = intact_batches(source, begin + 1, size, base=self._low, after=Offset(self.last))
        self._position = size if beyond is None else beyond.position
        place = DamagedPlace(self._path, begin, self._position - begin, message)
        return Break(Omission.DAMAGED, start, self._end if beyond is None else beyond.base_offset, place=place)

    def _broken(self, batch: Batch, message: str) -> Break:
        """Return a corrupt batch whose size is right, because another batch or the end of the file follows it."""
        place = DamagedPlace(self._path, batch.position, batch.size, message)
        if not self._low <= batch.base_offset <= batch.last_offset <= self._high:
            return Break(Omission.DAMAGED, Offset(self.last + 1), None, place=place)
        span = batch.last_offset - batch.base_offset + 1
        records = batch.record_count if batch.record_count is not None and 0 <= batch.record_count <= span else None
        why = Omission.DAMAGED if batch.magic in _MAGICS else Omission.UNKNOWN
        return Break(why, batch.base_offset, Offset(batch.last_offset + 1), records, place)

    def _problem(self, batch: Batch, data: bytes) -> str | None:
        """Return the problem of a batch; None without one."""
        if batch.size > BODY_SIZE_MAX:
            return f"a batch of {batch.size} bytes is larger than kcheck reads"
        if len(data) < batch.size or checksum(memoryview(data)[body_from(batch.magic) :], batch.magic) != batch.crc:
            return f"the CRC of the batch at offset {batch.base_offset} does not match"
        if self._floor is not None and self._floor <= batch.base_offset < self._low:
            # Its first batch begins before the offset in its name: somebody renamed the file.
            self._low, self.last = batch.base_offset, batch.base_offset - 1
        self._floor = None
        if not self._low <= batch.base_offset <= batch.last_offset <= self._high:
            return f"the offsets {batch.base_offset} to {batch.last_offset} do not fit into the segment"
        return None if batch.magic in _MAGICS else f"unknown magic {batch.magic}"


def _is_framed(source: Source, size: int, batch: Batch) -> bool:
    """Return whether the end of the file or an intact batch follows a corrupt batch of this size."""
    end = batch.position + batch.size
    return end == size or next(iter(Walk(source, size, position=end, verify=True)), None) is not None


def _only_zeros(source: Source, position: int, size: int) -> bool:
    """Return whether only zeros follow, which a broker has reserved."""
    from kcheck.segments.batches_after_damage import only_zeros  # imports numpy

    return only_zeros(source, position, size)
