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
        ("authorizer.class.name", "kafka.security.authorizer.AclAuthorizer", "3.9", "4.0"),
        ("authorizer.class.name", "kafka.security.auth.SimpleAclAuthorizer", "2.8", "3.0"),
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
    ],
)
def test_what_the_start_checks_beyond_the_setting_itself(setting: str, value: str, why: str) -> None:
    """Brokers of 4.3.1 ended with each of these values."""
    (refused,) = refused_settings({setting: value}, release("4.3"))
    assert (refused.name, refused.value, refused.why) == (setting, value, why)


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("log.segment.bytes", "1048576"), ("log.segment.bytes", "${file:x:y}"),
        ("log.dirs", "/a , /b"), ("authorizer.class.name", "org.example.Authorizer"), ("log.retention.hours", "-1"),
        ("log.roll.ms", "1"), ("listeners", "PLAINTEXT://:9092,${env:X}, SSL://[::1]:1"),
        ("replica.fetch.wait.max.ms", "30000"), ("replica.lag.time.max.ms", "500"),
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
         "": "accepts a whole number (type int)", "2147483648": "accepts a whole number (type int)"}),
        ("long -", {"-9": None, "2147483648": None, "1.5": "accepts a whole number (type long)"}),
        ("short 1..", {"1": None, "0": "refuses less than 1", "32768": "accepts a whole number (type short)"}),
        ("double 0..0.5", {"0.5": None, "0d": None, "0x1p0": None, "x": "accepts a number",
         "1.5": "refuses more than 0.5", "-.1": "refuses less than 0"}),
        ("boolean -", {"TRUE": None, "false": None, "yes": "accepts true or false"}),
        ("string a|b", {"a": None, "A": "accepts a or b", "": "accepts a or b"}),
        ("string %A|B|C", {"a": None, "d": "accepts A, B or C"}),
        ("string !", {"x": None, "": "refuses an empty value"}),
        ("list a|b", {"a, b": None, "": None, "a,c": "accepts a or b"}),
        ("class -", {"org.example.X": None}),
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


def test_a_log_dir_by_two_paths() -> None:
    """A 4.0.2 ended: Duplicate log directory found. By one path 4.2 and later take it once."""
    assert refuted(facts(doubled=("d1/",))) == {
        "P502": "log.dirs: d1/ is the log dir of an earlier entry; Kafka 4.3 refuses that"
    }
    twice = {"log.dirs": "d1,d1"}
    assert [[row.why for row in refused_settings(twice, release(line))] for line in ("4.1", "4.2")] == [
        ["refuses a log dir twice"], []
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
        "P503": f"{words}; Kafka 4.3 refuses less than 1048576: raise the configuration of the topics while the old"
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
