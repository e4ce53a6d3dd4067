"""The sentences of a decision (the loss of starting everything now, the loss of a plan, and the proof)."""

from collections.abc import Collection, Iterable, Iterator

from kcheck.core.election.plans import BrokerGap
from kcheck.core.election.scenarios import Scenario
from kcheck.core.premises.remote import REMOTE_METADATA
from kcheck.documents.election_verdict import amount_lost
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.words import agree, counted


def decision_words(start_all: Scenario, plan: Scenario, best: Scenario, *, is_led: bool) -> Iterator[str]:
    """Yield the loss of starting everything now, and of the plan; without metadata, of the best leaders."""
    if start_all.offline_partitions is not None:
        yield f"Starting everything now: {_outcome(start_all)}."
        yield f"This plan: {_outcome(plan)}."
        return
    yield "Without metadata it is not known which leader Kafka elects."
    if is_led:
        yield f"Under the best leaders {amount_lost(best.lost)}."


def bound_words(plan: Scenario, best: Scenario) -> Iterator[str]:
    """Yield what no plan can do better than, where the plan loses more than the best leaders."""
    if plan.lost.upper_records is not None and plan.lost != best.lost:
        yield f"No plan can do better than this: {_outcome(best)}."


def unled_words(count: int) -> Iterator[str]:
    """Yield how many partitions have no recommended leader."""
    if count:
        yield f"kcheck recommends no leader for {counted(count, 'partition')}."


def uncounted_words(
    gaps: Iterable[BrokerGap],
    premises: Iterable[JudgedPremise],
    dead: Collection[int],
    *,
    without: Iterable[str] = (),
    has_steps: bool,
) -> Iterator[str]:
    """Yield the uncounted records, which no disk shows, or no broker serves after its next start.

    `without` are the log dirs that are given up.
    """
    for gap in gaps:
        is_dead = gap.broker_id in dead
        if gap.why is not None and not is_dead:
            yield f"Broker {gap.broker_id} should not start: {gap.why}. Solve that first, and ask again."
        what = "is lost, and not counted" if is_dead else "is not counted"
        steps = "" if is_dead or not has_steps else "; the steps are without it"
        yield f"What only broker {gap.broker_id} holds {what}{steps}."
    for path in without:
        yield f"What only {path} holds is lost, and not counted."
    for premise in premises:
        whose = "" if premise.broker_id is None else f"broker {premise.broker_id}: "
        is_lost = premise.id == REMOTE_METADATA and premise.status is PremiseStatus.REFUTED
        first = "First restore __remote_log_metadata" if is_lost else "Not counted"
        yield f"{first}: {whose}{premise.sentence}."


def _outcome(scenario: Scenario) -> str:
    """Return the cost of a course, as a clause."""
    lost = amount_lost(scenario.lost)
    if not scenario.offline_partitions:
        return lost
    count = scenario.offline_partitions
    led = "" if scenario.lost.records == 0 else f"; {'' if scenario.may_be_led else 'of the others '}{lost}"
    gets = "may get" if scenario.may_be_led else agree(count, "gets", "get")
    return f"{counted(count, 'partition')} {gets} no leader{led}"
