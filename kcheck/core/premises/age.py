"""Premises about the age of a disk: an old copy lacks what the cluster has written since."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import proven, refuted
from kcheck.core.premises.premise import Premise, PremiseKind
from kcheck.model.names import CLEAN_SHUTDOWN
from kcheck.model.premises import JudgedPremise, PremiseEvidence


def is_current(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Compare the broker epoch in .kafka_cleanshutdown with the last registration.

    A broker removes the file when it loads its logs, so the epoch in it is that of the broker's last run.
    """
    newest, broker = facts.newest, facts.registration
    epochs = {log_dir.path: log_dir.shutdown_epoch for log_dir in facts.log_dirs if log_dir.shutdown_epoch is not None}
    if newest is None or broker is None or broker.epoch is None or not epochs:
        return
    registered = PremiseEvidence(newest.path, f"broker {facts.broker_id} registered with epoch {broker.epoch}")
    old = {path: epoch for path, epoch in epochs.items() if epoch < broker.epoch}
    evidence = tuple(PremiseEvidence(f"{path}/{CLEAN_SHUTDOWN}", f"epoch {epoch}") for path, epoch in epochs.items())
    if not old:
        yield proven(premise, facts, *evidence, registered)
        return
    disks = "the disks are" if len(old) == len(facts.log_dirs) > 1 else f"{', '.join(old)} is"
    sentence = (
        f"{disks} a copy from before: broker epoch {min(old.values())}, the cluster knows {broker.epoch}; what"
        f" {facts.name} wrote since is not there"
    )
    yield refuted(premise, facts, sentence, *evidence, registered)


TABLE = (
    Premise(
        "P701", PremiseKind.AGE, "The log dirs are not older than the cluster.",
        "The broker epoch in .kafka_cleanshutdown is that of the last registration.",
        "A lower broker epoch in .kafka_cleanshutdown.",
        "The broker starts and may lead without the records that were written since.",
        "Bring the newest disk, or start the broker after the others: kcheck elect.",
        "CleanShutdownFileHandler 3.7 to 4.3.1; ReplicationControlManager.handleBrokerShutdown 4.0 to 4.3.1",
        is_current, ends_start=False,
    ),
)  # fmt: skip
