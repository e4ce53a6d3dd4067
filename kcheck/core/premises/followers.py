"""Records that only another replica has, at the end of a leader's last epoch or below a log start."""

from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.premises.facts import BrokerFacts, LogFacts, MissingRecords
from kcheck.core.premises.judged import EVERY_DISK, not_seen
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import only_follows
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.words import partition_name

STARTS_TOGETHER = "P320"
"""The premise that replicas without leader epochs begin at the same offset."""


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
    """Return a log, with the records after its end that the longest of its followers has, and its lower log start."""
    replicas = tuple(replicas)
    others = [other for number, other in replicas if number != facts.broker_id and other.topic_id == log.topic_id]
    log = log._replace(lacks_epochs=log.lacks_epochs and all(other.lacks_epochs for other in others))
    if log.hides and log.lost_head is None:
        starts = (
            (other.start, number)
            for number, other in replicas
            if other.start < min(log.start, other.end) and other.topic_id == log.topic_id
        )
        log = log._replace(lower=min(starts, default=None))
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
    # Remote segments end earlier than the log, so a follower shows more.
    missing = [row for row in log.missing if row.end > end or not (row.known_by or "").startswith(REMOTE_LOG_METADATA)]
    if end <= log.end or any(records.known_by is not None for records in missing):
        return log
    return log._replace(missing=(*missing, MissingRecords(log.end, end, f"the replica of broker {number}")))


def starts_together(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs that may lead, and hide records which another replica serves.

    Followers take a log start that DeleteRecords or retention raised with the next fetch (AbstractFetcherThread). A
    stop in between, an edited checkpoint and a removed first segment look the same.
    """
    for log in facts.logs:
        if (log.lower is None and not log.lacks_epochs) or only_follows(log.partition, facts, in_the_end=True):
            continue
        name = partition_name(*log.partition)
        if log.lower is None:
            sentence = f"{name} begins at {log.start}, but its leader epochs are lost. Whether earlier segments were"
            provide = f"{EVERY_DISK}; or --allow {premise.id} if none was removed"
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", "no leader epochs, though its batches have some")
            yield not_seen(premise, facts, f"{sentence} removed is not known", provide, evidence)
            continue
        start, number = log.lower
        sentence = (
            f"{name} begins at {log.start} here, at {start} on broker {number}. Whether DeleteRecords or retention"
            " removed the records between is not known, as the log has no leader epochs. If"
            f" {facts.name} leads, the others delete them"
        )
        evidence = PremiseEvidence(
            f"{log.log_dir}/{name}", f"its log start is {log.start}, and its leader epochs are empty"
        )
        yield not_seen(premise, facts, sentence, "the broker's own log of that time", evidence)


TABLE = (
    Premise(
        STARTS_TOGETHER, PremiseKind.PRESENCE,
        "The replicas of a log without leader epochs begin at the same offset.",
        "The other replicas do not begin lower.",
        "Not seen: another replica begins lower. Logs of message formats of 0.10 and earlier have no leader epochs. Not"
        " seen either: no other replica is given, and the epochs of a newer format are lost.",
        "If the broker leads, the other replicas delete the records below its log start.",
        "Look for the deletion in the broker's own log. Without that, let another replica lead (kcheck recover).",
        "AbstractFetcherThread.processFetchRequest, UnifiedLog.maybeIncrementLogStartOffset", starts_together,
        ends_start=False, cost=PremiseCost.UNCOUNTED, may_lack=True,
    ),
)  # fmt: skip
