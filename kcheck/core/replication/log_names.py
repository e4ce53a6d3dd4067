"""Finds logs under the name of another partition, by batches that all replicas of a partition have.

A follower copies the batches of its leader with their CRCs (ReplicaFetcherThread). So two replicas never have different
batches of one epoch at the same offset. Only the log cleaner writes others.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.model.loss import BatchIdentity
from kcheck.model.names import TopicPartition
from kcheck.words import broker_names, listed, partition_name


class NamedLog(NamedTuple):
    """A directory of a partition on a broker."""

    broker_id: int
    """Its broker."""
    partition: TopicPartition
    """The partition of its name."""
    batches: tuple[BatchIdentity, ...]
    """The batches to compare."""
    is_served: bool = True
    """True if the broker serves this name. Then the log is evidence for names."""


class OtherName(NamedTuple):
    """The partitions of which a log under another name may be a replica."""

    holds: tuple[TopicPartition, ...]
    """The proven partition, or all candidates by topic and number, with the name of the directory."""
    like: tuple[tuple[int, TopicPartition], ...]
    """The directories with the same log under another name, by broker."""
    unlike: tuple[int, ...]
    """The brokers with another log under the name of the directory."""

    @property
    def is_proven(self) -> bool:
        """True if the right name is known."""
        return len(self.holds) == 1


def other_names(logs: Iterable[NamedLog]) -> Iterator[tuple[NamedLog, OtherName]]:
    """Yield the logs under another name, or perhaps under another name.

    Two partitions can have the same batches if a producer sets timestamps. So a name is wrong only if other brokers
    have another log under this name. If no other broker has the name, its broker has another log under the name of the
    batches. Then these two logs are exchanged. Most brokers decide, by the other name of the log, or the other logs of
    the name.
    """
    logs = tuple(log for log in logs if log.batches)
    by_batch: dict[BatchIdentity, list[NamedLog]] = {}
    by_name: dict[TopicPartition, list[NamedLog]] = {}
    here = {(log.broker_id, log.partition): log for log in sorted(logs, key=lambda log: log.is_served)}
    for log in logs:
        if log.is_served:
            by_name.setdefault(log.partition, []).append(log)
            for batch in log.batches:
                by_batch.setdefault(batch, []).append(log)
    for log in logs:
        unlike = _unlike(log, by_name)
        if log.is_served and not unlike and len(by_name[log.partition]) > 1:
            continue  # all replicas of this name agree
        alike = dict.fromkeys(other for batch in log.batches for other in by_batch.get(batch, ()))
        others = [other for other in alike if other.broker_id != log.broker_id]
        votes = Counter(other.partition for other in others)
        own = votes.pop(log.partition, 0) + log.is_served
        most = max(votes.values(), default=0)
        best = sorted(name for name, count in votes.items() if count == most)
        is_alone = log.is_served and len(by_name[log.partition]) == 1 and len(best) == 1
        there = here.get((log.broker_id, best[0])) if is_alone else None
        exchanged = there if there is not None and _unlike(there, by_name) else None
        if most < own or not most or (log.is_served and not unlike and exchanged is None):
            continue
        holds = best if most > own or len(unlike) > own else sorted({*best, log.partition})
        like = tuple((other.broker_id, other.partition) for other in others if other.partition != log.partition)
        yield log, OtherName(tuple(holds), like, unlike)
        if exchanged is not None:
            names = [log.partition] if most > own else sorted({log.partition, exchanged.partition})
            yield exchanged, OtherName(tuple(names), (), _unlike(exchanged, by_name))


def _unlike(log: NamedLog, by_name: Mapping[TopicPartition, Sequence[NamedLog]]) -> tuple[int, ...]:
    """Return the brokers with another log under the name of a log."""
    replicas = (other for other in by_name.get(log.partition, ()) if other.broker_id != log.broker_id)
    return tuple(other.broker_id for other in replicas if differs(log.batches, other.batches))


def differs(ours: Iterable[BatchIdentity], theirs: Iterable[BatchIdentity]) -> bool:
    """Return whether two logs have different batches of one epoch at the same offset."""
    known = {(start, epoch): batch for batch in theirs for start, _, _, epoch in (batch,)}
    return any(known.get((batch[0], batch[3]), batch) != batch for batch in ours)


def named_words(partition: TopicPartition, other: OtherName) -> str:
    """Return the partition of the records of a directory, as a clause, with the brokers that have them."""
    own = f"{partition_name(*partition)} has the records of"
    if not other.like:
        names = " or ".join(partition_name(*name) for name in other.holds)
        than = f"{partition_name(*partition)} has other records than on {broker_names(sorted(other.unlike))}"
        return f"{than}; after an exchange, the right name is {names}"
    if other.is_proven:
        brokers = sorted({number for number, _ in other.like})
        return f"{own} {partition_name(*other.holds[0])} on {broker_names(brokers)}"
    names = " or ".join(partition_name(*name) for name in other.holds)
    places = listed([f"{partition_name(*name)} on broker {number}" for number, name in other.like])
    return f"{own} {places}. Not known: which name is right, {names}"
