"""Directories under the name of another partition, by the batches of the replicas on other brokers."""

from collections.abc import Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.replication.log_names import NamedLog, OtherName, named_words, other_names
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import partition_name, some_of

OWN_NAME = "P367"
"""The premise that no directory has the name of another partition."""


def with_names(facts: Mapping[object, BrokerFacts]) -> dict[object, BrokerFacts]:
    """Return the facts of brokers, with the logs that are, or may be, of another partition."""
    every = {own.broker_id: own.logs for own in facts.values() if own.broker_id is not None}
    found = dict(other_names(_named(number, log) for number, logs in every.items() for log in logs))
    return {
        broker: own._replace(
            logs=tuple(log._replace(other_name=found.get(_named(own.broker_id, log))) for log in own.logs)
        )
        if found and own.broker_id is not None
        else own
        for broker, own in facts.items()
    }


def _named(broker_id: int, log: LogFacts) -> NamedLog:
    shared = () if log.batches is None else log.batches.shared(is_compacted=log.is_compacted)
    return NamedLog(broker_id, log.partition, shared, log.is_served)


def own_name(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for directories with the records of another partition.

    Other brokers show that. So does a number without a partition. No topic loses partitions.
    """
    right = {log.partition for log in facts.logs if log.is_served and log.other_name is None}
    for log in facts.logs:
        other, name = log.other_name, partition_name(*log.partition)
        path = PremiseEvidence(f"{log.log_dir}/{name}", "its first batch")
        if other is not None and (log.is_served or (_has_place(other, facts) and right.isdisjoint(other.holds))):
            evidence = (
                path,
                *(
                    PremiseEvidence(f"broker {number}", f"the same batch is in {partition_name(*of)}")
                    for number, of in other.like
                ),
            )
            sentence = named_words(log.partition, other)
        elif other is None and (missing := _without_log(log, facts)):
            evidence = (path, PremiseEvidence(facts.image_path or "", f"no partition {log.partition.partition}"))
            sentence = (
                f"{name} is no partition of the cluster, and {facts.name} has no directory of {some_of(missing)}. Not"
                " known: these records may be there under a wrong name"
            )
        else:
            continue
        yield refuted(premise, facts, sentence, *evidence, log_dir=log.log_dir, partition=name)


def _without_log(log: LogFacts, facts: BrokerFacts) -> list[str]:
    """Return the replicas without a directory on a broker, if the topic does not have the number of a log."""
    topic = None if facts.image is None else facts.image.topics.get(log.partition.topic)
    if topic is None or log.is_served or log.partition.partition in topic.partitions or log.start >= log.end:
        return []
    here = {other.partition.partition for other in facts.logs if other.partition.topic == topic.name}
    return [
        partition_name(topic.name, number)
        for number, row in topic.partitions.items()
        if number not in here and facts.broker_id in row.replicas
    ]


def _has_place(other: OtherName, facts: BrokerFacts) -> bool:
    """Return whether the metadata assigns the broker a replica of the partition that a directory holds."""
    topics = {} if facts.image is None else facts.image.topics
    known = (topics[name.topic].partitions.get(name.partition) for name in other.holds if name.topic in topics)
    return any(row is not None and facts.broker_id in row.replicas for row in known)


TABLE = (
    Premise(
        OWN_NAME, PremiseKind.PRESENCE, "No directory has the records of another partition.",
        "The replicas of its partition on other brokers begin with the same batch. For compacted topics the last"
        " segments do.",
        "Other brokers have the same batch in another partition, and another batch in this one. If most of them agree,"
        " the right name is proven. Not looked at without the log dirs of other brokers.",
        "The broker serves the records under the wrong name. The other replicas, or this one, truncate their own.",
        "Rename no directory by guess. kcheck recover with the log dirs of all brokers has the commands for proven"
        " names.",
        "ReplicaFetcherThread, LogManager.loadLog 0.11 to 4.3.1", own_name, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
