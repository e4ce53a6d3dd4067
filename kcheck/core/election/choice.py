"""The decisions for all partitions of a cluster together (the order of starts, and who leads by the plan)."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.core.cluster.quorum import Quorum, started_together
from kcheck.core.election.early_elections import means_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.phases import Course, course_of, order_of_starts
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.scenarios import planned
from kcheck.core.election.start_order import StartOrder
from kcheck.model.release import Release


class ElectionChoice(NamedTuple):
    """The decisions for all partitions of a cluster together."""

    partitions: tuple[PartitionElection, ...]
    """The partitions with the leaders of the plan."""
    order: StartOrder
    """The order in which the brokers here should start."""
    course: Course
    """The steps of the operator."""


def choice_of(
    starts: Mapping[int, BrokerStart],
    release: Release,
    controllers: Quorum | None,
    elections: tuple[PartitionElection, ...],
) -> ElectionChoice:
    """Return the cheapest order of the brokers, and the leaders of the resulting plan."""
    together = () if controllers is None else started_together(controllers, sorted(starts))
    means = means_of(elections, release, at_once=max(1, len(together)))
    order = order_of_starts(elections, starts, means)
    if controllers is not None:
        order = order.after(started_together(controllers, order.brokers))
    course = course_of(elections, order.brokers, starts, means)
    return ElectionChoice(planned(elections, starts, order.brokers, course.means), order, course)
