"""Reads the log of a broker as numbered lines, plain or gzip, any encoding, any size, in bounded memory."""

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from kcheck.model.source import Source

_PART_SIZE = 1 << 20
_LINE_SIZE_MAX = 64 << 10
"""The rest of a longer line is left out."""
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP = 16 + zlib.MAX_WBITS
_STEP_SIZE_MIN = 256
"""Number of bytes to unpack first of each gzip member. Unused ones are copied at its end, and members may be empty."""
_RATIO_MAX = 500
_UNPACKED_SIZE_MIN = 256 << 20
"""A file that unpacks to more than this, and to 500 times its size, is no log."""
BROKEN_TEXT = (zlib.error, EOFError, OverflowError)
"""The exceptions of `parts` where gzip data is corrupt, ends early, or is a bomb."""
_BINARY_SHARE = 10
"""A part of which a tenth are NULs is not text."""
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class LogText:
    """The lines of a log. `problem` says, after the last line, why there are no more of them; None at its end."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        """Take the bytes of the log, part by part."""
        self._parts = parts
        self.problem: str | None = None
        self.size: int = 0
        """The bytes read so far, decompressed."""

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield each line with its number, from 1."""
        number, kept, encoding, cut = 0, b"", "utf-8", False
        for part in self._whole():
            if not self.size:
                encoding = _WIDE.get(part[:2], encoding)
            if encoding == "utf-8" and part.count(0) * _BINARY_SHARE > len(part):
                self.problem = "not text"
                return
            self.size += len(part)
            newline = b"\n" if encoding == "utf-8" else "\n".encode(encoding)
            end = _last(part, newline)
            if end < 0:
                cut = cut or len(kept) + len(part) > _LINE_SIZE_MAX
                kept = (kept + part)[:_LINE_SIZE_MAX] if cut else kept + part
                continue
            text = (kept + part[:end]).decode(encoding, "replace")
            kept, cut = part[end:], False
            if not number:
                text = text.removeprefix("\ufeff")
            for line in text.removesuffix("\n").split("\n"):
                number += 1
                yield number, line[:_LINE_SIZE_MAX] if len(line) > _LINE_SIZE_MAX else line.removesuffix("\r")
        if kept:
            yield number + 1, kept.decode(encoding, "replace")

    def _whole(self) -> Iterator[bytes]:
        """Yield the parts; a read that fails ends them."""
        try:
            yield from self._parts
        except zlib.error as error:
            self.problem = f"gzip data is corrupt: {str(error).rpartition(': ')[2]}"
        except EOFError:
            self.problem = "gzip data ends early"
        except OverflowError:
            self.problem = f"unpacks to more than {_RATIO_MAX} times its size"


def _last(part: bytes, newline: bytes) -> int:
    """Return the offset of the text after the last line end; -1 without a line end."""
    at = part.rfind(newline)
    while at >= 0 and at % len(newline):
        at = part.rfind(newline, 0, at)
    return at if at < 0 else at + len(newline)


def text_of(source: Source) -> LogText:
    """Return the lines of an open file."""
    return LogText(parts(source))


def parts_of_stream(stream: BinaryIO) -> Iterator[bytes]:
    """Yield what comes from a pipe part by part, decompressed."""
    return _unpacked(iter(lambda: stream.read(_PART_SIZE), b""))


def parts(source: Source, first: int = 0) -> Iterator[bytes]:
    """Yield a log part by part, decompressed; of a plain file from a position on."""
    is_plain = source.pread(len(_GZIP_MAGIC), 0) != _GZIP_MAGIC
    raw = (source.pread(_PART_SIZE, at) for at in range(first if is_plain else 0, source.size, _PART_SIZE))
    return raw if is_plain else _unpacked(raw)


def _unpacked(raw: Iterator[bytes]) -> Iterator[bytes]:
    """Yield data decompressed, if it is gzip; zlib.error, EOFError or OverflowError where it is corrupt or a bomb."""
    first = next(raw, b"")
    if not first.startswith(_GZIP_MAGIC):
        yield first
        yield from raw
        return
    inflate, read, unpacked, held, at, step = zlib.decompressobj(_GZIP), len(first), 0, first, 0, _PART_SIZE
    while True:
        if len(held) - at < len(_GZIP_MAGIC) and (more := next(raw, b"")):
            held, at, read = held[at:] + more, 0, read + len(more)
            continue
        if inflate.eof:
            if not held.startswith(_GZIP_MAGIC, at):  # Zeros may follow the last member.
                return
            inflate, step = zlib.decompressobj(_GZIP), _STEP_SIZE_MIN
        given = memoryview(held)[at : at + step]
        part = inflate.decompress(given, _PART_SIZE)
        unpacked += len(part)
        if unpacked > max(_UNPACKED_SIZE_MIN, _RATIO_MAX * read):
            raise OverflowError
        if part:
            yield part
        at += len(given) - len(inflate.unused_data if inflate.eof else inflate.unconsumed_tail)
        step = min(2 * step, _PART_SIZE)
        if not inflate.eof and not given and not part:
            raise EOFError
