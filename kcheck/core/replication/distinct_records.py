"""Finds the lost offsets of a batch, which some replica loses and no replica keeps."""

import itertools
from collections.abc import Sequence

from kcheck.core.replication.truncation_plans import OffsetRange
from kcheck.model.entries import Offset


def lost_pieces(
    batch: OffsetRange, lost: Sequence[OffsetRange], kept: Sequence[OffsetRange]
) -> tuple[OffsetRange, ...]:
    """Return the offsets of a batch that are in a range of `lost` and outside of `kept`, as ascending ranges."""
    bounds = {batch.start, batch.end}
    bounds.update(bound for one in (*lost, *kept) for bound in one if batch.start < bound < batch.end)
    ordered = sorted(bounds)
    pieces: list[OffsetRange] = []
    for start, end in itertools.pairwise(ordered):
        if not _covers(lost, start) or _covers(kept, start):
            continue
        if pieces and pieces[-1].end == start:
            pieces[-1] = OffsetRange(pieces[-1].start, end)
        else:
            pieces.append(OffsetRange(start, end))
    return tuple(pieces)


def below(pieces: Sequence[OffsetRange], mark: Offset) -> int:
    """Return how many offsets of some ranges are below `mark`."""
    return sum(max(0, min(piece.end, mark) - piece.start) for piece in pieces)


def _covers(ranges: Sequence[OffsetRange], offset: Offset) -> bool:
    return any(one.start <= offset < one.end for one in ranges)
