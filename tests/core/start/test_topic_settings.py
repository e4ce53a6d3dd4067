"""What the configuration of a topic says of its logs; tests/oracle/starts/test_tiered_settings.py asks brokers."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.segments import lost_head_of
from kcheck.core.start.topic_settings import (
    StatedSetting,
    being_deleted,
    expires,
    has_remote_storage,
    is_compacted,
    retention_ms,
    setting_of,
    stated_retention,
    with_log_start,
)
from kcheck.model.cluster import DELETES_TOPICS, RETENTION_BYTES, STATIC, ClusterImage, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState
from kcheck.model.remote_log import Retention
from tests.rules.build import epochs, partition

REMOTE, POLICY = "remote.storage.enable", "cleanup.policy"


@pytest.mark.parametrize(
    ("topic", "config", "remote", "compacted"),
    [
        ("t", {}, False, False),
        ("t", {REMOTE: "true"}, True, False),
        ("t", {REMOTE: "TRUE", POLICY: "delete"}, True, False),
        ("t", {REMOTE: "false"}, False, False),
        ("t", {REMOTE: "true", POLICY: "delete, compact"}, False, True),
        ("t", {POLICY: "compact"}, False, True),
        ("__consumer_offsets", {REMOTE: "true"}, False, True),
    ],
)
def test_a_topic(topic: str, config: dict[str, str], *, remote: bool, compacted: bool) -> None:
    image = ClusterImage({topic: TopicImage(topic, "T", {})}, configs={("topic", topic): config})
    assert (has_remote_storage(image, topic), is_compacted(image, topic)) == (remote, compacted)


@pytest.mark.parametrize(
    ("topic", "broker", "cluster", "settings", "expected"),
    [
        ({RETENTION_BYTES: "-1"}, {}, {}, None, (None, -1)),
        ({RETENTION_BYTES: "800", "retention.ms": "5"}, {"log.retention.ms": "7"}, {}, {}, (5, 800)),
        ({RETENTION_BYTES: "x"}, {}, {}, None, (None, None)),
        ({}, {}, {}, None, (None, None)),
        ({}, {}, {}, {}, (604_800_000, -1)),
        (
            {},
            {"log.retention.bytes": "9"},
            {"log.retention.bytes": "8"},
            {"log.retention.bytes": "7"},
            (604_800_000, 9),
        ),
        (
            {},
            {},
            {"log.retention.bytes": "8"},
            {"log.retention.hours": "1", "log.retention.minutes": "2"},
            (120_000, 8),
        ),
    ],
)
def test_retention_of_a_topic(
    topic: dict[str, str], broker: dict[str, str], cluster: dict[str, str], settings: dict[str, str] | None,
    expected: tuple[int | None, int | None],
) -> None:  # fmt: skip
    """What the topic says counts first, then the broker's dynamic settings, the cluster's, and server.properties.

    Without that file the retention may not be known.
    """
    configs = {("topic", "t"): topic, ("broker", "1"): broker, ("broker", ""): cluster}
    image = ClusterImage({"t": TopicImage("t", "T", {})}, configs=configs)
    assert stated_retention(image, "t", 1, settings)[:2] == expected
    assert stated_retention(image, "other", 1, settings) == Retention()
    assert stated_retention(None, "t", 1, settings) == Retention()


@pytest.mark.parametrize(
    ("topic", "settings", "expected"),
    [
        ({}, None, None),
        ({}, {}, -1),
        ({"retention.bytes": "9"}, {}, 9),
        ({"retention.bytes": "9", "local.retention.bytes": "-2"}, {"log.local.retention.bytes": "4"}, 9),
        ({"retention.bytes": "9"}, {"log.local.retention.bytes": "4"}, 4),
        ({"local.retention.bytes": "5"}, None, 5),
    ],
)
def test_local_retention_of_a_topic(
    topic: dict[str, str], settings: dict[str, str] | None, expected: int | None
) -> None:
    """-2, the default, is the retention of the log."""
    image = ClusterImage({"t": TopicImage("t", "T", {})}, configs={("topic", "t"): topic})
    assert stated_retention(image, "t", 1, settings).local_bytes == expected


def test_local_retention_by_time() -> None:
    """-2, the default, is the retention of the log."""
    own = ClusterImage({"t": TopicImage("t", "T", {})}, configs={("topic", "t"): {"retention.ms": "9"}})
    assert stated_retention(own, "t", 1, {}).local_ms == 9
    assert stated_retention(own, "t", 1, {"log.local.retention.ms": "4"}).local_ms == 4
    assert stated_retention(own, "t", 1, None).local_ms is None


@pytest.mark.parametrize(
    ("topic", "config", "expected"),
    [
        ("t", {}, True),
        ("t", {"retention.ms": "-1"}, False),
        ("t", {"retention.ms": "3000"}, True),
        ("t", {POLICY: "compact"}, False),
        ("t", {POLICY: "compact, delete"}, True),
        ("__consumer_offsets", {}, False),
    ],
)
def test_retention_by_time(topic: str, config: dict[str, str], *, expected: bool) -> None:
    image = ClusterImage({topic: TopicImage(topic, "T", {})}, configs={("topic", topic): config})
    assert expires(image, topic) == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, 7 * 86_400_000),
        ({"log.retention.ms": "-1", "log.retention.hours": "1"}, None),
        ({"log.retention.ms": " ", "log.retention.minutes": "-1"}, None),
        ({"log.retention.minutes": "5", "log.retention.hours": "-1"}, 300_000),
        ({"log.retention.hours": "2"}, 7_200_000),
        ({"log.retention.hours": "-1"}, None),
        ({"log.retention.ms": "x"}, 7 * 86_400_000),
        ({"log.cleanup.policy": "compact"}, None),
    ],
)
def test_retention_of_a_broker(settings: dict[str, str], *, expected: int | None) -> None:
    """It holds for topics without their own, and where no metadata are known."""
    own = ClusterImage(
        {"t": TopicImage("t", "T", {})}, configs={("topic", "t"): {"retention.ms": "9", POLICY: "delete"}}
    )
    assert retention_ms(None, "t", 1, settings) == retention_ms(ClusterImage({}), "t", 1, settings) == expected
    assert retention_ms(own, "t", 1, settings) == 9
    assert expires(own, "t")


@pytest.mark.parametrize(
    ("own", "broker", "cluster", "file", "compacted"),
    [
        ("delete", "compact", "compact", "compact", False),
        (None, "delete", "compact", "compact", False),
        (None, None, "compact,delete", "delete", True),
        (None, None, None, "delete, compact", True),
        (None, None, "gzip", "compact", True),
        (None, None, None, " ", False),
        ("", None, "compact", "compact", False),
    ],
)
def test_the_policy_of_a_topic_on_a_broker(
    own: str | None, broker: str | None, cluster: str | None, file: str | None, *, compacted: bool
) -> None:
    """A broker of 3.9.2 cleaned a topic by the policy of all brokers, which no file had."""
    of_brokers = "log.cleanup.policy"
    values = {("topic", "t"): own, ("broker", "1"): broker, ("broker", ""): cluster}
    image = ClusterImage(
        {"t": TopicImage("t", "T", {})},
        configs={
            key: {POLICY if key[0] == "topic" else of_brokers: value}
            for key, value in values.items()
            if value is not None
        },
    )
    settings = {} if file is None else {of_brokers: file}
    assert is_compacted(image, "t", 1, settings) == compacted
    assert is_compacted(image, "__consumer_offsets", 1, settings)


def test_settings_that_are_not_dynamic() -> None:
    """Controllers alone accept them in the metadata, and brokers pass over them."""
    image = ClusterImage({}, configs={("broker", ""): {"log.retention.hours": "1", "log.retention.ms": "x"}})
    assert retention_ms(image, "t", 1, {"log.retention.minutes": "2"}) == 120_000
    assert setting_of(image, "t", "retention.ms", 1, {"log.retention.minutes": "2"}) == StatedSetting(
        "log.retention.minutes", "2", 60_000, None
    )
    assert setting_of(image, "t", "retention.ms") is None


def test_a_topic_that_the_metadata_do_not_have() -> None:
    assert has_remote_storage(ClusterImage({}), "t") is None


@pytest.mark.parametrize(
    ("view", "remote_storage", "log_start"),
    [
        ({}, True, 5),
        ({}, False, 9),
        ({}, None, 9),
        ({"segments": ()}, True, 9),
        ({"state": DirectoryState.DELETED}, True, 9),
    ],
)
def test_the_log_start_of_a_replica(view: dict[str, Any], log_start: int, *, remote_storage: bool | None) -> None:
    """The checkpoint is below the first segment, and no epoch is: the files alone say that the log starts there."""
    plain = partition(clean=True, first_segment=9, log_start=5)._replace(log_start_offset=Offset(9))
    replica = with_log_start(plain._replace(**view), release("4.3"), remote_storage=remote_storage)
    assert replica.log_start_offset == log_start


def test_a_lost_log_start_of_a_topic_in_remote_storage() -> None:
    """Without an entry it is 0, whatever the first segment is, if the topic itself says so: nothing was removed."""
    plain = partition(clean=True, first_segment=9, epoch_file=epochs(b"0\n1\n0 0\n"))._replace(
        log_start_offset=Offset(9)
    )
    kafka = release("4.3")
    starts = {
        of_topic: with_log_start(plain, kafka, remote_storage=True, of_topic=of_topic) for of_topic in (True, False)
    }
    assert {of_topic: view.log_start_offset for of_topic, view in starts.items()} == {True: 0, False: 9}
    assert {of_topic: lost_head_of(view, kafka) for of_topic, view in starts.items()} == {True: None, False: (0, 9)}


@pytest.mark.parametrize(
    ("kafka", "settings", "is_on"),
    [
        ("3.9", {}, True),
        ("1.0", {}, True),
        ("0.11.0", {}, False),
        ("0.11.0", {DELETES_TOPICS: "TRUE"}, True),
        ("3.9", {DELETES_TOPICS: "false"}, False),
    ],
)
def test_topics_that_are_being_deleted(kafka: str, settings: dict[str, str], *, is_on: bool) -> None:
    """A controller with delete.topic.enable=false takes the marks away; that was the default before 1.0."""
    marked, plain = TopicImage("t", "T", {}, deleting=True), TopicImage("u", "U", {})
    image = ClusterImage({"t": marked, "u": plain}, {"T": marked, "U": plain}, configs={STATIC: settings})
    names = being_deleted(image, release(kafka))
    assert names == ({"t"} if is_on else set())
    assert being_deleted(image.without_topics({"t"}), release(kafka)) == being_deleted(None, release(kafka)) == set()
    assert image.without_topics(()) is image
    assert image.without_topics({"t"}) == image._replace(topics={"u": plain}, topics_by_id={"U": plain})
