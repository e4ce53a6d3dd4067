"""`broker_reads` of kcheck.formats and the checkpoint readers of each release agree on odd files.

OffsetCheckpoint, OffsetCheckpointFile and LeaderEpochCheckpointFile read about two thousand files each: valid ones,
valid ones changed at random (KCHECK_SWEEP multiplies their number, KCHECK_SEED chooses other ones), and built ones.
"""

import re
from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import leader_epoch_checkpoint, offset_checkpoint
from tests.oracle.ask import (
    BAD_UTF8,
    NUMBERS,
    SEED,
    SPACES,
    Ask,
    assert_equal,
    broken,
    cuts,
    encoded,
    flips,
    generated,
    sampled,
    spread,
    text,
)

RELEASES = ("0.8.2.2", "0.9.0.1", "0.10.2.2", "0.11.0.3", "1.1.1", "2.0.0", "2.4.1", "2.8.2", "3.4.1", "3.9.2", "4.3.1")

pytestmark = pytest.mark.oracle

OFFSETS = b"0\n3\norders.eu-west 0 1843\norders.eu-west 11 0\n__consumer_offsets 7 92\n"
EPOCHS = b"0\n3\n0 0\n6 1200\n17 1201\n"

Answer = dict[tuple[str, int], int] | list[tuple[int, int]] | str


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_offset_checkpoints(version: str, ask: Ask) -> None:
    """The same topics, partitions and offsets, or an exception of the same class."""
    files = spread([*_files(Random(f"{SEED} {version}"), OFFSETS, "t 1 5"), *_topics()], 700)
    theirs = [_offsets(answer) for answer in ask(version, "Readers.java", encoded(files), "offsets")]
    ours: list[Answer] = []
    for file in files:
        read = offset_checkpoint.broker_reads(file, release(version))
        entries = {(entry.topic, entry.partition): entry.offset for entry in read.value or ()}
        ours.append(read.error or {key: int(offset) for key, offset in entries.items()})
    assert_equal(files, ours, theirs)


@pytest.mark.parametrize("version", sampled(RELEASES[3:]))
def test_leader_epoch_checkpoints(version: str, ask: Ask) -> None:
    """The same entries in the same order, or an exception of the same class."""
    files = spread([*_files(Random(f"{SEED} {version}"), EPOCHS, "1 5")], 700)
    theirs = [_epochs(answer) for answer in ask(version, "Readers.java", encoded(files), "epochs")]
    ours: list[Answer] = []
    for file in files:
        read = leader_epoch_checkpoint.broker_reads(file, release(version))
        ours.append(read.error or [(entry.epoch, entry.start_offset) for entry in read.value or ()])
    assert_equal(files, ours, theirs)


@pytest.mark.sample(2)
@pytest.mark.parametrize("version", ["2.8.2", "3.4.1", "4.3.1"])
def test_huge_counts(version: str, ask: Ask) -> None:
    """From 3.1 a count whose list does not fit a heap of 1 GiB, the default of a broker, is an OutOfMemoryError.

    Counts from 100 million to 2^28 are not asked: what fits there depends on what the heap holds already.
    """
    counts = (10**6, 10**8, 2**28, 3 * 10**8, 10**9, 2**31 - 1)
    files = [f"0\n{count}\n1 5\n".encode() for count in counts]
    heap = ("-Xms1g", "-Xmx1g", "-XX:-UseSerialGC", "-XX:+UseG1GC")
    theirs = [broken(answer) for answer in ask(version, "Readers.java", encoded(files), "epochs", jvm=heap)]
    read = [leader_epoch_checkpoint.broker_reads(file, release(version)) for file in files]
    assert_equal(files, [each.error for each in read], theirs)


def _offsets(answer: str) -> Answer:
    if error := broken(answer):
        return error
    entries = [entry.split(" ") for entry in answer.split(",") if entry]
    return {(text(topic), int(partition)): int(offset) for topic, partition, offset in entries}


def _epochs(answer: str) -> Answer:
    if error := broken(answer):
        return error
    numbers = [int(number) for number in re.findall(r"-?\d+", answer)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _files(random: Random, valid: bytes, entry: str) -> Iterator[bytes]:
    """Odd files around `valid`; `entry` is a line that holds, its last fields being numbers."""
    yield valid
    yield from cuts(valid)
    yield from flips(random, valid, generated(300))
    yield from _frames(entry)
    yield from (text.encode() for text in _entries(entry))
    yield from _bad_utf8(random, entry)


def _frames(entry: str) -> Iterator[bytes]:
    """Version, count, line ends and blank lines."""
    lines = ["0", "2", entry, entry.replace("1", "2", 1)]
    for end in ("\n", "\r\n", "\r", "\n\r", "\n\n", "\r\r\n", *SPACES):
        yield end.join(lines).encode()
        yield (end.join(lines) + end).encode()
        yield ("\n".join(lines) + end).encode()
        yield end.encode()
        yield f"0{end}".encode()
        yield f"0\n0{end}".encode()
    for blank in (0, 1, 2, 3, 4):
        yield "\n".join([*lines[:blank], "", *lines[blank:], ""]).encode()
    for number, count in product(NUMBERS, (0, 1)):
        body = f"\n{entry}" * count + "\n"
        yield f"{number}\n{count}{body}".encode()
        # From 3.1 a list of this many entries is made at once, and must fit the heap: test_huge_counts.
        if not number.lstrip("+0").startswith("2147483647"):
            yield f"0\n{number}{body}".encode()
    for space in SPACES:
        yield from (f"{a}0{b}\n{c}1{d}\n{entry}\n".encode() for a, b, c, d in _one_of_four(space))
    yield from (f"0\n{count}\n{entry}\n{entry[:-1]}9\n".encode() for count in range(4))
    yield b"\xef\xbb\xbf0\n0\n"
    yield bytes(64)
    yield b"0\n0\n" + bytes(64)


def _one_of_four(text: str) -> Iterator[tuple[str, str, str, str]]:
    yield from ((text, "", "", ""), ("", text, "", ""), ("", "", text, ""), ("", "", "", text))


def _entries(entry: str) -> Iterator[str]:
    """One entry between two good ones: its numbers, the space around and between its fields, fields too many."""
    good, *fields = "7 7 7"[-len(entry) :], *entry.split(" ")
    for column, number in product(range(len(fields)), NUMBERS):
        line = " ".join([*fields[:column], number, *fields[column + 1 :]])
        yield f"0\n1\n{line}\n"
        yield f"0\n3\n{good}\n{line}\n{good}\n"
        yield f"0\n2\n{good}\n{line}"
    for space in SPACES:
        yield from (f"0\n1\n{line}\n" for line in (space.join(fields), space + entry, entry + space, entry + space * 3))
    for line in (fields[0], " ".join(fields[1:]), f"{entry} 1", f"{entry} ", f"{entry}  1", f" {entry} ", entry * 3):
        yield f"0\n1\n{line}\n"
        yield f"0\n2\n{line}\n{good}\n"


def _topics() -> Iterator[bytes]:
    for topic in ("\u0442\u0435\u043c\u0430", "..", "-", "t\x00t", "t\x85t", "\U0001f600", "t" * 9000, "\u20ac" * 9000):
        yield f"0\n1\n{topic} 0 5\n".encode()
    yield b"0\n3\nt 0 1\nu 0 2\nt 0 3\n"
    yield b"0\n2\nt 0 1\nu 0 2\nt 0 3\n"
    yield b"0\n2\nt 00 1\nt +0 3\n"


def _bad_utf8(random: Random, entry: str) -> Iterator[bytes]:
    """Undecodable bytes at several places, alone and after a line that fails earlier: 8 KiB are decoded at a time."""
    fields = entry.split(" ")
    for bad in BAD_UTF8:
        yield from (bad + b"0\n0\n", b"0" + bad + b"\n0\n", b"0\n0\n" + bad, b"0\n0" + bad, bad, b"0\n" + bad)
        for column in range(len(fields)):
            line = [bad if number == column else field.encode() for number, field in enumerate(fields)]
            yield b"0\n1\n" + b" ".join(line) + b"\n"
        yield f"0\n2\n{entry[:-1]}x\n".encode() + bad + b"\n"
    wrong = ("", entry[:-1] + "x\n", "x\n")
    for size in (8180, *range(8186, 8196), 12288, *range(16379, 16388), 24575, 40000):
        for fill in ("7", "\u00e9", "\u20ac", "\U0001f600", "7\u20ac\U0001f600\u00e9"):
            head = _long(random.choice(wrong), entry, fill, size) + random.choice(BAD_UTF8)
            yield head
            yield head + b"\n" * random.randrange(2) + b"7" * random.randrange(20000)


def _long(first: str, entry: str, fill: str, size: int) -> bytes:
    """Return `size` UTF-16 units, or one less: a line that may be wrong, good ones, and a last one of `fill`."""
    lines = (size - 100) // (len(entry) + 1) // 2
    head = f"0\n{lines + bool(first)}\n{first}" + f"{entry}\n" * lines
    units = (head + fill * size).encode("utf-16-le")[: 2 * size]
    return units.decode("utf-16-le", "ignore").encode()
