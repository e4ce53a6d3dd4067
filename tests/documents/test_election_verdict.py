"""What `elect` recommends, in sentences."""

import pytest

from kcheck.core.election.early_elections import Means, means_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.phases import Course, course_of, order_of_starts
from kcheck.core.election.plans import BrokerGap, PartitionElection, lean
from kcheck.core.election.scenarios import planned
from kcheck.core.election.start_order import StartOrder
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts, at_most
from kcheck.documents.election_verdict import verdict
from kcheck.documents.election_words import amount_lost
from kcheck.documents.uncounted import NOTHING
from kcheck.model.cluster import Seat
from kcheck.model.premises import JudgedPremise, PremiseStatus
from tests.core.election.test_early_elections import contested
from tests.core.election.test_plans import ISR_LOSES, STARTS, UNKNOWN, candidate, election


def said(*partitions: PartitionElection, starts: dict[int, BrokerStart] = STARTS) -> str:
    """Return the verdict on partitions."""
    means = means_of(partitions, release("4.3"))
    order = order_of_starts(partitions, starts, means)
    rows = [row._replace(partition=at) for at, row in enumerate(partitions)]
    course = course_of(rows, order.brokers, starts, means)
    return verdict(planned(rows, starts, order.brokers, course.means), starts, order, course)


def _course(order: StartOrder) -> Course:
    return course_of((), order.brokers, STARTS, Means(at_once=order.at_once))


def test_the_verdict() -> None:
    """What to do first, why, and what that costs; then what needs an unclean election."""
    assert said() == "These paths have no partitions."
    assert said(election(candidate(1, seat=Seat.ISR), candidate(2, seat=Seat.NONE))) == (
        "Start broker 1 first: it is in the ISR of t-0. Then start 2, then 3. Any other order loses no more. With this"
        " plan every partition gets a leader, and nothing is lost."
    )
    starts = {1: BrokerStart(1, clean=True)}
    places = [election(candidate(1, seat=seat)) for seat in (Seat.LAST_KNOWN, Seat.ELR)]
    assert said(*places, starts=starts).startswith(
        "Start broker 1 first: it has the only replica of t-0, t-1. With this"
    )
    places = [election(candidate(1, seat=seat), candidate(2)) for seat in (Seat.LAST_KNOWN, Seat.ELR)]
    assert said(*places, starts=starts).startswith(
        "Start broker 1 first: it is in the ELR (after registration) of t-1 and the last known leader of t-0. With this"
    )
    assert "An unclean election of 1 partition before broker 1 starts saves 5 records" in said(ISR_LOSES)
    bounded = [row._replace(lost=row.lost and at_most(row.lost)) for row in ISR_LOSES.candidates]
    assert "before broker 1 starts saves at most 5 records" in said(ISR_LOSES._replace(candidates=tuple(bounded)))
    assert said(election(candidate(1)), starts={}).startswith("No broker here starts.")


def test_the_verdict_on_brokers_that_do_not_start() -> None:
    """A repair comes first: what only they hold is not counted."""
    order = StartOrder((1, 2), is_proven=True)
    gaps = [BrokerGap(3, 14, "it is damaged"), BrokerGap(4, 1, "it is damaged")]
    for failing, words in (
        (
            gaps[:1],
            "broker 3 able to start, and ask again. Data that only its 14 replicas hold is not counted. Otherwise: ",
        ),
        (
            gaps[1:],
            "broker 4 able to start, and ask again. Data that only its 1 replica holds is not counted. Otherwise: ",
        ),
        (
            gaps,
            "brokers 3 and 4 able to start, and ask again. Data that only their 15 replicas hold is not counted. Oth",
        ),
    ):
        text = verdict([election(candidate(1))], STARTS, order, _course(order), failing=failing)
        assert text.startswith(f"First make {words}")


def test_the_verdict_on_brokers_that_are_the_controllers() -> None:
    """They start together: one alone never comes up."""
    order = StartOrder((1, 2, 3), is_proven=True, together=(1, 2))
    text = verdict([election(candidate(1))], STARTS, order, _course(order))
    assert text.startswith(
        "Start brokers 1 and 2 together: they are controllers, and no leader is elected with fewer. Then start 3."
    )


def test_the_verdict_on_partitions_without_a_leader() -> None:
    """What the best one would cost."""
    waits = election(candidate(2, Amounts(1, None, 5)), isr=(9,))
    assert said(waits, starts={2: STARTS[2]}) == (
        "Start broker 2 first. 1 partition gets no leader without an unclean election: t-0. With this plan every"
        " partition gets a leader, and 1 record is lost."
    )
    two = said(waits, waits, election(candidate(1)), election(candidate(1)))
    assert "2 partitions get no leader without an unclean election: t-0, t-1. With this plan every" in two
    nobody = election(candidate(1, problem="damaged"), isr=(1,))
    assert said(nobody, election(candidate(1))).endswith(
        "With this plan 1 partition of 2 gets a leader, and there nothing is lost."
    )
    assert said(nobody).endswith("1 partition has no replica here that can lead: t-0.")
    assert said(*[nobody] * 5).endswith("5 partitions have no replica here that can lead: t-0, t-1, t-2 and 2 more.")


def test_the_verdict_on_an_incomplete_picture() -> None:
    """Which disks to bring."""
    one, other = (election(candidate(1), unknown_replicas=numbers) for numbers in ((4,), (5, 4)))
    assert said(one).startswith(
        "Start no broker yet: kcheck recommends no leader for 1 partition. Bring the log dirs of broker 4, or"
    )
    assert said(one, other).startswith(
        "Start no broker yet: kcheck recommends no leader for 2 partitions. Bring the log dirs of brokers 4 and 5,"
    )
    assert "Under the best leaders" not in said(election(candidate(2), isr=(9,), unknown_replicas=(4,)))


def test_what_no_election_counts() -> None:
    """It comes first, each premise once."""
    order = StartOrder((1,), is_proven=True)
    refuted = [JudgedPremise(premise, PremiseStatus.REFUTED, "gone", 1) for premise in ("P802", "P304", "P802", "P813")]
    uncounted = [*refuted, JudgedPremise("P813", PremiseStatus.NOT_SEEN, "gone", 1, provide="the log dirs of broker 2")]
    text = verdict([election(candidate(1))], STARTS, order, _course(order), uncounted=uncounted)
    assert text.startswith("Not counted: broker 1: gone. First: ")
    assert 1 == text.count("It rebuilds the time index.")
    assert "Not counted: broker 1: gone. First: " in text
    assert "First restore __remote_log_metadata: broker 1: gone. Not counted: broker 1: gone. Start" in text


def test_an_unknown_loss_in_words() -> None:
    """A number that is not known is not zero."""
    assert amount_lost(UNKNOWN, NOTHING) == "an unknown number of records are lost"


def test_a_lean_partition_has_the_verdict_of_the_whole_one() -> None:
    whole, order = election(candidate(1, Amounts(1, 1, 1))), StartOrder((2, 1, 3), is_proven=True)
    assert verdict([whole], STARTS, order, _course(order)) == verdict([lean(whole)], STARTS, order, _course(order))


def test_what_the_verdict_says() -> None:
    """How much it saves, where that is known; and which broker waits."""
    rows = [contested(), contested()._replace(partition=1)]
    order = StartOrder((1, 2, 3), is_proven=True)
    text = (
        "An unclean election of 2 partitions before broker 2 starts saves 10 records: plan.md of --output-dir has the"
        " command."
    )
    assert text in verdict(rows, STARTS, order, _course(order))
    unknown = contested()
    lost = Amounts(None, 3, None)
    unknown = unknown._replace(candidates=(*unknown.candidates[:2], candidate(3, lost)))
    assert "before broker 2 starts saves records:" in verdict([unknown], STARTS, order, _course(order))


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (Amounts(1, 1, 5), "1 record is lost, which was committed"),
        (Amounts(3, 3, 5), "3 records are lost, all of them committed"),
        (Amounts(3, 0, 5), "3 records are lost, none of them committed"),
    ],
)
def test_how_much_of_a_loss_was_committed(lost: Amounts, words: str) -> None:
    assert amount_lost(lost, NOTHING) == words
