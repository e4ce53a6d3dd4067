"""Names from disk in the prose of Markdown files with commands."""

import re
from collections.abc import Iterable

from kcheck.words import partition_name

_SPECIAL = frozenset("`*_[]<>#|\\")
_OF_TOPICS = frozenset("._-")


def markdown_text(text: str) -> str:
    """Return a text as Markdown that ends no line, begins no block, and moves no cursor.

    Words of characters that Kafka allows in names stay as they are.
    """
    return " ".join(map(_word, text.split(" ")))


def _word(word: str) -> str:
    if all(character.isascii() and (character.isalnum() or character in _OF_TOPICS) for character in word):
        return word
    return "".join(map(_escaped, word))


def markdown_partition(topic: str, partition: int) -> str:
    """Return a partition as Markdown text."""
    return markdown_text(partition_name(topic, partition))


def markdown_code(text: str) -> str:
    """Return a text as code in prose; the fence is longer than each run of backticks in it."""
    shown = _visible(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{shown}{space}{fence}"


def fenced(lines: Iterable[str], language: str = "sh") -> str:
    """Return lines as a block of code; each is one line of it."""
    return "\n".join((f"```{language}", *map(_visible, lines), "```"))


def _visible(text: str) -> str:
    return "".join(c if c.isprintable() else _code_point(c) for c in text)


def _code_point(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _escaped(character: str) -> str:
    if not character.isprintable():
        return _code_point(character).replace("\\", "\\\\")
    return f"\\{character}" if character in _SPECIAL else character
