"""The entries of an index or a producer snapshot, read piece by piece: memory is bounded, whatever a file's size."""

from collections.abc import Iterator

from kcheck.formats import _entry_file
from kcheck.formats._layout import Layout
from kcheck.formats.record_batch import crc32c
from kcheck.model.source import Source

_ENTRY_COUNT = 4096
"""So many entries are read at a time."""
_PIECE_SIZE = 1 << 20


def entries(source: Source, start: int, end: int, layout: Layout) -> Iterator[tuple[int, ...]]:
    """Yield the whole entries between two positions, or those that are left of them if the file has become shorter."""
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
    """Return the bytes of the whole entries up to the last that is not zeros: a broker keeps zeros behind them."""
    end = size
    while end > 0:
        start = max(end - _PIECE_SIZE, 0)
        filled = source.pread(end - start, start).rstrip(b"\0")
        if filled:
            return _entry_file.used_size(start + len(filled), size, layout)
        end = start
    return 0


def crc32c_of(source: Source, start: int, end: int) -> int:
    """Return the CRC-32C of what stands between two positions."""
    running = crc32c(b"")
    for position in range(start, end, _PIECE_SIZE):
        running = crc32c(source.pread(min(_PIECE_SIZE, end - position), position), running)
    return running
