"""However a search is done, in one process or several, with followers that can change places as one or not."""

from itertools import product
from random import Random

import pytest

from kcheck.jobs.workers import SharedWork
from kcheck.simulation import search as searching
from kcheck.simulation.canonical import number_by_roles, number_of
from kcheck.simulation.moves import BUDGET_MAX, Budget, covers, packed
from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse
from kcheck.simulation.search import Search, SearchEnd, SearchPart
from kcheck.verbs.simulate import Configuration, SearchBounds, search
from tests.oracle.ask import SEED, spread

BUDGETS = [
    Budget(1, 0, 1, 0),
    Budget(1, 1, 0, 0),
    Budget(1, 0, 0, 1),
    Budget(2, 0, 0, 0, shrinks=1),
    Budget(1, 0, 0, 0, moves=1),
    Budget(1, 0, 0, 0, moves=1, delays=1),
    Budget(1, 0, 1, 0, shrinks=1),
]
CONFIGURATIONS = [
    Configuration(brokers=3, min_isr=least, unclean=unclean) for least in (1, 2) for unclean in (True, False)
]
KAFKAS = ("0.10.2", "2.4", "3.5", "4.3")


def end_of(configuration: Configuration, kafka: str, budget: Budget, *, symmetry: bool) -> SearchEnd:
    """Search up to a depth, where a small budget has no more states or many."""
    begun = replay(parse(configuration.beginning(), "f"), kafka)
    task = Search(begun.steps[-1].state, begun.rules, budget, depth_max=7, symmetry=symmetry)
    with SharedWork(1, lambda: SearchPart(task)) as parts:
        return searching.search(task, parts)


@pytest.mark.sample(2)
@pytest.mark.parametrize("kafka", KAFKAS)
def test_symmetry_changes_no_verdict(kafka: str) -> None:
    """The same promise is broken after as many events; states are fewer, never more."""
    fewer = 0
    for configuration, budget in product(spread(CONFIGURATIONS, 1), spread(BUDGETS, 4)):
        whole = end_of(configuration, kafka, budget, symmetry=False)
        merged = end_of(configuration, kafka, budget, symmetry=True)
        promises = [None if end.violation is None else end.violation.promise for end in (whole, merged)]
        assert promises[0] == promises[1], (configuration, budget)
        assert (whole.depth, whole.complete) == (merged.depth, merged.complete), (configuration, budget)
        fewer += merged.states < whole.states
        assert merged.states <= whole.states
    assert fewer


def test_brokers_that_change_places_have_one_number() -> None:
    """B and C do what the other did: one state as long as no election can come."""
    one, other = (
        replay(parse(f"brokers A B C\nA leads\nappend 1\nfetch {first} x2\nfetch {second}\n", "f"), "4.3")
        .steps[-1]
        .state
        for first, second in (("B", "C"), ("C", "B"))
    )
    assert number_of(one) != number_of(other)
    assert number_by_roles(one, Budget(3, 0, 0, 0)) == number_by_roles(other, Budget(3, 0, 0, 0))
    for fault in (Budget(0, 1, 0, 0), Budget(0, 0, 1, 0), Budget(0, 0, 0, 1), Budget(0, 0, 0, 0, 1)):
        assert number_by_roles(one, fault) != number_by_roles(other, fault)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("kafka", "fences"), [("4.3", 2), ("3.9", 1), ("0.10.2", 1)])
def test_the_answer_does_not_depend_on_processes(monkeypatch: pytest.MonkeyPatch, kafka: str, fences: int) -> None:
    """Not the history, not the counts, and not where a search ends that is cut short."""
    monkeypatch.setattr(searching, "SHARE", 5)
    monkeypatch.setattr(searching, "BLOCK", 70)
    beginning = Configuration(brokers=2, min_isr=2).beginning()
    for states_max in (100_000, 777):
        bounds = SearchBounds(Budget(1, 0, 1, fences), states_max=states_max)
        answers = [search(beginning, "f", bounds._replace(jobs=jobs), kafka=kafka) for jobs in (1, 2, 3)]
        assert answers[0] == answers[1] == answers[2]


def test_a_packed_budget_covers_what_the_budget_covers() -> None:
    """Field by field."""
    chance = Random(SEED)
    for _ in range(500):
        one, other = (Budget(*(chance.choice((0, 1, 2, BUDGET_MAX)) for _ in Budget._fields)) for _ in range(2))
        assert all(left >= right for left, right in zip(one, other, strict=True)) == covers(packed(one), packed(other))
        assert covers(packed(one), packed(one))
