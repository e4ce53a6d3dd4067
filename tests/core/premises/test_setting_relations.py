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
VOTERS = "controller.quorum.voters"
COMBINED = "process.roles=broker,controller controller.quorum.voters=1@h:9 listeners=PLAINTEXT://h:1,CONTROLLER://h:9"
MAPS = "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,C2:PLAINTEXT"
SASL = (
    "listeners=S://h:1 inter.broker.listener.name=S "
    "listener.security.protocol.map=S:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
)
MIGRATE = "zookeeper.metadata.migration.enable"
MIGRATION = (
    "zookeeper.metadata.migration.enable=true controller.listener.names=C "
    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,C:PLAINTEXT"
)

CASES: tuple[tuple[tuple[dict[str, str], ...], str, bool], ...] = (
    (BOTH, "", False),
    (BOTH, "log.cleaner.threads=0", True),
    (BOTH, "log.cleaner.threads=127", False), (BOTH, "log.cleaner.threads=128", True),
    (BOTH, "log.cleaner.dedupe.buffer.size=1 log.cleaner.enable=false", True),
    (BOTH, "log.cleaner.dedupe.buffer.size=1048577", False),
    (BOTH, "replica.fetch.wait.max.ms=900 replica.socket.timeout.ms=800", True),
    (BOTH, "replica.socket.timeout.ms=499", True),
    (BOTH, "log.dirs=,", True), (BOTH, "log.dir=", True), (BOTH, "log.dirs=/a log.dir=", False),
    (BOTH, "offsets.topic.compression.codec=5", True),
    (BOTH, "offsets.topic.compression.codec=4", False),
    (BOTH, "max.connections.per.ip=0", True),
    (BOTH, "max.connections.per.ip=0 max.connections.per.ip.overrides=127.0.0.1:9", False),
    (BOTH, "max.connections.per.ip.overrides=127.0.0.1", True),
    (BOTH, "listeners=PLAINTEXT://a:1,PLAINTEXT://b:2", True),
    (BOTH, "listeners=FOO://a:1", True), (BOTH, "listeners=PLAINTEXT://0.0.0.0:1", True),
    (BOTH, "listeners=PLAINTEXT://0.0.0.0:1 advertised.listeners=PLAINTEXT://h:1", False),
    (BOTH, "advertised.listeners=PLAINTEXT://0.0.0.0:1", True),
    (BOTH, "advertised.listeners=SSL://h:1", True),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=internal {MAPPED}", False),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=CONTROLLER {MAPPED}", True),
    (BOTH, f"listeners={TWO} inter.broker.listener.name=X {MAPPED}", True),
    (BOTH, f"listeners={TWO} {MAPPED}", True),
    (BOTH, f"listeners={TWO} advertised.listeners=EXTERNAL://h:2 inter.broker.listener.name=INTERNAL {MAPPED}", True),
    (BOTH, f"listeners=INTERNAL://h:1,EXTERNAL://h:1 inter.broker.listener.name=INTERNAL {MAPPED}", True),
    ((ZOOKEEPER,), "listeners=PLAINTEXT://127.0.0.1:1,SSL://[::1]:1", False),
    ((ZOOKEEPER,), "listeners=PLAINTEXT://127.0.0.1:1,SSL://[::1]:1,SASL_SSL://h:1", True),
    ((ZOOKEEPER,), "listeners=PLAINTEXT://[::2]:1,SSL://[::1]:1", True),
    ((ZOOKEEPER,), "listeners=PLAINTEXT://h:1,SSL://[::1]:1", True),
    ((ZOOKEEPER,), "listeners=PLAINTEXT://h:0,SSL://h:0", False),
    (BOTH, "listener.security.protocol.map=PLAINTEXT:Plaintext,SSL:ssl,CONTROLLER:sasl_ssl", False),
    (BOTH, "inter.broker.listener.name=PLAINTEXT security.inter.broker.protocol=PLAINTEXT", True),
    (BOTH, "security.inter.broker.protocol=SSL", True),
    (BOTH, "security.inter.broker.protocol=FOO", True),
    (BOTH, "listener.security.protocol.map=PLAINTEXT:FOO,CONTROLLER:SSL", True),
    (BOTH, "broker.id=1 node.id=1", False),
    ((ZOOKEEPER,), "broker.id=1001", True), ((ZOOKEEPER,), "broker.id=-2", True),
    ((ZOOKEEPER,), "broker.id=1001 broker.id.generation.enable=false", False),
    ((ZOOKEEPER,), "broker.id=-1 broker.id.generation.enable=false", True),
    ((ZOOKEEPER,), "offsets.commit.required.acks=-2", True),
    ((ZOOKEEPER,), "offsets.commit.required.acks=4", True),
    ((ZOOKEEPER,), "control.plane.listener.name=X", True),
    ((ZOOKEEPER,), "inter.broker.protocol.version=9.9", True),
    ((ZOOKEEPER,), "inter.broker.protocol.version=2.3-IV9", True),
    ((ZOOKEEPER,), "inter.broker.protocol.version=2.0.1", False),
    ((ZOOKEEPER,), "log.message.format.version=4.0", True),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.10.2", True),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.10.2 log.message.format.version=0.10.0", False),
    ((ZOOKEEPER,), "inter.broker.protocol.version=0.9.0 log.message.format.version=0.10.0", True),
    ((KRAFT,), "broker.id=2", True),
    ((KRAFT,), "controller.quorum.voters=2@x", True),
    ((KRAFT,), "controller.quorum.voters=", True),
    ((KRAFT,), "controller.quorum.voters= controller.quorum.bootstrap.servers=h:9", False),
    ((KRAFT,), "controller.listener.names=", True),
    ((KRAFT,), "controller.listener.names=X", True),
    ((KRAFT,), "controller.listener.names=PLAINTEXT", True),
    ((KRAFT,), "early.start.listeners=FOO", True),
    ((KRAFT,), "early.start.listeners=CONTROLLER", True),
    ((KRAFT,), "early.start.listeners=PLAINTEXT", False),
    ((KRAFT,), CONTROLLER, False),
    ((KRAFT,), f"{CONTROLLER} listeners=PLAINTEXT://h:9", True),
    ((KRAFT,), f"{CONTROLLER} listeners=CONTROLLER://h:9,PLAINTEXT://h:8", True),
    ((KRAFT,), f"{CONTROLLER} advertised.listeners=CONTROLLER://h:9", False),
    ((KRAFT,), f"{CONTROLLER} advertised.listeners=CONTROLLER://0.0.0.0:9", True),
    ((KRAFT,), f"{COMBINED} advertised.listeners=PLAINTEXT://h:1,CONTROLLER://h:9", False),
    ((KRAFT,), f"{COMBINED} advertised.listeners=PLAINTEXT://h:1,CONTROLLER://0.0.0.0:9", True),
    ((KRAFT,), f"{CONTROLLER} controller.listener.names=CONTROLLER,C2 {MAPS}", True),
    ((KRAFT,), f"{CONTROLLER} controller.listener.names=C2,CONTROLLER advertised.listeners=C2://h:8 {MAPS}", True),
    ((KRAFT,), f"{CONTROLLER},C2://h:8 controller.listener.names=C2,CONTROLLER {MAPS}", False),
    ((KRAFT,), f"{COMBINED} controller.listener.names=CONTROLLER,C2 {MAPS}", True),
    ((KRAFT,), f"controller.listener.names=CONTROLLER,C2 {MAPS}", False),
    ((KRAFT,), "controller.quorum.voters=2@h:65535", False), ((KRAFT,), "controller.quorum.voters=2@h:65536", True),
    ((KRAFT,), "controller.quorum.bootstrap.servers=h:65536", True),
    (BOTH, SASL, False),
    (BOTH, f"{SASL} sasl.mechanism.inter.broker.protocol=PLAIN", True),
    (BOTH, f"{SASL} sasl.enabled.mechanisms=PLAIN", True),
    (BOTH, f"{SASL} sasl.enabled.mechanisms=GSSAPI,PLAIN sasl.mechanism.inter.broker.protocol=PLAIN", False),
    (BOTH, f"{SASL} sasl.enabled.mechanisms=PLAIN listener.name.s.sasl.enabled.mechanisms=GSSAPI", False),
    (BOTH, f"{SASL} listener.name.s.sasl.enabled.mechanisms=PLAIN", True),
    ((KRAFT,), "group.coordinator.rebalance.protocols=classic,consumer", False),
    ((ZOOKEEPER,), "group.coordinator.rebalance.protocols=classic,consumer", True),
    ((KRAFT,), "zookeeper.metadata.migration.enable=true", True),
    ((KRAFT,), "zookeeper.metadata.migration.enable=true zookeeper.connect=x:1", False),
    ((ZOOKEEPER,), "zookeeper.metadata.migration.enable=true", True),
    ((ZOOKEEPER,), f"zookeeper.metadata.migration.enable=true {VOTERS}=1@h:9", True),
    ((ZOOKEEPER,), "zookeeper.metadata.migration.enable=true controller.listener.names=C", True),
    ((ZOOKEEPER,), f"{MIGRATION} {VOTERS}=1@h:9", False),
    ((ZOOKEEPER,), f"{MIGRATION} controller.quorum.bootstrap.servers=h:9", False),
    ((KRAFT,), "group.coordinator.rebalance.protocols=consumer", True),
    ((KRAFT,), "group.consumer.session.timeout.ms=1", True),
    ((KRAFT,), "group.consumer.max.heartbeat.interval.ms=5001", False),
)  # fmt: skip
"""Settings that are added to those of a mode, separated by a blank, and whether they are refused."""


def settings(mode: dict[str, str], added: str) -> dict[str, str]:
    """Return the settings of a case."""
    pairs = (pair.partition("=") for pair in added.split())
    return mode | {name: value for name, _, value in pairs}


def refused(mode: dict[str, str], added: str, line: str) -> list[str]:
    """Return the names of the refused settings."""
    return [one.name for one in refused_settings(settings(mode, added), release(line))]


@pytest.mark.parametrize(("modes", "added", "refuses"), CASES, ids=lambda case: case if isinstance(case, str) else None)
def test_what_a_start_refuses(modes: tuple[dict[str, str], ...], added: str, *, refuses: bool) -> None:
    """In 3.9, which has both modes."""
    for mode in modes:
        assert bool(refused(mode, added, "3.9")) == refuses


@pytest.mark.parametrize(
    ("line", "mode", "added", "name"),
    [
        ("4.3", KRAFT, "log.dirs=/a cordoned.log.dirs=/b", ["cordoned.log.dirs"]),
        ("4.3", KRAFT, "log.dirs=/a cordoned.log.dirs=*", []),
        ("4.3", KRAFT, "process.roles=broker,broker", []),
        ("3.9", KRAFT, "process.roles=broker,broker", ["process.roles"]),
        ("3.9", KRAFT, "inter.broker.protocol.version=2.8", ["inter.broker.protocol.version"]),
        ("3.9", ZOOKEEPER, "controller.listener.names=CONTROLLER", ["controller.listener.names"]),
        ("3.9", ZOOKEEPER, f"{MIGRATION} {VOTERS}=1@h:9", []),
        ("3.8", ZOOKEEPER, f"{MIGRATION} controller.quorum.bootstrap.servers=h:9", [MIGRATE]),
        ("3.3", ZOOKEEPER, "zookeeper.metadata.migration.enable=true", []),
        ("3.8", KRAFT, f"{CONTROLLER} advertised.listeners=CONTROLLER://h:9", ["advertised.listeners"]),
        ("3.8", KRAFT, f"{COMBINED} advertised.listeners=PLAINTEXT://h:1", []),
        ("3.8", KRAFT, f"{COMBINED} advertised.listeners=PLAINTEXT://h:1,CONTROLLER://h:9", ["advertised.listeners"]),
        (
            "3.8",
            KRAFT,
            "controller.quorum.voters= controller.quorum.bootstrap.servers=h:9",
            ["controller.quorum.voters"],
        ),
        ("3.5", ZOOKEEPER, "listeners=PLAINTEXT://127.0.0.1:1,SSL://[::1]:1", ["listeners"]),
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
    assert protocol("3.9-IV0", release("3.8")) == ((3, 9), 0)
    assert protocol("3.9", release("3.8")) is None
    assert protocol("4.0-IV3", release("3.9")) is None
    assert protocol("3.9-IV0", release("3.6")) is None
    assert protocol("x", release("3.6")) is None
