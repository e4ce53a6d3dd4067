"""Plans the course of a cluster, with the order in which brokers start and stop, and the elections between.

The order costs least over all partitions, given the means of the operator while the brokers start (`early_elections`).
The controller may give a partition to a poorer replica. Then the best of the started replicas is elected before, if
need be while it runs alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import chain, permutations
from operator import sub
from typing import NamedTuple

from kcheck.core.election.early_elections import Displaced, Means, by_broker, displaced, first_of_course, means_for
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.plans import PartitionElection, cost
from kcheck.core.election.start_order import Contest, Costs, StartOrder, start_order
from kcheck.core.sums import plus

TRIED_BROKERS_MAX = 4
"""Of so many brokers every order is tried."""
_NOTHING: Costs = (0,) * 7
"""Costs by the rules of the cluster, with the unclean elections, and if the first broker led at once."""


class Phase(NamedTuple):
    """Steps before the cluster settles; stop brokers, start others at once, then elect."""

    stops: tuple[int, ...]
    """The brokers that are stopped."""
    starts: tuple[int, ...]
    """The brokers that this phase starts."""
    elects: tuple[PartitionElection, ...] = ()
    """The partitions that the tool elects uncleanly, once these brokers run."""


class Course(NamedTuple):
    """The steps of an operator with a cluster."""

    means: Means
    """The means while the brokers start."""
    phases: tuple[Phase, ...]
    """The starts, stops and elections, one after the other."""


def course_of(
    partitions: Sequence[PartitionElection], order: Sequence[int], starts: Mapping[int, BrokerStart], means: Means
) -> Course:
    """Return the steps while brokers start in an order, so that every partition gets its best leader."""
    means = means_for(partitions, order, starts, means)
    return Course(means, phases(displaced(partitions, order, starts, means), order, means))


def order_of_starts(
    partitions: Iterable[PartitionElection], starts: Mapping[int, BrokerStart], means: Means
) -> StartOrder:
    """Return the order in which the brokers here should start, each when the one before has settled.

    The least loss by the rules of the cluster decides. Then the fewest unclean elections decide, and the fewest bytes
    to fetch again. Among equal orders the least loss decides if the first present replica led at once. That happens if
    an operator turns on unclean elections meanwhile.
    """
    rows = list(partitions)
    contests = [*chain.from_iterable(_contests(partition, starts, means) for partition in rows)]
    if len(starts) <= TRIED_BROKERS_MAX:
        tried = (StartOrder(order, is_proven=True) for order in permutations(sorted(starts)))
        return min(tried, key=partial(_cost_of, contests))
    order = start_order(starts, contests)
    # Whom the tool takes depends on the order of those before; up to 3.9 the first of all decides whom to fence.
    is_exact = not means.has_tool and not any(partition.rules.unfenced for partition in rows)
    return order._replace(is_proven=order.is_proven and is_exact)


def _cost_of(contests: Iterable[Contest], order: StartOrder) -> Costs:
    """Return the cost of all partitions under an order."""
    return reduce(plus, filter(None, (contest.costs(order.brokers) for contest in contests)), _NOTHING)


def _contests(partition: PartitionElection, starts: Mapping[int, BrokerStart], means: Means) -> Iterator[Contest]:
    """Yield the contest by the rules of the cluster, and the contest that the first present replica wins.

    Costs count from the costs of the best leader. That leader is elected in the end if no replica leads before.
    """
    leaders, seats = partition.leaders, partition.seats
    costs = {number: cost(candidate) for number, candidate in leaders.items()}
    if len(set(costs.values())) <= 1:
        return
    least = min(costs.values())
    costs = {number: tuple(map(sub, own, least)) for number, own in costs.items()}
    nothing = (0,) * len(next(iter(costs.values())))

    def of_course(order: Sequence[int]) -> Costs | None:
        first = first_of_course(partition, [starts[number] for number in order], means)
        if first is None:
            return None
        *losses, size = costs[first.led_by]
        return (*losses, int(first.instead is not None), size, *nothing)

    def of_first(order: Sequence[int]) -> Costs | None:
        return next(((0, *nothing, *costs[number]) for number in order if number in costs), None)

    if seats is not None:
        yield Contest(tuple(number for number in seats.replicas if number in starts), of_course)
    yield Contest(tuple(leaders), of_first)


def phases(rows: Iterable[Displaced], order: Sequence[int], means: Means) -> tuple[Phase, ...]:
    """Return the steps, one after the other, so that brokers start in an order and elections come in time.

    A broker that has to be alone is started after all others have stopped. These start again before the next broker,
    or, where brokers run one by one, after the last election.
    """
    early, at_once = by_broker(rows), means.at_once
    groups = [group for group in (order[:at_once], *((number,) for number in order[at_once:])) if group]
    course: list[Phase] = []
    running: tuple[int, ...] = ()
    stopped: tuple[int, ...] = ()
    dues = [early.get(group[0], []) for group in (*groups[1:], *groups[:1])]
    last = max((at for at, due in enumerate(dues) if due), default=-1)
    for at, (group, due) in enumerate(zip(groups, dues, strict=True)):
        is_alone = any(row.alone for row in due) or (means.one_by_one and at <= last)
        if stopped and not is_alone:
            course.append(Phase((), stopped))
            running, stopped = (*stopped, *running), ()
        stops = running if is_alone else ()
        course.append(Phase(stops, tuple(group), tuple(row.partition for row in due)))
        running, stopped = (*(() if is_alone else running), *group), (*stopped, *stops)
    return (*course, *([Phase((), stopped)] if stopped else ()))


def of_brokers(order: StartOrder, course: Course, brokers: set[int]) -> tuple[StartOrder, Course]:
    """Return an order of starts, and what a person does meanwhile, of some brokers alone."""
    steps = tuple(
        phase._replace(stops=_only(phase.stops, brokers), starts=_only(phase.starts, brokers))
        for phase in course.phases
    )
    phases = tuple(phase for phase in steps if phase.starts or phase.stops or phase.elects)
    return order._replace(brokers=_only(order.brokers, brokers)), course._replace(phases=phases)


def _only(numbers: tuple[int, ...], brokers: set[int]) -> tuple[int, ...]:
    return tuple(number for number in numbers if number in brokers)
