"""Lists brokers with replicas that no election counts, because they are missing, given up, or do not start."""

from collections import Counter
from collections.abc import Iterable, Iterator

from kcheck.core.election.plans import GIVEN_UP, BrokerGap, PartitionElection
from kcheck.core.premises.table import OF_OTHERS, OTHER_RECORDS
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.replicas.candidates import ClusterHere


def gaps_of(elections: Iterable[PartitionElection], cluster: ClusterHere) -> Iterator[BrokerGap]:
    """Yield the brokers whose replicas are not part of the picture.

    Without metadata a broker that does not start may have any number of replicas.
    """
    replicas = Counter(number for election in elections for number in replicas_of(election))
    failing = {number for number, broker in cluster.brokers.items() if broker.problem is not None}
    for number in sorted({*replicas} | (failing if cluster.image is None else set())):
        broker = cluster.brokers.get(number)
        if broker is None:
            yield BrokerGap(number, replicas[number], GIVEN_UP if number in cluster.dead else None)
        elif broker.problem is not None:
            yield BrokerGap(number, replicas[number], broker.problem)


def failing_of(gaps: Iterable[BrokerGap]) -> tuple[BrokerGap, ...]:
    """Return the brokers that are here and do not start."""
    return tuple(gap for gap in gaps if gap.fails)


def mistaken_of(gaps: Iterable[BrokerGap], premises: Iterable[JudgedPremise]) -> tuple[int, ...]:
    """Return the brokers here that do not start, with disks, settings or arguments of another broker or cluster.

    No order of starts and no comparison of leaders counts before they are right.
    """
    named = {row.broker_id for row in premises if row.id in OF_OTHERS and row.status is PremiseStatus.REFUTED}
    return tuple(sorted(gap.broker_id for gap in failing_of(gaps) if gap.broker_id in named))


def is_out_of_place(gaps: Iterable[BrokerGap], premises: Iterable[JudgedPremise]) -> bool:
    """Return whether disks are at another broker, or directories have the name of another partition.

    No order of starts and no leader counts before all are in their place.
    """
    premises = tuple(premises)
    is_misnamed = any(row.id in OTHER_RECORDS and row.status is PremiseStatus.REFUTED for row in premises)
    return is_misnamed or bool(mistaken_of(gaps, premises))


def replicas_of(election: PartitionElection) -> Iterable[int]:
    """Return the replicas of a partition, by the metadata; without metadata those whose directories are here."""
    if election.registration is not None:
        return election.registration.replicas
    return (candidate.broker_id for candidate in election.candidates)
