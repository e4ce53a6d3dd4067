"""Which fetcher thread gets a partition, as Kafka's own class tells."""

from random import Random

import pytest

from kcheck.core.replication.replica_fetchers import fetcher_of
from kcheck.model.java import java_hash
from tests.oracle.ask import IS_WHOLE, SEED, Ask, assert_equal, generated

pytestmark = pytest.mark.oracle

VERSIONS = ("0.11.0.3", "4.3.1", *(("1.1.1", "2.8.2", "3.3.2", "3.9.2") if IS_WHOLE else ()))
CHARACTERS = "abcxyzABCXYZ0189._-"


def _cases() -> list[tuple[int, str, int]]:
    """Return numbers of threads, topics and partitions; of some the sum that Kafka divides is Integer.MIN_VALUE."""
    random = Random(f"{SEED} fetchers")
    cases = []
    for _ in range(generated(10000)):
        topic = "".join(random.choices(CHARACTERS, k=random.randint(1, random.choice((3, 12, 249)))))
        partition = random.choice((random.randrange(64), random.randrange(100000)))
        lowest = (2**31 - 31 * java_hash(topic)) % 2**32
        if lowest < 2**31:
            cases.append((random.randint(1, 16), topic, lowest))
        cases.append((random.randint(1, 16), topic, partition))
    return cases


@pytest.mark.parametrize("version", VERSIONS)
def test_fetcher_ids(ask: Ask, version: str) -> None:
    """Thousands of topics and partitions, 1 to 16 threads."""
    cases = _cases()
    answers = ask(version, "FetcherIds.java", [f"{count} {topic} {partition}" for count, topic, partition in cases])
    assert_equal(
        cases, [fetcher_of(topic, partition, count) for count, topic, partition in cases], [*map(int, answers)]
    )
