"""Leaders whose logs end before a follower's. The follower's broker then ends, in 2.0.0 and earlier.

ReplicaFetcherThread.handleOffsetOutOfRange 0.8.2 to 2.0.0, where neither the topic nor the settings of that broker
allow unclean elections.
"""

from collections.abc import Iterator, Mapping

from kcheck.core.election.election import elect, standing
from kcheck.core.premises.facts import BrokerFacts, LogFacts, ShortLeader
from kcheck.core.premises.judged import EVERY_DISK, not_seen, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.replication.dialogue import Leader
from kcheck.core.replication.truncation import plan_truncation
from kcheck.core.start.startup import Mode
from kcheck.model.cluster import UNCLEAN
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import partition_name, some_names

FOLLOWS_NO_SHORTER = "P352"
"""The premise that no leader's log ends before the log of its follower."""


def with_leaders(facts: Mapping[object, BrokerFacts]) -> dict[object, BrokerFacts]:
    """Return the facts of running brokers, with the leaders among them that end one of the others."""
    running = {own.broker_id: own for own in facts.values()}
    logs = {(number, log.partition): log for number, own in running.items() for log in own.logs}
    return {
        broker: own._replace(logs=tuple(_with_leader(log, own, running, logs) for log in own.logs))
        if own.release.exits_out_of_range_without_unclean_election
        else own
        for broker, own in facts.items()
    }


def _with_leader(
    log: LogFacts, own: BrokerFacts, running: Mapping[int | None, BrokerFacts],
    logs: Mapping[tuple[int | None, TopicPartition], LogFacts],
) -> LogFacts:  # fmt: skip
    """Return a log, with the shorter one of a broker that may lead, if the broker then ends."""
    topic = None if own.image is None else own.image.topics.get(log.partition.topic)
    known = None if topic is None else topic.partitions.get(log.partition.partition)
    if own.image is None or topic is None or known is None or log.replica is None or _may_truncate(topic.name, own):
        return log
    of = standing(own.image, topic, known, (), own.release, kraft=own.mode is Mode.KRAFT)
    elected = elect(of.seats, [number for number in running if number is not None], of.rules)
    shorter = []
    for number in known.in_sync:
        other = running.get(number)
        if number == own.broker_id or other is None or not (other.has_all or (number, log.partition) in logs):
            continue
        leading = logs.get((number, log.partition))
        leader = Leader((), Offset(0))
        if leading is not None and leading.replica is not None:
            leader = Leader(leading.replica.cache, leading.end, leading.start, leading.start)
        if plan_truncation(log.replica, leader, release=own.release).exits_without_unclean_election:
            leads = elected is not None and elected.broker_id == number
            shorter.append(ShortLeader(number, leader.log_end_offset, leads=leads))
    return log._replace(short_leader=max(shorter, key=lambda row: row.leads, default=None))


def _may_truncate(topic: str, own: BrokerFacts) -> bool:
    """Return whether the topic, or the settings of the broker itself, allow unclean elections."""
    assert own.image is not None
    stated = own.image.configs.get(("topic", topic), {}).get(UNCLEAN) or own.setting(UNCLEAN)
    return own.release.elects_uncleanly_by_default if stated is None else stated.lower() == "true"


def follows_no_shorter(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for leaders among the given brokers whose logs end before the offset that this broker fetches first."""
    short = [(log, log.short_leader) for log in facts.logs if log.short_leader is not None]
    for leads in (True, False):
        rows = [(log, leader) for log, leader in short if leader.leads is leads]
        if rows:
            log, leader = rows[0]
            names = some_names(row.partition for row, _ in rows)
            sentence = (
                f"{facts.name} ends when broker {leader.broker_id} leads {names}: that log ends at {leader.end}, before"
                " the high watermark here. Brokers of 2.0.0 and earlier then end, as log truncation is not allowed"
            )
            name = partition_name(*log.partition)
            evidence = (
                PremiseEvidence(f"{log.log_dir}/{name}", f"log end {log.end}"),
                PremiseEvidence(f"broker {leader.broker_id}", f"{name} ends at {leader.end}"),
            )
            if leads and facts.config is not None:
                yield refuted(premise, facts, sentence, *evidence, log_dir=log.log_dir, partition=name)
            else:
                yield not_seen(premise, facts, sentence, EVERY_DISK, *evidence, log_dir=log.log_dir)
            return


TABLE = (
    Premise(
        FOLLOWS_NO_SHORTER, PremiseKind.PRESENCE, "No leader's log ends before the log of its follower.",
        "The logs of the given brokers that may lead do not end before the high watermark of this replica.",
        "The log of the next leader ends before that, and unclean.leader.election.enable is false. Not seen: a replica"
        " that only may lead, or a broker without given settings. Only in 2.0.0 and earlier.",
        "The process ends after some seconds, because log truncation is not allowed.",
        "Find the newest disk of the leader. Or let another replica lead (kcheck recover).",
        "ReplicaFetcherThread.handleOffsetOutOfRange 0.8.2 to 2.0.0", follows_no_shorter, ends_start=False,
        cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
