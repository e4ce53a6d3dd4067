"""A history that kcheck ships. The first comment lines of its text give its subject and its end."""

import re
from typing import NamedTuple

_OUTCOME = re.compile(r"([0-9][0-9.]*): (.*)")


class ShippedHistory(NamedTuple):
    """A shipped history."""

    name: str
    """Its file name, and what `kcheck simulate NAME` takes."""
    title: str
    """The first comment line."""
    page: str
    """The comment lines after it, with the events and their reasons."""
    outcomes: tuple[tuple[str, str], ...]
    """Its end, by release, as `replay.in_words` of the verdict."""
    text: str
    """All of it."""


def parse_history(name: str, text: str) -> ShippedHistory:
    """Return a history; its head is `# title`, then `# ...` as text, and lines such as `# 0.10.2: lost 1..2`."""
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        head.append(line[1:].strip())
    outcomes = tuple((match[1], match[2]) for line in head if (match := _OUTCOME.fullmatch(line)))
    page = "\n".join(line for line in head[1:] if not _OUTCOME.fullmatch(line))
    return ShippedHistory(name, head[0], page, outcomes, text)
