"""Sentences that plan.md and the screen share."""

from kcheck.core.election.plans import CopyState, PartitionElection
from kcheck.core.replication.leader_costs import Amounts
from kcheck.handouts.aside_copies import aside_words
from tests.core.election.test_plans import candidate, election


def _with(count: int | None, number: int) -> PartitionElection:
    only = Amounts(count, 0, 0)
    copy = candidate(2, state=CopyState.ASIDE, dir=f"t-{number}.old", only_here=only)
    return election(candidate(1), copy)._replace(partition=number)


def test_directories_aside_are_named_worst_first() -> None:
    """An unknown count may be the highest; the first three are named, the others counted."""
    counts = (3, None, 1, 7, 0)
    words = [*aside_words(_with(count, at) for at, count in enumerate(counts))]
    rest = "that no replica here has, in a directory that no broker serves"
    assert words == [
        f"Broker 2 has an unknown number of records of t-1 {rest}: t-1.old (aside)",
        f"Broker 2 has 7 records of t-3 {rest}: t-3.old (aside)",
        f"Broker 2 has 3 records of t-0 {rest}: t-0.old (aside)",
        "More directories of this kind: 1",
    ]
    assert [*aside_words([])] == []
