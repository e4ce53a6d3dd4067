"""Each promise is broken where Kafka breaks it and kept where Kafka keeps it, as the published models say."""

import pytest

from kcheck.errors import UsageError
from kcheck.simulation.promises import PROMISES
from kcheck.simulation.replay import replay
from kcheck.simulation.script import parse
from kcheck.simulation.search import Budget
from kcheck.verbs.simulate import Configuration, SearchBounds, Searched, search

ZOMBIE = Budget(records=1, crashes=0, lossy=0, fences=1, shrinks=1, delays=2)
RESTARTS = Budget(records=2, crashes=1, lossy=0, fences=1, moves=1)
MODELS = Budget(records=2, crashes=0, lossy=0, fences=0, moves=3, delays=1)


def searched(
    kafka: str, promise: str, budget: Budget, configuration: Configuration, mutant: str | None = None
) -> Searched:
    """Search for a history that breaks a promise, or one of several."""
    bounds = SearchBounds(budget, promises=tuple(promise.split()))
    return search(configuration.beginning(), "f", bounds, kafka=kafka, mutant=mutant)


BROKEN = [
    ("withdrawn", "2.1", "4.3", Budget(records=1, crashes=0, lossy=1, fences=1), Configuration(min_isr=2)),
    ("lost diverged", "0.10.2", "1.1", RESTARTS, Configuration(kraft=False)),
    ("stuck", "2.4", "2.7", Budget(records=2, crashes=0, lossy=0, fences=0, moves=3), Configuration()),
]
"""KAFKA-15583; KIP-101, twice; KAFKA-10706. A release on each side of the fix."""


@pytest.mark.sample(2)
@pytest.mark.parametrize(("promises", "old", "new", "budget", "configuration"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_promise_is_broken_up_to_its_fix(
    promises: str, old: str, new: str, budget: Budget, configuration: Configuration
) -> None:
    """The history that was found shows it when it is replayed; the fixed release has no such history at all."""
    for promise in promises.split():
        broken = searched(old, promise, budget, configuration)
        assert broken.scenario is not None
        assert getattr(replay(parse(broken.scenario, "f"), old).verdict, promise) or promise == "withdrawn"
    fixed = searched(new, promises, budget, configuration)
    assert (None, True) == (fixed.scenario, fixed.found.complete)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kafka", ["0.10.2", "2.1", "3.9", "4.3"])
def test_two_leaders_acknowledge_after_an_unclean_election(kafka: str) -> None:
    """The old leader is alone in its ISR and has not heard of the election; without unclean elections none is alone."""
    broken = searched(kafka, "leaders", ZOMBIE, Configuration(unclean=True))
    assert broken.scenario is not None
    assert [
        "shrink B", "delay controller->A", "fence A", "append 1 acks=all to A",
    ] == broken.scenario.splitlines()[-4:]  # fmt: skip
    kept = searched(kafka, "leaders", ZOMBIE, Configuration(unclean=False))
    assert (None, True) == (kept.scenario, kept.found.complete)


def test_two_of_three_replicas_in_sync_keep_an_old_leader_from_acknowledging() -> None:
    """With min.insync.replicas 2 a leader that is alone acknowledges nothing, even after an unclean election."""
    kept = searched("4.3", "leaders", ZOMBIE, Configuration(unclean=True, min_isr=2))
    assert (None, True) == (kept.scenario, kept.found.complete)


def test_a_leader_that_shrinks_its_isr_alone_is_a_second_leader() -> None:
    """KIP-497: a smaller ISR counts when the controller has confirmed it."""
    broken = searched("4.3", "leaders", ZOMBIE, Configuration(), mutant="isr-unconfirmed")
    assert broken.scenario is not None
    assert "delay A->controller" in broken.scenario


VERDICTS = [
    ("0.10.2", None, True),  # to the high watermark
    ("1.1", None, True),  # KIP-101
    ("2.0", None, True),  # KIP-279
    ("3.5", "no-fencing", True),  # the first try of KIP-320
    ("4.3", "no-fencing", True),
    ("2.4", None, True),  # KIP-320, but not within a fetch session (KAFKA-9338)
    ("2.5", None, False),  # KIP-320
    ("3.5", None, False),
    ("4.3", None, False),
]


@pytest.mark.sample(5)
@pytest.mark.parametrize(("kafka", "mutant", "violates"), VERDICTS)
def test_the_published_verdicts_come_out(kafka: str, mutant: str | None, violates: bool) -> None:
    """StrongIsr of the TLA+ models of Kafka's replication, all of them under the same constants."""
    answer = searched(kafka, "isr", MODELS, Configuration(), mutant)
    assert violates == (answer.scenario is not None)
    assert violates or answer.found.complete


def test_promises_are_known_and_in_one_order() -> None:
    with pytest.raises(UsageError, match=r"no promise is called 'isrs'; use lost, withdrawn"):
        searched("4.3", "isrs", ZOMBIE, Configuration())
    answers = [
        search(Configuration(unclean=True).beginning(), "f", SearchBounds(ZOMBIE, promises=promises))
        for promises in (tuple(PROMISES), tuple(reversed(PROMISES)))
    ]
    assert answers[0] == answers[1]
