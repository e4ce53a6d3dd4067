"""Intact batches after corrupt bytes. kcheck accepts a batch there only if its CRC matches."""

import numpy as np

from kcheck.model.entries import RELATIVE_OFFSET_MAX, Batch, Offset
from kcheck.model.java import LONG_MAX
from kcheck.model.segments import Beyond
from kcheck.model.source import Source
from kcheck.records.batch import HEADER, MAGIC_AT, OVERHEAD, batch_at
from kcheck.segments.batches import Walk, batch_crc

_PIECE_SIZE = 1 << 20
_TRY_SIZE = 4 << 10
"""The least that a try counts, as bytes read."""
_TRIED_SIZE_MAX = 64 << 20
"""Number of bytes after which the search gives up, as hostile bytes may look like many headers."""


def intact_batches(source: Source, position: int, size: int, *, base: Offset, after: Offset) -> Beyond | None:
    """Return the first run of batches of magic 2 after `position` with matching CRCs; None without one.

    Their offsets must be above `after`, and in range for a segment with the base offset `base`.
    """
    low, high = max(base, after + 1), min(base + RELATIVE_OFFSET_MAX, LONG_MAX)
    left = _TRIED_SIZE_MAX
    start = position
    while size - start >= HEADER.size:
        piece = source.pread(min(_PIECE_SIZE + HEADER.size, size - start), start)
        if len(piece) < HEADER.size:
            return None
        for at in _headers(piece, size - start, low=low, high=high):
            batch = batch_at(piece, at, position=start + at, total=_total(piece, at))
            assert batch is not None
            left -= max(batch.size, _TRY_SIZE)
            if left < 0:
                return None
            if batch_crc(source, batch.position, batch.size, batch.magic) == batch.crc:
                return _run(source, size, batch, high=high)
        start += max(len(piece) - HEADER.size + 1, 1)
    return None


def _headers(piece: bytes, remaining: int, *, low: int, high: int) -> list[int]:
    """Return the positions in a piece of bytes that may be a batch header, by magic, size and offsets."""
    every_header = np.ndarray((len(piece) - HEADER.size + 1,), f"V{HEADER.size}", piece, strides=(1,))
    magic = np.frombuffer(piece, np.uint8)[MAGIC_AT : MAGIC_AT + len(every_header)]
    at = np.flatnonzero(magic == 2)
    names = ["base_offset", "batch_size", "last_offset_delta"]
    places = {"names": names, "formats": [">i8", ">i4", ">i4"], "offsets": [0, 8, 23], "itemsize": HEADER.size}
    headers = every_header[at].view(np.dtype(places))  # type: ignore[call-overload]  # numpy's stubs lack this form
    offset, length, delta = (headers[name].astype(np.int64) for name in names)
    fits = (length >= HEADER.size - OVERHEAD.size) & (length <= remaining - at - OVERHEAD.size) & (delta >= 0)
    positions: list[int] = at[fits & (offset >= low) & (offset <= high) & (delta <= high - offset)].tolist()
    return positions


def _run(source: Source, size: int, first: Batch, *, high: int) -> Beyond:
    """Return the run of batches from `first`, as long as CRCs match and offsets ascend to at most `high`."""
    last, count = first.last_offset, 1
    for batch in Walk(source, size, position=first.position + first.size, verify=True):
        if batch.last_offset > high or batch.base_offset <= last:
            break
        last, count = batch.last_offset, count + 1
    return Beyond(first.position, first.base_offset, last, count)


def _total(piece: bytes, at: int) -> int:
    return int(OVERHEAD.unpack_from(piece, at)[1]) + OVERHEAD.size


def only_zeros(source: Source, position: int, size: int) -> bool:
    """Return whether only zeros follow, from `position` to the end of the file."""
    while position < size:
        begin = source.next_data(position)
        if begin is None:
            return True
        position = begin
        part = source.pread(min(_PIECE_SIZE, size - position), position)
        if not part or part.count(0) != len(part):
            return False
        position += len(part)
    return True
