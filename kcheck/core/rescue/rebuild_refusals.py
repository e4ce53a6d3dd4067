"""Reasons why metadata cannot be made again from these disks, and the missing input."""

from collections.abc import Iterator, Sequence

from kcheck.core.rescue.broker_role import roles_of
from kcheck.core.rescue.held import HeldDisks
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.core.rescue.rebuild import Rebuild, Wanted, topic_ids
from kcheck.core.rescue.refusals import RescueRefusal, missing_disk
from kcheck.core.rescue.znodes import is_znode_name
from kcheck.words import agree, counted, listed, partition_name, shell_word

_ATOMIC_COUNT_MAX = 10_000
"""The most records that a controller appends at once (QuorumController.MAX_RECORDS_PER_BATCH)."""
_WITH_TRANSACTIONS = 13
"""From this metadata.version on the first records are a transaction of any size (3.6-IV1)."""
_KRAFT = 1
"""The version of meta.properties of a KRaft broker."""
_SHOWN_COUNT = 3
"""Number of refusals of a kind that are shown; the others are counted."""


def refusals_of_held(nodes: Sequence[RescueNode], disks: HeldDisks, wanted: Wanted) -> Iterator[RescueRefusal]:
    """Yield what is wrong with the disks of the brokers."""
    if not disks.partitions:
        bring = "Name the log dirs of every broker. They hold its topics and records."
        yield RescueRefusal("no-partitions", "No log dir here has a partition.", bring)
    places = [(row.cluster_id, row.path) for row in disks.log_dirs] + [(row.cluster_id, row.log_dir) for row in nodes]
    clusters = {cluster: path for cluster, path in reversed(places) if cluster is not None}
    if len(clusters) > 1:
        *_, (other, other_path), (one, path) = clusters.items()
        why = f"{path} is of cluster {one}, {other_path} of cluster {other}."
        bring = "Name the log dirs of one cluster, and format the new controller with its cluster id."
        yield RescueRefusal("two-clusters", why, bring)
    for row in disks.log_dirs:
        if row.is_bare and row.broker_id in wanted.dead:
            continue
        if row.is_bare and row.unlisted is None:
            yield missing_disk(row.broker_id, row.path)
        elif row.unlisted is not None:
            bring = (
                "Mount the disk. If the disk is lost, remove the path from log.dirs. Partitions without another replica"
                " then stay offline."
            )
            yield RescueRefusal("missing-disk", f"{row.path} cannot be read: {row.unlisted}.", bring)
        if row.locked_by is not None:
            bring = f"Stop node {row.broker_id}, and ask again."
            yield RescueRefusal("running", f"A process runs on {row.path}.", bring)
    yield from _of_log_dirs(disks)
    yield from _of_copies(nodes, disks, wanted)
    yield from _of_topic_ids(disks)


def _of_log_dirs(disks: HeldDisks) -> Iterator[RescueRefusal]:
    """Yield the log dirs of a broker that are not here. The broker would set every directory in them aside."""
    known = {} if disks.old is None else disks.old.image.brokers
    short = dict(reversed(disks.unnamed))
    for number in disks.brokers:
        here = {row.directory_id for row in disks.log_dirs if row.broker_id == number}
        registered = {*known[number].log_dirs} if number in known and None not in here else set[str]()
        if number in short:
            why = f"{short[number]} is a log dir of broker {number} too, and was not named."
        elif registered - here:
            why = f"The metadata names {counted(len(registered), 'log dir')} of broker {number}, and not all are here."
        else:
            continue
        bring = f"Name all of them, or the server.properties of the broker ({number}=PATH)."
        yield RescueRefusal("unnamed-log-dirs", why, bring, forced=True)


def _of_copies(nodes: Sequence[RescueNode], disks: HeldDisks, wanted: Wanted) -> Iterator[RescueRefusal]:
    """Yield what the copies of the metadata that are left say against it."""
    for node in nodes:
        if node.running and node.node_id not in disks.brokers:
            bring = f"Stop node {node.node_id}, and ask again."
            yield RescueRefusal("running", f"A process runs on {node.log_dir}.", bring)
        if node.changing:
            bring = f"Stop node {node.node_id}, copy its log dir again, and ask again."
            yield RescueRefusal("changing", f"The metadata log in {node.log_dir} changed while kcheck read it.", bring)
    old = disks.old
    if wanted.standalone:
        return
    if old is not None and is_enough(disks):
        yield RescueRefusal(
            "metadata-here",
            f"The copy of node {old.node_id} knows every topic and every leader epoch of these disks.",
            "Use kcheck recover quorum, which keeps the metadata as it is.",
            forced=True,
        )
    named = {*_combined_voters(nodes)} - {node.node_id for node in nodes}
    if old is not None:
        replicas = (one for _, _, part in old.image.partitions() for one in part.replicas)
        named |= {*old.image.brokers, *replicas} - {*disks.brokers}
    missing = sorted(named - {*wanted.dead})
    if missing:
        some = f"{agree(len(missing), 'Broker', 'Brokers')} {listed(missing)}"
        yield RescueRefusal(
            "unnamed-nodes",
            f"{some} may have records or metadata that no disk here has.",
            f"Name {agree(len(missing), 'its', 'their')} log dirs ({missing[0]}=PATH), or give up what never comes"
            f" back (--dead {missing[0]}).",
        )


def _combined_voters(nodes: Sequence[RescueNode]) -> Iterator[int]:
    """Yield the controllers in the settings of nodes that are brokers too, as the others are then."""
    for node in nodes:
        if {"broker", "controller"} <= roles_of(node.settings):
            yield from node.configured


def is_enough(disks: HeldDisks) -> bool:
    """Return whether an old copy knows every replica of the disks, with leader epochs that are not below theirs."""
    if disks.old is None or disks.old.missing is not None:
        return False
    topics = disks.old.image.topics
    for (name, number), held in disks.partitions.items():
        known = topics.get(name)
        part = None if known is None else known.partitions.get(number)
        if part is None or any(row.epoch > (part.leader_epoch or 0) for row in held.replicas):
            return False
        if known is not None and any(row.topic_id not in (None, known.topic_id) for row in held.replicas):
            return False
    return True


def _of_topic_ids(disks: HeldDisks) -> Iterator[RescueRefusal]:
    for name, held in sorted(disks.by_topic().items()):
        ids = topic_ids(held)
        if len(ids) > 1:
            yield RescueRefusal(
                "two-topics",
                f"Directories of {name} have the topic ids {listed(sorted(ids))}: two topics of one name.",
                "Move the directories of the older one outside every log dir; kcheck recover topic brings them back.",
            )


def refusals_of_rebuild(disks: HeldDisks, plan: Rebuild, wanted: Wanted) -> Iterator[RescueRefusal]:
    """Yield which partitions have no replica, none that loads, or two histories."""
    if not wanted.dead and not wanted.standalone:
        yield from _of_missing(disks, plan, wanted)
    answers, ended = wanted.answers.topics, dict(disks.ended)
    explained = {
        row.broker_id for row in disks.log_dirs if row.unlisted is not None or row.cluster_id != disks.cluster_id
    }
    for number, reason in (row for row in disks.ended if row[0] not in explained):
        bring = "Solve that first. kcheck preflight shows when the broker may start. Then ask again."
        yield RescueRefusal("no-start", f"Broker {number} does not start: {reason}.", bring)
    for (name, number), held in sorted(disks.partitions.items()):
        if name in answers and number in answers[name].isr:
            continue
        which = partition_name(name, number)
        path = f"topics.{name}.isr.{number}"
        if held.best is None and ended.keys().isdisjoint(row.broker_id for row in held.replicas):
            yield RescueRefusal(
                "no-replica",
                f"No replica of {which} loads.",
                f"Repair one (kcheck repair), or name a broker in the answers file: {path}.",
            )
        elif held.best is not None and (held.lost is None or held.lost):
            count = "an unknown number of records" if held.lost is None else counted(held.lost, "record")
            yield RescueRefusal(
                "two-histories",
                f"Replicas of {which} differ: under broker {held.best} the cluster loses {count}.",
                f"Decide who leads (kcheck elect), in the answers file: {path}.",
                forced=True,
            )
    yield from _of_answers(disks, plan)


def _of_missing(disks: HeldDisks, plan: Rebuild, wanted: Wanted) -> Iterator[RescueRefusal]:
    """Yield which replicas no disk here has, although their brokers are not given up."""
    missing, few = _missing(plan, wanted), [] if disks.old is not None else [*_few(disks, wanted)]
    if missing:
        yield RescueRefusal(
            "missing-disk",
            f"No disk here has {listed(missing, most=_SHOWN_COUNT)}.",
            "Name the log dirs of the broker that has it, or give it up with --dead BROKER. The partition then "
            "stays offline.",
        )
    if few:
        yield RescueRefusal(
            "fewer-replicas",
            f"{listed(few, most=_SHOWN_COUNT)} {agree(len(few), 'has', 'have')} fewer replicas here than other"
            " partitions of the topic.",
            "Name the log dirs of the broker that has the others, or give it up (--dead BROKER).",
            forced=True,
        )


def _few(disks: HeldDisks, wanted: Wanted) -> Iterator[str]:
    """Yield the partitions with fewer replicas than others of the topic; a missing disk may have more records."""
    most: dict[str, int] = {}
    for (name, _), held in disks.partitions.items():
        most[name] = max(most.get(name, 0), len(held.replicas))
    for (name, number), held in sorted(disks.partitions.items()):
        answer = wanted.answers.topics.get(name)
        if len(held.replicas) < most[name] and (answer is None or number not in answer.replicas):
            yield partition_name(name, number)


def _missing(plan: Rebuild, wanted: Wanted) -> list[str]:
    """Return the partitions without a disk that the user has not given up."""
    answers = wanted.answers.topics
    return [
        partition_name(name, number)
        for name, number in plan.without_disk
        if name not in answers or number not in answers[name].replicas
    ]


def _of_answers(disks: HeldDisks, plan: Rebuild) -> Iterator[RescueRefusal]:
    """Yield contradictions between the answers and the disks (missing replicas, or used producer ids)."""
    on_disk = disks.by_topic()
    for topic in plan.topics:
        for number, part in topic.partitions.items():
            held = disks.partitions.get((topic.name, number))
            holders = {*part.replicas} if held is None else {row.broker_id for row in held.replicas}
            if not {*part.isr} <= {*part.replicas} & holders:
                yield RescueRefusal(
                    "answers",
                    f"A broker in the ISR of {partition_name(topic.name, number)} has no replica of it.",
                    f"Correct topics.{topic.name} in the answers file.",
                )
            unnamed = set() if held is None else {row.broker_id for row in held.replicas} - {*part.replicas}
            if unnamed and {*part.isr} <= {*part.replicas} & holders:
                yield RescueRefusal(
                    "answers",
                    f"The answers leave out the replica of {partition_name(topic.name, number)} on broker"
                    f" {min(unnamed)}, which can have more records.",
                    f"Add the broker to topics.{topic.name} in the answers file.",
                    forced=True,
                )
            ends = {(row.epoch, row.end) for row in held.replicas if row.broker_id in part.isr} if held else set()
            if len(ends) > 1:
                yield RescueRefusal(
                    "short-replica",
                    f"Replicas in the ISR of {partition_name(topic.name, number)} end differently. The last broker "
                    f"that registers leads, and the others lose the records that it lacks.",
                    f"Name the best one alone: topics.{topic.name}.isr.{number} in the answers file.",
                    forced=True,
                )
        if on_disk.get(topic.name, {}).keys() - topic.partitions.keys():
            count = f"partitions of {topic.name}"
            why = f"The answers have fewer {count} than the disks."
            yield RescueRefusal("answers", why, f"Correct topics.{topic.name} in the answers file.")
    if plan.next_producer_id <= disks.producer_id:
        why = f"next_producer_id {plan.next_producer_id} is not above {disks.producer_id}, which the disks know."
        yield RescueRefusal("answers", why, "Correct it in the answers file, or producers fail.")


def refusals_of_bootstrap(nodes: Sequence[RescueNode], record_count: int, level: int) -> Iterator[RescueRefusal]:
    """Yield why the first records of a controller cannot be the metadata; `level` is its metadata.version.

    A node with an older copy waits forever, or truncates it to nothing and ends. In 3.5 and earlier the records are one
    batch (QuorumController, KafkaRaftClient 3.3 to 4.3.1).
    """
    for node in nodes:
        if node.copy is not None:
            yield RescueRefusal(
                "old-copy",
                f"Node {node.node_id} has a copy of the metadata, which the new one would contradict.",
                "Leave out --bootstrap: a snapshot takes the place of all copies.",
            )
    if level < _WITH_TRANSACTIONS and record_count > _ATOMIC_COUNT_MAX:
        yield RescueRefusal(
            "too-many-records",
            f"The metadata has {record_count} records, and a controller of metadata.version {level} takes"
            f" {_ATOMIC_COUNT_MAX} at its first start.",
            "Leave out --bootstrap: a snapshot has no such limit.",
        )


def refusals_of_zookeeper(disks: HeldDisks, wanted: Wanted) -> Iterator[RescueRefusal]:
    """Yield why the metadata cannot be znodes."""
    of_kraft = [row.path for row in disks.log_dirs if row.version == _KRAFT]
    if of_kraft:
        yield RescueRefusal(
            "kraft-disks",
            f"{of_kraft[0]} is of a KRaft broker, which has no ZooKeeper.",
            "Leave out --zookeeper, and name a new controller.",
        )
    acls = (data["resourceName"] for name, data in wanted.answers.records if name == "AccessControlEntryRecord")
    unnamed = [name for name in acls if not is_znode_name(name)]
    if unnamed:
        yield RescueRefusal(
            "answers",
            f"The answers have an ACL of {shell_word(unnamed[0])}, and no znode can have that name.",
            "Remove the ACL there. A prefix with kafka-acls.sh --resource-pattern-type prefixed can cover the name.",
        )


def _or_zookeeper(disks: HeldDisks) -> str:
    """Return the other way back for disks of ZooKeeper brokers; empty for others."""
    of_zookeeper = disks.log_dirs and all(row.version != _KRAFT for row in disks.log_dirs)
    return " For a new ZooKeeper in place of a controller, write --zookeeper." if of_zookeeper else ""


def refusals_of_controller(
    controller: RescueNode | None, disks: HeldDisks, wanted: Wanted, *, is_empty: bool
) -> Iterator[RescueRefusal]:
    """Yield what the disk of the new controller lacks."""
    number = 201
    command = (
        f"kafka-storage.sh format --cluster-id {shell_word(disks.cluster_id or 'ID')} --config controller.properties"
    )
    if controller is None:
        yield RescueRefusal(
            "no-controller",
            "No disk of a new controller is here.",
            f"Format one ({command}), and name it: {number}=PATH.{_or_zookeeper(disks)}",
        )
        return
    if not is_empty:
        yield RescueRefusal(
            "controller-not-empty",
            f"{controller.log_dir} has a metadata log. The controller would use that.",
            "Format an empty disk for the new controller.",
        )
    if "broker" in roles_of(controller.settings):
        yield RescueRefusal(
            "controller-is-broker",
            f"Node {controller.node_id} is a broker by its settings, and its disk has no partition.",
            f"Mount its former disk. A new controller has another id ({number}=PATH), and process.roles=controller.",
            forced=True,
        )
    if controller.cluster_id is None or not wanted.features:
        yield RescueRefusal(
            "not-formatted",
            f"{controller.log_dir} is not formatted, because meta.properties or bootstrap.checkpoint is missing.",
            f"Format it: {command}.",
        )
