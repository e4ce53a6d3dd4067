"""One order of leaders for every verb, and sums of losses that are not all known."""

from kcheck.core.replication.leader_costs import NOT_KNOWN, UNKNOWN, Amounts, LeaderCost, leader_cost, total


def cost(lost: Amounts | None = None, refetched: int | None = 0, **how: object) -> LeaderCost:
    """Return the cost of a leader; without a loss it costs nothing."""
    clean, place, broker_id = how.get("clean"), how.get("place", 0), how.get("broker_id", 1)
    assert clean is None or isinstance(clean, bool)
    assert isinstance(place, int)
    assert broker_id is None or isinstance(broker_id, int)
    return leader_cost(Amounts() if lost is None else lost, refetched, clean=clean, place=place, broker_id=broker_id)


def test_the_order_of_leaders() -> None:
    """Each costs more than the one before: committed, records, unreadable, unclean, bytes, place, id."""
    ordered = [
        cost(Amounts(9, 0), 50, clean=True, place=2),
        cost(Amounts(9, 0), 10, clean=False),
        cost(Amounts(9, 0), 60, clean=False),
        cost(Amounts(9, 0), 60, clean=False, place=1),
        cost(Amounts(9, 0), 60, clean=False, place=1, broker_id=2),
        cost(Amounts(9, 0), None, clean=False),
        cost(Amounts(9, 0), 10, clean=True)._replace(unreadable=5),
        cost(Amounts(None, 0, at_most=20)),
        cost(Amounts(None, 0)),
        cost(Amounts(1, 1)),
        cost(Amounts(1, None, committed_at_most=5)),
        cost(Amounts(1, None)),
    ]
    assert sorted(ordered[5:] + ordered[:5]) == ordered


def test_what_is_not_known_costs_most() -> None:
    assert leader_cost(None, None, clean=None, place=0, broker_id=None) == (
        0, UNKNOWN, UNKNOWN, 0, False, UNKNOWN, 0, UNKNOWN
    )  # fmt: skip


def test_a_sum_with_a_bound_is_a_bound() -> None:
    bound = Amounts(None, 2, 7, at_most=30)
    assert total([]) == Amounts(0, 0, 0)
    assert total([Amounts(1, 1, 5), Amounts(2, 0, 5)]) == Amounts(3, 1, 10)
    assert total([Amounts(5, 1, 5), bound]) == Amounts(None, 3, 12, at_most=35)
    assert total([Amounts(5, None, 5, committed_at_most=4), bound]) == Amounts(
        None, None, 12, at_most=35, committed_at_most=6
    )
    assert total([bound, None]) == NOT_KNOWN
