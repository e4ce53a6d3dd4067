"""Decompression, as `tests/oracle/readers/test_decompress.py` saw Kafka's streams do it; hostile input stays small."""

import zlib

import cramjam
import pytest

from kcheck.records import zstd_frame
from kcheck.records.compression import GZIP, LZ4, SNAPPY, ZSTD, decompress
from kcheck.records.lz4_frame import xxh32_short
from tests.compressed import gzip, lz4, xerial, zstd

SOME = b"some bytes, some bytes, some bytes"
OTHER = bytes(range(256)) * 3
SIZE_MAX = 1 << 20
FRAME = b"\x28\xb5\x2f\xfd"
SKIPPABLE = b"\x5a\x2a\x4d\x18\x05\0\0\0" + b"12345"
WHOLE = {GZIP: gzip, SNAPPY: xerial, LZ4: lz4, ZSTD: zstd}


def ask(codec: int, data: bytes, *, magic: int = 2, size_max: int = SIZE_MAX) -> tuple[bytes, str | None]:
    """Return what is decompressed, and the problem."""
    found = decompress(codec, data, magic=magic, size_max=size_max)
    return bytes(found.data), found.problem


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
@pytest.mark.parametrize("content", [b"", b"x", SOME, OTHER, bytes(300_000), OTHER * 300])
def test_what_clients_write(codec: int, content: bytes) -> None:
    assert (content, None) == ask(codec, WHOLE[codec](content))


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_no_more_than_asked_for(codec: int) -> None:
    """The first bytes are given, and that there are more."""
    content = bytes(2 * SIZE_MAX)
    data, problem = ask(codec, WHOLE[codec](content), size_max=SIZE_MAX)
    assert problem == f"more than {SIZE_MAX} bytes after decompression"
    assert len(data) <= SIZE_MAX
    assert (SOME, None) == ask(codec, WHOLE[codec](SOME), size_max=len(SOME))
    assert ask(codec, WHOLE[codec](SOME), size_max=len(SOME) - 1)[1] is not None


@pytest.mark.parametrize("codec", [GZIP, SNAPPY, LZ4, ZSTD])
def test_every_cut_is_a_problem(codec: int) -> None:
    """Of one stream; a xerial one can end behind any block."""
    whole = WHOLE[codec](OTHER)
    for size in range(17 if codec == SNAPPY else 1, len(whole)):
        data, problem = ask(codec, whole[:size])
        cut_in_a_size = codec == SNAPPY and size < 20
        assert cut_in_a_size or problem is not None
        assert OTHER.startswith(data)


def test_an_unknown_codec() -> None:
    assert (b"", "the compression 5 is not known") == ask(5, SOME)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (gzip(SOME) + gzip(OTHER), (SOME + OTHER, None)),
        (gzip(SOME) * 2000, (SOME * 2000, None)),
        (gzip(SOME) + b"garbage", (SOME, None)),
        (gzip(SOME) + bytes(100), (SOME, None)),
        (gzip(SOME) + bytes(20_000), (SOME, None)),
        (gzip(SOME) + gzip(SOME)[:18], (SOME, None)),
        (gzip(SOME) + gzip(SOME)[:19], (SOME + b"some byt", "the gzip stream is incomplete")),
        (gzip(SOME, flags=0x1E, extra=b"\x03\0abcname\0comment\0"), (b"", "no gzip header")),
        (gzip(SOME, flags=0x1C, extra=b"\x03\0abcname\0comment\0"), (SOME, None)),
        (gzip(SOME, flags=2, extra=zlib.crc32(b"\x1f\x8b\x08\2" + bytes(6)).to_bytes(4, "little")[:2]), (SOME, None)),
        (gzip(SOME, flags=8, extra=b"endless")[:15], (b"", "no gzip header")),
        (gzip(SOME)[:-8] + bytes(8), (SOME, "the gzip trailer has another CRC or size")),
        (gzip(SOME)[:-3], (SOME, "the gzip trailer is incomplete")),
        (b"", (b"", "no gzip header")),
        (b"\x1f\x8b\x09" + bytes(20), (b"", "no gzip header")),
    ],
)
def test_gzip(data: bytes, expected: tuple[bytes, str | None]) -> None:
    """Members follow each other; what begins no member behind one is not read."""
    assert expected == ask(GZIP, data)


def test_gzip_that_is_none() -> None:
    data, problem = ask(GZIP, gzip(SOME)[:10] + b"\xff" * 20)
    assert (b"", True) == (data, problem is not None and problem.startswith("not gzip"))


XERIAL = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bytes(cramjam.snappy.compress_raw(SOME)), (SOME, None)),
        (b"", (b"", "snappy data of no bytes")),
        (xerial(SOME) + xerial(OTHER), (SOME + OTHER, None)),
        (xerial(SOME) + b"abc", (SOME, None)),
        (xerial(SOME) + XERIAL[:15], (SOME, "a second snappy header is incomplete")),
        (xerial(SOME) + XERIAL[:5] + bytes(11), (SOME, None)),
        (xerial(SOME) + XERIAL[:8] + bytes(8), (SOME, "a second snappy header has a version below 1")),
        (XERIAL[:8] + bytes(8) + xerial(SOME)[16:], (SOME, None)),
        (XERIAL + b"\xff\xff\xff\xff", (b"", "a snappy block of -1 bytes")),
        (XERIAL + b"\x7f\xff\xff\xff", (b"", "a snappy block of 2147483647 bytes")),
        (XERIAL + bytes(4), (b"", "a snappy block of no bytes")),
        (XERIAL + b"\0\0\0\7abc", (b"", "a snappy block of 7 bytes is incomplete: it ends after 3")),
        (b"\xff\xff\xff\xff\x0fabc", (b"", "a snappy block of 8 bytes says to hold 4294967295")),
    ],
)
def test_snappy(data: bytes, expected: tuple[bytes, str | None]) -> None:
    """Blocks behind a header whose version is not looked at, or one block without a header."""
    assert expected == ask(SNAPPY, data)


def test_snappy_that_is_none() -> None:
    for data in (b"\x05\xfe\xff\xff", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"):
        found, problem = ask(SNAPPY, data)
        assert (b"", True) == (found, problem is not None and problem.startswith("not snappy"))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lz4(SOME) + b"garbage", (SOME, None)),
        (lz4(SOME) + lz4(SOME), (SOME, None)),
        (lz4(SOME, flags=0x68), (SOME, None)),
        (lz4(SOME, flags=0x64), (SOME, None)),
        (lz4(SOME, flags=0x64)[:-1], (SOME, "the checksum of the lz4 frame is incomplete")),
        (lz4(b"short", flags=0x70), (b"short", None)),
        (lz4(b"short", flags=0x70)[:-5] + bytes(5), (b"", "the checksum of an lz4 block does not match")),
        (lz4(SOME, flags=0x40), (b"", "the blocks of the lz4 frame depend on each other")),
        (lz4(SOME, flags=0x61), (b"", "the lz4 header has unknown bits: 61 40")),
        (lz4(SOME, flags=0xA0), (b"", "the lz4 header has unknown bits: a0 40")),
        (lz4(SOME, sizes=0x30), (b"", "the lz4 header has an unknown size of blocks: 3")),
        (lz4(SOME, check=0), (b"", "the checksum of the lz4 header does not match")),
        (lz4(SOME)[:6], (b"", "the lz4 header is incomplete")),
        (lz4(SOME)[:5], (b"", "no lz4 header")),
        (lz4(b"")[:7] + b"\xff\xff\1\0", (b"", "an lz4 block of 131071 bytes, at most 65536 are allowed")),
        (lz4(b"")[:7] + b"\4\0\0\0\xff\xff\xff\xff\0\0\0\0", (b"", "a block is not lz4")),
    ],
)
def test_lz4(data: bytes, expected: tuple[bytes, str | None]) -> None:
    """One frame, what follows it is not read."""
    assert expected == ask(LZ4, data)


def test_the_header_checksum_of_magic_0_is_not_looked_at() -> None:
    """Its writers took the magic of the frame into the sum (KAFKA-3160)."""
    wrong = lz4(SOME, check=0x1A)
    assert (SOME, None) == ask(LZ4, wrong, magic=0)
    assert b"" == ask(LZ4, wrong, magic=1)[0]


def test_the_checksum_that_kafka_writes() -> None:
    """FLG 60, BD 40, HC 82."""
    assert 0x82 == xxh32_short(b"\x60\x40") >> 8 & 0xFF
    assert 0x02CC5D05 == xxh32_short(b"")


def test_a_bomb_of_lz4_gives_as_much_as_asked_for() -> None:
    data, problem = ask(LZ4, lz4(bytes(200_000)), size_max=100_000)
    assert (100_000, True) == (len(data), problem is not None)


LAST_RAW = b"\x01\0\0"
"""The header of a block that is the last, and empty."""


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", (b"", None)),
        (SKIPPABLE, (b"", None)),
        (SKIPPABLE + zstd(SOME) + SKIPPABLE + zstd(OTHER), (SOME + OTHER, None)),
        (SKIPPABLE[:-1], (b"", "a zstd frame is incomplete")),
        (SKIPPABLE[:6], (b"", "a zstd frame is incomplete")),
        (zstd(SOME) + SKIPPABLE[:-1], (SOME, None)),
        (zstd(SOME) + SKIPPABLE[:3], (SOME, None)),
        (zstd(SOME) + SKIPPABLE[:1], (SOME, None)),
        (zstd(SOME) + FRAME[:2], (SOME, None)),
        (zstd(SOME) + b"\0", (SOME, "no zstd header")),
        (b"garbage", (b"", "no zstd header")),
        (FRAME + b"\x08\0" + LAST_RAW, (b"", "a zstd header with an unknown bit")),
        (FRAME + b"\x01\0\x07" + LAST_RAW, (b"", "a zstd frame that needs a dictionary")),
        (FRAME + b"\0\x98" + LAST_RAW, (b"", "a zstd frame that needs a window of 536870912 bytes")),
        (FRAME + b"\xe0" + b"\xff" * 8, (b"", f"a zstd frame that needs a window of {2**64 - 1} bytes")),
        (FRAME + b"\xe0" + b"\xff" * 7, (b"", "a zstd frame is incomplete")),
        (FRAME + b"\0\x50\x07\0\0", (b"", "a zstd block of an unknown kind")),
        (FRAME + b"\0\x50\x0d\0\x20", (b"", "a zstd block of 262145 bytes")),
        (FRAME + b"\0\x50\x23\0\0x" + LAST_RAW, (b"xxxx", "no zstd header")),
        (FRAME + b"\0\x50\x22\0\0x" + LAST_RAW, (b"xxxx", None)),
        (FRAME + b"\0\x50\x20\0\0abcd" + b"\0\0", (b"abcd", "a zstd frame is incomplete")),
        (FRAME + b"\x20\x04\x20\0\0abcd" + b"\0\0", (b"abcd", "a zstd frame is incomplete")),
        (FRAME + b"\x60\x04\0\x20\0\0abcd" + b"\0\0", (b"abcd", "a zstd frame is incomplete")),
        (FRAME + b"\x04\x50\x21\0\0abcd\0\0\0", (b"abcd", "a zstd frame is incomplete")),
    ],
)
def test_zstd(data: bytes, expected: tuple[bytes, str | None]) -> None:
    """Frames follow each other; the end of the input is taken for an end where a frame ended in what was read last."""
    assert expected == ask(ZSTD, data)


def test_zstd_gives_the_blocks_before_a_damaged_one() -> None:
    """Of several: as many as can be decoded, as a reader is handed them."""
    content = bytes(cramjam.zstd.compress(b"".join(zlib.compress(bytes([n]) * 99) for n in range(256)) * 60))
    whole, problem = ask(ZSTD, content)
    assert problem is None
    damaged = bytearray(content)
    damaged[-40] ^= 0xFF
    found, problem = ask(ZSTD, bytes(damaged))
    assert problem is not None
    assert whole.startswith(found)


def test_many_empty_zstd_frames_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes are the same frame; another empty frame, and one with bytes, are decoded as ever."""
    decoded: list[bytes] = []

    def decode(data: memoryview, *how: int) -> tuple[bytearray | None, str | None]:
        decoded.append(bytes(data))
        return original(data, *how)

    original = zstd_frame._decode
    monkeypatch.setattr(zstd_frame, "_decode", decode)
    empty, other = zstd(b""), FRAME + b"\0\x50" + b"\x01\0\0"
    assert (SOME + OTHER, None) == ask(ZSTD, empty * 500 + zstd(SOME) + other * 500 + zstd(OTHER))
    assert [empty, zstd(SOME), other, zstd(OTHER)] == decoded
