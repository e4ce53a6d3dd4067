"""Premises about ids: of clusters, nodes, log dirs and voters."""

from collections import Counter
from collections.abc import Iterator, Sequence

from kcheck.core.cluster.owner import owner_of, replicas_in
from kcheck.core.cluster.znode_tree import chroot_of
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.voters import former_voter, listed, newest_voter_set, static_voters
from kcheck.core.start.node_settings import stated_id
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import PROVIDER
from kcheck.model.names import META_PROPERTIES, PARTITION_METADATA
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, counted, partition_name, shell_line

NODE_ID = "P102"
"""The premise that settings, log dirs and arguments name the same broker."""
GENERATED_ID = "P103"
"""The premise that the broker does not get a new id."""
FORMATTED = "P104"
"""The premise that a log dir is formatted."""
TOPIC_IDS = "P109"
"""The premise that no directory has the id of another topic."""
_CLUSTER_ID = "cluster.id"
_CONNECT = "zookeeper.connect"


def cluster_id(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the cluster id of each log dir with the cluster ids of the given metadata."""
    named = Counter(evidence.says for evidence in facts.clusters)
    for log_dir in facts.log_dirs:
        own = (log_dir.identity or {}).get(_CLUSTER_ID)
        if own is None or not named:
            continue
        evidence = (PremiseEvidence(f"{log_dir.path}/{META_PROPERTIES}", f"cluster.id={own}"), *facts.clusters)
        votes = named + Counter((own,) if own in named else ())
        most = max(votes.values())
        theirs = [name for name, count in votes.items() if count == most]
        if theirs == [own]:
            yield proven(premise, facts, *evidence)
        elif own in theirs:
            sentence = f"the metadata is of two clusters, {' and '.join(sorted(theirs))}"
            yield not_seen(premise, facts, sentence, "only metadata of the broker's own cluster", *evidence)
        else:
            sentence = f"the disk of {facts.name} is of cluster {own}, the cluster is {', '.join(sorted(theirs))}"
            yield refuted(premise, facts, sentence, *evidence, log_dir=log_dir.path)


def chroot(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the path in zookeeper.connect with the znode below which the cluster has its topics."""
    connect = facts.setting(_CONNECT)
    if connect is None or PROVIDER in connect or facts.chroot is None or facts.mode is not Mode.ZOOKEEPER:
        return
    own, theirs = (path or "/" for path in (chroot_of(connect), facts.chroot))
    evidence = (
        PremiseEvidence(facts.config_path or "", f"{_CONNECT}={connect}"),
        PremiseEvidence(facts.image_path or "", f"topics below {theirs}"),
    )
    if own == theirs:
        yield proven(premise, facts, *evidence)
    else:
        sentence = f"{_CONNECT} has the path {own}, the topics of the cluster are below {theirs}"
        yield refuted(premise, facts, sentence, *evidence)


def node_id(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare node.id or broker.id of the settings, or the id that the user gives, with each meta.properties."""
    stated = stated_id(facts.config or {})
    if stated is None:
        yield from _given_id(premise, facts)
        return
    setting = PremiseEvidence(facts.config_path or "", f"broker {stated}")
    if facts.broker_id not in {None, stated, *(log_dir.node_id for log_dir in facts.log_dirs)}:
        sentence = f"the settings name broker {stated}, but the path is given for {facts.name}"
        yield refuted(premise, facts, sentence, setting)
        return
    for log_dir in facts.log_dirs:
        own = log_dir.node_id
        if own is None:
            continue
        place = PremiseEvidence(f"{log_dir.path}/{META_PROPERTIES}", f"broker {own}")
        if own == stated:
            yield proven(premise, facts, place, setting)
        else:
            sentence = f"{META_PROPERTIES} says broker {own}, but the settings name {stated}"
            yield refuted(premise, facts, sentence, place, setting, log_dir=log_dir.path)


def _given_id(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a disk that is given for another broker than its own, such as a swapped disk."""
    for log_dir in facts.log_dirs:
        own = log_dir.node_id
        if own not in (None, facts.broker_id):
            sentence = f"{META_PROPERTIES} says broker {own}, but the log dir is given for {facts.name}"
            place = PremiseEvidence(f"{log_dir.path}/{META_PROPERTIES}", f"broker {own}")
            yield refuted(premise, facts, sentence, place, log_dir=log_dir.path)


def generated_id(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a ZooKeeper broker that would generate its id although its log dirs contain replicas."""
    generates = (facts.setting("broker.id.generation.enable") or "true").lower() == "true"
    is_named = facts.config is None or stated_id(facts.config) is not None
    if facts.mode is not Mode.ZOOKEEPER or is_named or not generates:
        return
    places = [log_dir for log_dir in facts.log_dirs if log_dir.is_there and log_dir.is_readable]
    named = [log_dir for log_dir in places if "broker.id" in (log_dir.identity or {})]
    replicas = [log_dir.path for log_dir in places if log_dir.directories]
    if named:
        yield proven(premise, facts, PremiseEvidence(f"{named[0].path}/{META_PROPERTIES}", "broker.id"))
    elif replicas:
        setting = facts.setting("broker.id")
        stated = f"with broker.id={setting}" if setting else "without broker.id"
        sentence = (
            f"no log dir has a {META_PROPERTIES}: {stated} the broker gets a new id, and {_whose(facts, replicas)}"
        )
        yield refuted(premise, facts, sentence, *(PremiseEvidence(path, "replicas") for path in replicas))


def _whose(facts: BrokerFacts, paths: Sequence[str]) -> str:
    """Return which broker the replicas here belong to, in words."""
    here = replicas_in(directory for log_dir in facts.log_dirs for directory in log_dir.directories)
    owner = None if facts.image is None else owner_of(here, facts.image)
    if owner is None:
        return f"the replicas in {', '.join(paths)} stay with the old one"
    return f"the {counted(len(here), 'replica')} here belong to broker {owner} according to {facts.image_path}"


def is_formatted(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a KRaft node without a formatted log dir.

    Directories with partitions may be copies of some, unless they are all log dirs of a KRaft node.
    """
    if facts.mode is not Mode.KRAFT or any(log_dir.identity is not None for log_dir in facts.log_dirs):
        return
    there = [log_dir for log_dir in facts.log_dirs if log_dir.is_there and log_dir.is_readable]
    is_sure = facts.is_complete and (facts.config is not None or facts.release.is_kraft_only)
    paths = [log_dir.path for log_dir in there if is_sure or log_dir.is_bare]
    if paths:
        ids = sorted({evidence.says for evidence in facts.clusters}) or ["CLUSTER_ID"]
        words = shell_line(["--cluster-id", ids[0], "--config", facts.config_path or "server.properties"])
        are = agree(len(paths), "is", "are")
        sentence = f"{', '.join(paths)} {are} not formatted{_mount_first(facts)} kafka-storage.sh format {words}"
        yield refuted(premise, facts, sentence, *(PremiseEvidence(path, f"no {META_PROPERTIES}") for path in paths))


def _mount_first(facts: BrokerFacts) -> str:
    """Return the words before the command that formats an empty log dir."""
    if facts.is_expected is False or not any(log_dir.is_bare for log_dir in facts.log_dirs):
        return ";"
    return " or not mounted. Mount the disk. Only a new one needs"


def voter_is_controller(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a node that is a broker alone, although the settings list it as a voter."""
    own, voters, roles = stated_id(facts.config or {}), facts.configured_voters, facts.roles
    if not roles or own is None or not voters:
        return
    setting = PremiseEvidence(facts.config_path or "", f"process.roles={','.join(sorted(roles))}")
    if "controller" not in roles and own in voters:
        sentence = f"process.roles is broker, but node {own} is in controller.quorum.voters"
        yield refuted(premise, facts, sentence, setting)
    else:
        yield proven(premise, facts, setting)


def directory_ids(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for log dirs that the metadata lists under another broker, as of a cloned disk."""
    brokers = () if facts.newest is None else facts.newest.image.brokers.values()
    owners = {directory: broker.broker_id for broker in brokers for directory in broker.log_dirs}
    for log_dir in facts.log_dirs:
        own = log_dir.directory_id
        owner = None if own is None else owners.get(own)
        if owner is None:
            continue
        evidence = PremiseEvidence(f"{log_dir.path}/{META_PROPERTIES}", f"directory.id={own}")
        if owner == facts.broker_id:
            yield proven(premise, facts, evidence)
        elif facts.broker_id is not None and log_dir.node_id != owner:  # P102 names the owner.
            sentence = f"directory.id {own} is registered by broker {owner}: the disk is a copy of that broker's disk"
            yield refuted(premise, facts, sentence, evidence, log_dir=log_dir.path)


def voter_directory(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the directory id of a voter's metadata log dir with the voter set in the metadata."""
    newest = newest_voter_set(facts)
    ids = [(log_dir.path, own) for log_dir in facts.log_dirs if (own := log_dir.directory_id) is not None]
    if newest is None or not ids or facts.broker_id not in {voter.voter_id for voter in newest.voter_set}:
        return
    evidence = tuple(PremiseEvidence(f"{path}/{META_PROPERTIES}", f"directory.id={own}") for path, own in ids)
    former = former_voter(facts)
    if former is None:
        yield proven(premise, facts, *evidence)
        return
    others = frozenset(voter.voter_id for voter in newest.voter_set) - {facts.broker_id}
    missing = others - {copy.node_id for copy in facts.copies}
    sentence = (
        f"node {facts.broker_id} has directory {ids[0][1]}, the voter set has {former.directory_id}: it has no vote"
    )
    if missing:
        yield not_seen(premise, facts, sentence, f"the log dirs of voters {listed(frozenset(missing))}", *evidence)
    elif len(others) > 1:
        sentence += (
            ". The other voters start alone. Then kafka-metadata-quorum.sh gives the vote back, and kcheck cluster with"
            " the log dirs of all controllers has both commands"
        )
        yield not_seen(premise, facts, sentence, None, *evidence)
    else:
        yield refuted(premise, facts, f"{sentence}, and no majority of the voters is left", *evidence)


def topic_ids(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for directories with the id of another topic that has this partition here too.

    No broker renames them to -stray.

    The log refuses the id of its topic. If the replica leads, the exception ends ReplicaManager.applyDelta. Then later
    partitions of the same change are not led, and no partition is followed. If the replica follows, nothing ends. With
    ZooKeeper, only 2.8 accepts the log, as it compares the ids in the second request about a partition.
    """
    image, broker, release = facts.image, facts.broker_id, facts.release
    takes = facts.mode is Mode.ZOOKEEPER and release.has_partition_metadata and not release.compares_topic_ids
    if image is None or broker is None or not (takes or facts.mode is Mode.KRAFT):
        return
    logs = (log for log in facts.logs if log.other_name is None)  # P367 says the right name.
    for partition, log_dir, topic_id in ((log.partition, log.log_dir, log.topic_id) for log in logs):
        named, owner = image.topics.get(partition.topic), image.topics_by_id.get(topic_id or "")
        if named is None or owner is None or named.topic_id == topic_id:
            continue
        places = [topic.partitions.get(partition.partition) for topic in (named, owner)]
        if all(place is not None and broker in place.replicas for place in places):
            name = partition_name(*partition)
            then = "refuses it; once it is to lead it, it does not lead some or all of its other partitions;"
            then = f"{then} the name of the directory or the id is wrong"
            if takes:
                then = f"takes its records for those of {named.name}, and then neither leads nor follows it any more"
            sentence = f"{name} has the topic id of {owner.name}, {topic_id}: {facts.name} {then}"
            evidence = PremiseEvidence(f"{log_dir}/{name}/{PARTITION_METADATA}", f"topic_id: {topic_id}")
            yield refuted(premise, facts, sentence, evidence, log_dir=log_dir, partition=name)


TABLE = (
    Premise(
        "P101", PremiseKind.IDENTITY, "The log dirs are of the cluster that the metadata is of.",
        "cluster.id in meta.properties is the id of the given metadata.",
        "Another cluster.id in a meta.properties.",
        "KRaft controllers refuse the registration for ever; a ZooKeeper broker ends.",
        "Bring the disk of this cluster, or name the metadata of the disk's cluster.",
        "ClusterControlManager.registerBroker 3.3 to 4.3.1; KafkaServer.startup 2.4 to 3.9", cluster_id,
    ),
    Premise(
        NODE_ID, PremiseKind.IDENTITY, "The settings and the log dirs name the same broker.",
        "node.id or broker.id of the settings is in every meta.properties.",
        "Another id in a meta.properties, or in a BROKER=PATH.",
        "The process ends: the stored node id does not match.",
        "Mount the disk of this broker, or correct node.id or broker.id, or BROKER=PATH.",
        "KafkaServer.getBrokerIdAndOfflineDirs to 3.6; MetaPropertiesEnsemble.verify 3.7 to 4.3.1", node_id,
    ),
    Premise(
        GENERATED_ID, PremiseKind.IDENTITY, "The broker keeps its id.",
        "The settings or a meta.properties name the id.",
        "Replicas, but no id in any place.",
        "ZooKeeper gives the broker a new id; its replicas stay with the old one.",
        "Set broker.id to the id in the metadata.",
        "KafkaServer.getOrGenerateBrokerId 0.9 to 3.9", generated_id,
    ),
    Premise(
        FORMATTED, PremiseKind.IDENTITY, "The log dirs are formatted.",
        "A log dir has a meta.properties.",
        "No log dir with a meta.properties.",
        "The process ends: no readable meta.properties files found.",
        "Mount the disk. Only a new one needs the kafka-storage.sh command of the reason.",
        "KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1", is_formatted,
    ),
    Premise(
        "P105", PremiseKind.IDENTITY, "The settings and quorum-state name the same voters.",
        "The ids in controller.quorum.voters of each controller are those in quorum-state.",
        "Other voters. In 3.9 and later only in two cases. A majority of the list needs new ones without the newest"
        " copy. Or a controller without all committed metadata can win. Not seen: voters without a given log dir.",
        "2.7 to 3.8: the process ends. 3.9 and later: no controller is elected, or an empty one.",
        "Restore controller.quorum.voters in the settings of all controllers and brokers.",
        "QuorumState.initialize 2.7 to 3.8; KafkaRaftClient 3.9 to 4.3.1", static_voters,
    ),
    Premise(
        "P106", PremiseKind.IDENTITY, "No other broker has registered these log dirs.",
        "The metadata lists each directory.id under this broker.",
        "A directory.id that the metadata lists under another broker.",
        "Controllers refuse the registration for ever, because another broker has registered the directory.",
        "Mount the disk of this broker. Format no disk that may have the only copy of records.",
        "ClusterControlManager.registerBroker 3.7 to 4.3.1", directory_ids,
    ),
    Premise(
        "P107", PremiseKind.IDENTITY, "A voter has the directory id of the voter set.",
        "directory.id in meta.properties is the id in the newest voter set.",
        "Another directory id, and no majority without the node. Not seen: voters without a given log dir.",
        "The node starts as an observer and has no vote.",
        "Bring the log dirs of the other voters (kcheck cluster).",
        "KRaftControlRecordStateMachine, VoterSet 3.9 to 4.3.1", voter_directory,
    ),
    Premise(
        "P108", PremiseKind.SETTINGS, "A voter has the role of a controller.",
        "process.roles contains controller, or the node is not in controller.quorum.voters.",
        "Only the role broker, but a place among the voters.",
        "The process ends: the node id must not be in the set of voters.",
        "Correct process.roles, or remove the node from controller.quorum.voters.",
        "KafkaConfig.validateValues 3.0 to 4.3.1", voter_is_controller,
    ),
    Premise(
        TOPIC_IDS, PremiseKind.IDENTITY, "No directory has the id of another topic.",
        "Each partition.metadata has the id that the cluster gave the topic of its directory.",
        "The id of another topic of which this broker has the same partition.",
        "InconsistentTopicIdException. If the broker is to lead the partition, some or all of its other "
        "partitions have no leader.",
        "Look at the records (kcheck dump). If the name is wrong, rename the directory. If only the id is wrong, run"
        " kcheck repair --adopt --against another replica.",
        "ReplicaManager.applyLocalLeadersDelta, BrokerMetadataPublisher 3.3 to 4.3.1; "
        "Partition.checkOrSetTopicId 2.8", topic_ids, ends_start=False, rules=("KC235",), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        "P314", PremiseKind.IDENTITY, "zookeeper.connect names the znode of the cluster.",
        "ZooKeeper has the topics below the path in zookeeper.connect.",
        "Another path, or a missing one.",
        "The broker makes a new cluster there and ends, because its log dirs have another cluster id. 2.3 and earlier "
        "start, but serve nothing.",
        "Write the path of the cluster into zookeeper.connect, after the last server.",
        "KafkaServer.initZkClient, KafkaServer.startup 0.8.2 to 3.9", chroot,
    ),
)  # fmt: skip
