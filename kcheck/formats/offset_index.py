"""`.index`: the position in the `.log` at which to start searching for an offset (OffsetIndex 0.8 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.entries import Offset, OffsetPosition
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Parsed
from kcheck.records import entry_file
from kcheck.records.layout import Layout

OFFSET_INDEX_ENTRY = Layout((("relative_offset", "i32"), ("position", "i32")))
assert OFFSET_INDEX_ENTRY.size == 8


class OffsetIndex(NamedTuple):
    """The contents of an offset index."""

    entries: Sequence[tuple[int, ...]]
    """(offset relative to the segment's base offset, position in the `.log` in bytes), in file order."""
    room: int = 0
    """Bytes of zeros that a broker preallocates after the entries."""


def entry(data: bytes, at: int, base_offset: Offset) -> OffsetPosition:
    """Return the entry at byte `at` with its absolute offset."""
    relative, position = OFFSET_INDEX_ENTRY.unpack_from(data, at)
    return OffsetPosition(Offset(base_offset + relative), position)


def parse(data: bytes) -> Parsed[OffsetIndex]:
    """Return the entries; zeros at the end are room. Defects: incomplete, negative or not increasing entries.

    A broker reads the zeros as entries (base offset, 0) until it trims or rebuilds the file.
    """
    contents = entry_file.read(data, OFFSET_INDEX_ENTRY, has_room=True)
    defects = entry_file.defects(data, OFFSET_INDEX_ENTRY, contents, problem)
    return Parsed(value=OffsetIndex(contents.rows, contents.room), defects=defects)


def problem(index: int, before: Sequence[int], current: Sequence[int]) -> str | None:
    """Return the fault of an entry, given the entry before it (the first entry is given twice)."""
    if current[0] < 0 or current[1] < 0:
        return f"entry {index} has a negative number"
    if index and (current[0] <= before[0] or current[1] <= before[1]):
        return f"entry {index} is not above the entry before it"
    return None


def serialize(value: OffsetIndex) -> bytes:
    """Return the bytes of the file, room included."""
    return entry_file.write(value.entries, OFFSET_INDEX_ENTRY, value.room)


def row(value: OffsetIndex) -> Mapping[str, object]:
    """Return the JSON fields (offsets relative to the segment's base offset, positions and sizes in bytes)."""
    return {"entries": entry_file.as_json(value.entries, OFFSET_INDEX_ENTRY), "room": value.room}


FORMAT = Format(
    kind="offset-index",
    title="Offset index",
    matches=lambda name: parse_file(name).kind is FileKind.INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
)
