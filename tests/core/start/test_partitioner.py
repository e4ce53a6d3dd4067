"""A log with keys of another partition alone: so many that it is no coincidence."""

from collections.abc import Iterator

import pytest

from kcheck.core.start.partitioner import homeless, of_coordinator, of_producer, partition_of_keys
from kcheck.model.names import CONSUMER_OFFSETS


def keys(partition: int, count: int, number: int) -> list[bytes]:
    """Return that many keys of a partition of `count`."""
    found = (f"k{at}".encode() for at in range(10_000) if of_producer(f"k{at}".encode()) % count == partition)
    return [next(found) for _ in range(number)]


def group(name: str) -> bytes:
    """Return the key of a group's commit."""
    return b"\0\1" + len(name).to_bytes(2, "big") + name.encode() + b"\0\1t\0\0\0\0"


@pytest.mark.parametrize(("count", "enough"), [(2, 20), (3, 14), (10, 7), (100, 4)])
def test_keys_of_another_partition(count: int, enough: int) -> None:
    """The more partitions, the fewer keys; the same key again counts nothing."""
    theirs = keys(1, count, enough)
    assert (1, enough) == partition_of_keys("t", theirs, 0, count)
    assert partition_of_keys("t", theirs, 1, count) is None
    assert partition_of_keys("t", theirs[1:] * 2, 0, count) is None


def test_mixed_keys() -> None:
    """One key of its own, or of a third partition: the producer has another method, or the topic grew."""
    theirs = keys(1, 3, 20)
    for other in (0, 2):
        assert partition_of_keys("t", [*theirs[:5], *keys(other, 3, 1), *theirs[5:]], 0, 3) is None
    assert partition_of_keys("t", [], 0, 3) is None


def test_no_key_more_than_needed_is_read() -> None:
    """The first key of a healthy log is enough."""
    read: list[bytes] = []

    def all_of(own: int) -> Iterator[bytes]:
        for key in (*keys(own, 3, 20), *keys(2, 3, 20)):
            read.append(key)
            yield key

    assert partition_of_keys("t", all_of(0), 0, 3) is None
    assert 1 == len(read)
    assert (1, 14) == partition_of_keys("t", all_of(1), 0, 3)
    assert 15 == len(read)


def test_groups_of_another_partition() -> None:
    """A broker chose it, so one is enough; a key without a group says nothing, and 64 are enough."""
    place = (of_coordinator(group("g")) or 0) % 5
    found = [b"", b"\0\1\0\5ab", group("g"), group("g")]
    assert (place, 1) == partition_of_keys(CONSUMER_OFFSETS, found, (place + 1) % 5, 5)
    assert partition_of_keys(CONSUMER_OFFSETS, found, place, 5) is None
    assert partition_of_keys(CONSUMER_OFFSETS, found[:2], 0, 5) is None
    many = [key for at in range(1000) if (of_coordinator(key := group(f"g{at}")) or 0) % 5 == 1]
    assert (1, 64) == partition_of_keys(CONSUMER_OFFSETS, many, 0, 5)


def test_groups_of_several_partitions() -> None:
    """A topic that got more partitions: those whose partition is another one now; of other topics nobody knows."""
    found = [b"", b"\0\1\0\5ab", *map(group, ("ga", "gb", "gc", "gd"))]
    own = [name for name in ("ga", "gb", "gc", "gd") if (of_coordinator(group(name)) or 0) % 4 == 0]
    others = tuple(name for name in ("ga", "gb", "gc", "gd") if name not in own)
    assert 0 < len(others) < 4
    assert others == homeless(CONSUMER_OFFSETS, found, 0, 4)
    assert () == homeless("t", found, 0, 4)
    assert 64 > len(homeless(CONSUMER_OFFSETS, (group(f"g{at}") for at in range(1000)), 0, 4)) > 30
