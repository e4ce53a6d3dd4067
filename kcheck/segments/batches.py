"""The batch headers of a `.log` one by one, and the position from which a log's end is found."""

from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.start.segments import WARM_SIZE, floor_slot
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY, entry
from kcheck.model.entries import Batch, Offset, OffsetPosition
from kcheck.model.names import log_name, segment_prefix
from kcheck.model.source import Files, Source
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import (
    HEADER,
    HEADER_SIZE_UP_TO_MAGIC,
    MAGIC_AT,
    MIN_ENTRY_SIZE,
    OVERHEAD,
    batch_at,
    body_from,
    checksum,
    entry_size,
    is_modern,
)
from kcheck.records.layout import Layout

_WINDOW_SIZE = 64 << 10
_DELTA = Layout((("last_offset_delta", "i32"),))
_DELTA_AT = sum(HEADER.sizes[: HEADER.names.index("last_offset_delta")])
_ENTRY_SIZE_MIN = OVERHEAD.size + MIN_ENTRY_SIZE
_INDEX_TRIES = 8
"""Number of last entries of an index to try before the complete `.log` is read."""
_SLOT, _KEY = OFFSET_INDEX_ENTRY.size, OFFSET_INDEX_ENTRY.sizes[0]


class Walk:
    """The batches from a position, as FileLogInputStream finds them; iterate once.

    Afterwards `position` is where valid data ends. `corrupt` says why: None if the file ends there, or if the last
    batch is incomplete. With `verify` a wrong CRC ends the walk too, as in LogSegment.recover.
    """

    def __init__(
        self, source: Source, size: int | None = None, *, position: int = 0, verify: bool = False, window: bytes = b""
    ) -> None:
        """Take an open file, of which `size` bytes count; `window` has the bytes at `position`, already read."""
        self.position: int = max(position, 0)
        self.corrupt: str | None = None
        self._source = source
        self._size = source.size if size is None else size
        self._verify = verify
        self._window = window

    def __iter__(self) -> Iterator[Batch]:
        """Yield each batch; memory is bounded by one window, whatever the sizes of batches."""
        window, start = self._window, self.position
        while True:
            at, remaining = self.position - start, self._size - self.position
            if len(window) - at < min(HEADER.size, remaining):
                start, at = self.position, 0
                window = self._source.pread(min(_WINDOW_SIZE, remaining), start) if remaining > 0 else b""
                if len(window) < min(HEADER.size, remaining):
                    return  # The file became shorter.
            total = entry_size(window, at, remaining=remaining)
            if total is None:
                return
            batch = batch_at(window, at, position=self.position, total=total) if total > 0 else None
            if batch is None:
                size = OVERHEAD.unpack_from(window, at)[1]
                self.corrupt = f"an entry of {size} bytes is too small for a batch"
                return
            if self._verify and not self._matches(batch, window, at):
                self.corrupt = "the CRC does not match"
                return
            self.position += total
            yield batch

    def _matches(self, batch: Batch, window: bytes, at: int) -> bool:
        """Return whether the CRC of the batch matches; a batch larger than the window is read piece by piece."""
        if at + batch.size <= len(window):
            body = memoryview(window)[at + body_from(batch.magic) : at + batch.size]
            return checksum(body, batch.magic) == batch.crc
        return batch_crc(self._source, batch.position, batch.size, batch.magic) == batch.crc


def batch_crc(source: Source, position: int, size: int, magic: int) -> int | None:
    """Return the CRC of a batch, read piece by piece; None if the file ends within it."""
    at, end, running = position + body_from(magic), position + size, 0
    while at < end:
        part = source.pread(min(_WINDOW_SIZE, end - at), at)
        if not part:
            return None
        running = checksum(part, magic, running)
        at += len(part)
    return running


def last_offset(data: bytes) -> Offset | None:
    """Return the last offset in the bytes of a complete file, as `Walk` finds it; None without a batch."""
    last, at, left = 0, 0, len(data)
    while left > HEADER_SIZE_UP_TO_MAGIC:
        total = OVERHEAD.size + OVERHEAD.unpack_from(data, at)[1]
        if total > left or (total < HEADER.size and (total < _ENTRY_SIZE_MIN or is_modern(data[at + MAGIC_AT]))):
            break
        last, at, left = at, at + total, left - total
    if not at:
        return None
    base = OVERHEAD.unpack_from(data, last)[0]
    return Offset(base + _DELTA.unpack_from(data, last + _DELTA_AT)[0] if is_modern(data[last + MAGIC_AT]) else base)


def last_batch(files: Files, base: Offset) -> Batch | None:
    """Return the last batch of a segment; None if it has none. A long one is read from its last index entry on."""
    with files.open(log_name(base)) as log:
        tail = tail_start(files, log, base)
        return next(iter(deque(Walk(log, position=tail.position, window=tail.window), maxlen=1)), None)


class TailStart(NamedTuple):
    """The position to read a segment from to find the end of the log."""

    position: int = 0
    """The position of the last sane index entry; 0 without one."""
    window: bytes = b""
    """The bytes at that position, already read."""
    index_size: int | None = None
    """The size of the index in bytes; None unless its last entry is sane and a binary search finds it."""
    offset: Offset = Offset(0)
    """The offset of that entry; the base offset of the segment if the index has no entry."""


def tail_start(files: Files, log: Source, base_offset: Offset) -> TailStart:
    """Return the position to read a segment from to find the end of the log; 0 without a usable index.

    A sane entry is within the file, and not below the base offset. A batch with fitting offsets is at its position.
    """
    try:
        with files.open(segment_prefix(base_offset) + ".index") as index:
            slots = _Slots(index, base_offset)
            used = slots.used()
            for slot in range(used - 1, max(used - 1 - _INDEX_TRIES, -1), -1):
                last_entry = slots.entry(slot)
                window = b"" if last_entry is None else _window_at(log, last_entry, base_offset)
                if last_entry is not None and window:
                    followed = slot == slots.count - 1 == slots.floor(last_entry.offset)
                    size = index.size if followed else None
                    return TailStart(last_entry.position, window, size, last_entry.offset)
            return TailStart(index_size=None if slots.count else index.size, offset=base_offset)
    except UnreadableError:
        return TailStart()


class _Slots:
    """The slots of an offset index; the last ones, where a binary search starts, are read at once."""

    def __init__(self, source: Source, base_offset: Offset) -> None:
        self.count = source.size // _SLOT
        self._source, self._base = source, base_offset
        self._first = max(0, self.count - 1 - WARM_SIZE // _SLOT)
        size = (self.count - self._first) * _SLOT
        self._last = source.pread(size, self._first * _SLOT) if size else b""

    def _slot(self, slot: int) -> bytes:
        at = (slot - self._first) * _SLOT
        return self._source.pread(_SLOT, slot * _SLOT) if at < 0 else self._last[at : at + _SLOT]

    def entry(self, slot: int) -> OffsetPosition | None:
        """Return the entry in a slot; None if the file became shorter."""
        data = self._slot(slot)
        return entry(data, 0, self._base) if len(data) == _SLOT else None

    def used(self) -> int:
        """Return the number of used slots. Entries ascend; the zeros that a running broker preallocates follow."""
        if self.count and any(self._slot(self.count - 1)):
            return self.count  # The broker closed the index, which cuts off the zeros.
        low, high = 0, self.count
        while low < high:
            middle = (low + high) // 2
            if any(self._slot(middle)):
                low = middle + 1
            else:
                high = middle
        return low

    def floor(self, offset: Offset) -> int:
        """Return the slot at which the binary search for an offset ends."""
        return floor_slot(self._key, self.count, offset - self._base, entry_size=_SLOT)

    def _key(self, slot: int) -> int:
        at = (slot - self._first) * _SLOT
        data = self._slot(slot) if at < 0 else self._last[at : at + _KEY]
        return int.from_bytes(data[:_KEY], "big", signed=True)


def _window_at(log: Source, target: OffsetPosition, base_offset: Offset) -> bytes:
    """Return the bytes at the position of an entry; nothing unless they start a batch whose offsets fit."""
    if not (0 <= target.position < log.size and target.offset >= base_offset):
        return b""
    remaining = log.size - target.position
    window = log.pread(min(_WINDOW_SIZE, remaining), target.position)
    total = entry_size(window, 0, remaining=remaining) if len(window) >= min(HEADER.size, remaining) else None
    batch = batch_at(window, 0, position=target.position, total=total) if total and total > 0 else None
    sane = batch is not None and batch.magic in (0, 1, 2) and base_offset <= batch.base_offset <= target.offset
    return window if sane else b""
