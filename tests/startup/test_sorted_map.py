"""Maps with ascending keys: ConcurrentSkipListMap, as LogSegments and ProducerStateManager use it."""

import pytest

from kcheck.startup.sorted_map import Snapshots, SortedMap
from tests.startup.folders import name


def test_numbers_ascend_whatever_the_order_of_insertion() -> None:
    values: SortedMap[str] = SortedMap()
    for number in (30, 10, 20, 10):
        values[number] = f"value {number}"
    assert [10, 20, 30] == values.order == list(values)
    del values[20]
    assert ([10, 30], 2, False) == (values.order, len(values), 20 in values)
    with pytest.raises(KeyError):
        del values[20]


def test_snapshots_by_offset() -> None:
    """ProducerStateManager.loadSnapshots: of two names with one offset the last counts."""
    padded, plain = name(5, ".snapshot"), "5.snapshot"
    snapshots = Snapshots((padded, plain, name(9, ".snapshot"), "x.snapshot"))
    assert ([5, 9], plain, {"x.snapshot"}) == (snapshots.offsets, snapshots[5], snapshots.unnumbered)
    snapshots.add(plain)
    snapshots.discard(plain)
    assert snapshots[5] == padded
    snapshots.discard(padded)
    snapshots.discard(padded)
    snapshots.discard("x.snapshot")
    assert [name(9, ".snapshot")] == list(snapshots.names)
    assert 5 not in snapshots
