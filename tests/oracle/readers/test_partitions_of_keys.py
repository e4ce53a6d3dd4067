"""Which partition a key belongs to, as Kafka's own classes tell."""

from random import Random

import pytest

from kcheck.core.start.partitioner import of_coordinator, of_producer
from tests.oracle.ask import IS_WHOLE, SEED, Ask, assert_equal, generated

pytestmark = pytest.mark.oracle

VERSIONS = ("0.11.0.3", "4.3.1", *(("1.1.1", "2.8.2", "3.3.2", "3.9.2") if IS_WHOLE else ()))
LOWEST = b"polygenelubricants"
"""A text whose String.hashCode is Integer.MIN_VALUE."""


def _cases() -> list[tuple[int, bytes]]:
    random = Random(f"{SEED} partitions")
    sizes = (random.choice((1, 2, 3, 4, 5, 8, random.randrange(1, 300))) for _ in range(generated(10000)))
    return [(7, LOWEST), *((random.randrange(1, 200), random.randbytes(size)) for size in sizes)]


@pytest.mark.parametrize("version", VERSIONS)
def test_partitions_of_keys(ask: Ask, version: str) -> None:
    """Thousands of keys of producers, and their texts as groups."""
    cases = _cases()
    texts = [key.decode(errors="replace").encode() for _, key in cases]
    lines = [f"{count} {key.hex()} {text.hex()}" for (count, key), text in zip(cases, texts, strict=True)]
    groups = [of_coordinator(b"\0\1" + len(text).to_bytes(2, "big") + text) for text in texts]
    found = [
        f"{of_producer(key) % count} {(group or 0) % count}" for (count, key), group in zip(cases, groups, strict=True)
    ]
    assert_equal(cases, found, ask(version, "Partitions.java", lines))
