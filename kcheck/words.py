"""The words of every text: counts with their nouns, names, ranges of offsets, losses and releases.

A screen names offsets as `offsets 50-66`. Findings, JSON fields and tables keep `offsets 50 to 66`: scripts read them.
"""

from collections.abc import Callable, Iterable, Sequence

from kcheck.model.loss import LostRecords

NAMED_MAX = 3
"""A sentence names at most this many things of one kind, and counts the others."""


def agree(count: int, one: str, many: str) -> str:
    """Return the form of a word that goes with a count: `is` or `are`."""
    return one if count == 1 else many


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `2 files`, `2 entries`, `2 batches`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count} {noun[:-1]}ies"
    return f"{count} {noun}{'es' if noun.endswith('ch') else 's'}"


def listed(things: Iterable[object]) -> str:
    """Return `a, b and c`."""
    *first, last = map(str, things)
    return f"{', '.join(first)} and {last}" if first else last


def some_of(things: Sequence[object], most: int = NAMED_MAX, count: int | None = None) -> str:
    """Return the first things, and how many more there are; `count` is the number of all if `things` lacks some."""
    more = (len(things) if count is None else count) - most
    return ", ".join(map(str, things[:most])) + (f" and {more} more" if more > 0 else "")


def partition_name(topic: str, partition: int) -> str:
    """Return `orders-0`."""
    return f"{topic}-{partition}"


def offset_range(start: int | None, end: int | None) -> str:
    """Return the offsets `[start, end)` for a screen; empty if they are not known."""
    return "" if start is None else f"offsets {start} and later" if end is None else _offsets(start, end, "-")


def offset_span(start: int | None, end: int | None) -> str:
    """Return the offsets `[start, end)` for a finding or a JSON field; empty if they are not known."""
    return "" if start is None else f"offset {start} and later" if end is None else _offsets(start, end, " to ")


def _offsets(start: int, end: int, to: str) -> str:
    return f"offset {start}" if end == start + 1 else f"offsets {start}{to}{end - 1}"


def record_count(records: int | None, at_least: int = 0) -> str:
    """Return a number of records; `records` is None if only `at_least` is known."""
    if records is not None:
        return counted(records, "record")
    return f"at least {counted(at_least, 'record')}" if at_least else "an unknown number of records"


def lost_words(lost: LostRecords, offsets: Callable[[int | None, int | None], str] = offset_range) -> str:
    """Return how many records are lost and which: `25 records (offsets 15-39)`."""
    count, which = record_count(lost.records, lost.counted), offsets(lost.start, lost.end)
    return f"{count} ({which})" if which else count


def release_words(first: str | None, last: str | None) -> str:
    """Return a range of releases, both ends included; None where it has no end."""
    if first is None or last is None:
        return f"{last} and earlier" if first is None else f"{first} and later"
    return first if first == last else f"{first} to {last}"
