"""The sentences of a decision (the loss of starting everything now, the loss of a plan, and the proof)."""

from collections.abc import Iterator

from kcheck.core.election.scenarios import Scenario
from kcheck.core.replication.leader_costs import Amounts
from kcheck.documents.election_verdict import amount_lost
from kcheck.words import agree, counted


def decision_words(
    start_all: Scenario, plan: Scenario, best: Scenario, *, is_led: bool, nothing: str
) -> Iterator[tuple[str, bool]]:
    """Yield the loss of starting everything now, and of the plan; without metadata, of the best leaders.

    The second value is true if a sentence is about a loss, or about partitions without a leader. `nothing` are the
    words for no loss.
    """
    if start_all.offline_partitions is not None:
        for title, course in (("Starting everything now", start_all), ("This plan", plan)):
            yield f"{title}: {_outcome(course, nothing)}.", _is_bad(course)
        return
    yield "Without metadata it is not known which leader Kafka elects.", False
    if is_led:
        yield f"Under the best leaders {amount_lost(best.lost, nothing)}.", best.lost != Amounts()


def _is_bad(course: Scenario) -> bool:
    return course.lost.records != 0 or course.offline_partitions != 0


def bound_words(plan: Scenario, best: Scenario, *, nothing: str) -> Iterator[str]:
    """Yield what no plan can do better than, where the plan loses more than the best leaders."""
    if plan.lost.upper_records is not None and plan.lost != best.lost:
        yield f"No plan can do better than this: {_outcome(best, nothing)}."


def unled_words(count: int) -> Iterator[str]:
    """Yield how many partitions have no recommended leader."""
    if count:
        yield f"kcheck recommends no leader for {counted(count, 'partition')}."


def _outcome(scenario: Scenario, nothing: str) -> str:
    """Return the cost of a course, as a clause."""
    lost = amount_lost(scenario.lost, nothing)
    if not scenario.offline_partitions:
        return lost
    count = scenario.offline_partitions
    led = "" if scenario.lost.records == 0 else f"; {'' if scenario.may_be_led else 'of the others '}{lost}"
    gets = "may get" if scenario.may_be_led else agree(count, "gets", "get")
    return f"{counted(count, 'partition')} {gets} no leader{led}"
