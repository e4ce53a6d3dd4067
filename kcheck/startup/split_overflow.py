"""The split of a segment with an offset that does not fit into it: LocalLog.splitOverflowedSegment, Log 2.8."""

from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.names import CLEANED, SWAP, log_name, segment_prefix
from kcheck.startup.recover import build_indexes
from kcheck.startup.segment import ENDINGS, Segment
from kcheck.startup.sorted_map import SortedMap
from kcheck.startup.virtual_files import StartError

_PIECE_SIZE = 1 << 20


class _BatchRange(NamedTuple):
    """Batches that fit into one new segment."""

    base: int
    """The base offset of the first batch, and of the new segment."""
    begin: int
    """The position of the first batch in the old segment."""
    end: int
    """The position after the last batch in the old segment."""


def split(segment: Segment, segments: SortedMap[Segment], *, interval: int) -> int | None:
    """Replace a segment by several; return its base offset if no new segment has it.

    `interval` is index.interval.bytes. StartError if the broker cannot split it.
    """
    end = segment.next_offset()
    if end <= segment.base or segment.in_range(end - 1):
        raise StartError(
            f"IllegalArgumentException: {segment.log_name} cannot be split: the offset that does not fit"
            f" is not in its last batch"
        )
    parts = tuple(_parts(segment))
    if not parts or parts[-1].end != segment.size:
        raise StartError(f"NoSuchElementException: {segment.log_name} cannot be split: its last bytes are no batch")
    folder, context = segment.folder, segment.context
    content = folder.files[segment.log_name]
    known = segments.get(segment.base) is segment
    if known:
        segment.mark_deleted()
        del segments[segment.base]
    for part in parts:
        for ending in ENDINGS[:-1]:
            # The new files pass through both suffixes, and replace files of these names.
            for suffix in ("", SWAP, CLEANED):
                folder.remove(segment_prefix(Offset(part.base)) + ending + suffix)
        size = part.end - part.begin
        name = log_name(part.base)
        folder.put(name, content._replace(size=size, begin=content.begin + part.begin, filled=size))
        new_segment = Segment(folder, part.base, context)
        (build_indexes if context.release.splits_batch_by_batch else _index_pieces)(new_segment, interval)
        segments[part.base] = new_segment
    replaced = any(part.base == segment.base for part in parts)
    return segment.base if known and not replaced else None


class _Piece(NamedTuple):
    """Batches that the broker appends together."""

    position: int
    """The position of the first batch."""
    size: int
    """The size of all batches in bytes."""
    last_offset: int
    """The last offset of the last batch."""
    timestamp: int
    """The largest timestamp."""
    offset: int
    """The last offset of the batch with the largest timestamp."""


def _index_pieces(segment: Segment, interval: int) -> None:
    """Build both indexes with at most one entry a piece (LogSegment.appendChunkFromFile in 3.9.0 and earlier)."""
    offsets: list[tuple[int, int]] = []
    times: list[tuple[int, int]] = []
    largest, since = (-1, segment.base), 0
    for piece in _pieces(segment):
        if piece.timestamp > largest[0]:
            largest = (piece.timestamp, piece.offset)
        if since > interval:
            if offsets and piece.last_offset <= offsets[-1][0]:
                raise StartError(
                    f"InvalidOffsetException: {segment.log_name} is out of order at position {piece.position}"
                )
            offsets.append((piece.last_offset, piece.position))
            if not times or largest[0] > times[-1][0]:
                times.append(largest)
            since = 0
        since += piece.size
    if largest[0] >= 0 and (not times or largest[0] > times[-1][0]):
        times.append(largest)
    base = segment.base
    for index, entries in (
        (segment.offset_index, [(offset - base, position) for offset, position in offsets]),
        (segment.time_index, [(timestamp, offset - base) for timestamp, offset in times]),
    ):
        index.reset()
        index.write(*np.array(entries, np.int64).reshape(-1, 2).T)
        index.trim()


def _pieces(segment: Segment) -> Iterator[_Piece]:
    piece: _Piece | None = None
    for columns, _ in segment.windows(0):
        wanted = (columns.position, columns.size, columns.last_offset, columns.max_timestamp)
        for position, size, last, timestamp in zip(*(column.tolist() for column in wanted), strict=True):
            if piece is not None and piece.size + size < _PIECE_SIZE:
                latest = max((piece.timestamp, piece.offset), (timestamp, last), key=itemgetter(0))
                piece = _Piece(piece.position, piece.size + size, last, *latest)
                continue
            if piece is not None:
                yield piece
            piece = _Piece(position, size, last, timestamp, last)
    if piece is not None:
        yield piece


def _parts(segment: Segment) -> Iterator[_BatchRange]:
    """Yield runs of batches that fit into a segment with the base offset of their first batch."""
    current: _BatchRange | None = None
    checks_magic = segment.context.release.splits_batch_by_batch
    for columns, _ in segment.windows(0):
        row, count = 0, len(columns.position)
        if checks_magic and ((columns.magic < 0) | (columns.magic > 2)).any():
            # Such a release appends the batches as a leader does, which checks the magic.
            raise StartError(
                f"CorruptRecordException: {segment.log_name} cannot be split: a batch has an unknown magic"
            )
        while row < count:
            if current is None:
                at = int(columns.position[row])
                current = _BatchRange(int(columns.base_offset[row]), at, at)
            relative = columns.last_offset[row:] - current.base
            outside = (relative < 0) | (relative > RELATIVE_OFFSET_MAX)
            stop = row + int(np.argmax(outside)) if outside.any() else count
            if stop > row:
                current = current._replace(end=int(columns.position[stop - 1] + columns.size[stop - 1]))
            elif current.end == current.begin:
                raise StartError(
                    f"IllegalStateException: {segment.log_name} cannot be split at position {current.begin}"
                )
            if stop < count:
                yield current
                current = None
            row = stop
    if current is not None:
        yield current
