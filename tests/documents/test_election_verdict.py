"""What `elect` recommends, in sentences."""

import pytest

from kcheck.core.election.election import BrokerStart, Seats
from kcheck.core.election.plans import PartitionElection, lean, order_of_starts
from kcheck.core.election.start_order import StartOrder
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from kcheck.documents.election_verdict import amount_lost, verdict
from kcheck.model.cluster import PartitionRegistration
from tests.core.election.test_early_elections import contested
from tests.core.election.test_plans import ISR_LOSES, STARTS, UNKNOWN, candidate, election


def said(*partitions: PartitionElection, starts: dict[int, BrokerStart] = STARTS) -> str:
    """Return the verdict on partitions."""
    return verdict(partitions, starts, order_of_starts(partitions, starts), release("4.3"))


def test_the_verdict() -> None:
    """What to do first, why, and what that costs; then what needs an unclean election."""
    assert said() == "There are no partitions in these paths."
    assert said(election(candidate(1), candidate(2))) == (
        "Start broker 1 first: it is in the ISR of t-0. Then start 2, then 3. Every partition then gets a leader, and"
        " nothing is lost."
    )
    starts = {1: BrokerStart(1, clean=True)}
    later = election(candidate(1))._replace(seats=Seats((1,), (), (1,)))
    assert said(later, starts=starts).startswith(
        "Start broker 1 first: once the controller is back, it is in the ELR of t-0. Every partition then gets a leader"
    )
    now = later._replace(registration=PartitionRegistration((1,), (), elr=(1,)))
    assert said(now, starts=starts).startswith("Start broker 1 first: it is in the ELR of t-0. Every partition")
    assert "and 5 records are lost, 2 of them committed. An unclean election of 1 partition" in said(ISR_LOSES)
    assert said(election(candidate(1)), starts={}) == "No broker here starts."


def test_the_verdict_on_partitions_without_a_leader() -> None:
    """What the best one would cost."""
    waits = election(candidate(2, Amounts(1, None, 5)), isr=(9,))
    assert said(waits, starts={2: STARTS[2]}) == (
        "Start broker 2 first. 1 partition gets no leader without an unclean election: t-0. Under the best leaders 1"
        " record is lost there."
    )
    two = said(waits, waits, election(candidate(1)), election(candidate(1)))
    assert "2 partitions then get a leader, and nothing is lost. 2 partitions get no leader" in two
    nobody = election(candidate(1, problem="damaged"), isr=(1,))
    assert said(nobody).endswith("1 partition has no replica here that can lead: t-0.")
    assert said(*[nobody] * 5).endswith("5 partitions have no replica here that can lead: t-0, t-0, t-0 and 2 more.")


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


def test_an_unknown_loss_in_words() -> None:
    """A number that is not known is not zero."""
    assert amount_lost(UNKNOWN) == "an unknown number of records are lost"


def test_a_lean_partition_has_the_verdict_of_the_whole_one() -> None:
    whole, order = election(candidate(1, Amounts(1, 1, 1))), StartOrder((2, 1, 3), is_proven=True)
    assert verdict([whole], STARTS, order, release("4.3")) == verdict([lean(whole)], STARTS, order, release("4.3"))


def test_what_the_verdict_says() -> None:
    """How much it saves, where that is known; and which broker waits."""
    rows = [contested(), contested()._replace(partition=1)]
    order = StartOrder((1, 2, 3), is_proven=True)
    text = (
        "An unclean election of 2 partitions before broker 2 starts saves 10 records: plan.md of --out has the command."
    )
    assert text in verdict(rows, STARTS, order, release("4.3"))
    unknown = contested()
    lost = Amounts(None, 3, None)
    unknown = unknown._replace(candidates=(*unknown.candidates[:2], candidate(3, lost)))
    assert "before broker 2 starts saves records:" in verdict([unknown], STARTS, order, release("4.3"))


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        (Amounts(1, 1, 5), "1 record is lost, which was committed"),
        (Amounts(3, 3, 5), "3 records are lost, all of them committed"),
        (Amounts(3, 0, 5), "3 records are lost, none of them committed"),
    ],
)
def test_how_much_of_a_loss_was_committed(lost: Amounts, words: str) -> None:
    assert amount_lost(lost) == words
