"""The framing of the text checkpoints: a version line, a count line, one entry a line (CheckpointFile 0.11 to 4.3.1,
OffsetCheckpoint 0.8.2 to 0.10.2).

Two readers stand here. `parse` is ours: it keeps what can be read and tells every defect. `reads` is the broker's, in
its order of checks, which differs by release. A file as brokers write it goes through neither line by line.
"""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kcheck.model.java import java_fields, java_int, java_lines, java_long
from kcheck.model.parsed import FOUND_SIZE_MAX, BrokerReads, Defect, Parsed
from kcheck.model.release import CheckpointReader

DEFECT_COUNT_MAX = 1000
"""So many defects of one file are told; the last one says how many more there are."""

_CHUNK_SIZE = 1 << 20
_FILL_SIZE = 8192
"""BufferedReader asks the decoder for so many UTF-16 units at a time."""
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")
"""Java decodes the bytes of a surrogate together, to one error; Python finds one in each."""
_HEAP_SIZE = 1 << 30
"""The default heap of kafka-server-start.sh; a list of `count` references of 4 bytes must fit."""


@dataclass(frozen=True, slots=True)
class Framing:
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


_CANONICAL_HEAD = re.compile(rb"0\n(0|[1-9][0-9]{0,8})\n")
_LINE = re.compile(rb"([^\r\n]*+)(\r\n|\n|\r|\Z)")
_CANONICAL = {
    True: re.compile(rb"(?:[!-~]++ (?:0|[1-9][0-9]{0,8}) (?:0|[1-9][0-9]{0,17})\n)*+"),
    False: re.compile(rb"(?:(?:0|[1-9][0-9]{0,8}) (?:0|[1-9][0-9]{0,17})\n)*+"),
}


class _Collector:
    """What `parse` has read so far."""

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.topics: list[str] = []
        self.firsts = array("i")
        self.seconds = array("q")
        self.defects: list[Defect] = []
        self.untold = 0
        self._known: dict[str, str] = {}

    def tell(self, defect: Defect) -> None:
        if len(self.defects) < DEFECT_COUNT_MAX:
            self.defects.append(defect)
        else:
            self.untold += 1

    def take_chunk(self, chunk: bytes) -> None:
        """Take lines that are as brokers write them: no checks left to do."""
        fields = chunk.decode("ascii").split()
        width = self.framing.field_count
        if self.framing.has_topic:
            known = self._known
            self.topics.extend([known.setdefault(topic, topic) for topic in fields[0::width]])
        self.firsts.extend(map(int, fields[width - 2 :: width]))
        self.seconds.extend(map(int, fields[width - 1 :: width]))

    def take(self, topic: str | None, first: int, second: int) -> None:
        if topic is not None:
            self.topics.append(self._known.setdefault(topic, topic))
        self.firsts.append(first)
        self.seconds.append(second)


@lru_cache(maxsize=1)
def parse(data: bytes, framing: Framing) -> Parsed[Lines]:
    """Return every entry that can be read, and every defect with its line; never raises.

    The last answer is kept, because whoever asks what the broker reads has just asked what stands there.
    """
    collector = _Collector(framing)
    version, count, second = _heads(data, collector)
    if second is not None:
        _entries(data, second, collector)
    if data and not data.endswith((b"\n", b"\r")):
        text = "no line end after the last line: its end may be missing"
        line_count = data.count(b"\n") + 1
        tail = data[data.rfind(b"\n") + 1 :]
        defect = _defect(text, line_count, len(data), tail[-FOUND_SIZE_MAX:], column=len(tail) + 1, accepted=True)
        collector.tell(defect)
    found = len(collector.firsts)
    if count is not None and count != found and second is not None:
        text = f"the count is {count}, but {found} entries can be read"
        collector.tell(_defect(text, 2, second[1], second[2]))
    if collector.untold:
        collector.defects.append(Defect(message=f"{collector.untold} more defects", position=len(data)))
    value = Lines(version, count, collector.topics, collector.firsts, collector.seconds)
    return Parsed(value=value, defects=tuple(collector.defects))


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Yield (line number, position, bytes, line end), as BufferedReader splits lines."""
    for number, match in enumerate(_LINE.finditer(data), 1):
        if match.start() == len(data):
            return
        yield number, match.start(), match[1], match[2]


def _heads(data: bytes, collector: _Collector) -> tuple[int | None, int | None, tuple[int, int, bytes, bytes] | None]:
    """Return version, count and the second line, None where it is missing."""
    written = _CANONICAL_HEAD.match(data)
    if written:
        return 0, int(written[1]), (2, 2, written[1], b"\n")
    lines = _lines(data)
    version = _header(next(lines, None), "version", collector)
    if version is not None and version != 0:
        collector.tell(_defect(f"version {version} is not known, only 0 is", 1, 0, data[:FOUND_SIZE_MAX]))
    second = next(lines, None)
    return version, _header(second, "count", collector), second


def _header(line: tuple[int, int, bytes, bytes] | None, name: str, collector: _Collector) -> int | None:
    if line is None:
        return None
    number, position, raw, end = line
    text = raw.decode("utf-8", "replace")
    value = java_int(text)
    if value is None:
        collector.tell(_defect(f"{_quoted(raw)} is not a {name}", number, position, raw))
    elif text != str(value) or end in (b"\r\n", b"\r"):
        collector.tell(_defect("no broker writes the line like this", number, position, raw + end, accepted=True))
    return value


def _entries(data: bytes, second: tuple[int, int, bytes, bytes], collector: _Collector) -> None:
    """Read the lines after the count: in chunks while they are as brokers write them, else one by one."""
    canonical = _CANONICAL[collector.framing.has_topic]
    position = second[1] + len(second[2]) + len(second[3])
    number = 3
    while position < len(data):
        end = data.find(b"\n", min(position + _CHUNK_SIZE, len(data) - 1)) + 1 or len(data)
        chunk = data[position:end]
        if canonical.fullmatch(chunk):
            collector.take_chunk(chunk)
            number += chunk.count(b"\n")
        else:
            for line, at, raw, line_end in _lines(chunk):
                _entry(number + line - 1, position + at, raw, line_end, collector)
                last = line
            number += last
        position = end


def _entry(number: int, position: int, raw: bytes, end: bytes, collector: _Collector) -> None:
    framing = collector.framing
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        collector.tell(_defect("bytes that are no UTF-8", number, position, raw, column=error.start + 1))
        text = raw.decode("utf-8", "replace")
    fields = java_fields(text)
    if len(fields) != framing.field_count:
        message = f"{_quoted(raw)} has {_fields(fields)} instead of {framing.field_count}"
        collector.tell(_defect(message, number, position, raw))
        return
    values: list[int] = []
    for name, field, read in zip(framing.names, fields[-2:], (java_int, java_long), strict=True):
        value = read(field)
        if value is None:
            message = f"{_quoted(field.encode())} is not {name}"
            at = text.find(field, len(fields[0]) if framing.has_topic else 0)
            collector.tell(_defect(message, number, position, raw, column=at + 1))
            return
        values.append(value)
    topic = fields[0] if framing.has_topic else None
    collector.take(topic, values[0], values[1])
    written = " ".join([*([topic] if topic is not None else []), *map(str, values)])
    if text != written or end in (b"\r\n", b"\r"):
        collector.tell(_defect("no broker writes the line like this", number, position, raw + end, accepted=True))


def _fields(fields: list[str]) -> str:
    count = 0 if fields in ([], [""]) else len(fields)
    return "no fields" if count == 0 else f"{count} field{'s' if count > 1 else ''}"


def _quoted(raw: bytes) -> str:
    text = raw[:FOUND_SIZE_MAX].decode("utf-8", "replace")
    return f'"{text}"' + ("..." if len(raw) > FOUND_SIZE_MAX else "")


def _defect(message: str, line: int, position: int, found: bytes, *, column: int = 1, accepted: bool = False) -> Defect:
    return Defect(
        message=message, line=line, column=column, position=position, found=found[:FOUND_SIZE_MAX], accepted=accepted
    )


def serialize(topics: Sequence[str], firsts: Sequence[int], seconds: Sequence[int]) -> bytes:
    """Return the file as CheckpointFile.write leaves it: version 0, LF after every line."""
    names = topics or [""] * len(firsts)
    lines = [f"{name} {a} {b}" if name else f"{a} {b}" for name, a, b in zip(names, firsts, seconds, strict=True)]
    return "\n".join(["0", str(len(lines)), *lines, ""]).encode()


def reads(data: bytes, framing: Framing, reader: CheckpointReader, parsed: Parsed[Lines]) -> BrokerReads[Lines]:
    """Return what the broker's reader makes of the bytes: every entry in file order, or its exception."""
    if all(defect.accepted for defect in parsed.defects):
        return _counted(parsed.value, reader)
    strict = reader in (CheckpointReader.R5, CheckpointReader.R6)
    try:
        return _counted(_read(decoded_lines(data, strict=strict), framing, reader), reader)
    except ReadError as error:
        return BrokerReads(value=None, error=error.args[0])


class ReadError(Exception):
    """The exception that the broker's reader throws, by its simple class name."""


def _counted(lines: Lines, reader: CheckpointReader) -> BrokerReads[Lines]:
    """Up to 0.10.2 the count is of different partitions, so a repeated one makes the file unreadable."""
    if reader in (CheckpointReader.R1, CheckpointReader.R2) and lines.count is not None:
        distinct = len(set(zip(lines.topics, lines.firsts, strict=True)))
        if distinct != lines.count:
            return BrokerReads(value=None, error="IOException")
    if reader is CheckpointReader.R6 and lines.count is not None:
        error = _preallocation_error(lines.count)
        if error is not None:
            return BrokerReads(value=None, error=error)
    return BrokerReads(value=lines)


def _read(lines: Iterator[str], framing: Framing, reader: CheckpointReader) -> Lines:
    """Read as CheckpointFile.read does, check after check."""
    empty = Lines(None, None, [], array("i"), array("q"))
    first = next(lines, None)
    if first is None:
        return empty
    header_error = "NumberFormatException" if reader is CheckpointReader.R1 else "IOException"
    if _or_raise(java_int(first), header_error) != 0:
        raise ReadError("IOException")
    second = next(lines, None)
    if second is None:
        return empty
    count = _or_raise(java_int(second), header_error)
    if reader is CheckpointReader.R6:
        error = _preallocation_error(count)
        if error is not None:
            raise ReadError(error)
    collector = _Collector(framing)
    escapes = reader in (CheckpointReader.R1, CheckpointReader.R6)
    entry_error = "NumberFormatException" if escapes else "IOException"
    for line in lines:
        fields = java_fields(line)
        if len(fields) != framing.field_count:
            raise ReadError("IOException")
        first_number = _or_raise(java_int(fields[-2]), entry_error)
        second_number = _or_raise(java_long(fields[-1]), entry_error)
        collector.take(fields[0] if framing.has_topic else None, first_number, second_number)
    found = Lines(0, count, collector.topics, collector.firsts, collector.seconds)
    by_keys = reader in (CheckpointReader.R1, CheckpointReader.R2)
    if not by_keys and len(found) != count:
        raise ReadError("IOException")
    return found


def _or_raise(value: int | None, error: str) -> int:
    if value is None:
        raise ReadError(error)
    return value


def _preallocation_error(count: int) -> str | None:
    """From 3.1 the list of entries is made for `count` entries before the first is read."""
    if count < 0:
        return "IllegalArgumentException"
    return "OutOfMemoryError" if 4 * count >= _HEAP_SIZE else None


def decoded_lines(data: bytes, *, strict: bool) -> Iterator[str]:
    """Yield lines as BufferedReader does over a decoder: bytes that are no UTF-8 end it once their fill is reached.

    A fill is `_FILL_SIZE` UTF-16 units. Bytes that the end of the file cuts short are noticed only at the end.
    """
    if not strict:
        yield from java_lines(_SURROGATE.sub("\ufffd".encode(), data).decode("utf-8", "replace"))
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        text = data[: error.start].decode("utf-8")
        cut_by_end = error.end == len(data) and error.reason == "unexpected end of data"
        cut_by_end |= len(data) == error.start + 2 and _SURROGATE.match(data, error.start) is not None
        # Three good bytes of four: the decoder looks at the fourth only where two units have room.
        room = 2 if error.end - error.start == 3 else 1
        yield from _lines_before(text, cut_by_end=cut_by_end, room=room)
        raise ReadError("MalformedInputException") from None
    yield from java_lines(text)


def _lines_before(text: str, *, cut_by_end: bool, room: int) -> Iterator[str]:
    """Yield the lines that are complete before the fill in which decoding fails."""
    seen = text if cut_by_end else _whole_fills(text, room)
    # A line counts as read once its end is seen; what follows the last end is not.
    whole = max(seen.rfind("\n"), seen.rfind("\r")) + 1
    yield from java_lines(seen[:whole])


def _whole_fills(text: str, room: int) -> str:
    """Return the part of `text` that the fills before the failing one hold, counted in UTF-16 units."""
    if text.isascii():
        return text[: (len(text) + room - 1) // _FILL_SIZE * _FILL_SIZE]
    encoded = text.encode("utf-16-le")
    whole = (len(encoded) // 2 + room - 1) // _FILL_SIZE * 2 * _FILL_SIZE
    return encoded[:whole].decode("utf-16-le", "ignore")
