"""`broker_reads` of partition.metadata and the PartitionMetadataFile of each release agree on odd files.

More than a thousand files for each release; KCHECK_SWEEP multiplies the random ones, KCHECK_SEED chooses other ones.
"""

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.partition_metadata import broker_reads
from kcheck.model.release import Release
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
)

pytestmark = pytest.mark.oracle

ID = "qzsY3uLbQ9mBq1s8vT0oWg"
VALID = f"version: 0\ntopic_id: {ID}"


@pytest.mark.parametrize("version", sampled(("2.8.2", "3.6.2", "3.9.2", "4.3.1")))
def test_partition_metadata(version: str, ask: Ask) -> None:
    """The same version and topic id, or an exception of the same class."""
    files = list(_files(Random(f"{SEED} {version}")))
    answers = ask(version, "Readers.java", encoded(files), "partition.metadata")
    theirs = [broken(answer) or answer for answer in answers]
    assert_equal(files, [_ours(file, release(version)) for file in files], theirs)


def _ours(file: bytes, chosen: Release) -> str:
    read = broker_reads(file, chosen)
    return str(read.error) if read.value is None else f"{read.value.version} {read.value.topic_id}"


def _files(random: Random) -> Iterator[bytes]:
    yield VALID.encode()
    yield from cuts(VALID.encode())
    yield from flips(random, VALID.encode(), generated(300))
    yield from (text.encode() for text in (*_lines(), *_ids(random)))
    for bad, size in product(BAD_UTF8, (0, 8100, 8191 - len(VALID), 8192 - len(VALID), 9000, 20000)):
        yield f"{VALID}\n{'7' * size}".encode() + bad
        yield f"version: 0\ntopic_id: !\n{'7' * size}".encode() + bad
    for bad in BAD_UTF8:
        yield from (bad + VALID.encode(), VALID.encode().replace(b"_", bad), VALID.encode().replace(b"0", bad, 1), bad)


def _lines() -> Iterator[str]:
    for end in ("\n", "\r\n", "\r", "\n\r", "\n\n", *SPACES):
        yield from (VALID.replace("\n", end), VALID + end, end + VALID, end, f"version: 0{end}")
    for space in (*SPACES, "", ": ", "::", " :"):
        yield from (VALID.replace(" ", space), VALID.replace(": ", space), VALID.replace(": ", f":{space} "))
        yield from (VALID + space, VALID.replace("\n", f"{space}\n"), VALID.replace("0", f"{space}0"))
        yield VALID.replace("topic_id: ", f"{space}topic_id: {space}")
    for number in NUMBERS:
        yield f"version: {number}\ntopic_id: {ID}"
        yield f"version: {number}"
    for first, second in product(("version", "", "topic_id", "x y", "\ufeffversion"), repeat=2):
        yield f"{first}: 0\n{second}: {ID}"
    yield from (f"topic_id: {ID}\nversion: 0", f"{VALID}\nversion: 1", f"version: 0: 1\ntopic_id: {ID}", f": \n: {ID}")


def _ids(random: Random) -> Iterator[str]:
    """Ids of every length, with every foreign character, every last character, and reserved ones."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    last = [f"{ID[:-1]}{character}" for character in alphabet]
    long = ["".join(random.choices(alphabet, k=size)) for size in range(30)]
    filled = [ID[:size] + "=" * (filling - size) for filling in range(20, 27) for size in range(18, filling)]
    foreign = [ID.replace("Q", character) for character in "+/=.,!~ \t\x00\x7f\xe9\u20ac\U0001f600"]
    tails = ["==", "=", "===", "=A", "A=", "A==", "+/", "\x00", "\xe9"]
    reserved = [*("A" * 21 + character for character in "ABPQRw"), "A" * 22 + "==", "_" * 22, "-" * 22, "A" * 24]
    for topic_id in (*last, *long, *filled, *foreign, *(ID + tail for tail in tails), *reserved):
        yield f"version: 0\ntopic_id: {topic_id}"
        yield f"version: 0\ntopic_id: {topic_id}\n"
