"""Partitions of one topic have different topic ids on one broker, or two topics share an id.

What is wrong: A topic has one id, in each partition.metadata of the topic, and no other topic has it. The ids differ.
The topic was deleted and recreated while this broker or log dir was away, or an old tool recreated it in ZooKeeper. Or
the directory was copied from another cluster. Or the directory or the file was copied from another topic. The cluster
knows at most one of the ids of a topic.

What the broker does with the partitions whose id the cluster does not know:

- KRaft, 3.7 and later: It renames their directories to `-stray`. The data stays on the disk, but the broker no longer
  serves it.
- KRaft, 3.0 to 3.6: it DELETES them.
- KRaft, where the id belongs to another topic: It does the same if that topic has no partition of this number here.
  Otherwise it refuses the partition (InconsistentTopicIdException); the replica neither leads nor follows.
- ZooKeeper, 2.8 to 3.9: it refuses them with INCONSISTENT_TOPIC_ID; the replica neither leads nor follows.

What to do: Ask the cluster for the id (`kafka-topics.sh --describe`). If you may need the records of the directories
with another id, keep copies outside every log dir. Do not change an id by hand to keep data of a deleted topic, and
never invent one.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.names import PARTITION_METADATA
from kcheck.model.release import Release
from kcheck.model.views import LogDirView, PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, kafka
from kcheck.words import listed

ADVICE = (
    "Ask the cluster for the topic's id (kafka-topics.sh --describe). Before you start the broker, keep copies of "
    "the directories with another id outside every log dir."
)


def check(views: tuple[LogDirView, ...], release: Release) -> Iterable[Finding]:
    """Compare the ids of the replicas of each topic; -delete and -stray directories may be of an older topic."""
    if not release.has_partition_metadata:
        return
    topics: dict[str, dict[str, list[PartitionView]]] = {}
    for view in views:
        for partition in view.partitions:
            if partition.topic_id is not None and served(partition):
                topics.setdefault(partition.topic, {}).setdefault(partition.topic_id, []).append(partition)
    for topic in sorted(topics):
        if len(topics[topic]) > 1:
            yield _finding(topic, topics[topic], release)
    yield from _shared(topics, release)


def _finding(topic: str, ids: dict[str, list[PartitionView]], release: Release) -> Finding:
    by_count = sorted(ids.items(), key=lambda item: (-len(item[1]), item[0]))
    odd = min((p for _, same_id in by_count[1:] for p in same_id), key=lambda p: (p.where.log_dir or "", p.partition))
    words = "; ".join(f"{topic_id} in {listed(p.where.dir or p.partition for p in ps)}" for topic_id, ps in by_count)
    return RULE.finding(
        odd.where._replace(topic=topic, file=PARTITION_METADATA),
        f"partitions of {topic} have {len(ids)} topic ids: {words}",
        effect=f"{kafka(release)} {_effect(release)}.",
        advice=ADVICE,
        data={
            "topic_ids": tuple(
                {"topic_id": topic_id, "dirs": tuple(_path(p.where) for p in same_id[:DATA_MAX])}
                for topic_id, same_id in by_count[:DATA_MAX]
            )
        },
    )


def _shared(topics: dict[str, dict[str, list[PartitionView]]], release: Release) -> Iterable[Finding]:
    """Yield the ids that several topics have; the place is the topic with the fewest partitions."""
    owners: dict[str, list[list[PartitionView]]] = {}
    for _, ids in sorted(topics.items()):
        if len(ids) == 1:
            ((topic_id, owner),) = ids.items()
            owners.setdefault(topic_id, []).append(owner)
    for topic_id, several in sorted(owners.items()):
        if len(several) > 1:
            odd = min(several, key=len)[0].where
            names = listed(owner[0].topic for owner in several)
            yield RULE.finding(
                odd._replace(file=PARTITION_METADATA),
                f"{names} share the topic id {topic_id}",
                effect=f"{kafka(release)} refuses the partitions of all but one of them, or {_effect(release)}.",
                advice=ADVICE,
                data={"topic_id": topic_id, "topics": tuple(owner[0].topic for owner in several[:DATA_MAX])},
            )


def _path(where: Location) -> dict[str, object]:
    return {"log_dir": where.log_dir, "dir": where.dir}


def _effect(release: Release) -> str:
    stray = "renames the directories whose id the cluster does not know to -stray, and no longer serves their data"
    if release.is_kraft_only:
        return stray
    refused = "with ZooKeeper the replica neither leads nor follows (INCONSISTENT_TOPIC_ID)"
    if release.keeps_strays:
        return f"{stray}; {refused}"
    if release.has_kraft:
        return f"DELETES the directories whose id the cluster does not know, in KRaft mode; {refused}"
    return f"does not use the directories whose id the cluster does not know: {refused}"


RULE = Rule(severity=Severity.ERROR, scope=Scope.BROKER, check=check)
