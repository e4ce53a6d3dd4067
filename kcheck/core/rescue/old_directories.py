"""Directories of another time become replicas of the present topic of their name.

A broker keeps the directories of a deleted topic as `-delete` for a minute. It keeps directories without metadata as
`-stray`. A broker may be down when the topic is created again, or ZooKeeper is lost. Then it has the directories under
their own names. They serve again under the topic's present id. Batches whose leader epoch is above the partition's get
epoch 0. Otherwise a leader empties its epoch cache, and its followers never come into sync (UnifiedLog, 2.8 to 4.3.1).
The CRC of a batch does not cover the epoch.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.rescue.refusals import RescueRefusal
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.words import agree, listed, partition_name, shell_word

_DROPPED = (".index", ".timeindex", ".snapshot")
"""The endings of files that the broker makes again from the segments."""


class OldDirectory(NamedTuple):
    """A directory that no broker serves, with records of a partition."""

    broker_id: int
    """Its broker."""
    log_dir: str
    """The log dir that holds it."""
    name: str
    """Its name: it ends in -delete or -stray, or its topic id is another one's."""
    partition: int
    """The number of the partition."""
    topic_id: str | None
    """The topic id in its partition.metadata."""
    epoch: int
    """The largest leader epoch of its batches; -1 without any."""
    start: int
    """The offset of its first segment."""
    end: int
    """The offset after its last batch."""
    producer_id: int = -1
    """The largest producer id of its batches; -1 without any."""
    damage: str | None = None
    """The place of a corrupt batch; None if all are valid."""
    files: tuple[str, ...] = ()
    """The names of its files."""

    @property
    def age(self) -> tuple[int, int]:
        """The sort key of the best copy (its last epoch, then its end)."""
        return self.epoch, self.end


class PresentDirectory(NamedTuple):
    """The directory of the partition that its broker serves now."""

    broker_id: int
    log_dir: str
    partition: int
    size: int
    """The size of its segments in bytes."""


class Adoption(NamedTuple):
    """An old directory that takes the place of the present one."""

    old: OldDirectory
    topic_id: str
    """The id of the topic now."""
    name: str
    """The name of the directory then."""
    rewrites_epochs: bool
    """True if its batches get epoch 0."""
    present: PresentDirectory | None
    """The present directory of the partition on its broker."""

    @property
    def dropped(self) -> tuple[str, ...]:
        """The files that are left out."""
        return tuple(name for name in self.old.files if name.endswith(_DROPPED))


class OldTopic(NamedTuple):
    """The facts about a topic that shall come back."""

    name: str
    image: ClusterImage | None
    """The metadata of the cluster; None without any."""
    old: tuple[OldDirectory, ...]
    """Its directories that no broker serves."""
    present: tuple[PresentDirectory, ...]
    """Those that brokers serve now."""
    brokers: tuple[int, ...]
    """The brokers here."""
    running: tuple[int, ...] = ()
    """Those whose process runs."""
    clusters: Mapping[str, str] = {}
    """A log dir of each cluster, by cluster id."""
    unread: tuple[tuple[str, str], ...] = ()
    """The log dirs that cannot be read, each with the reason."""

    @property
    def topic(self) -> TopicImage | None:
        """The topic that the cluster has now."""
        return None if self.image is None else self.image.topics.get(self.name)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The partitions that have an old directory."""
        return tuple(sorted({row.partition for row in self.old}))


def adoptions(topic: OldTopic) -> tuple[Adoption, ...]:
    """Return the replacements: on each replica the copy that ends like the best one."""
    known = topic.topic
    if known is None or known.topic_id is None:
        return ()
    rows = []
    for number, registration in sorted(known.partitions.items()):
        for broker in sorted(registration.replicas):
            copies = [row for row in topic.old if (row.partition, row.broker_id) == (number, broker)]
            old = max(copies, key=lambda row: row.age, default=None)
            if old is None or old.age != best_of(topic.old, number).age:
                continue
            name = partition_name(topic.name, number)
            present = [row for row in topic.present if (row.partition, row.broker_id) == (number, broker)]
            rewrites = old.epoch > (registration.leader_epoch or 0)
            rows.append(Adoption(old, known.topic_id, name, rewrites, next(iter(present), None)))
    return tuple(rows)


def best_of(old: Iterable[OldDirectory], number: int) -> OldDirectory:
    """Return the old directory of a partition with the last epoch, and then the most records."""
    return max((row for row in old if row.partition == number), key=lambda row: row.age)


def refusals_of_topic(topic: OldTopic) -> Iterator[RescueRefusal]:
    """Yield why the directories cannot come back yet, and what has to be done first."""
    if len(topic.clusters) > 1:
        (one, path), (other, elsewhere) = [*topic.clusters.items()][:2]
        why = f"{path} is of cluster {one}, {elsewhere} of cluster {other}."
        bring = "Name the log dirs of one cluster. Copy directories of the other one there first (cp -a)."
        yield RescueRefusal("two-clusters", why, bring)
    for path, reason in topic.unread:
        bring = "Mount the disk, which may have a newer copy. If the disk is lost, remove the path from log.dirs."
        yield RescueRefusal("missing-disk", f"{path} cannot be read: {reason}.", bring)
    for broker in topic.running:
        yield RescueRefusal("running", f"Broker {broker} runs.", f"Stop broker {broker}, and ask again.")
    if not topic.old:
        where = partition_name(topic.name, 0)
        yield RescueRefusal(
            "no-directory",
            f"No log dir here has a -delete or -stray directory of {topic.name}.",
            f"Copy one into a log dir of its broker (cp -a), as {where}.{'0' * 32}-stray, and ask again.",
        )
        return
    if topic.image is None:
        yield RescueRefusal("no-metadata", "No metadata of the cluster is here.", "Name it: --metadata PATH.")
        return
    ids = {row.topic_id for row in topic.old if row.topic_id is not None}
    if len(ids) > 1:
        bring = f"Choose one: --topic-id {min(ids)}."
        yield RescueRefusal("two-topics", f"The directories are of the topics {listed(sorted(ids))}.", bring)
    yield from _of_metadata(topic)


def _of_metadata(topic: OldTopic) -> Iterator[RescueRefusal]:
    known, image = topic.topic, topic.image
    assert image is not None
    count = topic.numbers[-1] + 1
    if known is None or known.topic_id is None:
        command = (
            f"kafka-topics.sh --bootstrap-server HOST:9092 --create --topic {shell_word(topic.name)}"
            f" --replica-assignment {_assignment(topic)} --config retention.ms=-1"
        )
        yield RescueRefusal(
            "no-topic",
            f"The cluster has no topic {topic.name}.",
            "Move the directories outside every log dir, because a broker that runs removes or renames them. Start "
            "the cluster,"
            f" create the topic ({command}), stop the brokers, move the directories back, and ask again.",
        )
        return
    kept = [row for row in topic.old if row.topic_id == known.topic_id and row.name.endswith("-delete")]
    if any(
        row.partition in known.partitions and row.broker_id in known.partitions[row.partition].replicas for row in kept
    ):
        yield RescueRefusal(
            "stale-copy",
            f"The metadata is older than the deletion, and has {topic.name} with the id of {kept[0].name}.",
            "Name a newer copy: --metadata with the log dir of a controller.",
            forced=True,
        )
    if count > len(known.partitions):
        yield RescueRefusal(
            "partitions",
            f"The topic has {len(known.partitions)} partitions, the directories at least {count}.",
            f"Add partitions: kafka-topics.sh --alter --topic {shell_word(topic.name)} --partitions {count}.",
        )
    largest = max(row.producer_id for row in topic.old)
    if image.next_producer_id is not None and largest >= image.next_producer_id:
        yield RescueRefusal(
            "producer-ids",
            f"Batches have producer id {largest}, which the cluster gives out later. Those producers would fail.",
            "Use kcheck export, which writes the records for a producer.",
            forced=True,
        )
    for number in topic.numbers:
        if number in known.partitions:
            yield from _of_partition(topic, number, known.partitions[number])


def _assignment(topic: OldTopic) -> str:
    """Return the replicas of a new topic, which are the brokers with the best copies.

    A partition without any copy gets the first broker. TopicCommand separates partitions by commas, brokers by colons.
    """
    parts = []
    for number in range(topic.numbers[-1] + 1):
        copies = [row for row in topic.old if row.partition == number]
        best = {row.broker_id for row in copies if row.age == best_of(copies, number).age}
        brokers = sorted(best) or topic.brokers[:1]
        first = number % len(brokers)
        parts.append(":".join(map(str, (*brokers[first:], *brokers[:first]))))
    return ",".join(parts)


def _of_partition(topic: OldTopic, number: int, known: PartitionRegistration) -> Iterator[RescueRefusal]:
    which, best = partition_name(topic.name, number), best_of(topic.old, number)
    if best.damage is not None:
        bring = "Rename it, and mend it with kcheck repair; or use another copy."
        yield RescueRefusal("damaged", f"{best.log_dir}/{best.name} is corrupt: {best.damage}.", bring)
    for present in topic.present:
        if present.partition == number and present.size:
            yield RescueRefusal(
                "has-records",
                f"{which} of broker {present.broker_id} has records of its own.",
                "Use kcheck export for the old ones, and produce them again.",
            )
    with_copy = {row.broker_id for row in topic.old if row.partition == number and row.age == best.age}
    missing = sorted({*known.isr} - with_copy)
    if not with_copy & {*known.isr}:
        yield RescueRefusal(
            "isr",
            f"No broker in the ISR of {which} ({listed(known.isr)}) has the best copy, {best.log_dir}/{best.name}.",
            f"Copy it into a log dir of broker {[*known.isr, *known.replicas][0]} (cp -a), and ask again.",
        )
    elif missing:
        yield RescueRefusal(
            "isr",
            f"{agree(len(missing), 'Broker', 'Brokers')} {listed(missing)} in the ISR of {which} would lead without the"
            " records.",
            f"Copy {best.log_dir}/{best.name} there too (cp -a), or stop that broker before the others, and ask again.",
        )


def order_of_starts(topic: OldTopic, rows: Sequence[Adoption]) -> tuple[int, ...]:
    """Return the brokers here, first the brokers with the records."""
    first = sorted({row.old.broker_id for row in rows})
    return (*first, *(broker for broker in topic.brokers if broker not in first))
