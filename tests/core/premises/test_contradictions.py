"""Which settings end the process because of another one; tests/oracle/starts/test_limits.py asks Kafka the same."""

import pytest

from kcheck.core.premises.limits import refused_settings
from kcheck.core.releases.releases import protocol, release

KRAFT = {
    "process.roles": "broker", "node.id": "1", "listeners": "PLAINTEXT://localhost:9092",
    "controller.listener.names": "CONTROLLER", "controller.quorum.voters": "2@localhost:9093",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}  # fmt: skip
ZOOKEEPER = {"broker.id": "1", "listeners": "PLAINTEXT://localhost:9092", "zookeeper.connect": "x:1"}
BOTH = (ZOOKEEPER, KRAFT)
TWO = "INTERNAL://h:1,EXTERNAL://h:2"
MAPPED = "listener.security.protocol.map=INTERNAL:SSL,EXTERNAL:SASL_SSL,CONTROLLER:SSL"
CONTROLLER = "process.roles=controller controller.quorum.voters=1@h:9 listeners=CONTROLLER://h:9"

CASES: tuple[tuple[tuple[dict[str, str], ...], str, str | None], ...] = (
    (BOTH, "", None),
    (BOTH, "log.cleaner.threads=0", "log.cleaner.threads"),
    (BOTH, "log.cleaner.threads=127", None), (BOTH, "log.cleaner.threads=128", "log.cleaner.threads"),
    (BOTH, "log.cleaner.dedupe.buffer.size=1 log.cleaner.enable=false", "log.cleaner.dedupe.buffer.size"),
    (BOTH, "log.cleaner.dedupe.buffer.size=1048577", None),
    (BOTH, "replica.fetch.wait.max.ms=900 replica.socket.timeout.ms=800", "replica.fetch.wait.max.ms"),
    (BOTH, "replica.socket.timeout.ms=499", "replica.socket.timeout.ms"),
    (BOTH, "log.dirs=,", "log.dirs"), (BOTH, "log.dir=", "log.dir"), (BOTH, "log.dirs=/a log.dir=", None),
    (BOTH, "offsets.topic.compression.codec=5", "offsets.topic.compression.codec"),
    (BOTH, "offsets.topic.compression.codec=4", None),
    (BOTH, "max.connections.per.ip=0", "max.connections.per.ip"),
    (BOTH, "max.connections.per.ip=0 max.connections.per.ip.overrides=127.0.0.1:9", None),
    (BOTH, "max.connections.per.ip.overrides=127.0.0.1", "max.connections.per.ip.overrides"),
    (BOTH, "listeners=PLAINTEXT://a:1,PLAINTEXT://b:2", "listeners"),
    (BOTH, "listeners=FOO://a:1", "listeners"), (BOTH, "listeners=PLAINTEXT://0.0.0.0:1", "listeners"),
    (BOTH, "listeners=PLAINTEXT://0.0.0.0:1 advertised.listeners=PLAINTEXT://h:1", None),
    (BOTH, "advertised.listeners=PLAINTEXT://0.0.0.0:1", "advertised.listeners"),
    (BOTH, "advertised.listeners=SSL://h:1", "advertised.listeners"),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=internal {MAPPED}", None),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=CONTROLLER {MAPPED}", "inter.broker.listener.name"),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=X {MAPPED}", "inter.broker.listener.name"),
    (BOTH, f"listeners={TWO} {MAPPED}", "listeners"),
    (BOTH, f"listeners={TWO} advertised.listeners=EXTERNAL://h:2 inter.broker.listener.name=INTERNAL {MAPPED}",
     "inter.broker.listener.name"),
    (BOTH, f"listeners=INTERNAL://h:1,EXTERNAL://h:1 inter.broker.listener.name=INTERNAL {MAPPED}", "listeners"),
    (BOTH, "inter.broker.listener.name=PLAINTEXT security.inter.broker.protocol=PLAINTEXT",
     "inter.broker.listener.name"),
    (BOTH, "security.inter.broker.protocol=SSL", "security.inter.broker.protocol"),
    (BOTH, "security.inter.broker.protocol=FOO", "security.inter.broker.protocol"),
    (BOTH, "listener.security.protocol.map=PLAINTEXT:FOO,CONTROLLER:SSL", "listener.security.protocol.map"),
    (BOTH, "broker.id=1 node.id=1", None),
    ((ZOOKEEPER,), "broker.id=1001", "broker.id"), ((ZOOKEEPER,), "broker.id=-2", "broker.id"),
    ((ZOOKEEPER,), "broker.id=1001 broker.id.generation.enable=false", None),
    ((ZOOKEEPER,), "broker.id=-1 broker.id.generation.enable=false", "broker.id"),
    ((ZOOKEEPER,), "offsets.commit.required.acks=-2", "offsets.commit.required.acks"),
    ((ZOOKEEPER,), "offsets.commit.required.acks=4", "offsets.commit.required.acks"),
    ((ZOOKEEPER,), "control.plane.listener.name=X", "control.plane.listener.name"),
    ((ZOOKEEPER,), "inter.broker.protocol.version=9.9", "inter.broker.protocol.version"),
    ((ZOOKEEPER,), "inter.broker.protocol.version=2.3-IV9", "inter.broker.protocol.version"),
    ((ZOOKEEPER,), "inter.broker.protocol.version=2.0.1", None),
    ((ZOOKEEPER,), "log.message.format.version=4.0", "log.message.format.version"),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.10.2", "inter.broker.protocol.version"),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.10.2 log.message.format.version=0.10.0", None),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.9.0 log.message.format.version=0.10.0",
     "inter.broker.protocol.version"),
    ((KRAFT,), "broker.id=2", "broker.id"),
    ((KRAFT,), "controller.quorum.voters=2@x", "controller.quorum.voters"),
    ((KRAFT,), "controller.quorum.voters=", "controller.quorum.voters"),
    ((KRAFT,), "controller.quorum.voters= controller.quorum.bootstrap.servers=h:9", None),
    ((KRAFT,), "controller.listener.names=", "controller.listener.names"),
    ((KRAFT,), "controller.listener.names=X", "controller.listener.names"),
    ((KRAFT,), "controller.listener.names=PLAINTEXT", "controller.listener.names"),
    ((KRAFT,), "early.start.listeners=FOO", "early.start.listeners"),
    ((KRAFT,), "early.start.listeners=CONTROLLER", "early.start.listeners"),
    ((KRAFT,), "early.start.listeners=PLAINTEXT", None),
    ((KRAFT,), CONTROLLER, None),
    ((KRAFT,), f"{CONTROLLER} listeners=PLAINTEXT://h:9", "controller.listener.names"),
    ((KRAFT,), f"{CONTROLLER} listeners=CONTROLLER://h:9,PLAINTEXT://h:8", "listeners"),
    ((KRAFT,), "group.coordinator.rebalance.protocols=consumer", "group.coordinator.rebalance.protocols"),
    ((KRAFT,), "group.consumer.session.timeout.ms=1", "group.consumer.session.timeout.ms"),
    ((KRAFT,), "group.consumer.max.heartbeat.interval.ms=5001", None),
)  # fmt: skip
"""Settings that are added to those of a mode, separated by a blank; the one that is refused, None if none is."""


def settings(mode: dict[str, str], added: str) -> dict[str, str]:
    """Return the settings of a case."""
    pairs = (pair.partition("=") for pair in added.split())
    return mode | {name: value for name, _, value in pairs}


def refused(mode: dict[str, str], added: str, line: str) -> list[str]:
    """Return the names of the refused settings."""
    return [one.name for one in refused_settings(settings(mode, added), release(line))]


@pytest.mark.parametrize(("modes", "added", "name"), CASES, ids=lambda case: case if isinstance(case, str) else None)
def test_what_a_start_refuses(modes: tuple[dict[str, str], ...], added: str, name: str | None) -> None:
    """In 3.9, which has both modes."""
    for mode in modes:
        found = refused(mode, added, "3.9")
        assert (found[:1] == [name]) if name else (found == []), found


@pytest.mark.parametrize(
    ("line", "mode", "added", "name"),
    [
        ("4.3", KRAFT, "log.dirs=/a cordoned.log.dirs=/b", ["cordoned.log.dirs"]),
        ("4.3", KRAFT, "log.dirs=/a cordoned.log.dirs=*", []),
        ("4.3", KRAFT, "process.roles=broker,broker", []),
        ("4.3", KRAFT, "log.dirs=/a log.dir=", ["log.dir"]),
        ("3.9", KRAFT, "process.roles=broker,broker", ["process.roles"]),
        ("3.9", KRAFT, "inter.broker.protocol.version=2.8", ["inter.broker.protocol.version"]),
        ("3.9", ZOOKEEPER, "controller.listener.names=CONTROLLER", ["controller.listener.names"]),
        ("3.9", ZOOKEEPER, "controller.listener.names=C zookeeper.metadata.migration.enable=true", []),
        ("2.8", ZOOKEEPER, "broker.id=3 node.id=5", []),
        ("2.8", ZOOKEEPER, "listeners=PLAINTEXT://0.0.0.0:1 advertised.host.name=h", []),
        ("2.4", ZOOKEEPER, "log.message.format.version=2.8", ["log.message.format.version"]),
    ],
)
def test_what_differs_from_release_to_release(line: str, mode: dict[str, str], added: str, name: list[str]) -> None:
    assert refused(mode, added, line) == name


def test_what_a_provider_gives_is_not_known() -> None:
    """Neither the value itself nor what depends on it."""
    for added in (
        "log.cleaner.threads=${f:x:y}", "listener.security.protocol.map=${f:x:y}", "advertised.listeners=${f:x:y}",
        "broker.id=${f:x:y}", "listeners=${f:x:y}",
    ):  # fmt: skip
        assert refused(KRAFT, added, "4.3") == []
    hidden = KRAFT | {"controller.listener.names": "${f:x:y}", "max.connections.per.ip": "x"}
    assert refused(hidden, "", "4.3") == ["max.connections.per.ip"]


def test_a_release_knows_its_own_protocols_and_older_ones() -> None:
    assert protocol("3.9", release("3.8")) == ((3, 9), 0)
    assert protocol("3.9", release("3.6")) is None
    assert protocol("x", release("3.6")) is None
