"""Rebuilds the metadata of a cluster from the disks of its brokers, an old copy, and the user's answers."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kcheck.core.cluster.metadata_replay import KRAFT_VERSION, METADATA_VERSION
from kcheck.core.rescue.answers import BROKER, MetadataAnswers, NamedRecord, TopicAnswer, config_records
from kcheck.core.rescue.held import HeldDisks, HeldPartition, OldMetadata
from kcheck.core.rescue.made_ids import made_id
from kcheck.model.cluster import MIGRATING_DIRECTORY, MIN_ISR, NO_LEADER, UNASSIGNED_DIRECTORY, PartitionRegistration
from kcheck.model.names import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE, is_legal_topic
from kcheck.model.remote_log import REMOTE_LOG_METADATA

TOPIC = 2
"""The type of the configuration of a topic (ConfigResource.Type)."""
ELR = "eligible.leader.replicas.version"
_WITH_DIRECTORIES = 17
"""From this metadata.version on a partition names the log dirs of its replicas (3.7-IV2)."""
BLOCK = 1000
"""Number of producer ids that a broker is given at once (ProducerIdsBlock)."""
_ALL_KEPT = {"retention.ms": "-1", "retention.bytes": "-1"}
_REMOTE = {"remote.storage.enable": "true"}
"""With this setting only later, a leader deletes remote segments below the local log (RLMExpirationTask)."""
_BIG_SEGMENTS = {"segment.bytes": "104857600"}
INTERNAL: Mapping[str, Mapping[str, str]] = {
    CONSUMER_OFFSETS: {"compression.type": "producer", "cleanup.policy": "compact", **_BIG_SEGMENTS},
    TRANSACTION_STATE: {
        "compression.type": "uncompressed", "cleanup.policy": "compact", **_BIG_SEGMENTS,
        "min.insync.replicas": "1", "unclean.leader.election.enable": "false",
    },
    SHARE_GROUP_STATE: {"cleanup.policy": "delete", "retention.ms": "-1", **_BIG_SEGMENTS},
    REMOTE_LOG_METADATA: {"cleanup.policy": "delete", "retention.ms": "-1", "remote.storage.enable": "false"},
}  # fmt: skip
"""The configurations with which brokers create their own topics (AutoTopicCreationManager).

Topics with `retention.ms=-1` must not get the retention of the cluster later, because their records are state.
"""


class RebuiltTopic(NamedTuple):
    """A topic as the new controller will know it."""

    name: str
    topic_id: str
    has_new_id: bool
    """True if no disk and no copy names its id."""
    partitions: Mapping[int, PartitionRegistration]
    """Its partitions by number."""
    placeholders: tuple[int, ...]
    """Those of which no disk here has a replica."""
    configs: Mapping[str, str]
    """Its configuration."""
    suggested: Mapping[str, str]
    """Its configuration, as its batches suggest."""
    assumed: tuple[str, ...]
    """The assumptions of kcheck about it: `replicas`, `partitions`, `configs`."""


class Rebuild(NamedTuple):
    """The metadata for a new controller."""

    topics: tuple[RebuiltTopic, ...]
    """The topics, by name."""
    features: Mapping[str, int]
    """The levels of features, by an old copy, or as the controller was formatted."""
    next_producer_id: int
    """The first producer id that is given out."""
    elr: bool
    """True if eligible leader replicas are on, with registrations of the brokers."""
    records: tuple[NamedRecord, ...]
    """Configurations of brokers, ACLs, credentials, quotas and tokens."""
    left_out: tuple[str, ...]
    """Topics of the old copy that no disk has, as they were deleted since."""

    @property
    def without_disk(self) -> tuple[tuple[str, int], ...]:
        """The partitions of which no disk here has a replica."""
        return tuple((topic.name, number) for topic in self.topics for number in topic.placeholders)


class Wanted(NamedTuple):
    """The question."""

    answers: MetadataAnswers
    features: Mapping[str, int]
    """The levels of features, as the controller was formatted."""
    dead: tuple[int, ...] = ()
    """The brokers that never come back."""
    standalone: bool = False
    """True if the cluster is one broker, for reading."""


def rebuild(disks: HeldDisks, wanted: Wanted) -> Rebuild:
    """Return the metadata. Answers of the user go before an old copy, and an old copy before the disks."""
    old = {} if disks.old is None else disks.old.image.topics
    held = disks.by_topic()
    names = {topic for topic in held if is_legal_topic(topic)} | wanted.answers.topics.keys()
    here = {*disks.brokers}
    lost = {name for name, topic in old.items() if name not in names and topic.partitions}
    kept = {name for name in lost if any(not {*row.replicas} & here for row in old[name].partitions.values())}
    given = wanted.answers.next_producer_id
    last = -1 if disks.old is None else (disks.old.image.next_producer_id or 0) - 1
    above_all = (max(disks.producer_id, last) // BLOCK + 3) * BLOCK
    features = _levels(wanted.features, disks.old)
    elr = wanted.answers.elr
    if elr is None:
        elr = disks.old is not None and min(features.get(ELR, 0), disks.old.image.features.get(ELR, 0)) > 0
    if not elr:
        features.pop(ELR, None)
    others = [*_others(disks.old, wanted.answers)]
    if elr and not any(_is_min_isr_of_all(*record) for record in others):
        others += config_records(BROKER, "", {MIN_ISR: "1"})
    configs = _topic_configs(disks.old)
    return Rebuild(
        topics=tuple(
            _topic(name, held.get(name, {}), disks, wanted, configs.get(name, {})) for name in sorted(names | kept)
        ),
        features=features,
        next_producer_id=above_all if given is None else given,
        elr=elr,
        records=tuple(others),
        left_out=tuple(sorted(lost - kept)),
    )


def _levels(formatted: Mapping[str, int], old: OldMetadata | None) -> dict[str, int]:
    """Return the levels of features of an old copy, unless the controller was formatted with an earlier release."""
    known = {} if old is None else old.image.features
    if not 0 < known.get(METADATA_VERSION, 0) <= formatted.get(METADATA_VERSION, 0):
        return dict(formatted)
    return {name: level for name, level in known.items() if level and name != KRAFT_VERSION}


def _is_min_isr_of_all(name: str, data: Mapping[str, Any]) -> bool:
    """Return whether a record is the cluster's min.insync.replicas, which ELR needs (ConfigurationControlManager)."""
    if name != "ConfigRecord":
        return False
    return (data["resourceType"], data["resourceName"], data["name"]) == (BROKER, "", MIN_ISR)


def _topic(
    name: str, held: Mapping[int, HeldPartition], disks: HeldDisks, wanted: Wanted, known_configs: Mapping[str, str]
) -> RebuiltTopic:
    answer = wanted.answers.topics.get(name, TopicAnswer())
    known = None if disks.old is None else disks.old.image.topics.get(name)
    on_disk = topic_ids(held)
    if known is not None and on_disk and known.topic_id not in on_disk:
        known = None  # The topic was deleted since, and created again.
    topic_id = answer.topic_id or min(on_disk, default=None) or (known.topic_id if known is not None else None)
    old = {} if known is None else known.partitions
    count = answer.partitions or 1 + max((*held, *old, *answer.replicas), default=0)
    placed = {
        number: _placed(disks, number, held.get(number), answer, old.get(number), wanted) for number in range(count)
    }
    configs = answer.configs if answer.configs is not None else known_configs if known is not None else {}
    is_whole = disks.old is None or disks.old.missing is None
    is_assumed = answer.configs is None and (known is None or not is_whole)
    return RebuiltTopic(
        name=name,
        topic_id=topic_id or made_id(disks.cluster_id or "", name),
        has_new_id=topic_id is None,
        partitions=placed,
        placeholders=tuple(number for number in placed if number not in held),
        configs={**(_assumed_configs(name, disks, wanted) if is_assumed else {}), **configs},
        suggested=dict(_suggested(name, disks)) if is_assumed else {},
        assumed=(
            *(("partitions",) if answer.partitions is None and (known is None or not is_whole) else ()),
            *(("replicas",) if placed.keys() - answer.replicas.keys() - old.keys() else ()),
            *(("configs",) if is_assumed and name not in INTERNAL else ()),
        ),
    )


def topic_ids(held: Mapping[int, HeldPartition]) -> frozenset[str]:
    """Return the ids that replicas of a topic name."""
    rows = (row for part in held.values() for row in part.replicas)
    return frozenset(row.topic_id for row in rows if row.topic_id is not None)


def _topic_configs(old: OldMetadata | None) -> dict[str, dict[str, str]]:
    """Return the configurations of topics in an old copy, by topic."""
    found: dict[str, dict[str, str]] = {}
    for kind, data in () if old is None else old.records:
        if kind == "ConfigRecord" and data["resourceType"] == TOPIC:
            found.setdefault(data["resourceName"], {})[data["name"]] = data["value"]
    return found


def _assumed_configs(name: str, disks: HeldDisks, wanted: Wanted) -> Mapping[str, str]:
    """Return a configuration that deletes no record; a museum writes nothing to remote storage."""
    is_remote = name in disks.tiered and not wanted.standalone
    return INTERNAL.get(name) or {**_ALL_KEPT, **(_REMOTE if is_remote else {})}


def _suggested(name: str, disks: HeldDisks) -> Iterator[tuple[str, str]]:
    """Yield what the files of a topic say of its configuration."""
    if name in disks.compacted and name not in INTERNAL:
        yield "cleanup.policy", "compact"
    if name in disks.append_time:
        yield "message.timestamp.type", "LogAppendTime"


def _placed(
    disks: HeldDisks,
    number: int,
    held: HeldPartition | None,
    answer: TopicAnswer,
    old: PartitionRegistration | None,
    wanted: Wanted,
) -> PartitionRegistration:
    """Return a partition with its replicas. Only the best one is in sync, as others may lack committed records."""
    if held is None:
        return _placeholder(number, answer, old, wanted)
    holders = [row.broker_id for row in held.replicas]
    epoch = max((*(row.epoch for row in held.replicas), (old.leader_epoch or 0) if old is not None else 0)) + 1
    replicas = answer.replicas.get(number) or _ordered(disks, number, holders, old)
    isr = answer.isr.get(number) or (_leader(held, replicas),)
    directories = tuple(_directory(disks, held, broker) for broker in replicas)
    return PartitionRegistration(replicas, isr, NO_LEADER, epoch, 0, directories=directories)


def _leader(held: HeldPartition, replicas: tuple[int, ...]) -> int:
    """Return the first leader, which is the best replica, or without loss the first replica with its end."""
    best = next((row for row in held.replicas if row.broker_id == held.best), held.replicas[0])
    like = {row.broker_id for row in held.replicas if held.lost == 0 and (row.epoch, row.end) == (best.epoch, best.end)}
    return next((broker for broker in replicas if broker in like), best.broker_id)


def _placeholder(
    number: int, answer: TopicAnswer, old: PartitionRegistration | None, wanted: Wanted
) -> PartitionRegistration:
    """Return a partition that no disk has. It is offline, on brokers that never come back, so no data is invented."""
    of_old = () if old is None else old.replicas
    replicas = answer.replicas.get(number) or of_old or wanted.dead[:1] or (_NOBODY,)
    isr = answer.isr.get(number) or replicas
    return PartitionRegistration(
        replicas, isr, NO_LEADER, 0, 0, directories=tuple(UNASSIGNED_DIRECTORY for _ in replicas)
    )


_NOBODY = (1 << 31) - 1
"""A broker id that no broker has, for a partition of a museum."""


def _ordered(disks: HeldDisks, number: int, holders: list[int], old: PartitionRegistration | None) -> tuple[int, ...]:
    """Return the replicas in the order of the old copy; without one the preferred replica changes by the number."""
    if old is not None:
        kept = [broker for broker in old.replicas if broker in holders or broker in disks.brokers]
        return (*kept, *(broker for broker in holders if broker not in kept))
    first = number % len(holders)
    return (*holders[first:], *holders[:first])


def _directory(disks: HeldDisks, held: HeldPartition, broker: int) -> str:
    """Return the id of the log dir that holds a replica; of none here the broker chooses one."""
    path = next((row.log_dir for row in held.replicas if row.broker_id == broker), None)
    if path is None:
        return UNASSIGNED_DIRECTORY
    return next((row.directory_id for row in disks.log_dirs if row.path == path), None) or MIGRATING_DIRECTORY


def _others(old: OldMetadata | None, answers: MetadataAnswers) -> Iterator[NamedRecord]:
    """Yield the records that do not describe topics. Records of the user come after the old copy, and overrule it."""
    for kind, data in () if old is None else old.records:
        if kind != "ConfigRecord" or data["resourceType"] != TOPIC:
            yield kind, data
    yield from answers.records


def records_of(plan: Rebuild, disks: HeldDisks) -> Iterator[tuple[str, int, Mapping[str, object]]]:
    """Yield the records of a snapshot (name, version and fields), in the order of ImageWriter."""
    for name, level in plan.features.items():
        yield "FeatureLevelRecord", 0, {"name": name, "featureLevel": level}
    if plan.elr:
        for broker in disks.brokers:
            yield "RegisterBrokerRecord", 3, _registration(broker, disks)
    with_directories = plan.features.get(METADATA_VERSION, 0) >= _WITH_DIRECTORIES
    for topic in plan.topics:
        yield "TopicRecord", 0, {"name": topic.name, "topicId": topic.topic_id}
        for number, partition in topic.partitions.items():
            yield "PartitionRecord", int(with_directories), _partition(topic.topic_id, number, partition)
    for topic in plan.topics:
        for name, data in config_records(TOPIC, topic.name, topic.configs):
            yield name, 0, data
    for name, data in plan.records:
        yield name, 0, data
    last = {"brokerId": -1, "brokerEpoch": -1, "nextProducerId": plan.next_producer_id}
    yield "ProducerIdsRecord", 0, last


def _partition(topic_id: str, number: int, partition: PartitionRegistration) -> Mapping[str, object]:
    return {
        "partitionId": number, "topicId": topic_id, "replicas": partition.replicas, "isr": partition.isr,
        "removingReplicas": (), "addingReplicas": (), "leader": NO_LEADER, "leaderEpoch": partition.leader_epoch,
        "partitionEpoch": partition.partition_epoch, "directories": partition.directories,
    }  # fmt: skip


def _registration(broker: int, disks: HeldDisks) -> Mapping[str, object]:
    """Return a fenced registration with the broker's previous epoch. With another epoch it would leave the ISR."""
    own = [row for row in disks.log_dirs if row.broker_id == broker]
    epochs = {row.shutdown_epoch for row in own}
    clean = epochs.pop() if len(epochs) == 1 else None
    return {
        "brokerId": broker, "isMigratingZkBroker": False, "incarnationId": made_id("incarnation", str(broker)),
        "brokerEpoch": -1 if clean is None else clean, "endPoints": (), "features": (), "rack": None, "fenced": True,
        "inControlledShutdown": False, "logDirs": tuple(row.directory_id for row in own if row.directory_id),
    }  # fmt: skip


def template(plan: Rebuild) -> dict[str, object]:
    """Return the answers with which kcheck makes the same metadata, as a JSON document."""
    return {
        "elr": plan.elr,
        "next_producer_id": plan.next_producer_id,
        "topics": {topic.name: _topic_template(topic) for topic in plan.topics},
        "broker_configs": {},
        "acls": [],
        "scram": [],
        "quotas": [],
    }


def _topic_template(topic: RebuiltTopic) -> dict[str, object]:
    parts = topic.partitions
    return {
        "topic_id": topic.topic_id,
        "partitions": len(parts),
        "replicas": {str(number): list(part.replicas) for number, part in parts.items()},
        "isr": {str(number): list(part.isr) for number, part in parts.items()},
        "configs": dict(topic.configs),
        **({"suggested_configs": dict(topic.suggested)} if topic.suggested else {}),
    }
