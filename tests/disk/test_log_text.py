"""The lines of a broker's log: any bytes, bounded memory."""

import gzip
import io
import zlib
from typing import Any

import pytest

from kcheck.disk import log_text
from kcheck.disk.log_text import LogText, parts_of_stream, text_of
from kcheck.disk.package_data import log_catalogue
from kcheck.model.source import BytesSource

TEXT = "one\ntwo ü\r\n\nthree".encode()
LINES = [(1, "one"), (2, "two ü"), (3, ""), (4, "three")]


def read(data: bytes) -> tuple[list[tuple[int, str]], str | None]:
    """Return the lines of a log, and why there are no more."""
    text = text_of(BytesSource(data))
    return [*text.lines()], text.problem


@pytest.mark.parametrize("size", [1 << 20, 2, 3, 7])
def test_plain_and_compressed(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the parts in which it is read; members of gzip follow each other, and zeros the last one."""
    monkeypatch.setattr(log_text, "_PART_SIZE", size)
    packed = gzip.compress(TEXT)
    for data in (TEXT, packed, gzip.compress(TEXT[:9]) + gzip.compress(TEXT[9:]), packed + b"\0" * 9):
        assert (LINES, None) == read(data)
        piped = LogText(parts_of_stream(io.BytesIO(data)))
        assert (LINES, None) == ([*piped.lines()], piped.problem)
    assert (LINES, None) == read(b"\xef\xbb\xbf" + TEXT)


def test_wide_text() -> None:
    for encoding, mark in (("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")):
        assert (LINES, None) == read(mark + TEXT.decode().encode(encoding))
        assert ([(1, "Ċ"), (2, "x")], None) == read(mark + "Ċ\nx".encode(encoding))


def test_other_bytes() -> None:
    assert ([(1, "a\ufffdb")], None) == read(b"a\xffb\n")
    assert ([], "not text") == read(b"\0" * 100 + b"\n")
    assert ([], None) == read(b"")


def test_long_lines_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_text, "_LINE_SIZE_MAX", 10)
    assert ([(1, "x" * 10), (2, "y")], None) == read(b"x" * 50 + b"\ny")
    monkeypatch.setattr(log_text, "_PART_SIZE", 4)
    lines, _ = read(b"x" * 50 + b"\ny")
    assert [(1, "x" * 10), (2, "y")] == lines


def test_damaged_gzip(monkeypatch: pytest.MonkeyPatch) -> None:
    """What came before the damage is read; a bomb ends."""
    packed = gzip.compress(TEXT * 1000, mtime=0)
    lines, problem = read(packed[:-20])
    assert lines[0] == (1, "one")
    assert "gzip data ends early" == problem
    assert ([], "gzip data ends early") == read(packed[:5])
    broken = bytearray(packed)
    broken[20] ^= 255
    assert (read(bytes(broken))[1] or "").startswith("gzip data is corrupt: ")
    monkeypatch.setattr(log_text, "_UNPACKED_SIZE_MIN", 1 << 20)
    assert "unpacks to more than 500 times its size" == read(gzip.compress(b"a\n" * (4 << 20)))[1]


def test_empty_members_cost_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zlib copies the bytes after the end of a member: the work stays in proportion to the file."""
    copied = [0]
    make = zlib.decompressobj

    class Counted:
        def __init__(self, *arguments: int) -> None:
            self._stream = make(*arguments)

        def __getattr__(self, name: str) -> Any:
            value = getattr(self._stream, name)
            copied[0] += len(value) if name == "unused_data" else 0
            return value

    monkeypatch.setattr(zlib, "decompressobj", Counted)
    data = gzip.compress(b"") * 10_000 + gzip.compress(TEXT)
    assert (LINES, None) == read(data)
    assert copied[0] < 20 * len(data)


def test_sizes() -> None:
    text = LogText([b"ab\n", b"c"])
    assert [(1, "ab"), (2, "c")] == [*text.lines()]
    assert 4 == text.size


def test_the_catalogue_is_part_of_the_package() -> None:
    assert log_catalogue() is log_catalogue()
