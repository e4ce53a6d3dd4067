"""The rows of premises: what an answer about a start rests on."""

from collections.abc import Iterable, Iterator

from kcheck.core.premises.presence import PARTITIONS_THERE
from kcheck.core.premises.table import ENDS_START
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.report import Row


def losing_premises(premises: Iterable[JudgedPremise]) -> Iterator[str]:
    """Yield the sentences of refuted premises without which brokers start and lose; the losses name partitions."""
    for premise in premises:
        is_refuted = premise.status is PremiseStatus.REFUTED
        if is_refuted and premise.id not in ENDS_START and premise.id != PARTITIONS_THERE:
            broker = "A broker" if premise.broker_id is None else f"Broker {premise.broker_id}"
            yield f"{broker}: {premise.sentence}"


def premise_rows(premises: Iterable[JudgedPremise]) -> tuple[Row, ...]:
    """Return a row for each premise."""
    return tuple(
        {
            "id": premise.id,
            "sentence": premise.sentence,
            "status": str(premise.status),
            "broker_id": premise.broker_id,
            "log_dir": premise.log_dir,
            "partition": premise.partition,
            "evidence": tuple({"path": evidence.path, "says": evidence.says} for evidence in premise.evidence),
            "provide": premise.provide,
        }
        for premise in premises
    )
