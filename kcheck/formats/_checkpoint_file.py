"""The layout of text checkpoints, with a version line, a count line, then one entry per line.

Kafka classes: CheckpointFile 0.11 to 4.3.1, OffsetCheckpoint 0.8.2 to 0.10.2. `parse` is kcheck's own reader. It keeps
every readable entry and reports every defect. `_checkpoint_reader` reads the same bytes as a broker does. Files in the
form that brokers write are parsed in large chunks, not line by line.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from kcheck.model.java import java_fields, java_int, java_long
from kcheck.model.names import TOPIC_CHARACTERS, TOPIC_SIZE_MAX, is_legal_topic
from kcheck.model.parsed import FOUND_SIZE_MAX, Defect, Parsed
from kcheck.words import agree, counted

DEFECT_COUNT_MAX = 1000
"""Number of defects reported per file. A last one says how many more there are."""

REFUSED_COUNT_MAX = 500_000
"""Number of unreadable lines after which the parser stops, as the file is not a checkpoint."""

_CHUNK_SIZE = 1 << 20
"""Bytes parsed at once while every line is in the form that brokers write."""

_SHARED_NAME_COUNT_MAX = 100_000
"""Number of topics whose equal names share one string. Remembering more would take more memory than the file."""


class Framing(NamedTuple):
    """The layout of an entry line, which differs between the kinds of checkpoint."""

    has_topic: bool
    """True if an entry begins with a topic."""
    number_names: tuple[str, str]
    """The meaning of the two numbers of an entry, as words for messages such as `an epoch` and `an offset`."""

    @property
    def field_count(self) -> int:
        """Number of fields in an entry line."""
        return 3 if self.has_topic else 2


class Lines(NamedTuple):
    """The lines of a checkpoint, as columns with one item per readable entry."""

    version: int | None
    """The version line; None if it is missing or not a number."""
    stated_count: int | None
    """The count line; None if it is missing or not a number."""
    topics: Sequence[str]
    """The topic of each entry; empty if the entries of this kind have no topic."""
    firsts: Sequence[int]
    """The first number of each entry, which is a partition or an epoch."""
    seconds: Sequence[int]
    """The second number of each entry, which is an offset."""


class _Line(NamedTuple):
    """A line of the file."""

    number: int
    """The line number, from 1."""
    position: int
    """Position in the file, in bytes."""
    raw: bytes
    """The line without its line end."""
    end: bytes
    """The line end: LF, CR LF or CR; empty at the end of the file."""


_NUMBERS = rb"(?:0|[1-9][0-9]{0,8}) (?:0|[1-9][0-9]{0,17})\n"
_TOPIC = rb"(?!\.\.? )[%s]{1,%d}+" % (TOPIC_CHARACTERS.encode(), TOPIC_SIZE_MAX)
_CANONICAL_LINES = {True: re.compile(rb"(?:%s %s)*+" % (_TOPIC, _NUMBERS)), False: re.compile(rb"(?:%s)*+" % _NUMBERS)}
_CANONICAL_HEAD = re.compile(rb"0\n(0|[1-9][0-9]{0,8})\n")
_LINE = re.compile(rb"([^\r\n]*+)(\r\n|\n|\r|\Z)")
_NOT_CANONICAL = "brokers never write a line in this form"


class Columns:
    """Collects entries as columns; equal topic names share one string."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.firsts = array("i")
        self.seconds = array("q")
        self._topic_names: dict[str, str] = {}

    def add(self, topic: str | None, first: int, second: int) -> None:
        """Add one entry."""
        if topic is not None:
            self.topics.append(self._topic_names.setdefault(topic, topic))
        self.firsts.append(first)
        self.seconds.append(second)

    def add_chunk(self, chunk: bytes, framing: Framing) -> None:
        """Add lines that are in the form that brokers write; they need no further checks."""
        fields = chunk.decode("ascii").split()
        width = framing.field_count
        if framing.has_topic:
            names = self._topic_names
            if len(names) > _SHARED_NAME_COUNT_MAX:
                names.clear()
            self.topics.extend([names.setdefault(topic, topic) for topic in fields[0::width]])
        self.firsts.extend(map(int, fields[width - 2 :: width]))
        self.seconds.extend(map(int, fields[width - 1 :: width]))

    def lines(self, version: int | None, count: int | None) -> Lines:
        """Return the collected entries with the two header lines."""
        return Lines(version, count, self.topics, self.firsts, self.seconds)


class _Defects:
    """Collects the first `DEFECT_COUNT_MAX` defects and counts the others."""

    def __init__(self) -> None:
        self.refused = 0
        self._defects: list[Defect] = []
        self._omitted_count = 0

    def add(self, message: str, line: _Line, *, column: int = 1, accepted: bool = False) -> None:
        self.refused += not accepted
        if len(self._defects) == DEFECT_COUNT_MAX:
            self._omitted_count += 1
            return
        self._defects.append(
            Defect(
                message=message,
                line=line.number,
                column=column,
                position=line.position,
                found=line.raw[:FOUND_SIZE_MAX],
                accepted=accepted,
            )
        )

    def all(self, size: int) -> tuple[Defect, ...]:
        if not self._omitted_count:
            return tuple(self._defects)
        stopped = ", and the rest of the file was not read" if self.refused >= REFUSED_COUNT_MAX else ""
        return (*self._defects, Defect(message=f"{self._omitted_count} more defects{stopped}", position=size))


@lru_cache(maxsize=1)
def parse(data: bytes, framing: Framing) -> Parsed[Lines]:
    """Return every readable entry, and every defect with its line. Never raise on content.

    The last result is cached, because callers parse a file, and then ask for the broker's reading.
    """
    defects = _Defects()
    columns = Columns()
    version, count, second = _head(data, defects)
    if second is not None:
        _entries(data, second, framing, columns, defects)
        entry_count = len(columns.firsts)
        if count is not None and count != entry_count:
            readable = f"{counted(entry_count, 'entry')} {agree(entry_count, 'is', 'are')}"
            defects.add(f"the count is {count}, but {readable} readable", second)
    if data and not data.endswith((b"\n", b"\r")):
        _report_no_line_end(data, defects)
    return Parsed(value=columns.lines(version, count), defects=defects.all(len(data)))


def _report_no_line_end(data: bytes, defects: _Defects) -> None:
    """Report that the last line may be incomplete; the defect's position is the end of the file."""
    start = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    number = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") + 1
    file_end = _Line(number, len(data), data[start:][-FOUND_SIZE_MAX:], b"")
    text = "the last line has no line end and may be incomplete"
    defects.add(text, file_end, column=len(data) - start + 1, accepted=True)


def _lines(data: bytes) -> Iterator[_Line]:
    """Yield the lines, split as Java's BufferedReader splits them."""
    for number, match in enumerate(_LINE.finditer(data), 1):
        if match.start() < len(data):
            yield _Line(number, match.start(), match[1], match[2])


def _head(data: bytes, defects: _Defects) -> tuple[int | None, int | None, _Line | None]:
    """Return the version, the count and the count line; None for each that is missing."""
    canonical = _CANONICAL_HEAD.match(data)
    if canonical:
        return 0, int(canonical[1]), _Line(2, 2, canonical[1], b"\n")
    lines = _lines(data)
    first, second = next(lines, None), next(lines, None)
    version = _number(first, "version", defects)
    if first is not None and version not in (None, 0):
        defects.add(f"unknown version {version}, expected 0", first)
    if first is not None and second is None:
        defects.add("the count is missing, so there are no entries", first, accepted=True)
    return version, _number(second, "count", defects), second


def _number(line: _Line | None, name: str, defects: _Defects) -> int | None:
    if line is None:
        return None
    text = line.raw.decode("utf-8", "replace")
    value = java_int(text)
    if value is None:
        defects.add(f"{_quoted(line.raw)} is not a {name}", line)
    elif text != str(value) or line.end not in (b"\n", b""):
        defects.add(_NOT_CANONICAL, line._replace(raw=line.raw + line.end), accepted=True)
    return value


def _entries(data: bytes, second: _Line, framing: Framing, columns: Columns, defects: _Defects) -> None:
    """Read the lines after the count, in chunks if they have the form that brokers write, else one by one."""
    canonical = _CANONICAL_LINES[framing.has_topic]
    position = second.position + len(second.raw) + len(second.end)
    number = second.number
    while position < len(data) and defects.refused < REFUSED_COUNT_MAX:
        end = data.find(b"\n", min(position + _CHUNK_SIZE, len(data) - 1)) + 1 or len(data)
        chunk = data[position:end]
        if canonical.fullmatch(chunk):
            columns.add_chunk(chunk, framing)
            number += chunk.count(b"\n")
        else:
            start = number
            for line in _lines(chunk):
                number = start + line.number
                _entry(_Line(number, position + line.position, line.raw, line.end), framing, columns, defects)
        position = end


def _entry(line: _Line, framing: Framing, columns: Columns, defects: _Defects) -> None:
    try:
        text = line.raw.decode("utf-8")
    except UnicodeDecodeError as error:
        text = line.raw.decode("utf-8", "replace")
        column = len(line.raw[: error.start].decode("utf-8")) + 1
        defects.add("invalid UTF-8", line, column=column)
    fields = java_fields(text, framing.field_count)
    if len(fields) != framing.field_count:
        defects.add(f"{_quoted(line.raw)} has {_field_count_words(fields, framing)}", line)
        return
    first, second = java_int(fields[-2]), java_long(fields[-1])
    if first is None:
        column = text.find(fields[-2], len(fields[0]) if framing.has_topic else 0) + 1
        defects.add(f"{_quoted(fields[-2].encode())} is not {framing.number_names[0]}", line, column=column)
    elif second is None:
        column = text.rfind(fields[-1]) + 1
        defects.add(f"{_quoted(fields[-1].encode())} is not {framing.number_names[1]}", line, column=column)
    else:
        topic = fields[0] if framing.has_topic else None
        columns.add(topic, first, second)
        canonical = [str(first), str(second)] if topic is None else [topic, str(first), str(second)]
        if text != " ".join(canonical) or line.end not in (b"\n", b""):
            defects.add(_NOT_CANONICAL, line._replace(raw=line.raw + line.end), accepted=True)
        elif topic is not None and not is_legal_topic(topic):
            defects.add("not a legal topic name", line, accepted=True)


def _field_count_words(fields: list[str], framing: Framing) -> str:
    count = 0 if fields == [""] else len(fields)
    if count > framing.field_count:
        return f"more than {framing.field_count} fields"
    return f"{counted(count, 'field') if count else 'no fields'} instead of {framing.field_count}"


def _quoted(raw: bytes) -> str:
    text = raw[:FOUND_SIZE_MAX].decode("utf-8", "replace")
    return f'"{text}"' + ("..." if len(raw) > FOUND_SIZE_MAX else "")


def serialize(version: int | None, topics: Sequence[str], firsts: Sequence[int], seconds: Sequence[int]) -> bytes:
    """Return the bytes that CheckpointFile.write writes, with LF after every line.

    Without a version and entries this is the empty file that a broker creates before it has anything to write.
    """
    if version is None and not firsts:
        return b""
    if topics:
        lines = [f"{topic} {a} {b}" for topic, a, b in zip(topics, firsts, seconds, strict=True)]
    else:
        lines = [f"{a} {b}" for a, b in zip(firsts, seconds, strict=True)]
    return "\n".join([str(version or 0), str(len(lines)), *lines, ""]).encode()
