"""Every premise, and the judgement of a broker by all of them."""

from collections.abc import Iterable

from kcheck.core.premises import age, compaction, identity, metadata, presence, resources, rights, settings
from kcheck.core.premises.facts import BrokerFacts
from kcheck.model.premises import JudgedPremise, PremiseStatus

PREMISES = (
    *identity.TABLE, *metadata.TABLE, *presence.TABLE, *rights.TABLE, *resources.TABLE, *settings.TABLE, *age.TABLE,
    *compaction.TABLE,
)  # fmt: skip
"""In the order of their ids."""


ENDS_START = frozenset(premise.id for premise in PREMISES if premise.ends_start)
"""The premises without which the broker does not start."""
TAKES_OFFLINE = frozenset(premise.id for premise in PREMISES if premise.takes_offline)
"""The premises without which a log dir goes offline."""


def why_not_started(judgements: Iterable[JudgedPremise]) -> str | None:
    """Return why the broker does not start by its refuted premises; None if they let it start."""
    refuted = (judgement for judgement in judgements if judgement.status is PremiseStatus.REFUTED)
    return next((judgement.sentence for judgement in refuted if judgement.id in ENDS_START), None)


def why_offline(judgements: Iterable[JudgedPremise]) -> dict[str, str]:
    """Return why log dirs go offline by the refuted premises, by path."""
    return {
        judgement.log_dir: judgement.sentence
        for judgement in judgements
        if judgement.id in TAKES_OFFLINE and judgement.status is PremiseStatus.REFUTED and judgement.log_dir is not None
    }


def judged(facts: BrokerFacts) -> tuple[JudgedPremise, ...]:
    """Return what the files of a broker show about every premise that applies to it."""
    return tuple(judgement for premise in PREMISES for judgement in premise.judge(premise, facts))
