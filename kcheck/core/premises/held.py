"""The partitions of a broker that have a directory in its log dirs."""

from collections.abc import Container, Iterable, Iterator, Sequence

from kcheck.core.premises.facts import BrokerFacts, LogDirFacts
from kcheck.core.start.strays import directory_of
from kcheck.model.names import DirectoryState, TopicPartition


def of_states(log_dirs: Iterable[LogDirFacts], states: Container[DirectoryState]) -> set[TopicPartition]:
    """Return the partitions with a directory of one of these states."""
    return {
        TopicPartition(directory.topic, directory.partition)
        for log_dir in log_dirs
        for directory in log_dir.directories
        if directory.state in states
    }


def held_partitions(log_dirs: Sequence[LogDirFacts], facts: BrokerFacts) -> set[TopicPartition]:
    """Return the partitions with a directory that the broker serves.

    A -future directory is only a part of a log. In KRaft mode 3.7.1 and later serve the one in the log dir of the
    metadata (LogManager.recoverAbandonedFutureLogs).
    """
    here = of_states(log_dirs, {DirectoryState.CURRENT})
    for row in log_dirs if facts.release.promotes_future_logs else ():
        futures = of_states([row], {DirectoryState.FUTURE}) if row.directory_id is not None else ()
        here |= {partition for partition in futures if directory_id(partition, facts) == row.directory_id}
    return here


def directory_id(partition: TopicPartition, facts: BrokerFacts) -> str | None:
    """Return the id of the log dir that the metadata names for the broker's replica; None if not known."""
    topic = None if facts.image is None else facts.image.topics.get(partition.topic)
    known = None if topic is None else topic.partitions.get(partition.partition)
    return None if known is None else directory_of(known, facts.broker_id)


def assigned_to(facts: BrokerFacts) -> Iterator[TopicPartition]:
    """Yield the partitions of which the broker has a replica, by the metadata."""
    for topic, number, partition in () if facts.image is None else facts.image.partitions():
        if facts.broker_id in partition.replicas and facts.broker_id not in partition.adding:
            yield TopicPartition(topic.name, number)


def absent_partitions(facts: BrokerFacts) -> tuple[TopicPartition, ...]:
    """Return the partitions that the metadata assigns to the broker and that have no directory in its log dirs."""
    here = held_partitions(facts.log_dirs, facts)
    return tuple(partition for partition in assigned_to(facts) if partition not in here)
