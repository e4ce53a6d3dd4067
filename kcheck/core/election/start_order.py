"""Finds the start order of brokers that costs least over all partitions.

A partition gets its first leader when a certain broker starts after a certain set of others. The cost of that leader is
known, and the cost of an order is the sum over the partitions. For few brokers dynamic programming over sets of started
brokers proves the best order. For many brokers the cheapest next broker is taken, then neighbors are exchanged.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import NamedTuple

from kcheck.core.sums import plus

EXACT_BROKERS_MAX = 12
"""Up to this many brokers whose order matters, the order is proven the best."""
REPLICAS_MAX = 8
"""A partition with more replicas here is decided by the first of them alone."""

Costs = tuple[int, ...]
"""The loss, the most important part first; sums compare like the parts."""
Started = frozenset[int]
CostTable = Mapping[tuple[Started, int], Costs]
"""The cost of a partition that gets its first leader when a broker starts after a set of others."""


class StartOrder(NamedTuple):
    """An order of brokers."""

    brokers: tuple[int, ...]
    """Every broker, the first to start first."""
    is_proven: bool
    """True if no order costs less."""
    together: tuple[int, ...] = ()
    """The first brokers, which start at once. Without a majority of the controllers no broker comes up."""

    @property
    def at_once(self) -> int:
        """Number of brokers that the first step starts."""
        return max(1, len(self.together))

    def after(self, together: tuple[int, ...]) -> "StartOrder":
        """Return the order in which these start first, at once, and the others after them."""
        rest = tuple(number for number in self.brokers if number not in together)
        is_same = self.brokers[: len(together)] == together
        return StartOrder((*together, *rest), self.is_proven and is_same, together)


NO_ORDER = StartOrder((), is_proven=False)
"""The order while no broker should start yet."""


class Contest(NamedTuple):
    """A partition whose first leader depends on the order."""

    replicas: tuple[int, ...]
    """The brokers here that hold a replica."""
    costs: Callable[[Sequence[int]], Costs | None]
    """Takes brokers in the order of their start; returns what the first leader among them costs, None without one."""


def table_of(contest: Contest) -> CostTable:
    """Return when the partition gets its first leader, and at what cost.

    Which leader the controller elects depends on the set of brokers that started before, not on their order.
    """
    members = sorted(contest.replicas)[:REPLICAS_MAX]
    table: dict[tuple[Started, int], Costs] = {}
    for count in range(len(members)):
        for before in combinations(members, count):
            if contest.costs(before) is None:
                for number in members:
                    costs = None if number in before else contest.costs((*before, number))
                    if costs is not None:
                        table[frozenset(before), number] = costs
    return table


def start_order(brokers: Iterable[int], contests: Iterable[Contest]) -> StartOrder:
    """Return the cheapest order of the brokers; among equal orders the lowest broker ids come first."""
    choices = Choices(contests)
    disputed = sorted({number for members in choices.tables for number in members})
    is_proven = len(disputed) <= EXACT_BROKERS_MAX
    order = (_least if is_proven else _greedy)(tuple(disputed), choices)
    return StartOrder(_merged(order, tuple(sorted(brokers))), is_proven)


class Choices:
    """The cost of all partitions, by the brokers that hold a replica; a contest without a choice is left out."""

    def __init__(self, contests: Iterable[Contest]) -> None:
        """Add up the costs of contests between the same brokers."""
        self.zero: Costs = ()
        self.tables: dict[Started, dict[tuple[Started, int], Costs]] = defaultdict(dict)
        for table in map(table_of, contests):
            if len(set(table.values())) > 1:
                sums = self.tables[frozenset().union(*({*before, number} for before, number in table))]
                for key, costs in table.items():
                    sums[key] = plus(sums[key], costs) if key in sums else costs
                    self.zero = (0,) * len(costs)
        self._of_broker: dict[int, list[tuple[Started, CostTable]]] = defaultdict(list)
        for members, table in self.tables.items():
            for number in members:
                self._of_broker[number].append((members, table))

    def step(self, before: Started, number: int) -> Costs:
        """Return the cost of the partitions that get their first leader when a broker starts after others."""
        sums = self.zero
        for members, table in self._of_broker[number]:
            sums = plus(sums, table.get((before & members, number), self.zero))
        return sums


def _least(numbers: tuple[int, ...], choices: Choices) -> tuple[int, ...]:
    """Return the cheapest order, by trying every set of brokers. Among equal orders the lowest ids come first."""

    @cache
    def rest(before: Started) -> tuple[Costs, tuple[int, ...]]:
        options = []
        for number in numbers:
            if number not in before:
                costs, order = rest(before | {number})
                options.append((plus(choices.step(before, number), costs), (number, *order)))
        return min(options, default=(choices.zero, ()))

    return rest(frozenset())[1]


def _greedy(numbers: tuple[int, ...], choices: Choices) -> tuple[int, ...]:
    """Return a good order. The cheapest broker starts next; then neighbors are exchanged where that saves costs."""
    order: list[int] = []
    left = list(numbers)
    while left:
        before = frozenset(order)
        cheapest = min(left, key=lambda number: (choices.step(before, number), number))
        order.append(cheapest)
        left.remove(cheapest)
    is_better = True
    while is_better:
        is_better = False
        for at in range(len(order) - 1):
            before, one, other = frozenset(order[:at]), order[at], order[at + 1]
            now = plus(choices.step(before, one), choices.step(before | {one}, other))
            exchanged = plus(choices.step(before, other), choices.step(before | {other}, one))
            if exchanged < now:
                order[at], order[at + 1], is_better = other, one, True
    return tuple(order)


def _merged(order: tuple[int, ...], numbers: tuple[int, ...]) -> tuple[int, ...]:
    """Return the order with the brokers that it does not name, each as early as its id allows."""
    merged, rest = [], [number for number in numbers if number not in order]
    for number in order:
        while rest and rest[0] < number:
            merged.append(rest.pop(0))
        merged.append(number)
    return (*merged, *rest)
