"""The progress line: one line on the terminal, redrawn a few times a second and erased at the end."""

import os
import sys
import time
from typing import TYPE_CHECKING, Self

from kcheck.screen.page import size
from kcheck.screen.printable import printable

if TYPE_CHECKING:
    from kcheck.survey.coverage import Coverage

_INTERVAL = 0.2
_NAME_WIDTH_MIN = 8


class RedrawnLine:
    """A context that redraws one line, if stderr is a suitable terminal and the user wants it."""

    def __init__(self, wanted: bool | None, *, quiet: bool) -> None:
        """Take the user's choice; None leaves it to `quiet`."""
        self._drawn = 0
        self._start = self._next = time.monotonic()
        is_drawable = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.is_on: bool = (not quiet if wanted is None else wanted) and is_drawable
        """True on a terminal, unless the user wants no line."""

    def __enter__(self) -> Self:
        """Draw nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Erase the line."""
        if self._drawn:
            self._draw("")

    def show(self, text: str) -> None:
        """Redraw the line, at most once per interval, as wide as the terminal."""
        if self._is_due():
            self._draw(printable(text).encode("ascii", "backslashreplace").decode()[: _width() - 1])

    def _is_due(self) -> bool:
        now = time.monotonic()
        is_due = self.is_on and now >= self._next
        if is_due:
            self._next = now + _INTERVAL
        return is_due

    def _draw(self, text: str) -> None:
        print(f"\r{text.ljust(self._drawn)}\r{text}", end="", file=sys.stderr, flush=True)
        self._drawn = len(text)


class TerminalProgress(RedrawnLine):
    """The progress line of a command that reads log dirs."""

    def tell(self, coverage: "Coverage") -> None:
        """Redraw the line, at most once per interval."""
        if self._is_due():
            self._draw(line(coverage, time.monotonic() - self._start, _width()))


def line(coverage: "Coverage", seconds: float, width: int) -> str:
    """Return the line after `seconds`; it leaves the last column free, so that no terminal wraps it."""
    done, planned = coverage.bytes, coverage.planned["bytes"]
    if planned:
        rate = done / max(seconds, 1e-9)
        left = _clock((planned - done) / rate) if done else "?"
        facts = [f"{size(done)} of {size(planned)}", f"{size(int(rate))}/s", f"{left} left"]
    else:
        facts = [f"{coverage.partitions} of {coverage.planned['partitions']} partitions"]
    text = "  ".join(facts)
    room = width - 1 - len(text) - 2
    name = printable(coverage.at).encode("ascii", "backslashreplace").decode()
    if name and room >= _NAME_WIDTH_MIN:
        text += "  " + (name if len(name) <= room else name[: room - 3] + "...")
    return text[: width - 1]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
