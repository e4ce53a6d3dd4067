"""Lines give back the very bytes of their records to what reads them as documented, or there is no line."""

import json
import re
from base64 import b64decode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kcheck.exports.lines import (
    HEADER_END,
    HEADER_KEY_END,
    HEADERS_END,
    KCAT_END,
    KCAT_KEY_END,
    KEY_END,
    NULL,
    Unfit,
    console_line,
    json_line,
    kcat_line,
    produce_command,
    reset_command,
)
from kcheck.exports.records import ExportedRecord

MARKS = b"\x1f\x1e\x1d\x1c\x1a\n\r\x00\xff:a"
HOSTILE = st.one_of(
    st.binary(max_size=12),
    st.lists(st.sampled_from(MARKS), max_size=9).map(bytes),
    st.lists(st.sampled_from([KCAT_KEY_END, KCAT_END, KCAT_KEY_END[:3], KCAT_END[1:], b"x"]), max_size=4).map(b"".join),
    st.text(max_size=6).map(str.encode),
)
DATA = st.none() | HOSTILE


def record(key: bytes | None, value: bytes | None, *headers: tuple[bytes, bytes | None]) -> ExportedRecord:
    """Return a record of orders-0."""
    return ExportedRecord("orders", 0, 7, 1_700_000_000_000, "CreateTime", key, value, headers)


RECORDS = st.builds(
    lambda key, value, headers: record(key, value, *headers), DATA, DATA, st.lists(st.tuples(HOSTILE, DATA), max_size=3)
)
Read = tuple[bytes | None, bytes | None, tuple[tuple[bytes, bytes | None], ...]]


def by_kcat(data: bytes) -> list[Read]:
    """Return what `kcat -P -Z` sends: input.c splits at the first -D, producer_run in kcat.c at the first -K."""
    messages: list[Read] = []
    for line in data.split(KCAT_END):
        if not line:
            continue
        key, mark, value = line.partition(KCAT_KEY_END)
        messages.append((key or None, value or None, ()) if mark else (None, line, ()))
    return messages


def by_console(data: bytes) -> list[Read]:
    """Return what LineMessageReader 4.3.1 makes of its input, with the properties that kcheck names."""
    messages: list[Read] = []
    text = data.decode(errors="replace")
    for line in re.split("\r\n|\n|\r", text)[:-1]:
        headers, rest = line[: line.index(HEADERS_END)], line[line.index(HEADERS_END) + 1 :]
        key, value = rest[: rest.index(KEY_END)], rest[rest.index(KEY_END) + 1 :]
        pairs = [] if headers == NULL else [pair.split(HEADER_KEY_END, 1) for pair in headers.split(HEADER_END)]
        assert all(name != NULL for name, _ in pairs)
        read = tuple((name.encode(), _unless_null(content)) for name, content in pairs)
        messages.append((_unless_null(key), _unless_null(value), read))
    return messages


def _unless_null(text: str) -> bytes | None:
    return None if text == NULL else text.encode()


def by_client(part: Any) -> bytes | None:
    """Return the bytes of a part of a JSON line."""
    if part is None:
        return None
    return b64decode(part["base64"]) if isinstance(part, dict) else part.encode()


@given(records=st.lists(RECORDS, max_size=4))
def test_kcat_reads_what_was_written(records: list[ExportedRecord]) -> None:
    """Whatever is written beside it, a record comes back whole; others are left out."""
    lines = [(one, kcat_line(one)) for one in records]
    written = [(one.key, one.value, one.headers) for one, line in lines if not isinstance(line, Unfit)]
    assert written == by_kcat(b"".join(line for _, line in lines if not isinstance(line, Unfit)))


@given(records=st.lists(RECORDS, max_size=4))
def test_the_console_producer_reads_what_was_written(records: list[ExportedRecord]) -> None:
    """The same."""
    lines = [(one, console_line(one)) for one in records]
    written = [(one.key, one.value, one.headers) for one, line in lines if not isinstance(line, Unfit)]
    assert written == by_console(b"".join(line for _, line in lines if not isinstance(line, Unfit)))


@given(one=RECORDS)
def test_json_keeps_every_byte(one: ExportedRecord) -> None:
    """In one line of printable ASCII."""
    line = json_line(one)
    assert isinstance(line, bytes)
    assert line.endswith(b"\n")
    assert line[:-1].decode("ascii").isprintable()
    fields = json.loads(line)
    headers = tuple((by_client(header["key"]), by_client(header["value"])) for header in fields["headers"])
    assert (one.key, one.value, one.headers) == (by_client(fields["key"]), by_client(fields["value"]), headers)
    assert ("orders", 0, 7) == (fields["topic"], fields["partition"], fields["offset"])


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (record(b"k", b"v", (b"h", b"x")), "kcat sends no headers"),
        (record(b"", b"v"), "kcat takes an empty key or value for null"),
        (record(b"k", b""), "kcat takes an empty key or value for null"),
        (record(b"k" + KCAT_KEY_END, b"v"), "it contains a delimiter of kcat"),
        (record(b"k", b"v" + KCAT_END), "it contains a delimiter of kcat"),
    ],
)
def test_kcat_cannot_take(one: ExportedRecord, why: str) -> None:
    """And the reason is said."""
    assert why == kcat_line(one)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (record(b"k", b"\xff"), "it is not UTF-8"),
        (record(b"k", b"v", (b"\xff", b"x")), "it is not UTF-8"),
        (record(b"k", b"a\nb"), "it contains a line end"),
        (record(b"k", b"v", (b"h", b"\r")), "it contains a line end"),
        (record(b"\x1a", b"v"), "a part of it is the null marker"),
        (record(b"k", b"v", (b"\x1a", b"x")), "a part of it is the null marker"),
        (record(b"k", b"v", (b"h", b"\x1a")), "a part of it is the null marker"),
        (record(b"k\x1f", b"v"), "it contains a separator"),
        (record(b"k", b"v", (b"h\x1c", b"x")), "it contains a separator"),
        (record(b"k", b"v", (b"h", b"\x1d")), "it contains a separator"),
        (record(b"k", b"v", (b"h\x1e", None)), "it contains a separator"),
    ],
)
def test_the_console_producer_cannot_take(one: ExportedRecord, why: str) -> None:
    """And the reason is said."""
    assert why == console_line(one)


def test_marks_that_do_no_harm_are_kept() -> None:
    """A value ends the line, so it may have every separator in it."""
    assert b"\x1a\x1ek\x1f\x1f\x1e\x1d\x1c\n" == console_line(record(b"k", b"\x1f\x1e\x1d\x1c"))
    assert isinstance(kcat_line(record(None, KCAT_KEY_END + b"v")), bytes)


def test_commands_are_words_of_a_shell() -> None:
    """A topic or file with a quote is one word; long lines need a setting of kcat."""
    assert "-t 'a b' -p 3" in str(produce_command("kcat", "a b", 3, "it's", 10))
    assert str(produce_command("kcat", "a", 3, "it's", 10)).endswith("< 'it'\"'\"'s'")
    assert "message.max.bytes" not in str(produce_command("kcat", "a", 3, "f", 900_000))
    assert "-X message.max.bytes=1900001 <" in str(produce_command("kcat", "a", 3, "f", 1_000_001))
    assert "--topic 'a b' --property parse.key=true" in str(produce_command("console", "a b", 3, "f", 10))
    assert produce_command("ndjson", "a", 3, "f", 10) is None
    assert "--group 'g 1' " in reset_command("g 1", "f")
