"""Records that a lookup in the offset index of a segment does not find, checked for a few batches.

A read begins at the position of the last entry at or below its offset. It continues from there (LogSegment
.translateOffset, OffsetIndex.lookup 0.8 to 4.3.1). `indexes` checks all of an index, for the rules.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY, entry
from kcheck.model.entries import Batch, Offset
from kcheck.model.names import FileKind, segment_prefix
from kcheck.model.source import Files
from kcheck.model.unreadable import UnreadableError

_SLOT = OFFSET_INDEX_ENTRY.size


def unfound(files: Files, base: Offset, batches: Sequence[Batch]) -> Iterator[tuple[Offset, Offset]]:
    """Yield the offsets that reads skip, or at which they fail, because an entry names a later or no batch.

    `batches` are all of the segment. A position before the right batch costs time alone. Entries above the last offset
    end no read within the segment.
    """
    if not batches:
        return
    offsets, positions = [batch.last_offset for batch in batches], [batch.position for batch in batches]
    end = Offset(offsets[-1] + 1)
    for offset, position in _entries(files, base, len(batches)):
        owner = bisect_left(offsets, offset)
        if offset < base or owner == len(batches):
            continue
        named = bisect_left(positions, position)
        is_one = named < len(batches) and positions[named] == position
        if not is_one:
            yield offset, end
        elif named > owner:
            yield offset, batches[named].base_offset


def _entries(files: Files, base: Offset, count: int) -> Iterator[tuple[Offset, int]]:
    """Yield the entries; an index has none for some of the batches, and zeros after the last one."""
    try:
        with files.open(f"{segment_prefix(base)}.{FileKind.INDEX}") as index:
            data = index.pread(min(index.size, count * _SLOT), 0)
    except UnreadableError:
        return
    for at in range(0, len(data) // _SLOT * _SLOT, _SLOT):
        if any(data[at : at + _SLOT]):
            yield entry(data, at, base)
