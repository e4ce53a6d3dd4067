r"""Records as lines for producers (JSON for your own client, kcat, Kafka's own console producer).

A line gives back the exact bytes of its record. Otherwise there is no line, and `Unfit` has the reason. kcat 1.7.1
(`kcat.c`, `input.c`) splits its input at `-D`, then the key off at the first `-K`. With `-Z` an empty key or value is
null. It sends no headers of single records. LineMessageReader 3.2 to 4.3.1 reads UTF-8 up to a line end (`\n`, `\r`).
It takes the headers up to `headers.delimiter` and the key up to `key.separator`. A part that equals `null.marker` is
null. Both set no timestamps.
"""

from base64 import b64encode
from collections.abc import Callable
from json.encoder import encode_basestring_ascii
from typing import NamedTuple, TypeAlias

from kcheck.exports.records import ExportedRecord
from kcheck.words import shell_word

KCAT_KEY_END, KCAT_END = b"\x1f\x1c\x1d\x1e", b"\x1e\x1d\x1c\x1f"
"""The delimiters of kcat, long enough that data hardly ever has them. None of them ends as the other begins."""
KEY_END, HEADERS_END, HEADER_END, HEADER_KEY_END, NULL = "\x1f", "\x1e", "\x1d", "\x1c", "\x1a"
"""The separators and the null marker of the console producer."""
KCAT_SIZE_MAX = 900_000
"""kcat reads longer lines only if message.max.bytes says so (1,000,000 by default)."""


class Unfit(str):
    """The reason why a format cannot hold a record."""

    __slots__ = ()


Encoded: TypeAlias = "bytes | Unfit"


class LineFormat(NamedTuple):
    """A format that is written record by record."""

    name: str
    """The word after --format."""
    encode: Callable[[ExportedRecord], Encoded]
    """Returns the bytes of a record, with its end."""
    is_raw: bool = False
    """True if it writes the data as they are, and does not name the partition."""


def json_line(record: ExportedRecord) -> Encoded:
    """Return a record as one line of JSON, in ASCII; bytes that are no UTF-8 are `{"base64": ...}`."""
    topic, partition, offset, timestamp, timestamp_type, key, value, headers = record
    parts = ",".join(f'{{"key":{_text(name)},"value":{_text(content)}}}' for name, content in headers)
    return (
        f'{{"topic":{_json(topic)},"partition":{_json(partition)},"offset":{offset},"timestamp":{_json(timestamp)}'
        f',"timestamp_type":{_json(timestamp_type)},"key":{_text(key)},"value":{_text(value)},"headers":[{parts}]}}\n'
    ).encode()


def _json(value: str | int | None) -> str:
    if value is None:
        return "null"
    return encode_basestring_ascii(value) if isinstance(value, str) else str(value)


def _text(data: bytes | None) -> str:
    if data is None:
        return "null"
    try:
        return encode_basestring_ascii(data.decode())
    except UnicodeDecodeError:
        return f'{{"base64":"{b64encode(data).decode()}"}}'


def kcat_line(record: ExportedRecord) -> Encoded:
    """Return a record for `kcat -P -Z`."""
    if record.headers:
        return Unfit("kcat sends no headers")
    if b"" in (record.key, record.value):
        return Unfit("kcat takes an empty key or value for null")
    key = record.key or b""
    line = key + KCAT_KEY_END + (record.value or b"")
    if line.find(KCAT_KEY_END) < len(key) or (line + KCAT_END).find(KCAT_END) < len(line):
        return Unfit("it contains a delimiter of kcat")
    return line + KCAT_END


def console_line(record: ExportedRecord) -> Encoded:
    """Return a record for kafka-console-producer.sh."""
    try:
        key, value = _or_null(record.key), _or_null(record.value)
        headers = [(name.decode(), _or_null(content)) for name, content in record.headers]
    except UnicodeDecodeError:
        return Unfit("it is not UTF-8")
    parts = [text for name, content in headers for text in (name, content)]
    if any(end in text for text in (key, value, *parts) for end in "\n\r"):
        return Unfit("it contains a line end")
    written = (
        (record.key, key),
        (record.value, value),
        *zip((data for _, data in record.headers), parts[1::2], strict=True),
    )
    if any(data is not None and text == NULL for data, text in written) or NULL in parts[::2]:
        return Unfit("a part of it is the null marker")
    ends = (KEY_END, key), *((end, text) for text in parts for end in (HEADERS_END, HEADER_END))
    if any(end in text for end, text in ends) or any(HEADER_KEY_END in name for name in parts[::2]):
        return Unfit("it contains a separator")
    head = HEADER_END.join(f"{name}{HEADER_KEY_END}{content}" for name, content in headers) or NULL
    return f"{head}{HEADERS_END}{key}{KEY_END}{value}\n".encode()


def _or_null(data: bytes | None) -> str:
    return NULL if data is None else data.decode()


NDJSON = LineFormat("ndjson", json_line)
LINE_FORMATS = {
    one.name: one for one in (NDJSON, LineFormat("kcat", kcat_line, True), LineFormat("console", console_line, True))
}


def produce_command(style: str, topic: str, partition: int, file: str, longest: int) -> str | None:
    """Return the command that produces a file; None for a format that a client of one's own reads.

    `longest` is the size of the longest line in bytes.
    """
    name, source = shell_word(topic), shell_word(file)
    if style == "kcat":
        large = f" -X message.max.bytes={longest + KCAT_SIZE_MAX}" if longest > KCAT_SIZE_MAX else ""
        delimiters = " ".join(f"{option} '{_escaped(end)}'" for option, end in (("-K", KCAT_KEY_END), ("-D", KCAT_END)))
        return f"kcat -P -b HOST:9092 -t {name} -p {partition} -Z {delimiters}{large} < {source}"
    if style == "console":
        options = " ".join(f"--property {option}" for option in CONSOLE_PROPERTIES)
        return f"kafka-console-producer.sh --bootstrap-server HOST:9092 --topic {name} {options} < {source}"
    return None


def reset_command(group: str, file: str) -> str:
    """Return the command that sets the offsets of a group from a file."""
    return (
        f"kafka-consumer-groups.sh --bootstrap-server HOST:9092 --group {shell_word(group)} --reset-offsets"
        f" --from-file {shell_word(file)} --execute"
    )


def _escaped(data: bytes | str) -> str:
    numbers = data.encode() if isinstance(data, str) else data
    return "".join(f"\\x{number:02x}" for number in numbers)


CONSOLE_PROPERTIES = (
    "parse.key=true",
    "parse.headers=true",
    *(
        f"{name}=$'{_escaped(end)}'"
        for name, end in (
            ("key.separator", KEY_END), ("headers.delimiter", HEADERS_END), ("headers.separator", HEADER_END),
            ("headers.key.separator", HEADER_KEY_END), ("null.marker", NULL),
        )
    ),
)  # fmt: skip
"""The properties of the reader, as bash takes them."""
