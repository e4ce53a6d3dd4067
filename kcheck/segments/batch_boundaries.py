"""Where the entries of a window of a `.log` begin, and where valid data ends: FileLogInputStream 0.11 to 4.3.1."""

import struct

import numpy as np
import numpy.typing as npt

from kcheck.formats.record_batch import (
    HEADER,
    HEADER_SIZE_UP_TO_MAGIC,
    MAGIC_AT,
    MIN_ENTRY_SIZE,
    OVERHEAD,
    is_modern,
)
from kcheck.model.segments import End

Places = npt.NDArray[np.int64]
NOWHERE: Places = np.zeros(0, np.int64)
_LEAST = OVERHEAD.size + MIN_ENTRY_SIZE
_SIDE_BY_SIDE_MIN = 32
"""Fewer ways than these are gone one after the other: a step of all costs as much as so many steps of one."""
_ENTRIES_A_WAY = 32
"""Where no starts are known, they are looked for about so many batches apart."""
_SIZE_AT = struct.Struct(">i").unpack_from


def entries(
    buffer: bytearray, filled: int, remaining: int, starts: Places, *, lax: bool
) -> tuple[Places, int, End | None]:
    """Return where in a window entries begin, where they end, and why the file has no more; None: it may have more.

    If entries lead from its begin to the first start, and from each start to the next, then each is where an entry
    begins: all these ways are gone side by side. Where one misses, these starts mean nothing.
    """
    ways = _side_by_side(buffer, starts)
    if ways is None:
        starts = _alike(buffer, filled)
        ways = _side_by_side(buffer, starts)
    behind, size, end = _chase(buffer, 0 if ways is None else int(starts[-1]), filled, remaining, lax=lax)
    found = np.array(behind, np.int64)
    return found if ways is None else np.concatenate((ways, found)), size, end


def _alike(buffer: bytearray, filled: int) -> Places:
    """Return places of a window where a batch may begin: it has epoch and magic of the first, and so has the next.

    One is looked for behind every so many bytes. None are returned where the batches are too large for that to pay.
    """
    total = _SIZE_AT(buffer, 8)[0] + OVERHEAD.size
    step = _ENTRIES_A_WAY * total
    if total < HEADER.size or step * _SIDE_BY_SIDE_MIN > filled:
        return NOWHERE
    mark = buffer[OVERHEAD.size : HEADER_SIZE_UP_TO_MAGIC]
    found: list[int] = []
    for begin in range(step, filled - step, step):
        at = buffer.find(mark, begin + OVERHEAD.size, begin + step) - OVERHEAD.size
        if at > 0 and buffer.startswith(mark, max(at + _SIZE_AT(buffer, at + 8)[0] + 2 * OVERHEAD.size, 0)):
            found.append(at)
    return np.array(found, np.int64)


def _side_by_side(buffer: bytearray, starts: Places) -> Places | None:
    """Return where entries begin up to the last start, None if they are few or do not lead from start to start.

    That is also the answer where an entry is smaller than a header of magic 2: only old messages may be. A negative
    size is taken for a huge one, which leads beyond every start.
    """
    if starts.size < _SIDE_BY_SIDE_MIN:
        return None
    sizes = np.ndarray((len(buffer) - OVERHEAD.size + 1,), "V4", buffer, offset=8, strides=(1,))
    at, goal = np.concatenate(([0], starts[:-1])), starts
    passed: list[Places] = []
    while at.size >= _SIDE_BY_SIDE_MIN:
        passed.append(at)
        at = at + (sizes[at].view(">u4") + OVERHEAD.size)
        on = at < goal
        if np.count_nonzero(on) < on.size:
            if np.count_nonzero(at > goal):
                return None
            at, goal = at[on], goal[on]
    for begin, end in zip(at.tolist(), goal.tolist(), strict=True):
        found, _, why = _chase(buffer, begin, end, end, lax=False)
        if why is not End.WHOLE:
            return None
        passed.append(np.array(found, np.int64))
    ways = np.concatenate(passed)
    ways.sort()
    return ways if (np.diff(ways, append=starts[-1]) >= HEADER.size).all() else None


def _chase(buffer: bytearray, at: int, filled: int, remaining: int, *, lax: bool) -> tuple[list[int], int, End | None]:
    """Return what `entries` does from one of them on."""
    found: list[int] = []
    append = found.append
    while at < filled - HEADER_SIZE_UP_TO_MAGIC:
        total = _SIZE_AT(buffer, at + 8)[0] + 12
        end = at + total
        short = total < HEADER.size
        if short and (total < _LEAST or (not lax and end <= filled and is_modern(buffer[at + MAGIC_AT]))):
            return found, at, End.CORRUPT
        if end > filled:
            return found, at, End.TORN if end > remaining else None
        append(at)
        at = end
    if filled < remaining:
        return found, at, None
    return found, at, End.WHOLE if at == filled else End.TORN
