"""Reads the entries of an index or producer snapshot piece by piece, in bounded memory."""

from collections.abc import Iterator

from kcheck.model.source import Source
from kcheck.records import entry_file
from kcheck.records.batch import crc32c
from kcheck.records.layout import Layout

_ENTRY_COUNT = 4096
"""Number of entries read at a time."""
_PIECE_SIZE = 1 << 20


def entries(source: Source, start: int, end: int, layout: Layout) -> Iterator[tuple[int, ...]]:
    """Yield the complete entries between two positions; fewer if the file was truncated meanwhile."""
    position = start
    while end - position >= layout.size:
        count = min((end - position) // layout.size, _ENTRY_COUNT)
        data = source.pread(count * layout.size, position)
        complete_size = len(data) - len(data) % layout.size
        if not complete_size:
            return
        yield from layout.iter_unpack(memoryview(data)[:complete_size])
        position += complete_size


def used_size(source: Source, size: int, layout: Layout) -> int:
    """Return the size of the complete entries up to the last non-zero one. A broker preallocates zeros after them."""
    end = size
    while end > 0:
        start = max(end - _PIECE_SIZE, 0)
        filled = source.pread(end - start, start).rstrip(b"\0")
        if filled:
            return entry_file.used_size(start + len(filled), size, layout)
        end = start
    return 0


def crc32c_of(source: Source, start: int, end: int) -> int:
    """Return the CRC-32C of the bytes between two positions."""
    running = crc32c(b"")
    for position in range(start, end, _PIECE_SIZE):
        running = crc32c(source.pread(min(_PIECE_SIZE, end - position), position), running)
    return running
