"""Premises about elections of replicas that were not in sync.

The others delete their additional records once they follow.

The static configuration of the broker itself does not count here, only the controllers' (`ClusterImage.config`).
"""

from collections.abc import Iterator

from kcheck.core.election.election import standing
from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import EVERY_DISK, not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import UNCLEAN, UncleanElection
from kcheck.model.entries import Epoch
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import LISTED_MAX, broker_names, counted, offset_range, partition_name, some_of

FOLLOWED = "P602"
"""The premise that the broker has followed each leader that was elected uncleanly."""
FOLLOWING = (FOLLOWED, "P850")
"""The premises about replicas that have to follow these leaders."""


def elects_in_sync(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for partitions that the broker leads uncleanly if it is there before the replicas in sync."""
    if facts.image is None or facts.broker_id is None or facts.roles == {"controller"}:
        return
    image, kraft = facts.image, facts.mode is Mode.KRAFT
    behind: dict[bool | None, list[str]] = {}
    for topic, number, partition in image.partitions():
        if facts.broker_id not in partition.replicas or facts.broker_id in partition.in_sync:
            continue
        if partition.lacks_state and not kraft:
            continue  # P825
        rules = standing(image, topic, partition, (), facts.release, kraft=kraft).rules
        allowed = None if rules.unclean_unseen else rules.unclean
        behind.setdefault(allowed, []).append(partition_name(topic.name, number))
    where = image.settings or (facts.image_path or "",)
    if on := behind.get(True):
        evidence = (PremiseEvidence(path, f"{UNCLEAN}=true, or a topic has it") for path in where)
        sentence = (
            f"{facts.name} is not in sync in {some_of(on)}, and leads there if it is back first, since {UNCLEAN} is"
            " on. The others then delete the records that it lacks; whether they have more is not known"
        )
        yield not_seen(premise, facts, sentence, EVERY_DISK, *evidence)
    # Of a broker that has only its own copy of the metadata, P303 says that its place is not known.
    others = [copy for copy in facts.copies if copy.node_id != facts.broker_id or copy.is_only_voter]
    if (unseen := behind.get(None)) and (others or not facts.copies):
        sentence = (
            f"{facts.name} is not in sync in {some_of(unseen)}. Whether the controllers elect it anyway is not known"
            f" ({UNCLEAN})"
        )
        node = "a controller" if kraft else "the broker"
        yield not_seen(premise, facts, sentence, f"the server.properties of {node}, by --metadata or --config")
    if False in behind and len(behind) == 1:
        yield proven(premise, facts, *(PremiseEvidence(path, f"no {UNCLEAN}=true") for path in where))


def has_followed(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs without the epoch of a leader that was elected uncleanly while the broker was down."""
    for row, epoch, election in _elections(facts):
        name, leader = partition_name(*row.partition), election.leader
        evidence = (
            PremiseEvidence(facts.image_path or "", f"{name}: unclean election of {leader} at {election.offset}"),
            PremiseEvidence(f"{row.log_dir}/{name}", f"newest leader epoch {epoch}, log end {row.end}"),
        )
        elected = f"broker {leader} was elected uncleanly at epoch {election.epoch}, which {name} does not have here"
        if epoch >= election.epoch or facts.broker_id not in (*election.before, *election.others):
            yield proven(premise, facts, *evidence)
        elif facts.broker_id in election.others:
            sentence = f"{elected}; whether {facts.name} has records that it lacks is not known"
            yield not_seen(premise, facts, sentence, EVERY_DISK, *evidence)
        else:
            sentence = (
                f"{elected}: starting {facts.name} loses its records that broker {leader} lacks, at most"
                f" {row.end - row.start} ({offset_range(row.start, row.end)}). Save them first: kcheck recover with the"
                " log dirs of all brokers and --output-dir DIR"
            )
            yield refuted(premise, facts, sentence, *evidence, log_dir=row.log_dir, partition=name)


def has_states(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for partitions without the znode state, because a person deleted the znode.

    The controller treats them as new (PartitionStateMachine). A new partition has no log yet.
    """
    if facts.image is None or facts.broker_id is None or facts.mode is not Mode.ZOOKEEPER:
        return
    held = {log.partition for log in facts.logs}
    lacking = [
        partition_name(topic.name, number)
        for topic, number, partition in facts.image.partitions()
        if partition.lacks_state and facts.broker_id in partition.replicas
        if len(partition.replicas) > 1 and TopicPartition(topic.name, number) in held
    ]
    evidence = PremiseEvidence(facts.image_path or "", f"no state of {some_of(lacking)}" if lacking else "has states")
    if lacking:
        sentence = (
            f"ZooKeeper has no state of {some_of(lacking)}, and directories are here. The controller treats them as new"
            " partitions. The first replica that is back leads, and the others delete their additional records"
        )
        yield refuted(premise, facts, sentence, evidence)
    elif held:
        yield proven(premise, facts, evidence)


def are_followed(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for former members of the ISR that have not followed an unclean election, where this broker has."""
    image = facts.image
    waiting: dict[str, set[int]] = {}
    for topic, number, partition in () if image is None or not image.unclean else image.partitions():
        election = image and image.unclean_election(topic, number)
        if election and facts.broker_id in {*partition.replicas} - {*election.before, *election.others}:
            waiting[partition_name(topic.name, number)] = {*election.before} & {*partition.replicas}
    names = [name for name, brokers in waiting.items() if brokers]
    evidence = PremiseEvidence(facts.image_path or "", f"{counted(len(names), 'unclean election')} not followed")
    if names:
        behind = set().union(*waiting.values())
        who = broker_names(sorted(behind), LISTED_MAX)
        sentence = (
            f"{who} did not follow an unclean election of {some_of(names)}. If {facts.name} leads there, the records"
            f" that {facts.name} lacks are deleted; whether there are any is not known"
        )
        yield not_seen(premise, facts, sentence, EVERY_DISK, evidence)
    elif waiting:
        yield proven(premise, facts, evidence)


def _elections(facts: BrokerFacts) -> Iterator[tuple[LogFacts, Epoch, UncleanElection]]:
    """Yield the logs of partitions with an unclean election, with their newest epoch and that election."""
    image, newest = facts.image, {log.partition: (log, log.epoch) for log in facts.logs if log.epoch is not None}
    for topic, number, partition in () if image is None or not image.unclean else image.partitions():
        row = newest.get(TopicPartition(topic.name, number))
        election = image and image.unclean_election(topic, number)
        if row and election and facts.broker_id in partition.replicas:
            yield *row, election


TABLE = (
    Premise(
        "P601", PremiseKind.ELECTIONS, "No controller lets a replica of the broker lead that is not in sync.",
        "Each replica is in sync, or unclean.leader.election.enable is false. The topic sets it, the controllers'"
        " configuration in the metadata, or their server.properties. A controller without a given file counts as having"
        " the given settings.",
        "Not seen: it is true, or no server.properties of a controller is given, and a replica is not in sync.",
        "If the broker is back first, it leads. The others then delete the records that it lacks.",
        "Start the replicas in sync first, in the order of kcheck recover.",
        "ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic 3.9 to 4.3.1; PartitionStateMachine 0.8.2 to"
        " 3.9",
        elects_in_sync, ends_start=False,
    ),
    Premise(
        "P825", PremiseKind.ELECTIONS, "ZooKeeper has the state of each partition.",
        "Below each partition of a log in ZooKeeper is the znode state, with leader and ISR.",
        "The znode is missing, a directory is here, and several brokers have replicas.",
        "The controller treats the partition as a new one. The first replica that is back leads, and the others delete"
        " their additional records.",
        "Restore ZooKeeper's data, or write the znode state again, with the last leader in isr. Else follow kcheck"
        " recover.",
        "ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions 2.1 to 3.9; PartitionStateMachine 0.8.2 to 2.0",
        has_states, ends_start=False, is_counted=True,
    ),
    Premise(
        FOLLOWED, PremiseKind.ELECTIONS, "The broker has followed each leader that was elected uncleanly.",
        "The newest leader epoch of the log is at least the epoch of the last unclean election in the metadata.",
        "An older one, of a replica that was in sync, or led, before that election and not since. Not seen: others.",
        "The broker truncates its log to the new leader's, and loses the records that only it has.",
        "Save its records first (kcheck recover --output-dir DIR). Then start it with --allow P602.",
        "PartitionChangeBuilder 3.3 to 4.3.1; PartitionStateMachine 0.10.2 to 3.9; ReplicaFetcherThread",
        has_followed, ends_start=False, rules=("KC254",), is_counted=True,
    ),
    Premise(
        "P850", PremiseKind.ELECTIONS, "No replica that was in sync still has to follow an unclean election.",
        "Each replica that was in sync before the last unclean election has been in sync since.",
        "Nothing. Not seen: one has not been, and this broker won or has followed that election.",
        "If the broker leads, the former replicas in sync delete the records that this leader lacks.",
        "Look for the leader that keeps most records, by kcheck recover with the log dirs of all brokers.",
        "PartitionChangeBuilder 3.3 to 4.3.1; PartitionStateMachine 0.10.2 to 3.9; ReplicaFetcherThread",
        are_followed, ends_start=False, is_counted=True,
    ),
)  # fmt: skip
