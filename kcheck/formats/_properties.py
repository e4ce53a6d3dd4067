r"""Reads and writes java.util.Properties (JDK 8 to 17): `key=value`, comments, `\` escapes, continued lines."""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import NamedTuple

_LINE = re.compile(r"([^\r\n]*+)(\r\n|\n|\r|\Z)")
_KEY_VALUE = re.compile(r"((?:[^\\=: \t\f]|\\.)*+)[ \t\f]*+(?:[=:][ \t\f]*+)?(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_WELL_ESCAPED = re.compile(r"(?:[^\\]|\\[^u]|\\u[0-9a-fA-F]{4})*+\\?", re.DOTALL)
_WHITE_SPACE = " \t\f"
_MEANINGS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_WRITTEN = {meaning: "\\" + letter for letter, meaning in _MEANINGS.items()} | {c: "\\" + c for c in "\\=:#!"}


class Property(NamedTuple):
    """One property: a line, or several lines joined by backslashes."""

    line: int
    """The number of its first line, from 1."""
    position: int
    """Its position in the file, in bytes."""
    key: str
    """The key, unescaped."""
    value: str
    """The value, unescaped; an invalid Unicode escape is kept as text."""
    readable: bool
    """False if a Unicode escape has fewer than four digits: Properties.load then throws IllegalArgumentException."""


def load(data: bytes) -> Iterator[Property]:
    """Yield the properties that Properties.load reads, in file order."""
    for line, position, text in _logical_lines(data.decode("iso-8859-1")):
        match = _KEY_VALUE.match(text)
        assert match is not None
        readable = _WELL_ESCAPED.fullmatch(text) is not None
        yield Property(line, position, _unescaped(match[1]), _unescaped(match[2]), readable)


def comments(data: bytes) -> tuple[str, ...]:
    """Return the comment lines before the first property, unchanged; Properties.store writes two."""
    lines = (match[1] for match in _LINE.finditer(data.decode("iso-8859-1")))
    return tuple(takewhile(lambda line: line.startswith("#"), lines))


def store(head: tuple[str, ...], properties: Mapping[str, str]) -> bytes:
    """Return the bytes that Properties.store writes: the comment lines `head`, then the properties in their order."""
    lines = [f"{_escaped(key, is_key=True)}={_escaped(value, is_key=False)}" for key, value in properties.items()]
    return "".join(f"{line}\n" for line in (*head, *lines)).encode("iso-8859-1")


def _logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    r"""Yield (number of the first line, its position, text) of each line that is not a comment; continued lines joined.

    While the joined text is empty, the next line may be a comment: Properties.LineReader checks only the size.
    """
    pending, number, position = "", 0, 0
    for count, match in enumerate(_LINE.finditer(text), 1):
        line = match[1].lstrip(_WHITE_SPACE)
        if not pending:
            if not line or line[0] in "#!":
                continue
            number, position = count, match.start()
        if (len(line) - len(line.rstrip("\\"))) % 2 == 0:
            yield number, position, pending + line
            pending = ""
            continue
        pending += line[:-1]
        if not pending and match.end() == len(text) and match[2] != "\r\n":
            yield number, position, ""  # A single backslash at the end of the file is an empty property.


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    units = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _MEANINGS.get(match[2], match[2]), text)
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _escaped(text: str, *, is_key: bool) -> str:
    """Escape as Properties.saveConvert does: every space in a key, only a leading one in a value."""
    units = text.encode("utf-16-be", "surrogatepass")
    letters = [chr(high << 8 | low) for high, low in zip(units[::2], units[1::2], strict=True)]
    written = [_WRITTEN.get(c, c if " " <= c <= "~" else f"\\u{ord(c):04X}") for c in letters]
    spaces = range(len(written)) if is_key else range(1)
    return "".join("\\ " if c == " " and i in spaces else c for i, c in enumerate(written))
