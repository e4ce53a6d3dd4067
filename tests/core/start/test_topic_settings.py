"""What the configuration of a topic says of its logs; tests/oracle/starts/test_tiered_settings.py asks brokers."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.topic_settings import (
    expires,
    has_remote_storage,
    is_compacted,
    retention_ms,
    stated_limit,
    with_log_start,
)
from kcheck.model.cluster import RETENTION_BYTES, ClusterImage, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState
from tests.rules.build import partition

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


@pytest.mark.parametrize(("value", "limit"), [("-1", -1), ("800", 800), ("x", None), (None, None)])
def test_a_limit(value: str | None, limit: int | None) -> None:
    """Without a value in the metadata the limit is not known: server.properties may have one."""
    config = {} if value is None else {RETENTION_BYTES: value}
    assert stated_limit(ClusterImage({}, configs={("topic", "t"): config}), "t", RETENTION_BYTES) == limit
    assert stated_limit(None, "t", RETENTION_BYTES) is None


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
    assert retention_ms(None, "t", settings) == retention_ms(ClusterImage({}), "t", settings) == expected
    assert retention_ms(own, "t", settings) == 9
    assert expires(own, "t")


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
