"""What the readers of each release make of transaction indexes and producer snapshots that are damaged.

KCHECK_SWEEP multiplies the cases, KCHECK_SEED chooses other ones.
"""

import struct
from collections.abc import Iterator
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import producer_snapshot, transaction_index
from kcheck.formats.producer_snapshot import CRC_FROM, PRODUCER, SNAPSHOT_HEADER
from kcheck.records.batch import crc32c
from tests.docs.examples import ROOT
from tests.oracle.ask import (
    IS_WHOLE,
    READERS,
    SEED,
    Ask,
    assert_equal,
    broken,
    cuts,
    encoded,
    flips,
    generated,
    sampled,
    spread,
)

pytestmark = pytest.mark.oracle

BROKERS = ROOT / "fixtures" / "brokers"
NUMBERS = (0, 1, -1, 2, 3, 1000, 2**31 - 1, -(2**31), 2**26)


def _contents(suffix: str) -> list[bytes]:
    """Return the different contents of the files that brokers wrote; five of them as a sample."""
    contents = dict.fromkeys(path.read_bytes() for path in sorted(BROKERS.rglob(f"*{suffix}")))
    return [data for data in contents if data][: None if IS_WHOLE else 5]


@pytest.mark.parametrize("version", sampled(READERS))
def test_transaction_indexes(version: str, ask: Ask) -> None:
    """Every whole entry, or none and an exception."""
    random = Random(f"{SEED} {version}")
    files: list[bytes] = []
    for number, data in enumerate(_contents(".txnindex")):
        files += (*cuts(data), *flips(random, data * 3, generated(200)))
        if IS_WHOLE or number == 0:
            files += (struct.pack(">h", version_number) + data[2:] for version_number in range(-300, 300))
    ours = []
    for data in files:
        reads = transaction_index.broker_reads(data, release(version))
        ours.append(reads.error or ",".join(" ".join(map(str, each[1:])) for each in reads.value or ()))
    theirs = [broken(answer) or answer for answer in ask(version, "Readers.java", encoded(files), "transactions")]
    assert_equal([data.hex() for data in files], ours, theirs)


@pytest.mark.parametrize("version", sampled(READERS))
def test_producer_snapshots(version: str, ask: Ask) -> None:
    """Every producer, or none and an exception; also with the right CRC of any number of producers."""
    random = Random(f"{SEED} {version}")
    files = spread([data for content in _contents(".snapshot") for data in _snapshots(random, content)], 700)
    ours = []
    for data in files:
        reads = producer_snapshot.broker_reads(data, release(version))
        found = () if reads.value is None else reads.value.producers
        rows = (f"{each.producer_id} {each.producer_epoch} {each.coordinator_epoch}" for each in found)
        ours.append(reads.error or ",".join(rows))
    theirs = [broken(answer) or answer for answer in ask(version, "Readers.java", encoded(files), "producers")]
    assert_equal([data.hex() for data in files], ours, theirs)


def _snapshots(random: Random, data: bytes) -> Iterator[bytes]:
    for changed in (*cuts(data), *flips(random, data, generated(100))):
        yield changed
        yield _with_crc(changed)
    for count in NUMBERS:
        for version in (0, 1, 2):
            for size in (0, 1, PRODUCER.size, 3 * PRODUCER.size):
                yield _with_crc(SNAPSHOT_HEADER.pack(version, 0, count) + random.randbytes(size))


def _with_crc(data: bytes) -> bytes:
    return data[:2] + crc32c(data[CRC_FROM:]).to_bytes(4, "big") + data[CRC_FROM:] if len(data) >= CRC_FROM else data
