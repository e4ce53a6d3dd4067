"""A segment with an offset that does not fit is cut into several: LocalLog.splitOverflowedSegment, Log 2.8."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kcheck.model.entries import RELATIVE_OFFSET_MAX, Offset
from kcheck.model.names import CLEANED, SWAP, segment_prefix
from kcheck.scan.start_files import Content, StartError
from kcheck.scan.start_recover import build_indexes
from kcheck.scan.start_segment import ENDINGS, Segment


class _Part(NamedTuple):
    """Batches that fit into one segment: its base offset, and from where to where they stand in the file."""

    base: int
    begin: int
    end: int


def split(segment: Segment, segments: dict[int, Segment]) -> int | None:
    """Put segments in the place of one; return its base offset where none of them has it. StartError: it cannot be."""
    end = segment.next_offset()
    if end <= segment.base or segment.in_range(end - 1):
        raise StartError(
            f"IllegalArgumentException: {segment.log_name} cannot be split: the offset that does not belong there is"
            f" not that of its last batch"
        )
    parts = tuple(_parts(segment))
    if not parts or parts[-1].end != segment.size:
        raise StartError(f"NoSuchElementException: {segment.log_name} cannot be split: no batch stands at its end")
    folder = segment.folder
    content = folder.files[segment.log_name]
    known = segments.get(segment.base) is segment
    if known:
        segment.mark_deleted()
        del segments[segment.base]
    for part in parts:
        for ending in ENDINGS[:-1]:
            # The new files come by way of both suffixes, over whatever stands there.
            for suffix in ("", SWAP, CLEANED):
                folder.remove(segment_prefix(Offset(part.base)) + ending + suffix)
        size = part.end - part.begin
        name = segment_prefix(Offset(part.base)) + ".log"
        folder.put(name, Content(size, content.path, content.begin + part.begin, size))
        made = Segment(folder, part.base, segment.context)
        build_indexes(made)
        segments[part.base] = made
    replaced = any(part.base == segment.base for part in parts)
    return segment.base if known and not replaced else None


def _parts(segment: Segment) -> Iterator[_Part]:
    """Yield runs of batches of which each fits into a segment that begins with the first of them."""
    current: _Part | None = None
    version = segment.context.release.version
    looks = version >= (3, 9, 1) and version != (4, 0, 0)
    for columns, _ in segment.windows(0):
        row, count = 0, len(columns.position)
        if looks and ((columns.magic < 0) | (columns.magic > 2)).any():
            # The batches are appended as those of a leader are, with their indexes.
            raise StartError(f"CorruptRecordException: {segment.log_name} cannot be split: a magic is not known")
        while row < count:
            if current is None:
                at = int(columns.position[row])
                current = _Part(int(columns.base_offset[row]), at, at)
            relative = columns.last_offset[row:] - current.base
            outside = (relative < 0) | (relative > RELATIVE_OFFSET_MAX)
            stop = row + int(np.argmax(outside)) if outside.any() else count
            if stop > row:
                current = current._replace(end=int(columns.position[stop - 1] + columns.size[stop - 1]))
            elif current.end == current.begin:
                raise StartError(f"IllegalStateException: {segment.log_name} cannot be split at {current.begin}")
            if stop < count:
                yield current
                current = None
            row = stop
    if current is not None:
        yield current
