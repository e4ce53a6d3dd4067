"""`.timeindex`: finds the offset for a timestamp (TimeIndex 0.10.1 to 4.3.1)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.names import FileKind, parse_file
from kcheck.model.parsed import Parsed
from kcheck.records import entry_file
from kcheck.records.layout import Layout

TIME_INDEX_ENTRY = Layout((("timestamp", "i64"), ("relative_offset", "i32")))
assert TIME_INDEX_ENTRY.size == 12


class TimeIndex(NamedTuple):
    """The contents of a time index."""

    entries: Sequence[tuple[int, ...]]
    """(timestamp in ms, offset relative to the segment's base offset), in file order."""
    room: int = 0
    """Bytes of zeros after the entries.

    Retention uses the last slot of the file. With zeros in this slot the segment looks as old as 1970.
    """


def parse(data: bytes) -> Parsed[TimeIndex]:
    """Return the entries; zeros at the end are room. Defects: an incomplete entry, or entries out of order.

    Timestamps increase from entry to entry, and offsets never decrease (TimeIndex.maybeAppend).
    """
    contents = entry_file.read(data, TIME_INDEX_ENTRY, has_room=True)
    defects = entry_file.defects(data, TIME_INDEX_ENTRY, contents, problem)
    return Parsed(value=TimeIndex(contents.rows, contents.room), defects=defects)


def problem(index: int, before: Sequence[int], current: Sequence[int]) -> str | None:
    """Return the fault of an entry, given the entry before it (the first entry is given twice)."""
    if current[0] < 0 or current[1] < 0:
        return f"entry {index} has a negative number"
    if index and current[0] <= before[0]:
        return f"the timestamp of entry {index} is not above that of the entry before it"
    if index and current[1] < before[1]:
        return f"the offset of entry {index} is below that of the entry before it"
    return None


def serialize(value: TimeIndex) -> bytes:
    """Return the bytes of the file, room included."""
    return entry_file.write(value.entries, TIME_INDEX_ENTRY, value.room)


def row(value: TimeIndex) -> Mapping[str, object]:
    """Return the JSON fields (timestamps in ms, offsets relative to the segment's base offset, sizes in bytes)."""
    return {"entries": entry_file.as_json(value.entries, TIME_INDEX_ENTRY), "room": value.room}


FORMAT = Format(
    kind="time-index",
    title="Time index",
    matches=lambda name: parse_file(name).kind is FileKind.TIME_INDEX,
    parse=parse,
    serialize=serialize,
    row=row,
)
