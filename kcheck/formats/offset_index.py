"""`.index`: where in the `.log` to begin to search for an offset (OffsetIndex 0.8 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats import _entry_file
from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.entries import Offset, OffsetPosition
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Parsed

OFFSET_INDEX_ENTRY = Layout((("relative_offset", "i32"), ("position", "i32")))
assert OFFSET_INDEX_ENTRY.size == 8


class OffsetIndex(NamedTuple):
    """The entries as (offset relative to the segment's base offset, position in the `.log`), both in file order.

    `room` is the size in bytes of the zeros that a broker keeps after them for entries to come.
    """

    entries: Sequence[tuple[int, ...]]
    room: int = 0


def entry(data: bytes, at: int, base_offset: Offset) -> OffsetPosition:
    """Return the entry at byte `at`, its offset made absolute."""
    relative, position = OFFSET_INDEX_ENTRY.unpack_from(data, at)
    return OffsetPosition(Offset(base_offset + relative), position)


def parse(data: bytes) -> Parsed[OffsetIndex]:
    """Return the entries; zeros at the end are room. Defects: a torn entry, negative numbers, or ones that do not rise.

    The broker takes zeros at the end for entries, (base offset, 0), until it cuts or rebuilds the file.
    """
    found = _entry_file.read(data, OFFSET_INDEX_ENTRY, has_room=True)
    told = _entry_file.defects(data, OFFSET_INDEX_ENTRY, found, problem)
    return Parsed(value=OffsetIndex(found.rows, found.room), defects=told)


def problem(index: int, before: Sequence[int], found: Sequence[int]) -> str | None:
    """Return what is wrong with an entry behind the one `before`, which says nothing for the first."""
    if found[0] < 0 or found[1] < 0:
        return f"entry {index} has a negative number"
    if index and (found[0] <= before[0] or found[1] <= before[1]):
        return f"entry {index} does not lie above the one before it"
    return None


def serialize(value: OffsetIndex) -> bytes:
    """Return the file with its room."""
    return _entry_file.write(value.entries, OFFSET_INDEX_ENTRY, value.room)


def row(value: OffsetIndex) -> Mapping[str, object]:
    """Return the fields of JSON; offsets are relative to the segment's base offset, sizes in bytes."""
    return {"entries": _entry_file.as_json(value.entries, OFFSET_INDEX_ENTRY), "room": value.room}


FORMAT = Format(
    kind="offset-index",
    title="Offset index",
    matches=lambda name: parse_file(name).kind is FileKind.INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
)
