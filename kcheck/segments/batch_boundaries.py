"""Finds the batches in a window of a `.log`, and the end of its valid data.

The class is FileLogInputStream (0.11 to 4.3.1). A batch states its own size, so one leads to the next. To follow sizes
one by one is slow in Python. Often some positions of batches are known or can be guessed. Then kcheck follows the paths
between them in parallel, one numpy step for all.
"""

import struct

import numpy as np
import numpy.typing as npt

from kcheck.model.segments import End
from kcheck.records.batch import (
    HEADER,
    HEADER_SIZE_UP_TO_MAGIC,
    MAGIC_AT,
    MIN_ENTRY_SIZE,
    OVERHEAD,
    is_modern,
)

Positions = npt.NDArray[np.int64]
NO_POSITIONS: Positions = np.zeros(0, np.int64)
_LEAST = OVERHEAD.size + MIN_ENTRY_SIZE
_WALKS_MIN = 32
"""Number of paths below which they are followed one by one. A numpy step costs about as much as these."""
_ENTRIES_PER_WALK = 32
"""If no starts are known, kcheck guesses starts about this many batches apart."""
_SIZE_AT = struct.Struct(">i").unpack_from


def batch_starts(
    buffer: bytearray, filled: int, remaining: int, starts: Positions, *, lax: bool
) -> tuple[Positions, int, End | None]:
    """Return the positions of the batches in a window, the end of the last one, and why no more follow.

    A reason of `None` means that more batches may follow the window. `starts` are positions where batches may begin.
    They are right if the sizes lead from one to the next, beginning with the window. Otherwise they are ignored. `lax`
    accepts a batch of magic 2 that is smaller than its header, as `HeaderReader` can.
    """
    known = _walk_in_parallel(buffer, starts)
    if known is None:
        starts = _likely_starts(buffer, filled)
        known = _walk_in_parallel(buffer, starts)
    after, size, end = _walk(buffer, 0 if known is None else int(starts[-1]), filled, remaining, lax=lax)
    rest = np.array(after, np.int64)
    return rest if known is None else np.concatenate((known, rest)), size, end


def _likely_starts(buffer: bytearray, filled: int) -> Positions:
    """Return positions where a batch may begin.

    The epoch and magic there, and in the next batch, equal the first batch's. kcheck looks for one position in each
    stretch of a fixed size. The result is empty if batches are too large for that.
    """
    total = _SIZE_AT(buffer, 8)[0] + OVERHEAD.size
    step = _ENTRIES_PER_WALK * total
    if total < HEADER.size or step * _WALKS_MIN > filled:
        return NO_POSITIONS
    mark = buffer[OVERHEAD.size : HEADER_SIZE_UP_TO_MAGIC]
    likely: list[int] = []
    for begin in range(step, filled - step, step):
        at = buffer.find(mark, begin + OVERHEAD.size, begin + step) - OVERHEAD.size
        if at > 0 and buffer.startswith(mark, max(at + _SIZE_AT(buffer, at + 8)[0] + 2 * OVERHEAD.size, 0)):
            likely.append(at)
    return np.array(likely, np.int64)


def _walk_in_parallel(buffer: bytearray, starts: Positions) -> Positions | None:
    """Return the positions of batches up to the last of `starts`; None if the sizes do not lead to them.

    None also if there are few of them, or if a batch is smaller than a header of magic 2. Only old messages may be. A
    negative size counts as a huge one, which leads past every position.
    """
    if starts.size < _WALKS_MIN:
        return None
    sizes = np.ndarray((len(buffer) - OVERHEAD.size + 1,), "V4", buffer, offset=8, strides=(1,))
    at, goal = np.concatenate(([0], starts[:-1])), starts
    passed: list[Positions] = []
    while at.size >= _WALKS_MIN:
        passed.append(at)
        at = at + (sizes[at].view(">u4") + OVERHEAD.size)
        on = at < goal
        if np.count_nonzero(on) < on.size:
            if np.count_nonzero(at > goal):
                return None
            at, goal = at[on], goal[on]
    for begin, end in zip(at.tolist(), goal.tolist(), strict=True):
        begins, _, why = _walk(buffer, begin, end, end, lax=False)
        if why is not End.WHOLE:
            return None
        passed.append(np.array(begins, np.int64))
    begins_of_all = np.concatenate(passed)
    begins_of_all.sort()
    return begins_of_all if (np.diff(begins_of_all, append=starts[-1]) >= HEADER.size).all() else None


def _walk(buffer: bytearray, at: int, filled: int, remaining: int, *, lax: bool) -> tuple[list[int], int, End | None]:
    """Follow the sizes one by one from a batch at `at`; return what `batch_starts` does.

    TORN: the last batch extends beyond the file.
    """
    begins: list[int] = []
    append = begins.append
    overhead = OVERHEAD.size
    while at < filled - HEADER_SIZE_UP_TO_MAGIC:
        total = _SIZE_AT(buffer, at + 8)[0] + overhead
        end = at + total
        short = total < HEADER.size
        if short and (total < _LEAST or (not lax and end <= filled and is_modern(buffer[at + MAGIC_AT]))):
            return begins, at, End.CORRUPT
        if end > filled:
            return begins, at, End.TORN if end > remaining else None
        append(at)
        at = end
    if filled < remaining:
        return begins, at, None
    return begins, at, End.WHOLE if at == filled else End.TORN
