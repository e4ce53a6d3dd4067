"""Premises about log dirs without partitions, which are mount points or new disks."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.held import absent_partitions
from kcheck.core.premises.judged import not_seen
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.startup import Mode
from kcheck.model.names import META_PROPERTIES
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, some_of

DISKS_MOUNTED, SAME_DISKS = "P321", "P836"
"""The premises that each log dir is mounted, and that no log dir is new next to used ones."""


def are_mounted(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for empty log dirs where nothing shows how many replicas the broker has in them.

    A ZooKeeper broker writes a meta.properties into an empty log dir and starts. A KRaft broker needs a formatted one.
    If other log dirs have partitions, a formatted one is suspicious where assigned partitions are absent.
    """
    is_counted = facts.image is not None and facts.broker_id is not None and facts.has_all
    hollow = [log_dir for log_dir in facts.log_dirs if log_dir.is_hollow]
    is_controller = "broker" not in facts.roles and bool(facts.roles or facts.broker_id in facts.voters)
    if is_counted or is_controller:
        return
    if len(hollow) < len(facts.log_dirs) and not absent_partitions(facts):
        hollow = [log_dir for log_dir in hollow if log_dir.is_bare]
    provide = "BROKER=PATH, --config and --metadata of the cluster, or mount the disk"
    for path in (log_dir.path for log_dir in hollow if not (facts.mode is Mode.KRAFT and log_dir.is_bare)):
        sentence = (
            f"{path} has no partitions. If its disk is not mounted, {facts.name} creates the missing replicas again,"
            " empty"
        )
        yield not_seen(
            premise, facts, sentence, provide, PremiseEvidence(path, "no partition directories"), log_dir=path
        )


def are_same_disks(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for new log dirs next to used ones, if no metadata shows how many replicas were there."""
    used = next((row.path for row in facts.log_dirs if row.was_used and not row.is_hollow), None)
    new = [row.path for row in facts.log_dirs if row.is_new and row.is_named]
    if used is None or facts.image is not None:
        return
    for path in new:
        sentence = (
            f"{path} has no partition and no checkpoint, and {used} has both. If this disk replaced another one,"
            f" {facts.name} creates the replicas of the former disk again, empty"
        )
        evidence = PremiseEvidence(path, f"{META_PROPERTIES} alone")
        yield not_seen(premise, facts, sentence, "--config and --metadata of the cluster", evidence, log_dir=path)


def new_disks(facts: BrokerFacts) -> str:
    """Return that log dirs are new, as a clause; empty without one."""
    new = [row.path for row in facts.log_dirs if row.is_new]
    return f". {some_of(new)} {agree(len(new), 'is', 'are')} new and unused" if new else ""


TABLE = (
    Premise(
        DISKS_MOUNTED, PremiseKind.PRESENCE, "The disk of each log dir is mounted.",
        "A log dir has partitions; else P302 counts the replicas that are missing.",
        "Nothing. Not seen: no partitions, and no id, metadata or list of log dirs of the broker.",
        "The broker starts. Its replicas start empty, and may lead.",
        "Mount the disk, or name what shows that the broker has no replica there.",
        "LogManager.createAndValidateLogDirs, KafkaServer.checkpointBrokerMetadata 0.8.2 to 3.9", are_mounted,
        ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        SAME_DISKS, PremiseKind.IDENTITY, "No log dir is new next to used ones.",
        "No log dir is formatted and empty, while another one has partitions; else P302 counts the missing replicas.",
        "Nothing. Not seen: a formatted log dir without any checkpoint, while another one has partitions, and no"
        " metadata.",
        "The broker starts. The replicas of a replaced disk start empty, and may lead.",
        "Mount the former disk, if readable. Else see kcheck help dead-disk.",
        "LogManager.createAndValidateLogDirs 1.0 to 4.3.1; KafkaRaftServer.initializeLogDirs 3.3 to 4.3.1",
        are_same_disks, ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
