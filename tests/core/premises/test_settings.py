"""Which settings and configurations of topics each release refuses; tests/oracle/starts/test_limits.py asks Kafka."""

from itertools import pairwise

import pytest

from kcheck.core.premises.limits import (
    BROKER,
    TOPIC,
    SettingRule,
    refusal,
    refused_settings,
    refused_values,
    setting_rules,
)
from kcheck.core.premises.settings import refused_start
from kcheck.core.premises.table import judged
from kcheck.core.releases.releases import release
from kcheck.model.cluster import LIMITED_CONFIGS, ClusterImage, TopicImage
from kcheck.model.premises import PremiseStatus
from tests.core.premises.test_premises import KRAFT, facts, log_dir, refuted, rows


@pytest.mark.parametrize(
    ("setting", "value", "last", "first"),
    [
        ("log.segment.bytes", "16000", "3.9", "4.0"),
        ("log.segment.bytes", "13", None, "2.8"),
        ("metadata.log.segment.bytes", " 100000 ", "4.0", "4.1"),
        ("num.replica.fetchers", "0", "4.1", "4.2"),
        ("leader.imbalance.check.interval.seconds", "0", "3.1", "3.2"),
        ("log.cleaner.max.compaction.lag.ms", "0", "3.2", "3.3"),
        ("log.dirs", "/a,", "4.1", "4.2"),
        ("listeners", "PLAINTEXT://:9092,,SSL://:1", "4.1", "4.2"),
    ],
)
def test_newer_releases_refuse_more(setting: str, value: str, last: str | None, first: str) -> None:
    """The last release that accepts a value, and the first that does not."""
    refusals = list(refused_settings({setting: value}, release(first)))
    assert [refusal.name for refusal in refusals] == [setting]
    assert last is None or list(refused_settings({setting: value}, release(last))) == []


@pytest.mark.parametrize(
    ("setting", "value", "why"),
    [
        ("log.roll.ms", "0", "refuses less than 1"),
        ("compression.type", "gz", "accepts uncompressed, zstd, lz4, snappy, gzip or producer"),
        ("log.retention.hours", "0", "refuses 0"),
        ("replica.lag.time.max.ms", "-1", "refuses less than replica.fetch.wait.max.ms, 500"),
        ("listeners", "PLAINTEXT//x", "accepts NAME://HOST:PORT"),
        ("advertised.listeners", "PLAINTEXT://", "accepts NAME://HOST:PORT"),
        ("replica.fetch.wait.max.ms", "30001", "refuses more than replica.socket.timeout.ms, 30000"),
        (
            "connections.max.idle.ms",
            "100",
            "refuses less than connection.failed.authentication.delay.ms or as much, 100",
        ),
        (
            "connection.failed.authentication.delay.ms",
            "600000",
            "refuses more than connections.max.idle.ms or as much, 600000",
        ),
        ("log.cleaner.threads", "0", "refuses 0"),
        ("log.cleaner.dedupe.buffer.size", "1048576", "needs more than 1048576 for each thread of log.cleaner.threads"),
        ("queued.max.request.bytes", "1", "refuses less than socket.request.max.bytes, 104857600"),
        ("offsets.topic.compression.codec", "5", "accepts 0 to 4"),
        ("max.connections.per.ip", "0", "refuses 0 without max.connections.per.ip.overrides"),
        ("max.connections.per.ip.overrides", "a", "accepts HOST:NUMBER"),
        ("group.coordinator.rebalance.protocols", "consumer", "needs classic"),
        ("principal.builder.class", "x,y", "accepts the name of a class"),
        ("remote.log.storage.system.enable", "true", "needs remote.log.storage.manager.class.name"),
        (
            "listener.security.protocol.map",
            "A:PLAIN",
            "accepts NAME:PROTOCOL, with PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL",
        ),
        ("controller.quorum.bootstrap.servers", "1@a:1", "accepts HOST:PORT"),
        ("advertised.listeners", "PLAINTEXT://0.0.0.0:1", "does not advertise 0.0.0.0"),
        ("inter.broker.listener.name", "X", "must be in listener.security.protocol.map"),
        ("security.inter.broker.protocol", "SSL", "must be among the advertised listeners"),
        ("early.start.listeners", "C", "needs them in listeners or controller.listener.names"),
        ("listeners", "PLAINTEXT://:1,PLAINTEXT://:2", "refuses a name twice"),
        ("listeners", "PLAINTEXT://:1,SSL://:1", "refuses a port twice"),
    ],
)
def test_what_the_start_checks_beyond_the_setting_itself(setting: str, value: str, why: str) -> None:
    """Brokers of 4.3.1 ended with each of these values."""
    refused = next(refused_settings({setting: value}, release("4.3")))
    assert (refused.name, refused.why) == (setting, why)
    assert refused.value in value


COMBINED = {
    "process.roles": "broker,controller", "node.id": "1", "listeners": "PLAINTEXT://h:1,C://h:2",
    "controller.listener.names": "C", "controller.quorum.voters": "1@h:2", "log.dirs": "/a",
}  # fmt: skip
BROKER_ALONE = COMBINED | {
    "process.roles": "broker", "listeners": "PLAINTEXT://h:1", "controller.quorum.voters": "2@h:2",
}  # fmt: skip
CONTROLLER_ALONE = COMBINED | {"process.roles": "controller", "listeners": "C://h:2"}
WITH_ZOOKEEPER = {"broker.id": "1", "zookeeper.connect": "h:1", "listeners": "PLAINTEXT://h:1"}


@pytest.mark.parametrize(
    ("kafka", "base", "change", "refused"),
    [
        ("4.3", COMBINED, {}, ""),
        ("4.3", CONTROLLER_ALONE, {"inter.broker.listener.name": "SSL"}, ""),
        ("4.3", COMBINED, {"controller.listener.names": "SSL"}, "listeners controller.listener.names"),
        ("4.3", COMBINED, {"controller.listener.names": None}, "listeners controller.listener.names"),
        ("4.3", COMBINED, {"controller.quorum.voters": "1@h"}, "controller.quorum.voters"),
        ("4.3", COMBINED, {"controller.quorum.voters": "2@h:2"}, "controller.quorum.voters"),
        ("4.3", COMBINED, {"controller.quorum.voters": None}, "controller.quorum.voters"),
        ("4.3", COMBINED, {"broker.id": "2"}, "broker.id"),
        ("4.3", COMBINED, {"cordoned.log.dirs": "/a,/b"}, "cordoned.log.dirs"),
        ("4.3", COMBINED, {"early.start.listeners": "C"}, ""),
        ("4.3", COMBINED, {"inter.broker.listener.name": "PLAINTEXT", "security.inter.broker.protocol": "SSL"},
         "inter.broker.listener.name"),
        ("4.3", COMBINED, {"advertised.listeners": "PLAINTEXT://h:1,SSL://h:3"}, "advertised.listeners"),
        ("4.3", COMBINED, {"listener.security.protocol.map": "PLAINTEXT:SSL"}, "listeners"),
        ("4.3", COMBINED, {"listeners": "PLAINTEXT://[::1]:1,C://1.2.3.4:1"}, ""),
        ("4.3", BROKER_ALONE, {}, ""),
        ("4.3", BROKER_ALONE, {"listeners": "PLAINTEXT://h:1,C://h:2"}, "listeners"),
        ("4.3", BROKER_ALONE, {"controller.listener.names": "SSL,D"}, "controller.listener.names"),
        ("4.3", BROKER_ALONE, {"controller.quorum.auto.join.enable": "true"}, "controller.quorum.auto.join.enable"),
        ("4.3", CONTROLLER_ALONE, {}, ""),
        ("4.3", CONTROLLER_ALONE, {"listeners": "C://h:2,D://h:3"}, "listeners listeners"),
        ("4.3", CONTROLLER_ALONE, {"inter.broker.listener.name": "C"}, "inter.broker.listener.name"),
        ("4.0", BROKER_ALONE, {"advertised.listeners": ""}, "advertised.listeners"),
        ("4.0", BROKER_ALONE, {"log.dirs": ""}, "log.dirs"),
        ("4.0", BROKER_ALONE, {"share.coordinator.snapshot.update.records.per.snapshot": "501"},
         "share.coordinator.snapshot.update.records.per.snapshot"),
        ("3.9", BROKER_ALONE, {"inter.broker.protocol.version": "2.8"}, "inter.broker.protocol.version"),
        ("3.9", BROKER_ALONE, {"controller.quorum.bootstrap.servers": "1@a:1"}, ""),
        ("3.9", BROKER_ALONE, {"remote.log.manager.copier.thread.pool.size": "0"},
         "remote.log.manager.copier.thread.pool.size"),
        ("3.9", WITH_ZOOKEEPER, {}, ""),
        ("3.9", WITH_ZOOKEEPER, {"controller.listener.names": "C"}, "controller.listener.names"),
        ("3.9", WITH_ZOOKEEPER, {"zookeeper.connect": None}, "zookeeper.connect"),
        ("3.9", WITH_ZOOKEEPER, {"control.plane.listener.name": "PLAINTEXT"}, "control.plane.listener.name"),
        ("3.9", WITH_ZOOKEEPER, {"offsets.commit.required.acks": "4"}, "offsets.commit.required.acks"),
        ("3.9", WITH_ZOOKEEPER, {"broker.id": "1001"}, "broker.id"),
        ("3.9", WITH_ZOOKEEPER, {"broker.id": "1001", "broker.id.generation.enable": "false"}, ""),
        ("3.9", WITH_ZOOKEEPER, {"broker.id": "-1", "broker.id.generation.enable": "false"}, "broker.id"),
        ("3.9", WITH_ZOOKEEPER, {"inter.broker.protocol.version": "4.0-IV1"}, ""),
        ("3.9", WITH_ZOOKEEPER, {"inter.broker.protocol.version": "${env:V}"}, ""),
        ("2.8", WITH_ZOOKEEPER, {"inter.broker.protocol.version": "3.0"}, "inter.broker.protocol.version"),
        ("2.8", WITH_ZOOKEEPER, {"inter.broker.protocol.version": "x"}, "inter.broker.protocol.version"),
        ("2.8", WITH_ZOOKEEPER, {"inter.broker.protocol.version": "0.10.2"}, "inter.broker.protocol.version"),
        ("2.8", WITH_ZOOKEEPER, {"advertised.host.name": "a b"}, "advertised.host.name"),
        ("2.8", WITH_ZOOKEEPER, {"host.name": "a b"}, ""),
        ("2.0", WITH_ZOOKEEPER, {"offsets.topic.compression.codec": "4"}, "offsets.topic.compression.codec"),
    ],
)  # fmt: skip
def test_settings_that_contradict_others(
    kafka: str, base: dict[str, str], change: dict[str, str | None], refused: str
) -> None:
    """What KafkaConfig of the release refuses of the settings of a whole node."""
    settings = {name: value for name, value in {**base, **change}.items() if value is not None}
    assert " ".join(row.name for row in refused_settings(settings, release(kafka))) == refused


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("log.segment.bytes", "1048576"), ("log.segment.bytes", "${file:x:y}"), ("cleanup.policy", ""),
        ("log.dirs", "/a , /b"), ("authorizer.class.name", "org.example.Authorizer"), ("log.retention.hours", "-1"),
        ("log.roll.ms", "1"), ("listeners", "PLAINTEXT://:9092,${env:X}, SSL://[::1]:1"),
        ("replica.fetch.wait.max.ms", "30000"), ("replica.lag.time.max.ms", "500"),
        ("connections.max.idle.ms", "-1"), ("log.cleaner.dedupe.buffer.size", "1048577"), ("listeners", "SSL://:1,PLAINTEXT://:2"),
        ("group.consumer.session.timeout.ms", "${env:X}"), ("max.connections.per.ip.overrides", "a:1, b:2,"),
        ("log.cleaner.threads", "127"), ("queued.max.request.bytes", "0"), ("broker.id", "5000"),
    ],
)  # fmt: skip
def test_accepted_settings(setting: str, value: str) -> None:
    """Values at the limit, values that are not known, and an empty value as a whole."""
    assert list(refused_settings({setting: value}, release("4.3"))) == []


def test_the_metadata_keep_what_has_a_limit() -> None:
    """A controller has seen to the limits of its own release: those count that a later one has raised."""
    rules = [setting_rules(TOPIC, release(name)) for name in ("3.2", "3.3", "4.0", "4.1", "4.3")]
    changed = {
        name for older, newer in pairwise(rules) for name, rule in older.items() if newer.get(name, rule) != rule
    }
    assert changed == LIMITED_CONFIGS
    low = dict.fromkeys(sorted(LIMITED_CONFIGS), "0")
    refused = {
        name: [row.name for row in refused_values(low, setting_rules(TOPIC, release(name)))] for name in ("3.2", "4.0")
    }
    assert refused == {"3.2": ["segment.bytes"], "4.0": ["flush.messages", "segment.bytes", "segment.index.bytes"]}


@pytest.mark.parametrize(
    ("setting", "refused"),
    [
        ("int 0..9|-1", {"0": None, "-1": None, "+9": None, "-2": "refuses less than 0", "10": "refuses more than 9",
         "": "accepts an integer (type int)", "2147483648": "accepts an integer (type int)"}),
        ("long -", {"-9": None, "2147483648": None, "1.5": "accepts an integer (type long)"}),
        ("short 1..", {"1": None, "0": "refuses less than 1", "32768": "accepts an integer (type short)"}),
        ("double 0..0.5", {"0.5": None, "0d": None, "0x1p0": None, "x": "accepts a number",
         "1.5": "refuses more than 0.5", "-.1": "refuses less than 0"}),
        ("boolean -", {"TRUE": None, "false": None, "yes": "accepts true or false"}),
        ("string a|b", {"a": None, "A": "accepts a or b", "": "accepts a or b"}),
        ("string %A|B|C", {"a": None, "d": "accepts A, B or C"}),
        ("string !", {"x": None, "": "refuses an empty value"}),
        ("list a|b", {"a, b": None, "": None, "a,c": "accepts a or b"}),
        ("list !a|b", {"a": None, "": "refuses an empty value"}),
        ("list ,", {"a": None, "": None, "a,": "refuses an empty entry"}),
        ("list !,", {"": "refuses an empty value"}),
        ("class -", {"org.example.X$Y": None, "": "accepts the name of a class"}),
    ],
)  # fmt: skip
def test_what_a_type_accepts(setting: str, refused: dict[str, str | None]) -> None:
    """Numbers and words at their limits and beyond."""
    rule = SettingRule("x", *setting.split(" "))
    assert {value: refusal(rule, value) for value in refused} == refused


def test_settings_of_releases_before_the_table() -> None:
    """Nothing is known of them, nor of a setting that no release has."""
    assert setting_rules(BROKER, release("0.10.1")) == {}
    assert list(refused_settings({"my.own": "x", "num.io.threads": "0"}, release("4.3"))) != []
    assert list(refused_settings({"my.own": "x"}, release("4.3"))) == []


def test_a_setting_ends_the_process() -> None:
    """The sentence has the value and the limit."""
    given = facts(config={**KRAFT, "log.segment.bytes": "16000"})
    assert refuted(given) == {"P502": "log.segment.bytes=16000: Kafka 4.3 refuses less than 1048576"}
    assert {"P502", "P503"} <= rows(facts(), PremiseStatus.PROVEN).keys()
    assert "P502" not in rows(facts(config=None), PremiseStatus.PROVEN)


def test_classes_of_others_are_not_seen() -> None:
    """No file shows whether the broker can load them; a refused setting is refuted all the same."""
    classes = {"authorizer.class.name": "org.example.A", "metric.reporters": "x.Y, org.apache.kafka.common.metrics.Jmx"}
    (row,) = (row for row in judged(facts(config=KRAFT | classes)) if row.id == "P504")
    assert row.status is PremiseStatus.NOT_SEEN
    assert [each.says for each in row.evidence] == ["authorizer.class.name=org.example.A", "metric.reporters=x.Y"]
    assert refuted(facts(config=KRAFT | classes | {"num.io.threads": "0"})) != {}


def test_values_of_a_provider_are_not_seen() -> None:
    """A broker of 4.3.1 ended where the provider had no value. Many secrets are in providers, so these are a note."""
    (row,) = (row for row in judged(facts(config=KRAFT | {"log.retention.ms": "${env:MS}"})) if row.id == "P504")
    assert (row.status, row.provide) == (PremiseStatus.NOT_SEEN, None)
    assert row.sentence == "log.retention.ms=${env:MS} is the value of a provider, and not known"


def test_a_line_that_no_broker_reads() -> None:
    r"""A path of Windows, as in log.dirs=C:\users, ends the process."""
    sentence = "server.properties: line 3 has a Unicode escape without four hexadecimal digits"
    assert {"P502": sentence} == refuted(facts(refused_line=3))


def test_a_log_dir_by_two_paths() -> None:
    """A 4.0.2 ended: Duplicate log directory found. By one path 4.2 and later take it once."""
    assert refuted(facts(doubled=("d1/",))) == {
        "P502": "log.dirs: d1/ is the log dir of an earlier entry; Kafka 4.3 refuses that"
    }
    of_metadata = facts(doubled=("d1/",), config=KRAFT | {"metadata.log.dir": "d1/"})
    assert refuted(of_metadata)["P502"].startswith("metadata.log.dir: d1/ is the log dir of an earlier entry; ")
    twice = {"log.dirs": "d1,d1"}
    assert [[row.why for row in refused_settings(twice, release(line))] for line in ("4.1", "4.2")] == [
        ["refuses an entry twice"], []
    ]  # fmt: skip


def image(**sizes: str) -> ClusterImage:
    """Return a cluster with topics of these segment.bytes, and one that is deleted."""
    configs = {("topic", name): {"segment.bytes": size} for name, size in sizes.items()}
    more = {("topic", "deleted"): {"segment.bytes": "1"}, ("broker", "1"): {"segment.bytes": "1"}}
    return ClusterImage({name: TopicImage(name, "T", {}) for name in sizes}, configs=configs | more)


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"orders": "16000", "big": "1048576"}, "orders has segment.bytes=16000"),
        ({"orders": "16000", "clicks": "16000"}, "orders and 1 more topic have segment.bytes=16000"),
        (
            {"orders": "16000", "clicks": "14", "a": "20"},
            "orders and 2 more topics have a segment.bytes that is refused, orders 16000",
        ),
    ],
)
def test_topics_end_the_process(sizes: dict[str, str], words: str) -> None:
    """The first topic is named and the others are counted, with what to do before the new release starts."""
    assert refuted(facts(log_dir(directories=()), image=image(**sizes))) == {
        "P503": f"{words}; Kafka 4.3 refuses less than 1048576. Raise the configuration of the topics while the old"
        " release still runs (kafka-configs.sh --alter --entity-type topics)"
    }


def test_who_has_no_log_manager() -> None:
    """A controller alone reads no configuration of a topic; without metadata nothing is known."""
    controller = {**KRAFT, "process.roles": "controller"}
    for given in (facts(config=controller, image=image(orders="1")), facts(image=None)):
        assert not {"P503"} & {*refuted(given), *rows(given, PremiseStatus.PROVEN)}


FORMATTED = "d1 was formatted for KRaft, but process.roles is missing"


@pytest.mark.parametrize(
    ("line", "identity", "settings", "sentence"),
    [
        ("3.9", "1", {"broker.id": "1"}, f"{FORMATTED}: the broker refuses it"),
        ("3.6", "1", {"broker.id": "1"}, f"{FORMATTED}: the broker would join ZooKeeper"),
        ("3.6", "1", {"broker.id": "1", "zookeeper.metadata.migration.enable": "true"}, None),
        ("3.3", "0", KRAFT, "d1 is a ZooKeeper broker's, but process.roles is set: Kafka 3.3 refuses it"),
        ("3.4", "0", KRAFT, None),
    ],
)
def test_settings_of_the_mode_that_the_disks_are_not_of(
    line: str, identity: str, settings: dict[str, str], sentence: str | None
) -> None:
    """MetaPropertiesEnsemble.verify 3.7 to 3.9, MetaProperties.parse up to 3.3."""
    disk = log_dir(identity={"version": identity, "node.id": "1", "broker.id": "1"})
    given = facts(disk, config=settings, release=release(line))
    assert refuted(given).get("P501") == sentence


def test_settings_with_which_no_node_starts() -> None:
    """The process of another node ends, as one with a refused value."""
    of = release("3.9")
    assert refused_start(1, {"node.id": "2"}, of) == "node.id=2, but meta.properties node.id=1"
    refused = refused_start(1, {"node.id": "1", "num.io.threads": "0"}, of)
    assert refused == "num.io.threads=0: refuses less than 1"
    assert refused_start(1, {"num.io.threads": "1", "zookeeper.connect": "a:1"}, of) is None
