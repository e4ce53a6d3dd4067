"""kcheck.core.hash_order tells longs in the order in which hash tables of Java and Scala have them."""

from random import Random

import pytest

from kcheck.core.hash_order import in_order
from kcheck.model.release import HashTable
from tests.damage_made import PRODUCER_IDS
from tests.oracle.ask import SEED, SWEEP, Ask, assert_equal

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize(
    ("version", "table"),
    [
        ("2.3.1", HashTable.SCALA_2_12),
        ("4.3.1", HashTable.SCALA_2_13),
        ("4.3.1", HashTable.JAVA),
        ("4.3.1", HashTable.JAVA_COMPUTED),
    ],
)
def test_orders(version: str, table: HashTable, ask: Ask) -> None:
    """Few longs and many, in any order, with buckets that are shared; none becomes a tree."""
    random = Random(SEED)
    keys: list[list[int]] = [random.sample(PRODUCER_IDS, random.randint(1, 35)) for _ in range(500 * SWEEP)]
    keys += [random.sample(range(1000), count) for count in range(1, 200)]
    keys += [[16 * number for number in random.sample(range(12), 12)] for _ in range(20)]
    keys += [[random.randrange(1 << 62) for _ in range(count)] for count in range(1, 100)]
    lines = [" ".join(map(str, each)) for each in keys]
    ours = [" ".join(map(str, in_order(each, table))) for each in keys]
    assert_equal(lines, ours, ask(version, "HashOrder.java", lines, table.partition("-2")[0]))
