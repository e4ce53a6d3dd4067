"""Rows and sentences of `kcheck recover metadata`."""

from collections.abc import Iterator

from kcheck.core.rescue.held import HeldDisks, HeldPartition
from kcheck.core.rescue.rebuild import Rebuild, RebuiltTopic
from kcheck.model.report import Row
from kcheck.words import LISTED_MAX, agree, broker_names, counted, listed, partition_name


def sentences(disks: HeldDisks, plan: Rebuild) -> Iterator[str]:
    """Yield what comes back, and what only the user knows, as sentences."""
    if not disks.partitions:
        yield "No log dir here has a partition."
        return
    topics, partitions = counted(len(plan.topics), "topic"), counted(len(disks.partitions), "partition")
    comes, brokers = agree(len(plan.topics), "comes", "come"), broker_names(disks.holders, LISTED_MAX)
    yield f"{topics} with {partitions} {comes} back from the disks of {brokers}."
    if plan.without_disk:
        names = [partition_name(topic, number) for topic, number in plan.without_disk]
        has = agree(len(names), "has no disk here, and stays", "have no disk here, and stay")
        yield f"{counted(len(names), 'partition')} {has} offline: {listed(names, most=3)}."
    if disks.old is not None:
        yield f"Configurations, ACLs, users and quotas come from the older copy of node {disks.old.node_id}."
        if disks.old.missing is not None:
            yield f"A part of that copy is missing ({disks.old.missing}). Add the rest to the answers file."
    if plan.left_out:
        yield f"That copy names topics that no disk has: {listed(plan.left_out, most=3)}. They are left out."
    yield from _unknown(disks, plan)


def _unknown(disks: HeldDisks, plan: Rebuild) -> Iterator[str]:
    assumed = {word for topic in plan.topics for word in topic.assumed}
    if "configs" in assumed:
        yield "Topic configurations are not known. kcheck turns retention off, so that nothing is deleted."
    remote = [topic for topic in plan.topics if topic.name in disks.tiered and "configs" in topic.assumed]
    if remote:
        is_on = "remote.storage.enable" in remote[0].configs
        names = listed((topic.name for topic in remote), most=3)
        what = (
            "kcheck turns remote storage on for them"
            if is_on
            else "this cluster does not read them, and changes nothing there"
        )
        yield f"Records of {names} are in remote storage: {what}."
    if "replicas" in assumed:
        yield "The order of replicas is not known, so the preferred replica alternates."
    if "partitions" in assumed:
        yield "A topic has as many partitions as the disks show."
    if disks.old is None and not plan.records:
        yield "ACLs, SCRAM users, quotas and broker configurations are lost. Add them to the answers file."


def disks_row(disks: HeldDisks) -> Row:
    """Return the contents of the disks."""
    return {
        "cluster_id": disks.cluster_id,
        "brokers": disks.brokers,
        "old_copy": None if disks.old is None else disks.old.node_id,
        "largest_producer_id": disks.producer_id,
        "leftovers": tuple(
            {"broker_id": row.broker_id, "log_dir": row.path, "dir": name}
            for row in disks.log_dirs
            for name in row.leftovers
        ),
    }


def rebuild_row(plan: Rebuild, disks: HeldDisks) -> Row:
    """Return the metadata of a plan."""
    return {
        "next_producer_id": plan.next_producer_id,
        "elr": plan.elr,
        "features": dict(plan.features),
        "left_out": plan.left_out,
        "topics": tuple(_topic_row(topic, disks) for topic in plan.topics),
    }


def _topic_row(topic: RebuiltTopic, disks: HeldDisks) -> Row:
    return {
        "topic": topic.name,
        "topic_id": topic.topic_id,
        "new_id": topic.has_new_id,
        "configs": dict(topic.configs),
        "suggested_configs": dict(topic.suggested),
        "assumed": topic.assumed,
        "partitions": tuple(
            {
                "partition": number,
                "replicas": part.replicas,
                "isr": part.isr,
                "leader_epoch": part.leader_epoch,
                "offline": number in topic.placeholders,
                "ends": _ends(disks.partitions.get((topic.name, number))),
            }
            for number, part in topic.partitions.items()
        ),
    }


def _ends(held: HeldPartition | None) -> Row:
    return {} if held is None else {str(row.broker_id): row.end for row in held.replicas}


def assumed_words(topic: RebuiltTopic) -> str:
    """Return the assumptions about a topic, in a few words."""
    words = []
    if topic.has_new_id:
        words.append("new id")
    if topic.placeholders:
        words.append(f"offline {listed(topic.placeholders, most=3)}")
    if "configs" in topic.assumed:
        words.append("retention off")
    if topic.suggested:
        words.append("perhaps " + listed(f"{name}={value}" for name, value in topic.suggested.items()))
    return ", ".join(words) or "-"


def leader_words(topic: RebuiltTopic) -> str:
    """Return the first leaders of the partitions of a topic."""
    served = (part for number, part in topic.partitions.items() if number not in topic.placeholders)
    return listed(sorted({number for part in served for number in part.isr}), most=4) or "-"
