"""The words of a line of a history. Errors about a word have its line and column."""

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from kcheck.errors import UsageError
from kcheck.model.java import LONG_MAX

_WORD = re.compile(r"\S+")
_RANGE = re.compile(r"([0-9]{1,18})\.\.([0-9]{1,18})")


class _Word(NamedTuple):
    text: str
    column: int


class Words:
    """The words of a line, taken one by one."""

    def __init__(self, text: str, place: str) -> None:
        self._words = [_Word(match[0], match.start() + 1) for match in _WORD.finditer(text)]
        self._end, self._place = len(text) + 1, place
        self._at = 0

    def fail(self, expected: str, *, back: int = 1) -> NoReturn:
        """Refuse the word that was taken last, or the end of the line."""
        at = self._at - back
        word = self._words[at] if 0 <= at < len(self._words) else None
        column = self._end if word is None else word.column
        actual = "the line ends" if word is None else f"found {word.text[:40]!r}"
        raise UsageError(f"{self._place}, column {column}: expected {expected}; {actual}")

    def more(self) -> bool:
        """Return whether words are left."""
        return self._at < len(self._words)

    def peek(self) -> str:
        """Return the next word without taking it; empty at the end."""
        return self._words[self._at].text if self.more() else ""

    def take(self, expected: str) -> str:
        """Return the next word."""
        self._at += 1
        if self._at > len(self._words):
            self.fail(expected)
        return self._words[self._at - 1].text

    def listed(self, expected: str) -> Iterator[str]:
        """Take all remaining words, at least one, with spaces or commas between them."""
        is_first = True
        while is_first or self.more():
            word = self.take(expected)
            names = [name for name in word.split(",") if name]
            if not names:
                self.fail(expected)
            yield from names
            is_first = False

    def accept(self, word: str) -> bool:
        """Take the next word if it is this one."""
        if self.peek() != word:
            return False
        self._at += 1
        return True

    def need(self, word: str) -> None:
        """Take this word."""
        if self.take(repr(word)) != word:
            self.fail(repr(word))

    def end(self) -> None:
        """Refuse what is left."""
        if self.more():
            self._at += 1
            self.fail("the end of the line")

    def number(self, expected: str, least: int = 0, most: int = LONG_MAX) -> int:
        """Take a number."""
        text = self.take(expected)
        if not (text.isascii() and text.isdigit() and len(text) <= 19 and least <= int(text) <= most):
            self.fail(f"{expected} from {least} to {most}" if most < LONG_MAX else expected)
        return int(text)

    def range(self) -> tuple[int, int]:
        """Take `from..to`; `to` is exclusive."""
        match = _RANGE.fullmatch(self.take("a range of offsets such as 0..5"))
        if match is None or int(match[1]) >= int(match[2]):
            self.fail("a range of offsets such as 0..5, its end exclusive")
        return int(match[1]), int(match[2])
