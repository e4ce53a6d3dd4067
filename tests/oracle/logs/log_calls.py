"""The calls in Kafka's sources that log a WARN, ERROR or FATAL, and the texts of their messages."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VALUE = "17"
"""Stands for each value of a message."""
_CALL = re.compile(
    r"(?<![\w.])(?:this\.)?(?:(?:log|LOG|logger|LOGGER|stateChangeLogger|stateLogger)\.)?(warn|error|fatal)\("
)
_STRING = re.compile(r'[sf]?"(?!"")(?:[^"\\$]|\\.|\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\$)*"')
_INTERPOLATED = re.compile(r"\$\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\$\w+")
_FORMATTED = re.compile(r"%[-0-9.,]*[sdfxbc]|\{\}")
_COMMENT = re.compile(r"//[^\n]*")
_GAP = re.compile(r"\s*\+?\s*")
_FORMAT_CALL = re.compile(r"\s*\.?\s*(?:stripMargin|format|formatted)\b\s*")
_OPENING, _CLOSING = "([{", ")]}"
_OF_NO_BROKER = re.compile(
    r"kafka/(?:admin|client|consumer|javaapi|perf|producer|tools)/|.*/(?:util/SnapshotFileReader|util/BatchFileReader)\."
)
"""Sources of tools and old clients."""


class LogCall(NamedTuple):
    """A call that logs."""

    file: str
    """The simple name of its source file."""
    text: str
    """Its message, with `VALUE` for each value; up to the end of its first line."""


def calls_in(jar: Path) -> Iterator[LogCall]:
    """Yield the calls in a jar of sources whose message begins with a text."""
    with zipfile.ZipFile(jar) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith((".scala", ".java")) and not _OF_NO_BROKER.match(name):
                source = archive.read(name).decode(errors="replace")
                simple = name.rpartition("/")[2].partition(".")[0]
                yield from (LogCall(simple, text) for text in messages(source))


def messages(source: str) -> Iterator[str]:
    """Yield the messages of a source that begin with a text."""
    for call in _CALL.finditer(source):
        text = message(source, call.end()).replace("\\t", " ").partition("\\n")[0].strip()
        if text and not text.startswith(VALUE):
            yield text


def message(source: str, at: int) -> str:
    """Return the text of the first argument of a call that begins at a position of a source."""
    pieces: list[str] = []
    while True:
        comment = _COMMENT.match(source, at := _skipped(source, at))
        literal = _STRING.match(source, at)
        if comment is not None:
            at = comment.end()
        elif literal is not None:
            pieces.append(_text(literal[0]))
            at = literal.end()
            called = _FORMAT_CALL.match(source, at)
            at = at if called is None else _after_arguments(source, called.end())
        elif source[at] == "(" or source.startswith("String.format(", at):
            inner = source.index("(", at) + 1
            pieces.append(message(source, inner))
            at = _after_arguments(source, inner - 1)
            called = _FORMAT_CALL.match(source, at)
            at = at if called is None else _after_arguments(source, called.end())
        elif source[at] in ",)":
            return "".join(pieces)
        else:
            pieces.append(VALUE if pieces[-1:] != [VALUE] else "")
            at = _after_value(source, at)


def _skipped(source: str, at: int) -> int:
    gap = _GAP.match(source, at)
    assert gap is not None
    return gap.end()


def _after_value(source: str, at: int) -> int:
    """Return where an expression ends: at the next `+`, `,` or `)` outside of brackets."""
    while source[at] not in "+,)":
        literal = _STRING.match(source, at)
        at = literal.end() if literal else _after_arguments(source, at) if source[at] in _OPENING else at + 1
    return at


def _after_arguments(source: str, at: int) -> int:
    """Return where the brackets end that begin at a position; the position itself if none do."""
    if source[at] not in _OPENING:
        return at
    depth = 0
    while True:
        literal = _STRING.match(source, at)
        if literal is not None:
            at = literal.end()
            continue
        depth += (source[at] in _OPENING) - (source[at] in _CLOSING)
        at += 1
        if not depth:
            return at


def _text(literal: str) -> str:
    """Return a literal with `VALUE` for what is put into it."""
    prefix, _, inner = literal.partition('"')
    inner = _INTERPOLATED.sub(VALUE, inner[:-1]) if prefix else inner[:-1]
    return _FORMATTED.sub(VALUE, inner).replace('\\"', '"').replace("\\'", "'")
