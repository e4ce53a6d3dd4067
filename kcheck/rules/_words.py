"""The words that all rules share."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from kcheck.model.finding import Location
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView

LISTED_MAX = 10
"""A message names at most this many things, and counts the others."""

_NAME_SIZE_MAX = 300
_SHORT_SIZE = 60

DATA_MAX = 100
"""The data of a finding lists at most this many things, so memory stays bounded."""


def kafka(release: Release) -> str:
    """Return the release as a sentence names it: Kafka 4.3."""
    return f"Kafka {release.name}"


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return `1 entry`, `2 entries`."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def and_further(count: int, one: str, many: str | None = None) -> str:
    """Return ` (and 2 further batches)`: how many of `count` follow the first; nothing if none does."""
    return f" (and {counted(count - 1, f'further {one}', many and f'further {many}')})" if count > 1 else ""


def listed(things: Iterable[object], count: int | None = None) -> str:
    """Return `a, b and c`, or the first ten and how many more; with `count` only ten of many are read."""
    texts = [_short(str(thing)) for thing in (things if count is None else islice(things, LISTED_MAX))]
    if (count or len(texts)) > LISTED_MAX:
        return f"{', '.join(texts[:LISTED_MAX])} and {(count or len(texts)) - LISTED_MAX} more"
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def _short(text: str) -> str:
    """Return a name, shortened if it is longer than any name on a file system or broker."""
    return text if len(text) <= _NAME_SIZE_MAX else f"{text[:_SHORT_SIZE]}... ({len(text)} characters)"


def escaped(text: str) -> str:
    r"""Return text of a file with escapes for what would disturb a terminal; of many `\x00` only four."""
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)
    return re.sub(r"((?:\\x00){4})(?:\\x00)+", r"\1...", safe)


def quoted(data: bytes) -> str:
    """Return bytes of a file between quotes, escaped."""
    return f'"{escaped(data.decode("utf-8", "backslashreplace"))}"'


def defect_text(defect: Defect) -> str:
    """Return `line 4: not an offset, found "x"`, without the bytes if the message already quotes them."""
    place = f"position {defect.position}" if defect.line is None else f"line {defect.line}"
    message, quote = escaped(defect.message), quoted(defect.found)
    is_quoted = not defect.found or quote[1:-1] in message
    return f"{place}: {message}" + ("" if is_quoted else f", found {quote}")


def first_of(defects: Sequence[Defect]) -> str:
    """Return the text of the first defect, and how many follow."""
    return defect_text(defects[0]) + and_further(len(defects), "defect")


def at(view: FileView, defect: Defect | None) -> Location:
    """Return the location of a defect in a file."""
    return view.where if defect is None else view.where._replace(line=defect.line, position=defect.position)


def defect_rows(defects: Sequence[Defect]) -> tuple[dict[str, object], ...]:
    """Return the defects as values for scripts, at most `DATA_MAX`."""
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
