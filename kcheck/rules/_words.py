"""The words that all rules share."""

import re
from collections.abc import Sequence

from kcheck.model.finding import Location
from kcheck.model.parsed import Defect
from kcheck.model.release import Release
from kcheck.model.views import FileView
from kcheck.words import counted

DATA_MAX = 100
"""The data of a finding lists at most this many things, so memory stays bounded."""


def kafka(release: Release) -> str:
    """Return the release as a sentence names it: Kafka 4.3."""
    return f"Kafka {release.name}"


def and_further(count: int, one: str, many: str | None = None) -> str:
    """Return ` (and 2 further batches)`: how many of `count` follow the first; nothing if none does."""
    return f" (and {counted(count - 1, f'further {one}', many and f'further {many}')})" if count > 1 else ""


def escaped(text: str) -> str:
    r"""Return text of a file with escapes for characters that disturb a terminal; of many `\x00` only four."""
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
