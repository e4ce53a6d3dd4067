"""The controllers' metadata as JSON (copies, quorum, features, brokers, partitions, and a partition's history)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.cluster.health import Health, health, min_isr
from kcheck.core.cluster.history import ChangeKind, PartitionChange
from kcheck.core.cluster.metadata_replay import METADATA_VERSION
from kcheck.core.cluster.quorum import CopyStanding, Quorum
from kcheck.core.releases.release_evidence import registered
from kcheck.core.replication.replica_fetchers import Fetch
from kcheck.model.cluster import (
    DECISIVE_CONFIGS,
    NO_LEADER,
    STATIC,
    BrokerRegistration,
    ClusterImage,
    ControllerRegistration,
    Levels,
    MetadataOrigin,
    MetadataProblem,
    MetadataTail,
    PartitionRegistration,
    TopicImage,
)
from kcheck.model.report import Row
from kcheck.model.zookeeper_metadata import ZookeeperMetadata
from kcheck.words import partition_name

Placed = tuple[TopicImage, int, PartitionRegistration]
"""A partition with its topic and number."""


def leader_of(standing: Quorum) -> tuple[int | None, int]:
    """Return the leader of the controllers, and its epoch, as far as a node has heard."""
    newest = standing.newest
    if newest.elected is not None and newest.elected.leader_epoch >= newest.epoch:
        return newest.elected.leader_id, newest.elected.leader_epoch
    return newest.leader, newest.epoch


def quorum_row(standing: Quorum) -> Row:
    """Return the row of the controllers (leader, epoch, and voters)."""
    leader, epoch = leader_of(standing)
    return {
        "leader": leader,
        "epoch": epoch,
        "voters": tuple(sorted(standing.voters)),
        "voter_set": tuple(voter._asdict() for voter in sorted(standing.newest.voter_set)),
        "committed_to": standing.committed_to,
        "voters_here": standing.voters_here,
    }


NO_QUORUM: Row = {"leader": None, "epoch": None, "voters": (), "voter_set": (), "committed_to": None}
"""The row of the controllers where every copy of the metadata is lost."""


def copy_row(standing: CopyStanding, quorum: Quorum) -> Row:
    """Return the row of one copy of the metadata."""
    copy = standing.copy
    return {
        "path": copy.path,
        "node_id": copy.node_id,
        "end_offset": copy.end,
        "epoch": copy.epoch,
        "snapshot": copy.snapshot or None,
        "time": copy.timestamp,
        "newest": copy is quorum.newest,
        "voter": standing.is_voter,
        "can_win": standing.can_win,
        "kept_to": standing.kept_to,
        "problems": tuple(map(problem_row, copy.defects)),
    }


def problem_row(problem: MetadataProblem) -> Row:
    """Return the row of an unreadable place."""
    return {"place": problem.place, "why": problem.why}


def source_row(source: MetadataOrigin) -> Row:
    """Return the source of the metadata."""
    return {
        "kind": source.kind,
        "path": source.path,
        "end_offset": source.end_offset,
        "epoch": source.epoch,
        "time": source.timestamp,
        "committed_to": source.committed_to,
        "complete": source.kind != "none" and not source.problems,
        "problems": tuple(map(problem_row, source.problems)),
    }


def tail_row(tail: MetadataTail) -> Row:
    """Return the records of a copy that may not be committed."""
    return {"from": tail.start, "to": tail.end, "records": dict(sorted(tail.records.items()))}


def controller_row(metadata: ZookeeperMetadata) -> Row:
    """Return the row of the controller of a cluster with ZooKeeper, in place of a quorum."""
    return {
        "leader": metadata.image.controller,
        "epoch": metadata.controller_epoch,
        "voters": (),
        "voter_set": (),
        "committed_to": None,
    }


def pending_row(metadata: ZookeeperMetadata) -> Row:
    """Return the last transaction, the pending changes of the controller, and the progress of a migration."""
    partitions = {
        "isr_changes": metadata.isr_changes, "reassigning": metadata.reassigning, "electing": metadata.electing,
    }  # fmt: skip
    return {
        "zxid": metadata.zxid,
        **{
            name: tuple({"topic": topic, "partition": number} for topic, number in named)
            for name, named in partitions.items()
        },
        "log_dir_changes": metadata.log_dir_changes,
        "migration": None if metadata.migration is None else metadata.migration._asdict(),
    }


class BrokerState(NamedTuple):
    """A registered broker, and how much it has to do."""

    broker: BrokerRegistration
    """Its registration."""
    leads: int
    """The number of partitions that it leads."""
    led_last: int
    """The number of partitions without leader that it led last."""
    replicas: int
    """The number of its replicas."""


def broker_states(image: ClusterImage) -> tuple[BrokerState, ...]:
    """Return the registered brokers, by id."""
    leads, led_last, replicas = Counter[int](), Counter[int](), Counter[int]()
    for _, _, partition in image.partitions():
        replicas.update(partition.replicas)
        if partition.leader != NO_LEADER:
            leads[partition.leader] += 1
        elif partition.last_leader is not None:
            led_last[partition.last_leader] += 1
    return tuple(
        BrokerState(broker, leads[number], led_last[number], replicas[number])
        for number, broker in sorted(image.brokers.items())
    )


def broker_rows(image: ClusterImage) -> tuple[Row, ...]:
    """Return the rows of the registered brokers, by id."""
    return tuple(map(_broker_row, broker_states(image)))


def _broker_row(state: BrokerState) -> Row:
    broker = state.broker
    return {
        "broker_id": broker.broker_id,
        "epoch": broker.epoch,
        "fenced": broker.fenced,
        "in_controlled_shutdown": broker.in_controlled_shutdown,
        "log_dirs": broker.log_dirs,
        "cordoned_log_dirs": broker.cordoned_log_dirs,
        "software": _software(broker.features),
        "incarnation_id": broker.incarnation_id,
        "endpoints": broker.endpoints,
        "rack": broker.rack,
        "migrating": broker.migrating,
        "leads": state.leads,
        "led_last": state.led_last,
        "replicas": state.replicas,
    }


def controller_rows(controllers: Iterable[ControllerRegistration]) -> tuple[Row, ...]:
    """Return the rows of the registered controllers, by id."""
    return tuple(
        {
            "controller_id": controller.controller_id,
            "software": _software(controller.features),
            "incarnation_id": controller.incarnation_id,
            "endpoints": controller.endpoints,
        }
        for controller in sorted(controllers)
    )


def software_line(features: Mapping[str, Levels]) -> str | None:
    """Return the line of releases of a node's software; None if its registration does not tell."""
    levels = features.get(METADATA_VERSION)
    return None if levels is None else registered(levels.lowest, levels.highest)


def _software(features: Mapping[str, Levels]) -> Row | None:
    line = software_line(features)
    return None if line is None else {"lowest": line, "highest": line}


def partition_row(image: ClusterImage, topic: TopicImage, number: int, partition: PartitionRegistration) -> Row:
    """Return the row of a partition."""
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "partition": number,
        **_state(partition),
        "min_isr": min_isr(image, topic, partition),
        "health": tuple(map(str, health(image, topic, partition))),
    }


def health_row(image: ClusterImage, partitions: Iterable[Placed]) -> Row:
    """Return how many partitions each kind of ill health has, the worst first."""
    counts = Counter(kind for topic, _, partition in partitions for kind in health(image, topic, partition))
    return {str(kind): counts[kind] for kind in Health}


def change_row(change: PartitionChange, topic: str, number: int) -> Row:
    """Return the row of a change of a partition."""
    return {
        "offset": None if change.kind is ChangeKind.SNAPSHOT else change.offset,
        "time": change.timestamp,
        "event": str(change.kind),
        "topic": topic,
        "topic_id": change.topic_id,
        "partition": number,
        **_state(change.after),
    }


def _state(partition: PartitionRegistration) -> dict[str, object]:
    return {
        "leader": partition.leader,
        "last_leader": partition.last_leader,
        "last_leader_epoch": partition.last_leader_epoch,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
        "replicas": partition.replicas,
        "isr": partition.isr,
        "elr": partition.elr,
        "last_known_elr": partition.last_known_elr,
        "adding": partition.adding,
        "removing": partition.removing,
        "directories": partition.directories,
        "recovering": partition.recovering,
    }


def config_rows(configs: Mapping[tuple[str, str], Mapping[str, str]]) -> tuple[Row, ...]:
    """Return the decisive configurations; the name of a cluster's default is empty."""
    shown = (
        (place, {name: value for name, value in sorted(config.items()) if name in DECISIVE_CONFIGS or place == STATIC})
        for place, config in sorted(configs.items())
    )
    return tuple(
        {"kind": kind, "name": name, "config": config}
        for (kind, name), config in shown
        if config or not configs[kind, name]
    )


class FetcherThread(NamedTuple):
    """A thread of a broker that fetches from another one."""

    broker_id: int
    """The broker that fetches."""
    leader: int
    """The broker that it fetches from."""
    fetcher: int
    """The number of the thread."""
    names: tuple[str, ...]
    """The names of the partitions."""


def fetcher_threads(fetches: Iterable[Fetch]) -> tuple[FetcherThread, ...]:
    """Return the threads by broker, leader and number, each with its partitions."""
    threads: dict[tuple[int, int, int], list[str]] = {}
    for fetch in fetches:
        key = fetch.broker_id, fetch.leader, fetch.fetcher
        threads.setdefault(key, []).append(partition_name(fetch.topic, fetch.partition))
    return tuple(FetcherThread(*key, tuple(names)) for key, names in sorted(threads.items()))


def fetcher_rows(fetches: Iterable[Fetch]) -> tuple[Row, ...]:
    """Return the rows of fetcher threads, each with its partitions."""
    return tuple(
        {
            "broker_id": thread.broker_id, "leader": thread.leader, "fetcher": thread.fetcher,
            "partitions": len(thread.names), "names": thread.names,
        }
        for thread in fetcher_threads(fetches)
    )  # fmt: skip
