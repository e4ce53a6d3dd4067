"""kcheck.model.names accepts the directory names that Log.parseTopicPartitionName of each release accepts.

More than a thousand names for each release; KCHECK_SWEEP multiplies the random ones, KCHECK_SEED chooses other ones.
"""

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.names import TopicPartition, broker_accepts
from tests.oracle.ask import NUMBERS, SEED, SPACES, Ask, assert_equal, encoded, generated, sampled, spread, text

pytestmark = pytest.mark.oracle

HEX = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    "version", sampled(("0.10.2.1", "0.10.2.2", "1.1.1", "2.8.2", "3.6.0", "3.6.1", "3.9.2", "4.3.1"))
)
def test_directory_names(version: str, ask: Ask) -> None:
    """The same topic and partition, or refused."""
    # A name cannot hold a slash or NUL; the empty one is no directory's.
    random = Random(f"{SEED} {version}")
    names = spread([name for name in _names(random) if name and "/" not in name and "\0" not in name], 700)
    answers = ask(version, "Readers.java", encoded(name.encode() for name in names), "directory")
    ours = [broker_accepts(name, release(version)) for name in names]
    assert_equal([repr(name) for name in names], ours, [_accepted(answer, version) for answer in answers])


def _accepted(answer: str, version: str) -> TopicPartition | None:
    if answer.startswith("!"):
        others = ("!NumberFormatException", "!StringIndexOutOfBoundsException") if version == "0.10.2.1" else ()
        assert answer in ("!KafkaException", *others)
        return None
    topic, partition = answer.split(" ")
    return TopicPartition(text(topic), int(partition))


def _names(random: Random) -> Iterator[str]:
    topics = ("t", "orders.eu-west", "a.b.c", "foo-", "-", "", ".", "..", "a b", "\u0442", "t" * 240)
    suffixes = ("delete", "future", "stray", "Delete", "deleted", "")
    for topic, partition in product(topics, ("0", "12", "-1", "x", "", "0-0")):
        yield f"{topic}-{partition}"
        for suffix in suffixes:
            yield from (f"{topic}-{partition}.{HEX}-{suffix}", f"{topic}-{partition}-{suffix}", f"{topic}-{suffix}")
    for number, suffix in product(NUMBERS, ("", f".{HEX}-delete", f".{HEX}-future", f".{HEX}-stray")):
        yield f"t-{number}{suffix}"
    for space, suffix in product(SPACES, suffixes):
        name = f"t-0.{HEX}-{suffix}"
        for old in ("t-", "-0", "0.", f".{HEX}", "f-", f"-{suffix}"):
            yield from (name.replace(old, space + old, 1), name.replace(old, old + space, 1))
        yield from (f"{space}-0", f"t-{space}", f"t{space}0")
    for suffix, middle in product(suffixes, ("", "a", "a.b", ".", "..", "-", "a-b", "a-0.b", "\u0663", HEX.upper())):
        yield from (f"t-0.{middle}-{suffix}", f"t.{middle}-{suffix}", f"-{middle}.-{suffix}", f"{middle}-{suffix}")
    yield from ("lost+found", ".snapshot", "version-2", "__cluster_metadata-0", "remote-log-index-cache", "-delete")
    parts = ("t", "-", "-", ".", "0", "7", HEX, "-delete", "-future", "-stray", " ", "\t", "+", "\u0665", "\n", "\xa0")
    yield from ("".join(random.choices(parts, k=random.randint(1, 7))) for _ in range(generated(1000)))
