"""`.index`: which position of the `.log` to search from (OffsetIndex 0.8 to 4.3.1). Entries of 8 bytes."""

from collections.abc import Mapping
from itertools import pairwise

from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.entries import Offset, OffsetPosition
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Defect, Parsed

OFFSET_INDEX_ENTRY = Layout((("relative_offset", "i32"), ("position", "i32")))
assert OFFSET_INDEX_ENTRY.size == 8

Entries = tuple[OffsetPosition, ...]


def entry(data: bytes, at: int, base_offset: Offset) -> OffsetPosition:
    """Return the entry at byte `at`, its offset made absolute."""
    relative, position = OFFSET_INDEX_ENTRY.unpack_from(data, at)
    return OffsetPosition(Offset(base_offset + relative), position)


def parse(data: bytes) -> Parsed[Entries]:
    """Return the entries with offsets relative to the segment; a tail of zeros is room, not entries.

    Defects: a size that is no multiple of 8, offsets or positions that do not rise.
    """
    whole = len(data) - len(data) % OFFSET_INDEX_ENTRY.size
    used = whole
    while used and not any(data[used - OFFSET_INDEX_ENTRY.size : used]):
        used -= OFFSET_INDEX_ENTRY.size
    entries = tuple(OffsetPosition(Offset(o), p) for o, p in OFFSET_INDEX_ENTRY.iter_unpack(data[:used]))
    defects = []
    if whole != len(data):
        text = f"{len(data) - whole} bytes after the last whole entry"
        defects.append(Defect(message=text, position=whole, found=data[whole:]))
    for number, (low, high) in enumerate(pairwise(entries), 1):
        if high.offset <= low.offset or high.position <= low.position:
            at = number * OFFSET_INDEX_ENTRY.size
            text = f"entry {number} does not lie above the one before it"
            defects.append(Defect(message=text, position=at, found=data[at : at + OFFSET_INDEX_ENTRY.size]))
            break
    return Parsed(value=entries, defects=tuple(defects))


def serialize(value: Entries) -> bytes:
    """Return the entries as a trimmed index holds them."""
    return b"".join(OFFSET_INDEX_ENTRY.pack(entry.offset, entry.position) for entry in value)


def row(value: Entries) -> Mapping[str, object]:
    """Return the fields of JSON; offsets relative to the segment's base offset."""
    return {"entries": tuple({"relative_offset": e.offset, "position": e.position} for e in value)}


FORMAT = Format(
    kind="offset-index",
    title="Offset index",
    matches=lambda name: parse_file(name).kind is FileKind.INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
)
