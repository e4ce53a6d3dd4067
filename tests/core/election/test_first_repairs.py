"""What is lost without the repairs that come first: all that is at hand counts, though not all of it loads."""

import pytest

from kcheck.core.election.first_repairs import unrepaired
from kcheck.core.replication.leader_costs import Amounts
from tests.core.election.test_plans import UNKNOWN, candidate, election


def test_a_log_that_does_not_load_is_lost_under_the_others() -> None:
    """Broker 2 loses less than broker 1 once the records of broker 3 count."""
    now = election(
        candidate(1, Amounts(0, 0, 0)), candidate(2, Amounts(3, 3, 30)), candidate(3, None, problem="damaged")
    )
    then = election(candidate(1, Amounts(20, 20, 200)), candidate(2, Amounts(10, 10, 100)), candidate(3))
    assert (now.best, then.best) == (1, 3)
    (row,) = unrepaired([now], [then])
    assert row.best == 2
    assert [part.lost for part in row.candidates] == [Amounts(20, 20, 200), Amounts(10, 10, 100), None]
    assert [part.can_lead for part in row.candidates] == [True, True, False]


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        (Amounts(5, 1, 50), Amounts(3, 3, 30), Amounts(5, 1, 50)),
        (Amounts(5, 1, 50), Amounts(5, 3, 30), Amounts(5, 3, 30)),
        (Amounts(5, 1, 50), UNKNOWN, UNKNOWN),
        (Amounts(None, 1, 50, at_most=9), Amounts(7, 1, 50), Amounts(None, 1, 50, at_most=9)),
    ],
)
def test_the_greater_loss_counts(now: Amounts, then: Amounts, expected: Amounts) -> None:
    """A repaired log can have more than before: either count is of a part of what is at hand."""
    (row,) = unrepaired([election(candidate(1, now))], [election(candidate(1, then))])
    assert expected == row.candidates[0].lost


def test_what_is_not_decided_stays_so() -> None:
    """A partition without a recommended leader, and one that only the disks as they lie have."""
    open_row = election(candidate(1, Amounts(1, 1, 1)))._replace(best=None)
    elsewhere = election(candidate(1))._replace(topic="other")
    assert [*unrepaired([open_row], [elsewhere])] == [open_row]


def test_a_log_that_a_repair_brings_is_awaited_no_more() -> None:
    """Without the repair the best of the others leads; a broker that is not here stays unknown."""
    waits = election(candidate(1), candidate(3, None, problem="damaged"), isr=(3,))._replace(awaited=(3,), best=None)
    then = election(candidate(1, Amounts(20, 20, 200)), candidate(3), isr=(3,))
    assert [row.best for row in unrepaired([waits, waits._replace(unknown_replicas=(2,))], [then])] == [1, None]
