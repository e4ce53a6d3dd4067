"""The loss of a cluster without one of its brokers, and replicas in sync that lack committed records."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.election import BrokerStart, Elected, leader_of_all
from kcheck.core.election.plans import PartitionElection, best_candidate
from kcheck.core.replication.leader_costs import Amounts, total
from kcheck.model.entries import Offset


class BrokerLoss(NamedTuple):
    """Offline partitions and lost records if a broker never comes back, and every other broker here starts."""

    broker_id: int
    """The broker."""
    partitions: int
    """Partitions with a replica on it."""
    offline: int | None
    """Partitions for which the controller then elects no leader by itself; None without metadata."""
    only_copy: int
    """Number of partitions that no other broker here can lead. All of their records are lost."""
    lost: Amounts
    """Loss of the other partitions under the best remaining leader. An unknown count is None."""

    @property
    def is_survived(self) -> bool | None:
        """True if every partition is online and keeps its committed records; None if that is not known."""
        if self.only_copy or self.offline or self.lost.committed:
            return False
        return None if self.offline is None or self.lost.committed is None else True


class Lacking(NamedTuple):
    """A replica that is in the ISR but lacks records below a high watermark of its partition."""

    topic: str
    partition: int
    broker_id: int
    log_end_offset: Offset
    """Its log end offset after the broker has started."""
    high_watermark: Offset
    """The highest high watermark that a replica here has checkpointed. Every record below is committed."""


def broker_losses(partitions: Sequence[PartitionElection], starts: Mapping[int, BrokerStart]) -> tuple[BrokerLoss, ...]:
    """Return the loss without each starting broker, by id."""
    of_broker: dict[int, list[PartitionElection]] = {number: [] for number in sorted(starts)}
    for partition in partitions:
        replicas = () if partition.seats is None else partition.seats.replicas
        for number in {*replicas, *partition.leaders} & starts.keys():
            of_broker[number].append(partition)
    leaders_known = _LeadersWithout(starts)
    return tuple(_broker_loss(number, own, leaders_known) for number, own in of_broker.items())


def _broker_loss(number: int, partitions: Sequence[PartitionElection], known: "_LeadersWithout") -> BrokerLoss:
    offline = only_copy = 0
    is_known = True
    losses: list[Amounts | None] = []
    for partition in partitions:
        best = best_candidate(candidate for candidate in partition.candidates if candidate.broker_id != number)
        is_known = is_known and partition.seats is not None
        offline += partition.seats is not None and known.leader(partition, number) is None
        if best is None:
            only_copy += 1
        else:
            losses.append(best.lost)
    return BrokerLoss(number, len(partitions), offline if is_known else None, only_copy, total(losses))


class _LeadersWithout:
    """The leaders that the controller elects without one broker. Partitions with equal places have the same leader."""

    def __init__(self, starts: Mapping[int, BrokerStart]) -> None:
        self._starts = starts
        self._known: dict[object, Elected | None] = {}

    def leader(self, partition: PartitionElection, number: int) -> Elected | None:
        assert partition.seats is not None
        leaders = [other for other in partition.leaders if other != number]
        key = (partition.seats, partition.rules, number, *leaders)
        if key not in self._known:
            here = [
                self._starts[other] for other in partition.seats.replicas if other != number and other in self._starts
            ]
            self._known[key] = leader_of_all(partition.seats, here, leaders, partition.rules)
        return self._known[key]


def lacking(partition: PartitionElection) -> Iterator[Lacking]:
    """Yield the replicas of a partition that are in sync by the metadata, and lack committed records as is known."""
    registration, mark = partition.registration, partition.high_watermark
    if registration is None or mark is None:
        return
    for candidate in partition.candidates:
        end = candidate.log_end_offset
        if candidate.broker_id in registration.isr and candidate.can_lead and end is not None and end < mark:
            yield Lacking(partition.topic, partition.partition, candidate.broker_id, end, mark)
