"""How the rules put what they saw into words, always the same way."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from kcheck.model.finding import Location
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView

LISTED_MAX = 10
"""A message names at most so many things, and counts the others."""

_NAME_SIZE_MAX = 300
_SHORT_SIZE = 60

DATA_MAX = 100
"""The data of a finding lists at most so many things: memory stays bounded, whatever a file holds."""


def kafka(release: Release) -> str:
    """Return the release as a sentence begins with it: Kafka 4.3."""
    return f"Kafka {release.name}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return `1 entry`, `2 entries`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def and_further(count: int, one: str, many: str | None = None) -> str:
    """Return ` (and 2 further batches)`: how many of `count` follow the first, which is told; nothing if none does."""
    return f" (and {counted(count - 1, f'further {one}', many and f'further {many}')})" if count > 1 else ""


def listed(things: Iterable[object], count: int | None = None) -> str:
    """Return `a, b and c`, or the first ten and how many more; `count` of many spares a look at all of them."""
    texts = [_short(str(thing)) for thing in (things if count is None else islice(things, LISTED_MAX))]
    if (count or len(texts)) > LISTED_MAX:
        return f"{', '.join(texts[:LISTED_MAX])} and {(count or len(texts)) - LISTED_MAX} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _short(text: str) -> str:
    """Return a name as it is, unless it is longer than any that a file system or a broker has."""
    return text if len(text) <= _NAME_SIZE_MAX else f"{text[:_SHORT_SIZE]}... ({len(text)} characters)"


def escaped(text: str) -> str:
    r"""Return text of a file with everything that would disturb a terminal as an escape; of many `\x00` only four."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)
    return re.sub(r"((?:\\x00){4})(?:\\x00)+", r"\1...", safe)


def quoted(found: bytes) -> str:
    """Return bytes of a file between quotes, escaped."""
    return f'"{escaped(found.decode("utf-8", "backslashreplace"))}"'


def what_stands_there(defect: Defect) -> str:
    """Return `line 4: not an offset, found "x"`; what the message quotes already is not told twice."""
    place = f"position {defect.position}" if defect.line is None else f"line {defect.line}"
    message, found = escaped(defect.message), quoted(defect.found)
    told = not defect.found or found[1:-1] in message
    return f"{place}: {message}" + ("" if told else f", found {found}")


def first_of(defects: Sequence[Defect]) -> str:
    """Return the first defect in words, and how many follow."""
    return what_stands_there(defects[0]) + and_further(len(defects), "defect")


def at(view: FileView, defect: Defect | None) -> Location:
    """Return where a defect stands in a file."""
    return view.where if defect is None else view.where._replace(line=defect.line, position=defect.position)


def defect_rows(defects: Sequence[Defect]) -> tuple[dict[str, object], ...]:
    """Return the defects as values for a script, at most `DATA_MAX`."""
    return tuple(
        {
            "line": defect.line,
            "column": defect.column,
            "position": defect.position,
            "message": escaped(defect.message),
            "found": quoted(defect.found)[1:-1],
        }
        for defect in defects[:DATA_MAX]
    )
