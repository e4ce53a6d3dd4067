"""Records of the last epoch of a leader, which only a follower has."""

from collections.abc import Iterable, Mapping

from kcheck.core.premises.facts import BrokerFacts, LogFacts, MissingRecords
from kcheck.model.names import TopicPartition


def with_followers(facts: Mapping[object, BrokerFacts]) -> dict[object, BrokerFacts]:
    """Return the facts of brokers, with records of a leader's last epoch that a follower has and the leader lacks.

    A follower gets the batches of an epoch from its leader alone (ReplicaFetcherThread), and no leader truncates.
    """
    replicas = dict[TopicPartition, list[tuple[int, LogFacts]]]()
    for own in facts.values():
        if own.broker_id is not None:
            for log in own.logs:
                replicas.setdefault(log.partition, []).append((own.broker_id, log))
    return {
        broker: own._replace(logs=tuple(_with_followers(log, own, replicas.get(log.partition, ())) for log in own.logs))
        for broker, own in facts.items()
    }


def _with_followers(log: LogFacts, facts: BrokerFacts, replicas: Iterable[tuple[int, LogFacts]]) -> LogFacts:
    """Return a log, with the records after its end that the longest of its followers has."""
    topic = None if facts.image is None else facts.image.topics.get(log.partition.topic)
    known = None if topic is None else topic.partitions.get(log.partition.partition)
    if known is None or facts.broker_id != known.last_leader or known.last_leader_epoch is None or log.loses:
        return log
    ends = [
        (other.end, number)
        for number, other in replicas
        if number in known.replicas and other.epoch == known.last_leader_epoch and other.topic_id == log.topic_id
    ]
    end, number = max(ends, default=(log.end, 0))
    if end <= log.end or any(records.known_by is not None for records in log.missing):
        return log
    return log._replace(missing=(*log.missing, MissingRecords(log.end, end, f"the replica of broker {number}")))
