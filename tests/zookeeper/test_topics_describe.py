"""The output of kafka-topics --describe, of every line of releases."""

import json
from collections.abc import Mapping

import pytest

from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.zookeeper.topics_describe import is_description, parse
from tests.zookeeper_bytes import WRITTEN

OLD = (
    "Topic:t\tPartitionCount:2\tReplicationFactor:2\t"
    "Configs:cleanup.policy=compact,delete,min.insync.replicas=2,flush.ms=1\tMarkedForDeletion:true\n"
    "\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 2,1\n"
    "\tTopic: t\tPartition: 1\tLeader: -1\tReplicas: 2,1\tIsr: \tMarkedForDeletion: true\n"
)
NEW = (
    "Topic: t\tTopicId: H1UEX1ltRq6Ju088wyqT5A\tPartitionCount: 1\tReplicationFactor: 2\t"
    "Configs: cleanup.policy=delete,segment.bytes=1048576\n"
    "\tTopic: t\tPartition: 0\tLeader: none\tReplicas: 1,2,3\tIsr: \tAdding Replicas: 3\t"
    "Removing Replicas: 1\tElr: 1\tLastKnownElr: \n"
)
CONFIGS = {"cleanup.policy": "compact,delete", "min.insync.replicas": "2"}
OLD_TOPIC = TopicImage(
    "t",
    None,
    {
        0: PartitionRegistration((1, 2), (2, 1), 1, last_leader=1),
        1: PartitionRegistration((2, 1), ()),
    },
    deleting=True,
)
NEW_TOPIC = TopicImage(
    "t",
    "H1UEX1ltRq6Ju088wyqT5A",
    {0: PartitionRegistration((1, 2, 3), (), adding=(3,), removing=(1,), elr=(1,), last_leader=1)},
)


def _image(topic: TopicImage, configs: Mapping[str, str]) -> ClusterImage:
    by_id = {} if topic.topic_id is None else {topic.topic_id: topic}
    return ClusterImage({"t": topic}, by_id, configs={("topic", "t"): configs} if configs else {})


@pytest.mark.parametrize(
    ("text", "image"),
    [(OLD, _image(OLD_TOPIC, CONFIGS)), (NEW, _image(NEW_TOPIC, {"cleanup.policy": "delete"}))],
    ids=["2.3", "4.3"],
)
def test_topics(text: str, image: ClusterImage) -> None:
    """Also with spaces for tabs, as copied from a terminal, and with other lines between."""
    for copied in (text, text.replace("\t", "    "), f"WARN old\n\n{text}".replace("\n", "\r\n")):
        assert parse(copied.encode()) == (image, ())
        assert is_description(copied)


def test_partitions_alone() -> None:
    """As --unavailable-partitions prints them; N/A is not known."""
    line = "\tTopic: t\tPartition: 3\tLeader: none\tReplicas: 1\tIsr: \tElr: N/A\tLastKnownElr: N/A\n"
    assert is_description(line)
    assert parse(line.encode()) == (_image(TopicImage("t", None, {3: PartitionRegistration((1,), ())}), {}), ())


ROW = {"partition": 0, "leader": 1, "replicas": [1, 2], "isr": [1], "elr": [2], "lastKnownElr": None}
JSON_TOPIC = TopicImage("t", "id", {0: PartitionRegistration((1, 2), (1,), 1, elr=(2,), last_leader=1)})


@pytest.mark.parametrize(
    "value",
    [
        {"topics": [{"topic": "t", "topicId": "id", "partitions": [ROW]}]},
        {"cluster": {"x": 1}, "topics": [{"name": "t", "topicId": "id", "partitions": [ROW]}]},
        [{"topic": "t", "topicId": "id", "partitions": [ROW]}],
        [{"topic": "t", "topicId": "id", **ROW}],
    ],
)
def test_json(value: object) -> None:
    for indent in (None, 2):
        text = json.dumps(value, indent=indent)
        assert is_description(text)
        assert parse(b"\xef\xbb\xbf" + text.encode()) == (_image(JSON_TOPIC, {}), ())


def test_json_without_a_leader() -> None:
    rows = [ROW | {"topic": "t\ud800", "leader": leader} for leader in (None, "none", -1)]
    for row in rows:
        topic = TopicImage("t?", None, {0: PartitionRegistration((1, 2), (1,), elr=(2,), last_leader=1)})
        assert parse(json.dumps([row]).encode()) == (ClusterImage({"t?": topic}), ())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "the text is no JSON with topics"),
        ("[" * 100_000, "the text is no JSON with topics"),
        ('{"topics": 1}', "the text is no JSON with topics"),
        ("[1]", "an entry is no JSON object"),
        ("[{}]", "an entry has no name of a topic"),
        ('[{"topic": "t", "topicId": 1}]', "an entry has no name of a topic"),
        ('[{"topic": "t"}]', "the partitions of a topic are missing or make no sense"),
        ('[{"topic": "t", "partitions": [1]}]', "the partitions of a topic are missing or make no sense"),
        ('[{"topic": "t", "partition": true}]', "the partition is no number"),
        ('[{"topic": "t", "partition": 2147483648}]', "the partition is no number"),
        ('[{"topic": "t", "partition": 0, "leader": -2}]', "the leader is no number"),
        ('[{"topic": "t", "partition": 0, "leader": "secret"}]', "the leader is no number"),
        ('[{"topic": "t", "partition": 0, "isr": "1"}]', "the isr is no list"),
        ('[{"topic": "t", "partition": 0, "isr": ["secret"]}]', "the isr is no number"),
    ],
    ids=range(14),
)
def test_json_that_makes_no_sense(text: str, message: str) -> None:
    assert [defect.message for defect in parse(text.encode()).defects] == [message]


def test_a_hundred_defects_are_kept() -> None:
    assert len(parse(b"Topic: t\tPartition: x\n" * 200).defects) == 100


def test_what_is_no_description() -> None:
    for text in ("{}", "[]", '{"/a": 1}', "Topic: t", "\n" * (1 << 16), "{" * (1 << 16), "Topic:" * 10_000):
        assert not is_description(text)


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_what_brokers_print(version: str) -> None:
    image, defects = parse((WRITTEN / version / "describe.txt").read_bytes())
    assert defects == ()
    assert {name: len(topic.partitions) for name, topic in image.topics.items()} == {"plain": 2, "strict": 1}
    assert image.configs == {("topic", "plain"): {"unclean.leader.election.enable": "true"}}
    assert len(image.topics_by_id) == (0 if version == "1.1.1" else 2)


def test_a_topic_without_all_of_its_partitions() -> None:
    """As when only a part of the text was copied."""
    _, (defect,) = parse("\n".join(OLD.splitlines()[:2]).encode())
    assert str(defect) == "line 1, column 1: the topic has 2 partitions, but 1 are listed"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Topic: t\tPartitionCount: x", "the PartitionCount is no number"),
        ("Topic: t\tPartition: 0\tLeader: x", "the Leader is no number"),
        ("Topic: t\tPartition: 0\tReplicas: 1,", "the Replicas is no number"),
        ("Topic: t\tPartition: 2147483648", "the Partition is no number"),
        ("Topic: t\tPartition: -1", "the Partition is no number"),
        ("Topic: t\tPartition: 0\tLeader: 2147483648", "the Leader is no number"),
        (f"Topic: t\tPartition: 0\tIsr: {'9' * 5000}", "the Isr is no number"),
    ],
)
def test_a_line_that_makes_no_sense(line: str, message: str) -> None:
    _, (defect,) = parse(f"{OLD}{line}\nTopic: only\n".encode())
    assert (defect.message, defect.line, defect.found) == (message, 4, b"")
