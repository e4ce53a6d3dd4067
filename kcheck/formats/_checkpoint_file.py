"""The framing of the text checkpoints: a version line, a count line, one entry a line.

CheckpointFile 0.11 to 4.3.1, OffsetCheckpoint 0.8.2 to 0.10.2. `parse` is kcheck's own reader: it keeps what can be
read and tells every defect. What a broker makes of the same bytes is in `_checkpoint_reader`. A file as brokers write
it is not looked at line by line.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from kcheck.model.java import java_fields, java_int, java_long
from kcheck.model.names import TOPIC_CHARACTERS, TOPIC_SIZE_MAX, is_legal_topic
from kcheck.model.parsed import FOUND_SIZE_MAX, Defect, Parsed

DEFECT_COUNT_MAX = 1000
"""So many defects of one file are told; one more says how many there are besides."""

REFUSED_COUNT_MAX = 500_000
"""After so many lines that no broker reads the rest of the file is not looked at: it is no checkpoint."""

_CHUNK_SIZE = 1 << 20
"""So many bytes are read at once where all lines are as brokers write them."""

_KNOWN_COUNT_MAX = 100_000
"""Of more topics than these equal ones need not be one string: to know them all takes more than the file has."""


class Framing(NamedTuple):
    """What differs between the kinds: whether an entry begins with a topic, and what its numbers mean."""

    has_topic: bool
    names: tuple[str, str]

    @property
    def field_count(self) -> int:
        """Fields of an entry line."""
        return 3 if self.has_topic else 2


@dataclass(frozen=True, slots=True)
class Lines:
    """A checkpoint as columns, one item a line: `topics` is empty where entries have none.

    `version` and `count` are None where their line is missing or no number.
    """

    version: int | None
    count: int | None
    topics: Sequence[str]
    firsts: Sequence[int]
    seconds: Sequence[int]

    def __len__(self) -> int:
        """Return the number of entries that could be read."""
        return len(self.firsts)


class _Line(NamedTuple):
    """A line of the file: `position` in bytes, `end` is what ends it."""

    number: int
    position: int
    raw: bytes
    end: bytes


_NUMBERS = rb"(?:0|[1-9][0-9]{0,8}) (?:0|[1-9][0-9]{0,17})\n"
_TOPIC = rb"(?!\.\.? )[%s]{1,%d}+" % (TOPIC_CHARACTERS.encode(), TOPIC_SIZE_MAX)
_CANONICAL = {True: re.compile(rb"(?:%s %s)*+" % (_TOPIC, _NUMBERS)), False: re.compile(rb"(?:%s)*+" % _NUMBERS)}
_CANONICAL_HEAD = re.compile(rb"0\n(0|[1-9][0-9]{0,8})\n")
_LINE = re.compile(rb"([^\r\n]*+)(\r\n|\n|\r|\Z)")
_NOT_WRITTEN = "no broker writes the line like this"


class Columns:
    """Entries as they are read, one column a field; equal topics are one string."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.firsts = array("i")
        self.seconds = array("q")
        self._known: dict[str, str] = {}

    def take(self, topic: str | None, first: int, second: int) -> None:
        """Take one entry."""
        if topic is not None:
            self.topics.append(self._known.setdefault(topic, topic))
        self.firsts.append(first)
        self.seconds.append(second)

    def take_chunk(self, chunk: bytes, framing: Framing) -> None:
        """Take lines that are as brokers write them: no checks left to do."""
        fields = chunk.decode("ascii").split()
        width = framing.field_count
        if framing.has_topic:
            known = self._known
            if len(known) > _KNOWN_COUNT_MAX:
                known.clear()
            self.topics.extend([known.setdefault(topic, topic) for topic in fields[0::width]])
        self.firsts.extend(map(int, fields[width - 2 :: width]))
        self.seconds.extend(map(int, fields[width - 1 :: width]))

    def lines(self, version: int | None, count: int | None) -> Lines:
        """Return what was taken."""
        return Lines(version, count, self.topics, self.firsts, self.seconds)


class _Defects:
    """The first `DEFECT_COUNT_MAX` defects, and how many more there are."""

    def __init__(self) -> None:
        self.refused = 0
        self._told: list[Defect] = []
        self._untold = 0

    def tell(self, message: str, line: _Line, *, column: int = 1, accepted: bool = False) -> None:
        self.refused += not accepted
        if len(self._told) == DEFECT_COUNT_MAX:
            self._untold += 1
            return
        self._told.append(
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
        if not self._untold:
            return tuple(self._told)
        stopped = ", and the rest of the file was not read" if self.refused >= REFUSED_COUNT_MAX else ""
        return (*self._told, Defect(message=f"{self._untold} more defects{stopped}", position=size))


@lru_cache(maxsize=1)
def parse(data: bytes, framing: Framing) -> Parsed[Lines]:
    """Return every entry that can be read, and every defect with its line; never raises.

    The last answer is kept, because whoever asks what the broker reads has just asked what stands there.
    """
    defects = _Defects()
    columns = Columns()
    version, count, second = _head(data, defects)
    if second is not None:
        _entries(data, second, framing, columns, defects)
        found = len(columns.firsts)
        if count is not None and count != found:
            defects.tell(f"the count is {count}, but {found} entries can be read", second)
    if data and not data.endswith((b"\n", b"\r")):
        _no_line_end(data, defects)
    return Parsed(value=columns.lines(version, count), defects=defects.all(len(data)))


def _no_line_end(data: bytes, defects: _Defects) -> None:
    """Tell that the file may have been cut: the defect stands behind its last byte."""
    start = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    number = data.count(b"\n") + data.count(b"\r") - data.count(b"\r\n") + 1
    behind = _Line(number, len(data), data[start:][-FOUND_SIZE_MAX:], b"")
    text = "no line end after the last line: its end may be missing"
    defects.tell(text, behind, column=len(data) - start + 1, accepted=True)


def _lines(data: bytes) -> Iterator[_Line]:
    """Yield the lines as BufferedReader splits them."""
    for number, match in enumerate(_LINE.finditer(data), 1):
        if match.start() < len(data):
            yield _Line(number, match.start(), match[1], match[2])


def _head(data: bytes, defects: _Defects) -> tuple[int | None, int | None, _Line | None]:
    """Return version, count and the second line, None where it is missing."""
    written = _CANONICAL_HEAD.match(data)
    if written:
        return 0, int(written[1]), _Line(2, 2, written[1], b"\n")
    lines = _lines(data)
    first, second = next(lines, None), next(lines, None)
    version = _number(first, "version", defects)
    if first is not None and version not in (None, 0):
        defects.tell(f"version {version} is not known, only 0 is", first)
    if first is not None and second is None:
        defects.tell("the count is missing: no entries", first, accepted=True)
    return version, _number(second, "count", defects), second


def _number(line: _Line | None, name: str, defects: _Defects) -> int | None:
    if line is None:
        return None
    text = line.raw.decode("utf-8", "replace")
    value = java_int(text)
    if value is None:
        defects.tell(f"{_quoted(line.raw)} is not a {name}", line)
    elif text != str(value) or line.end not in (b"\n", b""):
        defects.tell(_NOT_WRITTEN, line._replace(raw=line.raw + line.end), accepted=True)
    return value


def _entries(data: bytes, second: _Line, framing: Framing, columns: Columns, defects: _Defects) -> None:
    """Read the lines after the count: in chunks while they are as brokers write them, else one by one."""
    canonical = _CANONICAL[framing.has_topic]
    position = second.position + len(second.raw) + len(second.end)
    number = second.number
    while position < len(data) and defects.refused < REFUSED_COUNT_MAX:
        end = data.find(b"\n", min(position + _CHUNK_SIZE, len(data) - 1)) + 1 or len(data)
        chunk = data[position:end]
        if canonical.fullmatch(chunk):
            columns.take_chunk(chunk, framing)
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
        defects.tell("bytes that are no UTF-8", line, column=column)
    fields = java_fields(text, framing.field_count)
    if len(fields) != framing.field_count:
        defects.tell(f"{_quoted(line.raw)} has {_counted(fields, framing)}", line)
        return
    first, second = java_int(fields[-2]), java_long(fields[-1])
    if first is None:
        column = text.find(fields[-2], len(fields[0]) if framing.has_topic else 0) + 1
        defects.tell(f"{_quoted(fields[-2].encode())} is not {framing.names[0]}", line, column=column)
    elif second is None:
        column = text.rfind(fields[-1]) + 1
        defects.tell(f"{_quoted(fields[-1].encode())} is not {framing.names[1]}", line, column=column)
    else:
        topic = fields[0] if framing.has_topic else None
        columns.take(topic, first, second)
        written = [str(first), str(second)] if topic is None else [topic, str(first), str(second)]
        if text != " ".join(written) or line.end not in (b"\n", b""):
            defects.tell(_NOT_WRITTEN, line._replace(raw=line.raw + line.end), accepted=True)
        elif topic is not None and not is_legal_topic(topic):
            defects.tell("no topic has such a name", line, accepted=True)


def _counted(fields: list[str], framing: Framing) -> str:
    count = 0 if fields == [""] else len(fields)
    if count > framing.field_count:
        return f"more than {framing.field_count} fields"
    return f"{count or 'no'} field{'' if count == 1 else 's'} instead of {framing.field_count}"


def _quoted(raw: bytes) -> str:
    text = raw[:FOUND_SIZE_MAX].decode("utf-8", "replace")
    return f'"{text}"' + ("..." if len(raw) > FOUND_SIZE_MAX else "")


def serialize(version: int | None, topics: Sequence[str], firsts: Sequence[int], seconds: Sequence[int]) -> bytes:
    """Return the file as CheckpointFile.write leaves it, LF after every line.

    Without a version and entries it is the file of 0 bytes that a broker makes before it has anything to write.
    """
    if version is None and not firsts:
        return b""
    if topics:
        lines = [f"{topic} {a} {b}" for topic, a, b in zip(topics, firsts, seconds, strict=True)]
    else:
        lines = [f"{a} {b}" for a, b in zip(firsts, seconds, strict=True)]
    return "\n".join([str(version or 0), str(len(lines)), *lines, ""]).encode()
