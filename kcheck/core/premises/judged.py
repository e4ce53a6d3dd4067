"""The three judgements of a premise."""

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.premise import Premise
from kcheck.model.premises import JudgedPremise, PremiseEvidence, PremiseStatus

EVERY_DISK = "the log dirs of all brokers, with kcheck recover"
"""The evidence for premises that an election of the complete cluster decides."""


def proven(premise: Premise, facts: BrokerFacts, *evidence: PremiseEvidence) -> JudgedPremise:
    """Return the judgement that the premise holds."""
    return JudgedPremise(premise.id, PremiseStatus.PROVEN, premise.sentence, facts.broker_id, evidence=evidence)


def refuted(
    premise: Premise, facts: BrokerFacts, sentence: str, *evidence: PremiseEvidence, log_dir: str | None = None,
    partition: str | None = None,
) -> JudgedPremise:  # fmt: skip
    """Return the judgement that the premise does not hold."""
    return JudgedPremise(
        premise.id, PremiseStatus.REFUTED, sentence, facts.broker_id, log_dir, partition, evidence
    )  # fmt: skip


def not_seen(
    premise: Premise, facts: BrokerFacts, sentence: str, provide: str | None, *evidence: PremiseEvidence,
    log_dir: str | None = None,
) -> JudgedPremise:  # fmt: skip
    """Return the judgement that the given files do not show it."""
    return JudgedPremise(
        premise.id, PremiseStatus.NOT_SEEN, sentence, facts.broker_id, log_dir, evidence=evidence, provide=provide
    )  # fmt: skip
