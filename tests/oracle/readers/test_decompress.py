"""What each codec makes of good, odd and damaged bytes, as the readers of each release do.

Where Kafka's stream ends without an exception kcheck gives the same bytes and no problem. Where it throws, kcheck tells
a problem, and its data begins with what the stream had handed out, or the other way round: a stream hands out what it
has in pieces. KCHECK_SWEEP multiplies the damaged cases, KCHECK_SEED chooses other ones.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from random import Random

import cramjam
import pytest

from kcheck.records.batch import COMPRESSION
from kcheck.records.compression import ZSTD, decompress
from tests.compressed import gzip, lz4, xerial, zstd
from tests.oracle.ask import SEED, Ask, assert_equal, flips, generated, sampled

pytestmark = pytest.mark.oracle

SIZE_MAX = 1 << 22

NO_ZSTD = {"2.8.2", "3.9.2"}
"""Their zstd-jni looks at less of what stands behind a frame."""

FRAMES = (b"\xb5\x2f\xfd", b"\x2a\x4d\x18")
"""Parts of the magic of a frame; whether damage in a second one is noticed depends on what is read in one piece."""

Case = tuple[int, int, bytes]
"""Codec, magic, compressed bytes."""


@pytest.mark.parametrize("version", sampled(("2.8.2", "3.9.2", "4.3.1")))
def test_every_codec(version: str, ask: Ask) -> None:
    """The same bytes or none, a problem where there is an exception."""
    random = Random(f"{SEED} {version}")
    cases = [*_good(random), *_odd(random)]
    if version in NO_ZSTD:
        cases = [case for case in cases if case[0] != ZSTD]
    undamaged = len(cases)
    for codec, magic, data in [case for case in cases if 8 < len(case[2]) < 1000]:
        cases += ((codec, magic, changed) for changed in flips(random, data, generated(20)))
        cases += ((codec, magic, data[: random.randrange(len(data))]) for _ in range(generated(5)))
    lines = [f"{COMPRESSION[codec]} {magic} {b64encode(data).decode()}" for codec, magic, data in cases]
    ours, theirs = [], []
    for number, answer in enumerate(ask(version, "Decompress.java", lines)):
        codec, magic, data = cases[number]
        encoded, _, end = answer.rpartition(" ")
        found, their = decompress(codec, data, magic=magic, size_max=SIZE_MAX), b64decode(encoded)
        our, whole, theirs_whole = bytes(found.data), found.problem is None, end == "="
        if number >= undamaged and codec == ZSTD and sum(map(data.count, FRAMES)) > 1:
            whole = theirs_whole = False
        if not whole and not theirs_whole:
            same = min(len(our), len(their))
            our, their = our[:same], their[:same]
        ours.append((our, whole))
        theirs.append((their, theirs_whole))
    assert_equal(lines, ours, theirs)


def _good(random: Random) -> Iterator[Case]:
    """Yield what Kafka's clients write, of several sizes, and what they cannot make smaller."""
    for size in (0, 1, 10, 100, 5000, 70_000, 300_000):
        for content in (random.randbytes(size), b"abcdefgh" * (size // 8) + b"x" * (size % 8), bytes(size)):
            for magic in (0, 1, 2):
                yield 1, magic, gzip(content)
                yield 2, magic, xerial(content)
                yield 2, magic, bytes(cramjam.snappy.compress_raw(content))
                yield 3, magic, lz4(content)
            yield 4, 2, bytes(cramjam.zstd.compress(content))


def _odd(random: Random) -> Iterator[Case]:
    """Yield streams behind one another, with bytes behind them, with parts that Kafka does not write."""
    some, other = b"some bytes, some bytes, some bytes", random.randbytes(50)
    for size in (*range(30), 100, 9000, 140_000):
        for behind in (bytes(size), random.randbytes(size)):
            for codec, whole in ((1, gzip(some)), (2, xerial(some)), (3, lz4(some)), (4, zstd(some))):
                yield codec, 2, whole + behind
                yield codec, 2, whole + whole + behind
                yield codec, 2, whole + whole[:size]
    for codec, one, two in (
        (1, gzip(some), gzip(other)), (2, xerial(some), xerial(other)), (3, lz4(some), lz4(other)),
        (4, zstd(some), zstd(other)),
    ):  # fmt: skip
        yield codec, 2, one + two
        yield codec, 2, one * 10 + two
        yield codec, 2, b""
    for flags in range(256):
        yield 1, 2, gzip(some, flags=flags)
        yield 1, 2, gzip(some, flags=flags, extra=b"\x03\x00abcname\0comment\0")
        yield 3, 1, lz4(some, flags=flags)
        yield 3, 1, lz4(some, sizes=flags)
        yield 3, 0, lz4(some, check=flags)
        yield 3, 1, lz4(some, check=flags)
    for version in (-1, 0, 1, 2):
        head = b"\x82SNAPPY\0" + version.to_bytes(4, "big", signed=True) + b"\0\0\0\1"
        yield 2, 2, head + xerial(some)[16:]
        yield 2, 2, xerial(some) + head + xerial(some)[16:]
        yield 2, 2, xerial(some) + head
    skippable = b"\x5a\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"12345"
    for whole in (skippable, skippable + zstd(some), *(zstd(some) + skippable[:size] for size in range(14))):
        yield 4, 2, whole
    for size in (131_070, 131_075, 131_080, 262_150):
        for left in range(8):
            body = zstd(random.randbytes(size - left - 16))
            for behind in (b"\x28", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd", b"\0", zstd(some)[:9]):
                yield 4, 2, body + behind
    for stated in (0, 1, 10**6, 2**31, 2**63):
        yield 3, 2, lz4(some, flags=0x68, content_size=stated)
    large = bytes(cramjam.zstd.compress(random.randbytes(400_000)))
    for _ in range(20):
        yield 4, 2, next(flips(random, large, 1))
