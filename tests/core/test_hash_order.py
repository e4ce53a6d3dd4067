"""The iteration order of Java's and Scala's hash tables, as recorded from the tables themselves."""

import pytest

from kcheck.core.hash_order import in_order
from kcheck.model.release import HashTable

SHARED = (32, 0, 16, 3, 48)
CROWDED = tuple(range(0, 144, 16))
"""Enough longs in one bucket for Java to enlarge the table."""


@pytest.mark.parametrize(
    ("table", "order"),
    [
        (HashTable.JAVA, [32, 0, 16, 48, 3]),
        (HashTable.JAVA_COMPUTED, [48, 16, 0, 32, 3]),
        (HashTable.SCALA_2_13, [0, 16, 32, 48, 3]),
        (HashTable.SCALA_2_12, [32, 16, 48, 3, 0]),
    ],
)
def test_a_shared_bucket(table: HashTable, order: list[int]) -> None:
    """In a bucket: order of insertion, its reverse, sorted, or no visible order."""
    assert order == in_order(SHARED, table)


@pytest.mark.parametrize(
    ("table", "count", "order"),
    [
        (HashTable.JAVA, 8, CROWDED[:8]),
        (HashTable.JAVA, 9, (0, 32, 64, 96, 128, 16, 48, 80, 112)),
        (HashTable.JAVA_COMPUTED, 7, CROWDED[6::-1]),
        (HashTable.JAVA_COMPUTED, 8, (96, 64, 32, 0, 112, 80, 48, 16)),
    ],
)
def test_a_crowded_bucket(table: HashTable, count: int, order: tuple[int, ...]) -> None:
    """Java enlarges a small table once a bucket has too many longs."""
    assert [*order] == in_order(CROWDED[:count], table)


def test_a_larger_table() -> None:
    """A table grows with its longs, and the order changes; Scala 2.13 grows one long earlier."""
    assert [*range(13)] == in_order(reversed(range(13)), HashTable.JAVA)
    assert [16, *range(12)] == in_order((*range(12), 16), HashTable.JAVA_COMPUTED)
    assert [*range(13), 16] == in_order((*range(13), 16), HashTable.JAVA_COMPUTED)
    twelve = (17, *range(1, 12))
    assert [17, 1] == in_order(twelve, HashTable.JAVA)[:2]
    assert [*range(1, 12), 17] == in_order(twelve, HashTable.SCALA_2_13)
    order = in_order(range(20), HashTable.SCALA_2_12)
    assert [17, 8, 11, 2, 5, 14, 13, 4, 16, 7, 1, 10, 19, 18, 9, 3, 12, 15, 6, 0] == order
