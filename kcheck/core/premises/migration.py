"""Premises about a migration from ZooKeeper to KRaft, in which all nodes of a cluster have to take part."""

from collections.abc import Iterator

from kcheck.core.premises.facts import MIGRATION, BrokerFacts, enables_migration
from kcheck.core.premises.judged import not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, listed

ZOOKEEPER_ELECTS, REGISTERED = "P373", "P374"
"""The premises that a broker has a controller, and that the controllers register the broker."""
_BEFORE, _DURING = "pre-migration", "migration"
_ENDED = ("none", "post-migration")


def _stated(facts: BrokerFacts) -> PremiseEvidence:
    """Return the setting as evidence."""
    is_on = enables_migration(facts.config or {})
    return PremiseEvidence(facts.config_path or "", f"{MIGRATION}=true" if is_on else f"no {MIGRATION}=true")


def zookeeper_elects(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for KRaft controllers that lead a cluster in place of its brokers.

    They make /controller a znode that outlives their sessions. Until its removal no broker can be the controller
    (KafkaZkClient.tryRegisterKRaftControllerAsActiveController).
    """
    image = facts.image
    if image is None or facts.roles or not facts.release.may_migrate_to_kraft:
        return
    leads = f"KRaft controller {image.kraft_controller} holds /controller in ZooKeeper"
    if image.kraft_controller is None:
        if facts.newest is None or image.migration not in (_DURING, "post-migration"):
            return
        leads = "KRaft controllers led the cluster after its migration"
    evidence = PremiseEvidence(facts.image_path or "", leads)
    if facts.config is None:
        sentence = f"{leads}. Whether {facts.name} takes part in the migration is not known"
        yield not_seen(premise, facts, sentence, "the server.properties of the broker", evidence)
    elif enables_migration(facts.config):
        yield proven(premise, facts, evidence, _stated(facts))
    elif image.kraft_controller is None:
        sentence = f"{leads}. Whether they still hold /controller in ZooKeeper is not known"
        yield not_seen(premise, facts, sentence, "--metadata with ZooKeeper's data directory", evidence)
    else:
        sentence = (
            f"{leads}, and {facts.name} starts without {MIGRATION}=true. No broker becomes the controller, and its"
            " partitions get no leader"
        )
        yield refuted(premise, facts, sentence, evidence, _stated(facts))


def registers(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a broker of the mode that the controllers do not register (ClusterControlManager.registerBroker)."""
    newest, theirs = facts.newest, facts.controller_config
    if facts.config is None or newest is None or not facts.release.may_migrate_to_kraft:
        return
    state = newest.image.migration or "none"
    evidence = PremiseEvidence(newest.path, f"the state of the migration is {state}")
    if "broker" in facts.roles and state == _BEFORE:
        sentence = (
            "process.roles is set, but the metadata is still in ZooKeeper. The controllers register only brokers"
            " with ZooKeeper until its copy"
        )
        yield refuted(premise, facts, sentence, evidence)
    elif facts.roles or not enables_migration(facts.config):
        return
    elif theirs is not None and not enables_migration(theirs):
        sentence = (
            f"{facts.name} starts with ZooKeeper, but the controllers without {MIGRATION}=true. They register no"
            " broker with ZooKeeper"
        )
        yield refuted(premise, facts, sentence, evidence, _stated(facts))
    elif theirs is None and state in _ENDED:
        sentence = f"{facts.name} starts with ZooKeeper. The settings of the controllers are not known"
        yield not_seen(premise, facts, sentence, "the server.properties of a controller, next to its log dir", evidence)
    else:
        yield proven(premise, facts, evidence, _stated(facts))


def ends_no_migration(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a controller that ends a migration while brokers still run with ZooKeeper.

    The next active controller does that if its settings do not enable the migration (ActivationRecordsGenerator).
    """
    newest = facts.newest
    if newest is None or "controller" not in facts.roles or not facts.release.may_migrate_to_kraft:
        return
    behind = sorted(number for number, broker in newest.image.brokers.items() if broker.migrating)
    if newest.image.migration != _DURING or not behind:
        return
    evidence = PremiseEvidence(newest.path, f"the state of the migration is {_DURING}")
    if enables_migration(facts.config or {}):
        yield proven(premise, facts, evidence, _stated(facts))
    else:
        sentence = (
            f"without {MIGRATION}=true the controller ends the migration for good."
            f" {agree(len(behind), 'Broker', 'Brokers')} {listed(behind)} registered with ZooKeeper last, and can then"
            " only start with KRaft"
        )
        yield refuted(premise, facts, sentence, evidence, _stated(facts))


TABLE = (
    Premise(
        ZOOKEEPER_ELECTS, PremiseKind.SETTINGS, "A broker with ZooKeeper has a controller.",
        "No KRaft controller holds /controller in ZooKeeper, or zookeeper.metadata.migration.enable is true.",
        "A KRaft controller holds /controller. The broker has neither process.roles nor"
        " zookeeper.metadata.migration.enable=true. Not seen: these settings, or ZooKeeper after a migration.",
        "The broker starts. No broker becomes the controller, so its partitions get no leader.",
        "To go on, set zookeeper.metadata.migration.enable=true. To go back before the migration has ended, stop all"
        " KRaft controllers, and delete /controller with zookeeper-shell.sh.",
        "KafkaZkClient.tryRegisterKRaftControllerAsActiveController, KafkaController.elect 3.4 to 3.9",
        zookeeper_elects, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        REGISTERED, PremiseKind.SETTINGS, "The controllers register brokers of this mode.",
        "The metadata shows the state of the migration. The settings next to a controller's log dir enable the"
        " migration.",
        "process.roles is set before the metadata was copied from ZooKeeper. Or the broker migrates, and the"
        " controllers start without zookeeper.metadata.migration.enable=true. Not seen: their settings.",
        "The controllers refuse the registration for ever.",
        "Start the broker with the server.properties of the other mode, or enable the migration on all controllers.",
        "ClusterControlManager.registerBroker 3.4 to 3.9", registers, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
    Premise(
        "P375", PremiseKind.SETTINGS, "No controller ends a migration that brokers still need.",
        "zookeeper.metadata.migration.enable is true, or every broker registered with KRaft last.",
        "The setting is missing, the migration has not ended, and a broker registered with ZooKeeper last.",
        "The migration ends for good. The controllers register no broker with ZooKeeper again.",
        "Set zookeeper.metadata.migration.enable=true until every broker runs with KRaft.",
        "ActivationRecordsGenerator.recordsForNonEmptyLog 3.4 to 3.9", ends_no_migration, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
