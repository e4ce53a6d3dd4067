"""Premises about the copy of the metadata that decides, and about the log dir that contains it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.cluster.metadata_version import unsupported
from kcheck.core.cluster.quorum import kept_to, parting
from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.voters import former_voter
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import Mode, Outcome
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import CLUSTER_METADATA, METADATA_DIRECTORY, TopicPartition
from kcheck.model.premises import (
    MAJORITY_KNOWN,
    SAME_HISTORY,
    TOPICS_KNOWN,
    JudgedPremise,
    PremiseEvidence,
    PremiseStatus,
)
from kcheck.words import agree, counted, listed, partition_name

LOGS_KEPT = "P202"
"""The premise that no voter has lost its metadata log."""
MAJORITY_STARTS = "P205"
"""The premise that a majority of the controllers starts."""
METADATA_IN_REACH = "P303"
"""The premise that metadata from elsewhere than the broker's own disk was given."""
METADATA_READ = "P353"
"""The premise that the metadata that the user names for the cluster has no problem."""


def metadata_log_dir(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the log dir that contains the metadata log with the log dir in the settings."""
    expected = facts.metadata_log_dir
    holders = _holders(facts)
    if facts.mode is not Mode.KRAFT or expected is None or not holders:
        return
    evidence = tuple(PremiseEvidence(path, METADATA_DIRECTORY) for path in holders)
    if holders == [expected]:
        yield proven(premise, facts, *evidence)
        return
    other = next(path for path in holders if path != expected)
    sentence = (
        f"{METADATA_DIRECTORY} is in {other}, but the settings keep it in {expected}: set metadata.log.dir, or restore"
        " the order of log.dirs"
    )
    yield refuted(premise, facts, sentence, *evidence, log_dir=other)


def _holders(facts: BrokerFacts) -> list[str]:
    """Return the log dirs that the broker loads and that contain the metadata log."""
    return [log_dir.path for log_dir in facts.log_dirs if log_dir.has_metadata_log and log_dir.is_named]


def voter_keeps_its_log(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for controllers without their metadata log. Voters without a log can elect an empty history.

    A node with partitions should have it, and a node that another copy names as a voter.
    """
    yield from _others_keep_theirs(premise, facts)
    if "controller" not in facts.roles or any(not log_dir.is_readable for log_dir in facts.log_dirs):
        return
    if former_voter(facts) is not None:
        return
    holders = _holders(facts)
    is_voter = any(facts.broker_id in copy.voters for copy in facts.copies)
    used = [row.path for row in facts.log_dirs if (row.directories or is_voter) and row.identity is not None]
    if holders:
        yield proven(premise, facts, *(PremiseEvidence(path, METADATA_DIRECTORY) for path in holders))
    elif used:
        with_what = " with partitions" if any(log_dir.directories for log_dir in facts.log_dirs) else ""
        sentence = (
            f"{facts.name} is a controller{with_what} and has lost {METADATA_DIRECTORY}: with other empty voters it can"
            " elect an empty history"
        )
        yield refuted(premise, facts, sentence, *(PremiseEvidence(path, f"no {METADATA_DIRECTORY}") for path in used))


def _others_keep_theirs(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look at the log dirs that the user names for their metadata, and that have none."""
    without = [copy for copy in facts.lost_copies if copy.damage is None]
    if facts.mode is not Mode.KRAFT or not without:
        return
    evidence = tuple(PremiseEvidence(copy.path, f"no {METADATA_DIRECTORY}") for copy in without)
    known = {copy.node_id for copy in facts.copies}
    voters = facts.voters or frozenset(() if facts.elected is None else facts.elected.voters or ())
    lost = {copy.node_id: copy.path for copy in without if copy.is_place and copy.node_id not in known}
    empty = voters & lost.keys()
    if empty and 2 * len(voters - empty) <= len(voters):
        names = ", ".join(f"{number} ({lost[number]})" for number in sorted(empty))
        sentence = (
            f"{agree(len(empty), 'controller', 'controllers')} {names} lost {METADATA_DIRECTORY}: no majority has the"
            " history of the cluster, and an empty one is elected, or none. Run kcheck recover quorum before "
            "you start a controller"
        )
        yield refuted(premise, facts, sentence, *evidence)
        return
    unclear = [copy.path for copy in without if not copy.is_place and copy.node_id not in known]
    if unclear:
        sentence = f"no {METADATA_DIRECTORY} is in {', '.join(unclear)}: whether a controller has lost it is not known"
        provide = "--metadata with the log dirs in which the controllers keep it (metadata.log.dir)"
        yield not_seen(premise, facts, sentence, provide, *evidence)


def with_refetched(start: LogDirPrediction, copies: Iterable[MetadataCopy]) -> LogDirPrediction:
    """Return a prediction without loss of metadata that another controller has, as the node fetches it again.

    KafkaRaftClient 3.3 to 4.3.1: A leader with a longer log sends the missing records.
    """
    own = start.broker_id
    others = (copy for copy in copies if copy.node_id != own and copy.node_id in copy.voters and copy.decides)
    end = max((copy.end for copy in others), default=0)
    rows = (
        row._replace(lost=None, outcome=Outcome.REPAIRED, reason=f"{row.reason}; the controllers have these records")
        if row.directory.topic == CLUSTER_METADATA and row.lost is not None and (row.lost.end or end) <= end
        else row
        for row in start.partitions
    )
    return start._replace(partitions=tuple(rows)) if end else start


def same_history(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the broker's copy of the metadata with the copies of voters. An observer never has more than they have.

    For a voter the copies of all observers count. If an observer has more, the voter's disk is an older one.
    """
    ends = [*_same_ends(premise, facts)]
    is_refuted = any(row.status is PremiseStatus.REFUTED for row in ends)
    yield from ends if is_refuted else [*_parted(premise, facts)] or ends


def _parted(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for copies with other batches than the broker's own.

    A broker follows the voters; of a controller all other copies count.
    """
    own = next((copy for copy in facts.copies if copy.node_id == facts.broker_id), None)
    others = [copy for copy in facts.copies if copy.node_id not in (None, facts.broker_id)]
    apart = [] if own is None else [copy for copy in others if parting(own, copy) is not None]
    if own is None or not apart:
        return
    voters = facts.configured_voters or own.voters
    if facts.broker_id in voters:
        is_refuted, agrees = len(apart) == len(others), 2 * len(apart) < len(others)
    else:
        against = sum(copy.node_id in voters for copy in apart)
        is_refuted = 2 * against >= len(voters) > 0
        agrees = 2 * (sum(copy.node_id in voters for copy in others) - against) > len(voters)
    if agrees:
        return
    other, at = apart[0], parting(own, apart[0])
    assert at is not None
    evidence = tuple(PremiseEvidence(copy.path, f"epoch {copy.epoch}, end {copy.end}") for copy in (own, other))
    sentence = (
        f"nodes {facts.broker_id} and {other.node_id} have two histories of the metadata. They have different batches"
        f" at offset {at.start} of epoch {at.epoch}: one may be the log of another cluster"
    )
    if is_refuted:
        yield refuted(premise, facts, sentence, *evidence)
    else:
        yield not_seen(premise, facts, sentence, "--metadata with the log dirs of the other controllers", *evidence)


def _same_ends(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the ends of the copies."""
    observers = [copy for copy in facts.copies if copy.node_id is not None and copy.node_id not in copy.voters]
    of_voters = [copy for copy in facts.copies if copy.node_id is not None and copy.node_id in copy.voters]
    voters = frozenset(number for copy in of_voters for number in copy.voters)
    newest = newest_copy(tuple(of_voters))
    own = observers if facts.broker_id in voters else [copy for copy in observers if copy.node_id == facts.broker_id]
    absent = voters - {copy.node_id for copy in of_voters}
    if newest is None or not own:
        return
    evidence = tuple(PremiseEvidence(copy.path, f"epoch {copy.epoch}, end {copy.end}") for copy in (*own, newest))
    if absent:
        ahead = max(own, key=lambda copy: (copy.epoch, copy.end))
        yield from _with_absent(premise, facts, ahead, newest, absent, evidence)
        return
    for copy in own:
        common = kept_to(copy, newest)
        if common >= copy.end and (copy.epoch, copy.end) <= (newest.epoch, newest.end):
            yield proven(premise, facts, *evidence)
            continue
        sentence = (
            f"the controllers have another history than broker {copy.node_id}. Its copy of the metadata goes to offset"
            f" {copy.end - 1} in epoch {copy.epoch}, theirs to offset {newest.end - 1} in epoch {newest.epoch}. They"
            f" agree at most before offset {common}"
        )
        strays = [log for log in facts.logs if log.partition.topic not in newest.image.topics]
        if strays and copy.node_id == facts.broker_id:
            records, logs = sum(log.end - log.start for log in strays), counted(len(strays), "partition")
            sentence += f"; up to {counted(records, 'record')} of {logs} would become stray"
        yield refuted(premise, facts, sentence, *evidence)


def _with_absent(
    premise: Premise, facts: BrokerFacts, ahead: MetadataCopy, newest: MetadataCopy, absent: frozenset[int],
    evidence: Sequence[PremiseEvidence],
) -> Iterator[JudgedPremise]:  # fmt: skip
    """Compare a broker's copy with the newest one of some voters. A majority should have all committed records.

    A broker makes a directory, or leads in a leader epoch, once the record is committed. Other records may never have
    been committed. Where half of the voters are `absent`, these can have them.
    """
    if (ahead.epoch, ahead.end) <= (newest.epoch, newest.end):
        return
    lacks = [*_later(newest.image, ahead.image)]
    held = {log.partition: log for log in facts.logs if ahead.node_id == facts.broker_id}
    acted = [row for row in lacks if row.partition in held and row.is_shown_by(held[row.partition])]
    names = listed(dict.fromkeys(row.name for row in acted or lacks), most=3)
    sentence = (
        f"the controllers here have older metadata than broker {ahead.node_id}. Theirs ends at offset"
        f" {newest.end - 1}, before {names}"
    )
    strays = [held[row.partition] for row in acted if row.is_new]
    if strays:
        records = counted(sum(log.end - log.start for log in strays), "record")
        sentence += f"; up to {records} of {counted(len(strays), 'partition')} would become stray"
    is_majority = 2 * len(absent) < len(newest.voters)
    if acted and is_majority:
        yield refuted(premise, facts, sentence, *evidence)
    elif lacks:
        who = f"{agree(len(absent), 'controller', 'controllers')} {listed(sorted(absent))}"
        provide = f"--metadata with the log dirs of {who}"
        yield not_seen(premise, facts, sentence, provide, *evidence)


class _Gained(NamedTuple):
    """A partition that an older copy of the metadata does not have, or has in an earlier leader epoch."""

    partition: TopicPartition
    topic_id: str | None
    former_epoch: int | None
    """Its leader epoch there; None for a new partition."""

    @property
    def is_new(self) -> bool:
        """True if the older copy does not have the topic."""
        return self.former_epoch is None

    @property
    def name(self) -> str:
        """The topic, or the partition."""
        return self.partition.topic if self.is_new else partition_name(*self.partition)

    def is_shown_by(self, log: LogFacts) -> bool:
        """Return whether a broker acted on the later record, by its log."""
        if self.former_epoch is None:
            return log.topic_id is not None and log.topic_id == self.topic_id
        return log.epoch is not None and log.epoch > self.former_epoch


def _later(older: ClusterImage, newer: ClusterImage) -> Iterator[_Gained]:
    """Yield the partitions that a newer image has changed since an older one."""
    for topic in newer.topics.values():
        known = older.topics.get(topic.name)
        is_same = known is not None and known.topic_id == topic.topic_id
        for number, part in topic.partitions.items():
            former = known.partitions.get(number) if is_same and known is not None else None
            epoch = None if former is None else former.leader_epoch or 0
            if epoch is None or (part.leader_epoch or 0) > epoch:
                yield _Gained(TopicPartition(topic.name, number), topic.topic_id, epoch)


def enough_voters(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for the copies of a majority of the voters, if the node is itself a voter.

    Its settings or a copy show that.
    """
    voters = facts.voters
    if facts.broker_id is None or ("controller" not in facts.roles and facts.broker_id not in voters):
        return
    known = {copy.node_id for copy in facts.copies} & voters
    damaged = [copy for copy in facts.damaged_copies if copy.node_id in voters - known]
    missing = voters - known - {copy.node_id for copy in damaged}
    if voters and len(known) > len(voters) // 2:
        yield proven(premise, facts, *(PremiseEvidence(copy.path, f"end {copy.end}") for copy in facts.copies))
    else:
        names = f"controllers {', '.join(map(str, sorted(missing)))}" if missing else "the other controllers"
        sentence = f"which history the controllers will have is not known: {facts.name} is one of them"
        sentence += "".join(
            f"; the copy of controller {copy.node_id} cannot be read in full ({copy.path})" for copy in damaged
        )
        provide = f"--metadata with the log dirs of {names}, or run kcheck recover quorum if these are lost"
        yield not_seen(premise, facts, sentence, provide)


def topics_in_metadata(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a topic in the metadata of controllers that need no other one to elect a leader.

    Controllers that were formatted again have none. The copies and partitions of brokers have judgements of their own.
    A migration begins without topics.
    """
    voters, image, newest = facts.voters, facts.image, facts.newest
    known = {copy.node_id for copy in facts.copies}
    elects = facts.broker_id in voters and 2 * len(known & voters) > len(voters)
    if not elects or image is None or newest is None or image.migration or not known <= voters:
        return
    if image.topics or image.deleted:
        yield proven(premise, facts, PremiseEvidence(newest.path, counted(len(image.topics), "topic")))
    elif all(row.topic == CLUSTER_METADATA for log_dir in facts.log_dirs for row in log_dir.directories):
        names = f"{agree(len(voters), 'controller', 'controllers')} {listed(sorted(voters))}"
        sentence = (
            f"whether the cluster has topics is not known, because the metadata of {names} has none, as after a format"
        )
        provide = f"--metadata with the log dir of a broker; or --allow {premise.id} for a new cluster"
        yield not_seen(premise, facts, sentence, provide, PremiseEvidence(newest.path, f"end {newest.end}, no topic"))


def majority_starts(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look at the controllers given with the broker, and at its own vote. Without a majority no broker registers.

    A controller ends at a snapshot that it cannot load (MetadataLoader.handleLoadSnapshot). With metadata of a newer
    release no node starts (KC503). The controllers have lost nothing then.
    """
    if facts.newest is not None and unsupported(facts.newest.image, facts.release) is not None:
        return
    own = {(log_dir.identity or {}).get("cluster.id") for log_dir in facts.log_dirs}
    if facts.clusters and own.isdisjoint(evidence.says for evidence in facts.clusters):
        return  # The disk is of another cluster: P101.
    is_read = facts.release.reads_metadata_snapshot_at_start
    damaged = {copy.node_id: copy for copy in facts.damaged_copies if copy.lacks_snapshot and is_read}
    without_vote = frozenset[int | None]() if former_voter(facts) is None else {facts.broker_id}
    failing = {copy.node_id: copy for copy in facts.copies if copy.not_started is not None}
    voters, stopped = facts.voters, facts.voters & (facts.stopped | damaged.keys() | failing.keys() | without_vote)
    if stopped and len(voters - stopped) <= len(voters) // 2:
        every, these = (", ".join(map(str, sorted(numbers))) for numbers in (voters, stopped))
        verb = "does" if len(stopped) == 1 else "do"
        count = f"{len(stopped)} of {counted(len(voters), 'controller')} ({these})"
        sentence = f"{count} {verb} not start or vote: no majority is left to elect a leader"
        sentence += "".join(f"; {copy.path}: {copy.damage}" for node, copy in damaged.items() if node in stopped)
        sentence += "".join(f"; {copy.path}: {copy.not_started}" for node, copy in failing.items() if node in stopped)
        where = facts.config_path if facts.newest is None or not facts.newest.voters else facts.newest.path
        yield refuted(premise, facts, sentence, PremiseEvidence(where or "", f"voters {every}"))


def metadata_in_reach(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for metadata from elsewhere than the broker's own disk, as its own copy may be old."""
    if facts.image is not None and (facts.has_metadata_of_others or not facts.copies):
        yield proven(premise, facts, PremiseEvidence(facts.image_path or "", "metadata of the cluster"))
    elif facts.damaged_copies:
        return
    elif facts.mode is Mode.ZOOKEEPER and not facts.copies:
        empty = ", ".join(copy.path for copy in facts.lost_copies)
        why = f"no data of ZooKeeper is in {empty}" if empty else "its metadata is in ZooKeeper"
        sentence = f"what the cluster expects of {facts.name} is not known, because {why}"
        yield not_seen(premise, facts, sentence, "--metadata with ZooKeeper's data directory")
    elif facts.release.kraft_is_production_ready:
        known = "there is no copy of its metadata"
        if facts.image is not None:
            known = "the only copy of its metadata is its own"
        if any(copy.node_id != facts.broker_id for copy in facts.copies):
            known = "the other copies of its metadata end before the last registration"
        sentence = f"what the cluster expects of {facts.name} now is not known: {known}"
        yield not_seen(premise, facts, sentence, "--metadata with a controller's log dir")


def metadata_read(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for metadata that the user names and that has a problem, unless another copy serves.

    ZooKeeper or controllers may not start then, or may elect by other metadata.
    """
    if facts.damaged_copies and (facts.image is None or not (facts.has_metadata_of_others or not facts.copies)):
        path, *_, damage = facts.damaged_copies[0]
        sentence = f"what the cluster expects of {facts.name} is not known now, because the metadata in {path} cannot"
        sentence += f" be read in full ({damage})"
        provide = "--metadata with another copy"
        yield not_seen(premise, facts, sentence, provide, PremiseEvidence(path, damage or ""))


TABLE = (
    Premise(
        SAME_HISTORY, PremiseKind.METADATA, "The controllers have the history that the broker has.",
        "The copies of all voters contain the broker's own copy.",
        "The newest copy of a voter lacks entries of the broker's copy, or has other batches. Or the copies of a"
        " majority lack a topic or leader epoch on the disk of this broker. Not seen with copies of fewer, or if the"
        " disk shows no such record.",
        "The broker truncates its metadata and renames every partition to -stray, or waits for ever.",
        "Keep the broker down. Find the controllers with its history (kcheck cluster). Without them, run kcheck"
        " recover quorum.",
        "KafkaRaftClient, BrokerMetadataPublisher 3.3 to 4.3.1", same_history, is_of_quorum=True,
    ),
    Premise(
        LOGS_KEPT, PremiseKind.METADATA, "No voter has lost its metadata log.",
        "A log dir of each controller contains __cluster_metadata-0.",
        "A controller has partitions, or other copies name it, but it has no metadata log. Or no majority of the"
        " controllers has one. Not seen in a log dir of --metadata that may keep none.",
        "Voters with empty logs elect each other; every partition becomes stray.",
        "Start the other controllers first. If no majority has the metadata log, start none and run kcheck recover"
        " quorum. If no copy is left, run kcheck recover metadata.",
        "KafkaRaftClient.initialize 3.3 to 4.3.1", voter_keeps_its_log, is_of_quorum=True,
        cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        "P203", PremiseKind.METADATA, "The metadata log is in the log dir that the settings name for it.",
        "metadata.log.dir, or the first entry of log.dirs, contains __cluster_metadata-0.",
        "The metadata log is in another log dir.",
        "The process ends: found unexpected metadata location in data directory.",
        "Set metadata.log.dir, or restore the order of log.dirs.",
        "KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1", metadata_log_dir,
    ),
    Premise(
        MAJORITY_KNOWN, PremiseKind.METADATA, "A majority of the voters is known.",
        "The log dirs of a majority of the voters are given.",
        "Not seen with log dirs of a minority of the voters.",
        "Other voters can elect a history that lacks what this node has.",
        "Name the log dirs of other voters by --metadata. A majority lost its disks? Run kcheck recover quorum.",
        "KafkaRaftClient 3.3 to 4.3.1", enough_voters,
    ),
    Premise(
        MAJORITY_STARTS, PremiseKind.METADATA, "A majority of the voters starts.",
        "More than half of the voters are not among the given nodes that do not start or vote. In 3.8 and later a"
        " controller with a corrupt newest snapshot of the metadata counts as one of them.",
        "Half of the voters or more are given and do not start, or were formatted again.",
        "The broker waits for a leader of the controllers, and there can be none.",
        "First get the controllers to start. Run kcheck preflight for each of them.",
        "KafkaRaftClient, QuorumState 3.3 to 4.3.1", majority_starts, is_of_quorum=True,
    ),
    Premise(
        TOPICS_KNOWN, PremiseKind.METADATA, "The metadata of the controllers has the topics of the cluster.",
        "The copies of a majority of the controllers have a topic, or had one.",
        "Nothing. Not seen: controllers without a topic in their metadata, no partitions, and no log dir of a broker.",
        "After a format of the controllers brokers truncate their metadata, and rename every partition to -stray.",
        "Name the log dir of a broker by --metadata. In a new cluster: --allow P851.",
        "KafkaRaftClient, BrokerMetadataPublisher 3.3 to 4.3.1", topics_in_metadata,
    ),
    Premise(
        METADATA_IN_REACH, PremiseKind.PRESENCE, "Metadata that is not from the broker's own disk is in reach.",
        "--metadata names a controller's log dir or ZooKeeper's data, or another node's copy is given. That copy has"
        " the last registration of the broker.",
        "Not seen with only the broker's own copy of the metadata, or with none. Not seen with copies of before that"
        " registration either. P353 is about copies that cannot be read.",
        "Lost or reassigned partitions cannot be seen, nor an old copy of the disks.",
        "Name a controller's log dir by --metadata, or accept it: --allow P303. If no node has any metadata left:"
        " kcheck recover metadata.",
        "BrokerMetadataPublisher 3.3 to 4.3.1", metadata_in_reach,
    ),
    Premise(
        METADATA_READ, PremiseKind.METADATA, "The metadata that the user names has no problem.",
        "kcheck reads all of a copy that --metadata names.",
        "Not seen with a missing, corrupt or contradictory part of each copy that --metadata names.",
        "ZooKeeper or the controllers may not start, or may elect by older metadata.",
        "Name another copy by --metadata. kcheck cluster names the problem. ZooKeeper lost its snapshots? Restore them"
        " from a backup or another server.",
        "FileTxnSnapLog.restore 3.5.3 to 3.8; KafkaRaftClient, MetadataLoader 3.3 to 4.3.1", metadata_read,
        cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
