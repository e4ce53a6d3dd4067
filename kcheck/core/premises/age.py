"""Premises about the age of a disk. An old copy lacks the later records of the cluster."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import only_follows
from kcheck.core.start.startup import Mode
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.java import java_int
from kcheck.model.names import CLEAN_SHUTDOWN, REPLICATION_OFFSET, TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import counted, listed, partition_name, some_names, some_of

DISK_NOT_OLDER = "P701"
_PROVIDE = f"the newest copy of the disk; or --allow {DISK_NOT_OLDER} if this is it"
OLDER_METADATA = "P702"
"""The premise that the metadata is not older than the log dirs."""
OF_TOPIC = "P826"
"""The premise that no directory is older than its topic."""
NEW_IDS = "P842"
"""The premise that no producer gets the id of an earlier one."""
STOPPED_TOGETHER = "P316"
"""The premise that all log dirs of a broker were stopped together."""
AGES = frozenset((DISK_NOT_OLDER, STOPPED_TOGETHER))
"""The premises about an old copy of a disk."""
_CLOCKS_DIFFER = 1000
"""Difference of two synchronized clocks, in ms, with the resolution of old file systems."""
_CHECKPOINTS, _CHECKPOINTS_DEFAULT = "replica.high.watermark.checkpoint.interval.ms", 5000
_SESSION, _SESSION_DEFAULT = "broker.session.timeout.ms", 9000


def is_current(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the broker epoch in .kafka_cleanshutdown with the last registration.

    A broker removes the file when it loads its logs. So the file has the epoch of the broker's last run. A broker with
    ZooKeeper writes -1. During a migration the KRaft controllers give the broker another one (KafkaServer.shutdown).
    """
    newest, broker = facts.newest, facts.registration
    lowest = 0 if broker is not None and broker.migrating else -1
    every = ((log_dir.path, log_dir.shutdown_epoch) for log_dir in facts.log_dirs)
    epochs = {path: epoch for path, epoch in every if epoch is not None and epoch >= lowest}
    writes = facts.release.writes_epoch_as_leader
    unseen = [
        (log, log.unseen_epoch)
        for log in facts.logs
        if log.unseen_epoch is not None and (writes or log.start >= log.end)
    ]
    if newest is None or broker is None or broker.epoch is None or not epochs:
        signs = (
            *_behind(premise, facts, unseen), *_started_since(premise, facts), *_asked_since(premise, facts),
            *_absent(premise, facts),
        )  # fmt: skip
        yield from signs[:1]
        return
    registered = PremiseEvidence(newest.path, f"broker {facts.broker_id} registered with epoch {broker.epoch}")
    old = {path: epoch for path, epoch in epochs.items() if epoch < broker.epoch}
    evidence = tuple(PremiseEvidence(f"{path}/{CLEAN_SHUTDOWN}", f"epoch {epoch}") for path, epoch in epochs.items())
    if not old:
        yield from _behind(premise, facts, unseen) if unseen else (proven(premise, facts, *evidence, registered),)
        return
    disks = "the disks are" if len(old) == len(facts.log_dirs) > 1 else f"{', '.join(old)} is"
    sentence = (
        f"{disks} an old copy, made before {facts.name} registered last (epoch {min(old.values())} on disk,"
        f" {broker.epoch} in the cluster)"
    )
    yield refuted(premise, facts, sentence, *evidence, registered)


def _behind(premise: Premise, facts: BrokerFacts, unseen: Sequence[tuple[LogFacts, Epoch]]) -> Iterator[JudgedPremise]:
    """Return that the disk shows no trace of the last epoch in which its broker led.

    A leader of 2.0 and later writes its epoch as soon as it leads. Each load leaves a leader-epoch-checkpoint. A broker
    leaves no trace either if it loaded an old log since, and ended before it led again.
    """
    if unseen:
        log, epoch = unseen[0]
        name, more = partition_name(*log.partition), len(unseen) - 1
        others = f", and so in {counted(more, 'more partition')}" if more else ""
        sentence = (
            f"{facts.name} led {name} in leader epoch {epoch}, which its log does not show{others}: the disk may be an"
            " older copy"
        )
        yield not_seen(premise, facts, sentence, _PROVIDE, PremiseEvidence(f"{log.log_dir}/{name}", "no such epoch"))


def _started_since(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the time of .kafka_cleanshutdown with the last registration at ZooKeeper.

    A broker removes the file when its logs are loaded, and registers afterwards (KafkaServer.startup 0.8.2 to 3.9).
    The times are of two clocks.
    """
    for log_dir in facts.log_dirs:
        if log_dir.stopped_at is not None and facts.registered_at is not None:
            later = facts.registered_at - log_dir.stopped_at
            if later > _CLOCKS_DIFFER:
                sentence = (
                    f"{facts.name} registered {later // 1000} s after its clean stop in {log_dir.path}, so the disk may"
                    " be an older copy"
                )
                evidence = PremiseEvidence(f"{log_dir.path}/{CLEAN_SHUTDOWN}", f"written {later} ms before")
                yield not_seen(premise, facts, sentence, _PROVIDE, evidence)


def _asked_since(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the time of the newest checkpoint with the broker's own last change at ZooKeeper.

    A broker with leaders writes replication-offset-checkpoint all the time, in each log dir with replicas
    (ReplicaManager.checkpointHighWatermarks 0.8.2 to 3.9). The times are of two clocks.
    """
    interval = java_int((facts.config or {}).get(_CHECKPOINTS, "").strip()) or _CHECKPOINTS_DEFAULT
    with_replicas = {log.log_dir for log in facts.logs}
    for log_dir in facts.log_dirs:
        if facts.asked_at is not None and log_dir.written_at is not None and log_dir.path in with_replicas:
            later = facts.asked_at - max(log_dir.written_at, facts.registered_at or 0)
            if later > 2 * interval + _CLOCKS_DIFFER:  # A busy broker writes late: 7 s on a real one of 3.9.2.
                sentence = (
                    f"{facts.name} changed ZooKeeper {later // 1000} s after its last checkpoint in {log_dir.path}, so"
                    " the disk may be an older copy"
                )
                evidence = PremiseEvidence(f"{log_dir.path}/{REPLICATION_OFFSET}", f"written {later} ms before")
                yield not_seen(premise, facts, sentence, _PROVIDE, evidence)


def _absent(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the end of the broker's own metadata log with the last time when the controllers saw the broker.

    A broker fetches the metadata all the time. After broker.session.timeout.ms without heartbeat a controller fences
    the broker (BrokerHeartbeatManager). A newly elected controller waits again, so the epoch must be the same. A broker
    that asks for its shutdown runs until the controller has written the request and agrees.
    """
    own = next((copy for copy in facts.copies if copy.node_id == facts.broker_id), None)
    newest, broker = facts.newest, facts.registration
    if own is None or own.timestamp is None or newest is None or broker is None or newest.end <= own.end:
        return
    fenced_at = newest.fenced_at.get(broker.broker_id) if broker.fenced else newest.timestamp
    known = own.image.brokers.get(broker.broker_id)
    asked = None if known is None or not known.in_controlled_shutdown else known.epoch
    if broker.in_controlled_shutdown and asked != broker.epoch:
        last = f"before {facts.name} asked to be shut down"
    elif fenced_at is None:
        return
    elif broker.epoch is not None and own.end <= broker.epoch:
        last = f"before {facts.name} registered last, with epoch {broker.epoch}"
    else:
        alive = min(newest.written.get(own.epoch, own.timestamp), fenced_at)
        session = java_int(facts.election_settings.get(_SESSION, "").strip()) or _SESSION_DEFAULT
        if alive - own.timestamp <= 2 * session:
            return
        seconds = (alive - own.timestamp) // 1000
        last = f"{seconds} s before the controllers saw {facts.name} alive for the last time"
    sentence = f"the metadata log of {facts.name} ends at offset {own.end}, {last}: the disk may be an older copy"
    yield not_seen(premise, facts, sentence, _PROVIDE, PremiseEvidence(own.path, f"ends at offset {own.end}"))


def stopped_together(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for log dirs that no clean stop closed, though the broker stopped cleanly.

    A clean stop writes .kafka_cleanshutdown into each log dir that is not offline (LogManager.shutdown). With ZooKeeper
    the broker then closes its session (KafkaServer.shutdown). Snapshots and checkpoints at the log ends show nothing. A
    copy of a broker that had just started has the files of an earlier stop.
    """
    clean = [PremiseEvidence(log_dir.path, f"has {CLEAN_SHUTDOWN}") for log_dir in facts.log_dirs if log_dir.clean]
    if not clean and facts.closed_session:
        clean = [PremiseEvidence(facts.image_path or "", f"{facts.name} closed its session")]
    for log_dir in (log_dir for log_dir in facts.log_dirs if clean and not log_dir.clean):
        own = (log.partition for log in facts.logs if log.log_dir == log_dir.path)
        names = [partition_name(*each) for each in own if not only_follows(each, facts, in_the_end=False)]
        if names:
            sentence = (
                f"{facts.name} stopped cleanly, but left no {CLEAN_SHUTDOWN} in {log_dir.path}. That log dir with"
                f" {some_of(names)} was offline, or is a copy of another time"
            )
            provide = f"the newest copy of the disk; or --allow {premise.id} if this one is the newest"
            yield not_seen(premise, facts, sentence, provide, clean[0], PremiseEvidence(log_dir.path, "has none"))


def epoch_shown(entries: EpochEntries, of_batch: Epoch | None, start: Offset, end: Offset) -> Epoch | None:
    """Return the newest leader epoch of a log `[start, end)`; None if its files show none.

    A broker writes rising entries, the first of them at the log start or below. Batches of the last one follow it
    (LeaderEpochFileCache.assign). A file with other entries does not belong to the log, and then the last batch counts.
    """
    rises = all(one.epoch < two.epoch and one.start_offset < two.start_offset for one, two in pairwise(entries))
    last = entries[-1]
    is_own = rises and entries[0].start_offset <= start and (last.start_offset >= end or of_batch == last.epoch)
    return last.epoch if is_own else of_batch


def of_former_topics(facts: BrokerFacts) -> frozenset[TopicPartition]:
    """Return the logs without topic id that are older than their topic in ZooKeeper.

    The broker stopped before the topic was created again, so its directory is of the former topic.
    """
    stopped = {row.path: row.stopped_at for row in facts.log_dirs if row.stopped_at is not None}
    return frozenset(
        log.partition
        for log in facts.logs
        if log.topic_id is None and log.log_dir in stopped
        if facts.created_at.get(log.partition.topic, 0) - stopped[log.log_dir] > _CLOCKS_DIFFER
    )


def are_of_their_topics(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs of a topic that was deleted and created again while the broker was down.

    Without topic ids (2.7 and earlier) the broker takes them for the new topic (LogManager.getOrCreateLog).
    """
    former = sorted(of_former_topics(facts))
    if facts.mode is not Mode.ZOOKEEPER or not former:
        return
    names = some_names(former)
    sentence = (
        f"{facts.name} stopped before {listed(dict.fromkeys(row.topic for row in former), most=3)} was created again in"
        f" ZooKeeper. {names} here are of the former topic, and would mix with the new records"
    )
    yield refuted(premise, facts, sentence, PremiseEvidence(facts.image_path or "", "created after the clean stop"))


def is_newer(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the leader epochs of the logs with the controller's epochs, by metadata of another node.

    No leader has an epoch that its controller did not give (PartitionChangeBuilder, ZkPartitionStateMachine).
    """
    others = [copy for copy in facts.copies if copy.node_id != facts.broker_id or copy.is_only_voter]
    if facts.image is None or (facts.copies and not others):
        return
    logs = [(log.partition, log.log_dir, log.epoch) for log in facts.logs if log.epoch is not None]
    if not logs:
        return
    above, former = [], of_former_topics(facts)
    for log in (log for log in logs if log[0] not in former):
        topic = facts.image.topics.get(log[0].topic)
        known = None if topic is None else topic.partitions.get(log[0].partition)
        if known is not None and known.leader_epoch is not None and log[2] > known.leader_epoch:
            above.append((log, known.leader_epoch))
    if not above:
        yield proven(premise, facts, PremiseEvidence(facts.image_path or "", "no log has a newer leader epoch"))
        return
    (partition, log_dir, epoch), known_epoch = above[0]
    name = partition_name(*partition)
    more = f", and so in {len(above) - 1} more partition{'s' * (len(above) > 2)}" if len(above) > 1 else ""
    sentence = (
        f"the metadata is older than the disk: {name} has leader epoch {epoch} here, the metadata has {known_epoch}"
        f"{more}. With that metadata the controller elects replicas that no longer have all records"
    )
    yield refuted(premise, facts, sentence, PremiseEvidence(f"{log_dir}/{name}", f"leader epoch {epoch}"))


def has_new_ids(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the producer ids of the logs with the next id of the controller."""
    if facts.image is None or not facts.logs:
        return
    newest = max(facts.logs, key=lambda log: log.producer_id)
    following = facts.image.next_producer_id or 0
    if newest.producer_id < following:
        return
    name = partition_name(*newest.partition)
    sentence = (
        f"the metadata is older than the disk. The last batch of {name} has producer id {newest.producer_id}, but the"
        f" next new producer gets id {following}"
    )
    evidence = PremiseEvidence(f"{newest.log_dir}/{name}", f"producer id {newest.producer_id}")
    yield refuted(premise, facts, sentence, evidence)


TABLE = (
    Premise(
        DISK_NOT_OLDER, PremiseKind.AGE, "The log dirs are not older than the cluster.",
        "The broker epoch in .kafka_cleanshutdown is from the last registration.",
        "A lower broker epoch in .kafka_cleanshutdown. Not seen: an only replica without the epoch in which its broker"
        " led it last. Not seen either: a metadata log that lacks the last run of the broker, or its end. With"
        " ZooKeeper, a clean stop before the last registration. Or the last checkpoint is older than the broker's last"
        " change there.",
        "The broker starts and may lead without the records that were written since.",
        "Find the newest disk of the broker, or start the broker after the others (kcheck recover).",
        "CleanShutdownFileHandler 3.7 to 4.3.1; ReplicationControlManager, BrokerHeartbeatManager 3.3 to 4.3.1; "
        "LeaderEpochFileCache.assign 0.11 to 4.3.1; KafkaServer.startup, ReplicaManager.checkpointHighWatermarks 0.8.2 "
        "to 3.9",
        is_current, ends_start=False, may_lack=True,
    ),
    Premise(
        OLDER_METADATA, PremiseKind.AGE, "The metadata is not older than the log dirs.",
        "No log has a leader epoch above that in the metadata. In place of a forged file the last batch counts.",
        "A leader epoch that is not in the metadata yet.",
        "The controller elects by an old ISR; followers delete what was written since.",
        "Bring the newest metadata, from another controller or from the newest copy of ZooKeeper's data.",
        "PartitionChangeBuilder 3.3 to 4.3.1; PartitionStateMachine 0.10.2 to 3.9", is_newer, ends_start=False,
        cost=PremiseCost.METADATA,
    ),
    Premise(
        NEW_IDS, PremiseKind.AGE, "New producers get new ids.",
        "The producer id of the last batch of each log is below the next one in the metadata.",
        "The same or a higher id, because the metadata is an older copy.",
        "Brokers take the first batch of a new producer for a duplicate. They acknowledge and do not write the batch,"
        " or answer with an error.",
        "Bring the newest metadata. With ZooKeeper a higher block_end in /latest_producer_id_block is enough.",
        "ProducerStateManager, ProducerStateEntry.findDuplicateBatch 0.11 to 4.3.1; ProducerIdControlManager 3.0 to"
        " 4.3.1; ZkProducerIdManager 0.11 to 3.9", has_new_ids, ends_start=False, cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        OF_TOPIC, PremiseKind.AGE, "No directory is older than its topic.",
        "The broker stopped after ZooKeeper created each topic of a log without topic id, by the times of both.",
        "The topic was created after the broker had stopped cleanly, and the broker has a directory of its partition.",
        "The broker takes the old records for records of the new topic. Replicas with different records are in sync."
        " Consumers of one of them get the old records, or none.",
        "Move these directories away before the broker starts, outside every log dir. The broker fetches the new ones.",
        "LogManager.getOrCreateLog, LeaderEpochFileCache.assign 0.11 to 2.7, and later without topic ids",
        are_of_their_topics, ends_start=False, cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        STOPPED_TOGETHER, PremiseKind.AGE, "All log dirs of the broker were stopped together.",
        "All log dirs have .kafka_cleanshutdown, or none has one. ZooKeeper shows no clean stop without this file.",
        "Nothing: a log dir may have been offline. Not seen where a clean stop left no such file next to a log that"
        " may lead.",
        "The broker starts and may lead without the records that were written since.",
        "Find the newest disk of the broker, or start the broker after the others (kcheck recover).",
        "LogManager.shutdown 0.8.1 to 4.3.1; KafkaServer.shutdown 0.8.2 to 3.9", stopped_together, ends_start=False,
        may_lack=True,
    ),
)  # fmt: skip
