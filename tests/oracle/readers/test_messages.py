"""Kafka's own schemas, generated classes and JSON converters judge what kcheck decodes of records.

KCHECK_SWEEP multiplies the messages, KCHECK_SEED chooses other ones.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterator
from random import Random

import pytest

from kcheck.renderers._json_writer import jackson, java_double
from kcheck.schemas import metadata, offsets, protocol, remote_log, share_state, transactions
from kcheck.schemas.decode import decode
from kcheck.schemas.schema import Schema, parse_table
from tests.oracle import messages
from tests.oracle.ask import SEED, SWEEP, Ask, assert_equal, flips

pytestmark = pytest.mark.oracle

GENERATED = (
    ("org.apache.kafka.coordinator.group.generated.", offsets.TABLE),
    ("org.apache.kafka.coordinator.transaction.generated.", transactions.TABLE),
    ("org.apache.kafka.coordinator.share.generated.", share_state.TABLE),
    ("org.apache.kafka.common.metadata.", metadata.TABLE),
    ("org.apache.kafka.common.message.", protocol.TABLE),
    ("org.apache.kafka.server.log.remote.metadata.storage.generated.", remote_log.TABLE),
)
"""The package of the classes that Kafka generates from each table."""

CHANGED = {
    "4.0.2": {
        "ShareGroupMetadataValue",
        "ShareGroupStatePartitionMetadataValue",
        "ShareSnapshotValue",
        "ShareUpdateValue",
    },
    "3.9.2": {"ShareGroupMetadataValue"},
}
"""What a release wrote otherwise under the same version: share groups were early access up to 4.0."""

NUMBER = re.compile(r"\d\.\d+E-?\d+")

SCHEMAS = [(package, schema) for package, table in GENERATED for schema in parse_table(table).values()]


@pytest.mark.parametrize("module", messages.TABLES)
def test_the_tables_are_those_of_kafka(module: str, ask: Ask) -> None:
    """The jars of the newest release give the same tables, to the letter."""
    ask(messages.NEWEST, "Messages.java", [], "make")
    assert messages.source(module) == (messages.FOLDER / f"{module}.py").read_text("utf-8")


@pytest.mark.sample(2)
@pytest.mark.parametrize("release", [messages.NEWEST, *CHANGED])
def test_every_version_of_every_message(release: str, ask: Ask) -> None:
    """Messages that Kafka's classes wrote, with anything in their fields: the same JSON, and no byte left."""
    cases = [
        (package, schema, version, seed)
        for package, schema in SCHEMAS
        if schema.name not in CHANGED.get(release, ())
        for version in range(schema.versions.least, schema.versions.most + 1)
        for seed in range(20 * SWEEP)
    ]
    lines = [f"{package}{schema.name} {version} {SEED}{seed:04d}" for package, schema, version, seed in cases]
    ours, theirs, asked = [], [], []
    for line, case, answer in zip(lines, cases, ask(release, "Messages.java", lines, "make"), strict=True):
        if answer != "?":
            data, text = map(b64decode, answer.split())
            asked.append(f"{line} {data.hex()}")
            ours.append(_ours(case[1], case[2], data))
            theirs.append(f"0 {_shortest(text.decode())}")
    assert {"OffsetCommitValue 4", "PartitionRecord 2"} <= {
        " ".join(each.rpartition(".")[2].split()[:2]) for each in asked
    }
    assert release != messages.NEWEST or len(asked) == len(cases)
    assert_equal(asked, ours, theirs)


def test_damaged_messages(ask: Ask) -> None:
    """Where bytes are changed, put in, taken out or cut off, kcheck reads what Kafka reads, and ends where it does."""
    cases = list(_damaged(ask))
    lines = [f"{package}{schema.name} {version} {b64encode(data).decode()}" for package, schema, version, data in cases]
    theirs = []
    for answer in ask(messages.NEWEST, "Messages.java", lines, "read"):
        left, _, text = answer.partition(" ")
        theirs.append("!" if left.startswith("!") else f"{left} {_shortest(b64decode(text).decode())}")
    ours = [_ours(schema, version, data) for _, schema, version, data in cases]
    assert_equal(lines, ours, theirs)


def _damaged(ask: Ask) -> Iterator[tuple[str, Schema, int, bytes]]:
    random = Random(SEED)
    chosen = [(*random.choice(SCHEMAS), random.randrange(1 << 30)) for _ in range(100 * SWEEP)]
    versions = [random.randint(schema.versions.least, schema.versions.most) for _, schema, _ in chosen]
    lines = [f"{p}{schema.name} {v} {seed}" for (p, schema, seed), v in zip(chosen, versions, strict=True)]
    made = ask(messages.NEWEST, "Messages.java", lines, "make")
    for (package, schema, _), version, answer in zip(chosen, versions, made, strict=True):
        data = b64decode(answer.split()[0])
        for size in range(min(len(data), 40)):
            yield package, schema, version, data[:size]
        for changed in flips(random, data, 50) if len(data) > 3 else ():
            yield package, schema, version, changed


def _shortest(text: str) -> str:
    """Return the same with the fewest digits in each number that has an exponent: before 19, Java may write more."""
    return NUMBER.sub(lambda found: java_double(float(found[0])), text)


def _ours(schema: Schema, version: int, data: bytes) -> str:
    found = decode(schema, data, version)
    return "!" if found.problem else f"{len(data) - found.size} {jackson(found.value)}"
