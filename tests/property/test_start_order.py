"""kcheck.core.election.start_order against every order of few brokers, with elections as the controller does them."""

from collections.abc import Sequence
from itertools import permutations
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.election.election import BrokerStart, ElectionRules, Seats, after_fencing, first_leader
from kcheck.core.election.start_order import EXACT_BROKERS_MAX, Contest, Costs, start_order

BROKERS = (1, 2, 3, 4, 5)
_ZERO = (0, 0)


class _Partition(NamedTuple):
    seats: Seats
    starts: dict[int, BrokerStart]
    acceptable: frozenset[int]
    rules: ElectionRules
    costs: dict[int, Costs]

    def elected(self, order: Sequence[int]) -> Costs | None:
        """Return what the first leader costs if these brokers start one after the other."""
        leader = first_leader(self.seats, [self.starts[number] for number in order], self.acceptable, self.rules)
        return None if leader is None else self.costs[leader.broker_id]

    @property
    def contest(self) -> Contest:
        return Contest(self.seats.replicas, self.elected)


@st.composite
def _partitions(draw: st.DrawFn, brokers: Sequence[int] = BROKERS) -> _Partition:
    """Partitions whose brokers have all been fenced (4.0 and later)."""
    replicas = tuple(draw(st.permutations(brokers))[: draw(st.integers(1, 4))])
    rules = ElectionRules(
        kraft=draw(st.booleans()),
        eligible_leader_replicas=draw(st.booleans()),
        min_isr=draw(st.integers(1, 3)),
        unclean=draw(st.booleans()),
    )
    rules = rules._replace(eligible_leader_replicas=rules.kraft and rules.eligible_leader_replicas)
    isr = tuple(draw(st.permutations(replicas))[: draw(st.integers(1, len(replicas)))])
    elr = tuple(number for number in replicas if number not in isr and draw(st.booleans()))
    seats = Seats(replicas, isr, elr if rules.eligible_leader_replicas else (), leader=draw(st.sampled_from(isr)))
    if rules.kraft:
        seats = after_fencing(seats, draw(st.permutations(brokers)), rules)
    return _Partition(
        seats._replace(leader=-1),
        {number: BrokerStart(number, draw(st.booleans())) for number in brokers},
        frozenset(draw(st.sets(st.sampled_from(replicas)))),
        rules,
        {number: (draw(st.integers(0, 2)), draw(st.integers(0, 2))) for number in replicas},
    )


def _cost(order: Sequence[int], partitions: Sequence[_Partition]) -> Costs:
    sums = _ZERO
    for partition in partitions:
        costs = partition.elected([number for number in order if number in partition.seats.replicas]) or _ZERO
        sums = (sums[0] + costs[0], sums[1] + costs[1])
    return sums


@given(st.lists(_partitions(), min_size=1, max_size=4))
def test_no_order_of_few_brokers_costs_less(partitions: list[_Partition]) -> None:
    """Of the orders that cost least it is the first: broker ids break ties."""
    best = min(permutations(BROKERS), key=lambda order: (_cost(order, partitions), order))
    order = start_order(BROKERS, [partition.contest for partition in partitions])
    assert order.is_proven
    assert order.brokers == best


@given(_partitions())
def test_a_first_leader_depends_on_who_started_before_not_on_their_order(partition: _Partition) -> None:
    """Each registration takes its own broker's seats only."""
    costs: dict[tuple[frozenset[int], int], Costs | None] = {}
    for order in permutations(partition.seats.replicas):
        for at, number in enumerate(order):
            if partition.elected(order[:at]) is None:
                key = frozenset(order[:at]), number
                assert costs.setdefault(key, partition.elected(order[: at + 1])) == partition.elected(order[: at + 1])


@given(st.lists(_partitions(range(1, EXACT_BROKERS_MAX + 4)), min_size=8, max_size=16))
def test_an_order_of_many_brokers_names_each_once(partitions: list[_Partition]) -> None:
    """It is the same each time, and says whether it is proven."""
    brokers = range(1, EXACT_BROKERS_MAX + 4)
    order = start_order(brokers, [partition.contest for partition in partitions])
    assert sorted(order.brokers) == [*brokers]
    assert order == start_order(reversed(brokers), [partition.contest for partition in partitions])
