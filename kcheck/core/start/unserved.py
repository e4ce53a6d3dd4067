"""The records in directories that a broker does not serve, because it renames them to -stray or removes them."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import NamedTuple

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.cluster import ClusterImage
from kcheck.model.loss import LostRecords
from kcheck.model.names import LIVE, DirectoryState, TopicPartition

ImageOf = Callable[[str | None], ClusterImage | None]
"""Returns the given metadata of a cluster, by its id."""
_COPY_NAME = re.compile(r"-([0-9]{1,9})(?=[-._])")
"""The end of the name of a copied directory, after the topic, as in orders-2-backup-1."""
_STATES = {DirectoryState.STRAY: Outcome.STRAY, DirectoryState.DELETED: Outcome.DELETED}


class Unserved(NamedTuple):
    """The directories of one broker in one state that hold records."""

    broker_id: int | None
    """The broker; None if it is not known."""
    state: DirectoryState
    """STRAY stays as it is. The broker removes DELETED after it has started. CURRENT directories belong to no topic."""
    directories: tuple[PartitionPrediction, ...]
    """The directories, in the order of the log dirs."""
    held: tuple[LostRecords, ...]
    """The records of each of them."""
    delay_ms: int | None
    """The delay after which the broker removes directories that are marked for deletion; None for the default."""
    alone: tuple[TopicPartition, ...]
    """Partitions of -stray directories without another replica in the given metadata."""
    is_deleting: bool = False
    """True for CURRENT directories of topics that a ZooKeeper controller is deleting."""
    is_ordered: bool = False
    """True for DELETED directories if the metadata has the records that deleted all of their topics."""


def unserved(starts: Iterable[LogDirPrediction], image_of: ImageOf, delay_ms: int | None) -> Iterator[Unserved]:
    """Yield the directories with records that the brokers of these log dirs do not serve, by broker and state."""
    groups: dict[object, list[LogDirPrediction]] = {}
    for number, start in enumerate(starts):
        groups.setdefault(number if start.broker is None else (start.broker,), []).append(start)
    for log_dirs in groups.values():
        first = log_dirs[0]
        image = image_of(None if first.view is None else first.view.cluster_id)
        every = [partition for start in log_dirs for partition in start.partitions]
        live = {TopicPartition(*row.directory[:2]) for row in every if row.directory.state in LIVE}
        for state, outcome in _STATES.items():
            of_state = [row for row in every if row.directory.state is state and row.outcome is outcome]
            held = [(row, row.whole) for row in of_state if row.whole is not None]
            if held:
                names = {TopicPartition(*row.directory[:2]) for row, _ in held} - live
                alone = _alone(names, image, first.broker_id) if state is DirectoryState.STRAY else ()
                directories, losses = zip(*held, strict=True)
                yield Unserved(first.broker_id, state, directories, losses, delay_ms, tuple(alone))


def lost_in_starts(
    starts: Iterable[LogDirPrediction], image: ClusterImage | None, delay_ms: int | None, deleting: Collection[str] = ()
) -> Iterator[Unserved]:
    """Yield the directories with records that no election counts, because they are removed or belong to no topic.

    `image` lacks the topics that a ZooKeeper controller is deleting (`deleting`).
    """
    starts = tuple(starts)
    known = frozenset[str]() if image is None else image.deleted.keys()
    for own in unserved(starts, lambda _: image, delay_ms):
        if own.state is DirectoryState.DELETED:
            yield own._replace(is_ordered=all(row.directory.topic in known for row in own.directories))
    if image is None:
        return
    apart: dict[tuple[int | None, bool], list[tuple[PartitionPrediction, LostRecords]]] = {}
    for start in starts:
        for row in start.partitions:
            is_deleting, log = row.directory.topic in deleting, row.replica_log
            is_stray = (row.directory.state, row.outcome) == (DirectoryState.CURRENT, Outcome.STRAY)
            if is_deleting and log is not None and log.log_end_offset > log.log_start_offset:
                held = LostRecords(log.log_start_offset, log.log_end_offset, None, 0, None)
                apart.setdefault((start.broker_id, True), []).append((row, held))
            elif not is_deleting and is_stray and row.whole is not None and not _is_known(row.directory.topic, image):
                apart.setdefault((start.broker_id, False), []).append((row, row.whole))
    for (broker_id, is_deleting), rows in apart.items():
        directories, losses = zip(*rows, strict=True)
        yield Unserved(broker_id, DirectoryState.CURRENT, directories, losses, None, (), is_deleting)


def without_places(rows: Iterable[Unserved], places: Collection[tuple[int | None, str | None]]) -> Iterator[Unserved]:
    """Yield the rows without the directories at these places, by broker and name."""
    for row in rows:
        pairs = zip(row.directories, row.held, strict=True)
        kept = [pair for pair in pairs if (row.broker_id, pair[0].dir) not in places]
        if kept:
            directories, held = zip(*kept, strict=True)
            yield row._replace(directories=directories, held=held)


def _is_known(topic: str, image: ClusterImage) -> bool:
    """Return whether the cluster has a topic, or a partition whose directory was copied to this name."""
    copied = ((image.topics.get(topic[: match.start()]), int(match[1])) for match in _COPY_NAME.finditer(topic))
    return topic in image.topics or any(of is not None and number in of.partitions for of, number in copied)


def _alone(
    names: Iterable[TopicPartition], image: ClusterImage | None, broker_id: int | None
) -> Iterator[TopicPartition]:
    """Yield the partitions to which the metadata give no replica on another broker."""
    if image is None:
        return
    for name in sorted(names):
        topic = image.topics.get(name.topic)
        registration = None if topic is None else topic.partitions.get(name.partition)
        if registration is not None and registration.replicas == (broker_id,):
            yield name
