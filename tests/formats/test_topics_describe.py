"""The output of kafka-topics --describe, of every line of releases."""

import pytest

from kcheck.formats._topics_describe import DescribedPartition, DescribedTopic, is_description, parse
from tests.zookeeper import WRITTEN

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
OLD_TOPIC = DescribedTopic(
    None, 2, CONFIGS, True, {0: DescribedPartition(1, (1, 2), (2, 1)), 1: DescribedPartition(-1, (2, 1), ())}
)
NEW_TOPIC = DescribedTopic(
    "H1UEX1ltRq6Ju088wyqT5A",
    1,
    {"cleanup.policy": "delete"},
    False,
    {0: DescribedPartition(-1, (1, 2, 3), (), (3,), (1,), (1,), ())},
)


@pytest.mark.parametrize(("text", "topic"), [(OLD, OLD_TOPIC), (NEW, NEW_TOPIC)], ids=["2.3", "4.3"])
def test_topics(text: str, topic: DescribedTopic) -> None:
    """Also with spaces for tabs, as copied from a terminal, and with other lines between."""
    for copied in (text, text.replace("\t", "    "), f"WARN old\n\n{text}".replace("\n", "\r\n")):
        assert parse(copied.encode()) == ({"t": topic}, ())
    assert is_description(text.encode())
    assert not is_description(b"{}")


def test_partitions_alone() -> None:
    """As --unavailable-partitions prints them; N/A is not known."""
    line = b"\tTopic: t\tPartition: 3\tLeader: none\tReplicas: 1\tIsr: \tElr: N/A\tLastKnownElr: N/A\n"
    assert parse(line).value == {"t": DescribedTopic(None, None, {}, False, {3: DescribedPartition(-1, (1,), ())})}


@pytest.mark.parametrize("version", ["1.1.1", "3.9.2"])
def test_what_brokers_print(version: str) -> None:
    topics, defects = parse((WRITTEN / version / "describe.txt").read_bytes())
    assert defects == ()
    assert {name: len(topic.partitions) for name, topic in topics.items()} == {"plain": 2, "strict": 1}
    assert topics["plain"].configs == {"unclean.leader.election.enable": "true"}
    assert all(topic.partition_count == len(topic.partitions) for topic in topics.values())


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
