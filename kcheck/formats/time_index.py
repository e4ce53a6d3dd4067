"""`.timeindex`: up to which offset the timestamps of a segment stay below one (TimeIndex 0.10.1 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats import _entry_file
from kcheck.formats._contract import Format
from kcheck.formats._layout import Layout
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Parsed

TIME_INDEX_ENTRY = Layout((("timestamp", "i64"), ("relative_offset", "i32")))
assert TIME_INDEX_ENTRY.size == 12


class TimeIndex(NamedTuple):
    """The entries as (timestamp in ms, offset relative to the segment's base offset), in file order.

    `room` is the size in bytes of the zeros after them. Retention goes by the last slot of the file: one of zeros makes
    a segment look as old as 1970.
    """

    entries: Sequence[tuple[int, ...]]
    room: int = 0


def parse(data: bytes) -> Parsed[TimeIndex]:
    """Return the entries; zeros at the end are room. Defects: a torn entry, or entries out of order.

    Timestamps rise from entry to entry, offsets do not fall (TimeIndex.maybeAppend).
    """
    found = _entry_file.read(data, TIME_INDEX_ENTRY, has_room=True)
    told = _entry_file.defects(data, TIME_INDEX_ENTRY, found, problem)
    return Parsed(value=TimeIndex(found.rows, found.room), defects=told)


def problem(index: int, before: Sequence[int], found: Sequence[int]) -> str | None:
    """Return what is wrong with an entry behind the one `before`, which says nothing for the first."""
    if found[0] < 0 or found[1] < 0:
        return f"entry {index} has a negative number"
    if index and found[0] <= before[0]:
        return f"the timestamp of entry {index} is not above the one before it"
    if index and found[1] < before[1]:
        return f"the offset of entry {index} is below the one before it"
    return None


def serialize(value: TimeIndex) -> bytes:
    """Return the file with its room."""
    return _entry_file.write(value.entries, TIME_INDEX_ENTRY, value.room)


def row(value: TimeIndex) -> Mapping[str, object]:
    """Return the fields of JSON; timestamps in ms, offsets relative to the segment's base offset, sizes in bytes."""
    return {"entries": _entry_file.as_json(value.entries, TIME_INDEX_ENTRY), "room": value.room}


FORMAT = Format(
    kind="time-index",
    title="Time index",
    matches=lambda name: parse_file(name).kind is FileKind.TIME_INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
)
