"""Finds the offsets that no segment of a log has, from the ends of its segments alone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kcheck.model.entries import Offset
from kcheck.model.names import log_name
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk, last_offset, tail_start

Between = tuple[Offset, Offset]
"""The offsets `[start, end)` between two segments that neither holds."""


def gaps(files: Files, bases: Sequence[Offset], start: Offset = Offset(0)) -> Iterator[Between]:
    """Yield the gaps of a log from `start`.

    A log that was never compacted has none, as a broker gives an offset to every record. The contents of an unreadable
    segment are not known. Costs one or two short reads a segment.
    """
    for base, following in pairwise(bases):
        if following <= start:
            continue
        try:
            _, end = size_and_end(files, base)
        except UnreadableError:
            continue
        if end < following:
            yield end, following


def size_and_end(files: Files, base: Offset) -> tuple[int, Offset]:
    """Return the size of a `.log`, and the offset after its last batch.

    A long one is read from its last index entry on.
    """
    name = log_name(base)
    data = files.read_short(name)
    if data is not None:
        last = last_offset(data)
        return len(data), base if last is None else Offset(last + 1)
    with files.open(name) as log:
        tail, end = tail_start(files, log, base), base
        for batch in Walk(log, position=tail.position, window=tail.window):
            end = Offset(batch.last_offset + 1)
        return log.size, end
