"""Preferred replicas that get the lead back by themselves, where ZooKeeper keeps the state of the controller.

KafkaController.checkAndTriggerAutoLeaderRebalance 0.8.1 to 3.9: for each broker, the controller counts the partitions
whose preferred replica it has. If others lead more of them than leader.imbalance.per.broker.percentage, it elects the
broker in these; else in none. KRaft ignores the setting.
"""

from collections import Counter
from collections.abc import Sequence

from kcheck.core.election.course import Later
from kcheck.core.election.plans import Candidate, PartitionElection, record_costs
from kcheck.core.replication.leader_costs import at_most
from kcheck.model.cluster import IMBALANCE, ClusterImage
from kcheck.model.java import java_int

_DEFAULT = 10


def balanced(partitions: Sequence[PartitionElection], image: ClusterImage) -> tuple[PartitionElection, ...]:
    """Return the partitions without the preferred elections that the controller does not run.

    An election may come if the first leader is a race, or if partitions were not asked for. Then the higher cost
    counts.
    """
    setting = java_int(image.config("", IMBALANCE) or "")
    percentage = _DEFAULT if setting is None else setting
    of_brokers = Counter(row.replicas[0] for _, _, row in image.partitions() if row.replicas)
    own, other = Counter[int](), Counter[int]()
    for row in partitions:
        preferred, leaders = _preferred(row), row.race | ({row.best} if row.best is not None else set())
        if preferred is not None and leaders:
            own[preferred] += leaders == {preferred}
            other[preferred] += preferred not in leaders
    comes = {broker for broker, count in of_brokers.items() if 100 * other[broker] > percentage * count}
    stays = {
        broker for broker, count in of_brokers.items() if 100 * (count - own[broker]) <= percentage * count
    }  # fmt: skip
    return tuple(
        row
        if row.rules.kraft or _preferred(row) in comes
        else row._replace(
            candidates=tuple(_with_balance(one, never=_preferred(row) in stays) for one in row.candidates)
        )
        for row in partitions
    )


def _preferred(partition: PartitionElection) -> int | None:
    replicas = () if partition.registration is None else partition.registration.replicas
    return next(iter(replicas), None)


def _with_balance(candidate: Candidate, *, never: bool) -> Candidate:
    """Return a candidate whose preferred replica gets the lead back `never`, or maybe."""
    if candidate.later is None or candidate.later.why is not Later.PREFERRED:
        return candidate
    later = candidate.lost_later
    if later is not None and not never and record_costs(candidate) < record_costs(candidate._replace(lost=later)):
        return candidate._replace(lost_later=at_most(later))
    return candidate._replace(later=None, lost_later=None) if never or later is not None else candidate
