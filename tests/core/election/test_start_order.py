"""In which order brokers should start: the cheapest of all orders."""

from collections.abc import Sequence
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.election.election import BrokerStart, ElectionRules, Seats, after_fencing, first_leader
from kcheck.core.election.start_order import EXACT_BROKERS_MAX, Contest, Costs, StartOrder, start_order
from kcheck.model.cluster import NO_LEADER

BROKERS = (1, 2, 3, 4)


def first_of(costs: dict[int, Costs]) -> Contest:
    """Return a partition that the first broker with a replica leads."""
    return Contest(tuple(costs), lambda order: costs[order[0]] if order else None)


def cost_of(order: Sequence[int], contests: Sequence[Contest]) -> Costs:
    """Return what an order costs, broker by broker."""
    total = [0, 0]
    for contest in contests:
        started: list[int] = []
        for number in order:
            if number in contest.replicas:
                started.append(number)
                costs = contest.costs(started)
                if costs is not None:
                    total = [one + other for one, other in zip(total, costs, strict=True)]
                    break
    return tuple(total)


@st.composite
def contests(draw: st.DrawFn) -> Contest:
    """Return a partition whose controller elects by the rules of Kafka."""
    replicas = tuple(draw(st.permutations(BROKERS))[: draw(st.integers(1, 4))])
    members = st.lists(st.sampled_from(replicas), unique=True).map(tuple)
    isr = draw(members)
    elr = tuple(number for number in draw(members) if number not in isr)
    rules = ElectionRules(
        kraft=draw(st.booleans()), eligible_leader_replicas=draw(st.booleans()), min_isr=draw(st.integers(1, 3)),
        unclean=draw(st.booleans()),
    )  # fmt: skip
    seats = Seats(replicas, isr, elr, draw(members)[:2], isr[0] if isr else NO_LEADER)
    seats = after_fencing(seats, draw(st.permutations(isr)), rules) if rules.kraft else seats
    clean = {number: draw(st.booleans()) for number in replicas}
    acceptable = set(draw(members))
    costs = {number: (draw(st.integers(0, 2)), draw(st.integers(0, 3))) for number in replicas}

    def costs_of(order: Sequence[int]) -> Costs | None:
        leader = first_leader(seats, [BrokerStart(number, clean[number]) for number in order], acceptable, rules)
        return None if leader is None else costs[leader.broker_id]

    return Contest(replicas, costs_of)


@given(st.lists(contests(), max_size=4))
def test_no_order_costs_less(partitions: list[Contest]) -> None:
    """Of those that cost least it is the one with the lowest ids first."""
    order = start_order(BROKERS, partitions)
    assert order == StartOrder(min(permutations(BROKERS), key=lambda some: (cost_of(some, partitions), some)), True)


@given(contests())
def test_the_first_leader_depends_on_the_set_of_brokers(contest: Contest) -> None:
    """Who started before in which order makes no difference to a partition without a leader."""
    for before in permutations(contest.replicas[:-1]):
        if contest.costs(before) is None:
            assert contest.costs((*before, contest.replicas[-1])) == contest.costs(contest.replicas)


def test_brokers_whose_order_does_not_matter() -> None:
    """They start as early as their ids allow."""
    assert start_order((1, 2, 3, 4), ()) == StartOrder((1, 2, 3, 4), True)
    dear = first_of({2: (1, 0), 3: (0, 0)})
    assert start_order((1, 2, 3, 4), [dear]) == StartOrder((1, 3, 2, 4), True)
    assert start_order((1, 2, 3), [first_of({2: (1, 0), 3: (1, 0)})]) == StartOrder((1, 2, 3), True)


def test_many_brokers() -> None:
    """The cheapest next broker is taken, then neighbours are exchanged where that saves; that is no proof."""
    numbers = range(EXACT_BROKERS_MAX + 2)
    pairs = [first_of({number: (1, 0), number + 1: (0, 0)}) for number in numbers[:-1]]
    order = start_order(numbers, pairs)
    assert order == StartOrder(tuple(reversed(numbers)), False)
    assert cost_of(order.brokers, pairs) == (0, 0)
    delayed = [*pairs, first_of({0: (0, 0), 1: (5, 0)}), first_of({2: (0, 1), 3: (9, 9)})]
    again = start_order(numbers, delayed)
    assert cost_of(again.brokers, delayed) <= cost_of(tuple(numbers), delayed)


def test_controllers_start_together() -> None:
    """Before all others, whatever the order costs; then nothing says that no order costs less."""
    order = StartOrder((3, 1, 2), is_proven=True)
    assert order.at_once == 1
    assert order.after((3, 1)) == StartOrder((3, 1, 2), is_proven=True, together=(3, 1))
    assert order.after((1, 2)) == StartOrder((1, 2, 3), is_proven=False, together=(1, 2))
    assert order.after((1, 2)).at_once == 2
    assert order.after(()) == order
