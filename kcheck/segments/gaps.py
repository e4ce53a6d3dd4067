"""The offsets that no segment of a log holds, found at the ends of its segments, without a read of the whole log."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kcheck.model.entries import Offset
from kcheck.model.names import log_name
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError
from kcheck.segments.batches import Walk, tail_start


def gaps(files: Files, bases: Sequence[Offset], start: Offset = Offset(0)) -> Iterator[tuple[Offset, Offset]]:
    """Yield the offsets `[start, end)` between two segments that neither holds, from `start` on.

    A log that was never compacted has none: a broker gives an offset to every record. What a segment that cannot be
    read holds is not known. Costs two short reads a segment.
    """
    for base, following in pairwise(bases):
        if following <= start:
            continue
        try:
            end = _end(files, base)
        except UnreadableError:
            continue
        if end < following:
            yield end, following


def _end(files: Files, base: Offset) -> Offset:
    """Return the offset after the last batch of a segment, by its last index entry and the batches from there on."""
    with files.open(log_name(base)) as log:
        tail, end = tail_start(files, log, base), base
        for batch in Walk(log, position=tail.position, window=tail.window):
            end = Offset(batch.last_offset + 1)
    return end
