"""Premises about the records of a log (its beginning, its middle and its end)."""

from collections import Counter
from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts, LogFacts, MissingRecords
from kcheck.core.premises.judged import EVERY_DISK, not_seen, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import is_alone, only_follows
from kcheck.core.start.topic_settings import is_compacted
from kcheck.model.names import TopicPartition
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import counted, offset_range, partition_name

_ELSEWHERE = "whether another replica leads is not known"
"""Ends a sentence about a fault that does no harm where another replica leads."""
HEADS_THERE, MIDDLES_THERE, ENDS_THERE = "P304", "P305", "P306"
"""The premises that the beginning, the middle and the end of every log is there."""


def heads_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs whose beginning was removed. As leaders they make the other replicas delete theirs too."""
    for log in facts.logs:
        if log.lost_head is None:
            continue
        name, (start, end) = partition_name(*log.partition), log.lost_head
        first = "first index without a .log" if log.by_index else "first leader epoch"
        sentence = f"{name} begins at {end} here, its {'first index' if log.by_index else 'epochs'} at {start}"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"its {first} begins at {start}")
        then = f"as leader {facts.name} makes the other replicas delete the records below"
        yield where_it_leads(
            premise, facts, log, sentence, evidence, then,
            alone="no other broker has a replica with the records below", waits=False,
        )  # fmt: skip


def where_it_leads(
    premise: Premise, facts: BrokerFacts, log: LogFacts, sentence: str, evidence: PremiseEvidence, then: str,
    *, alone: str | None = None, follows: str = "a follower keeps the gap", waits: bool = True,
) -> JudgedPremise:  # fmt: skip
    """Judge a harm that depends on whether the replica leads.

    `then` is the harm, `alone` the harm for an only replica. `follows` is the harm if it is not elected. `waits` is
    true if another replica of the ISR may lead instead.
    """
    partition, name = log.partition, partition_name(*log.partition)
    if only_follows(partition, facts, in_the_end=True):
        kept = f"it is not elected now, so nothing is lost when it starts; {follows}"
        return not_seen(premise, facts, f"{sentence}: {kept}", None, evidence)
    if waits and _another_may_lead(partition, facts):
        return not_seen(premise, facts, f"{sentence}: {_ELSEWHERE}", EVERY_DISK, evidence)
    harm = then if alone is None or not is_alone(partition, facts) else alone
    return refuted(premise, facts, f"{sentence}: {harm}", evidence, log_dir=log.log_dir, partition=name)


def _another_may_lead(partition: TopicPartition, facts: BrokerFacts) -> bool:
    """Return whether another replica of the ISR can lead, and the broker is not the preferred leader."""
    topic = None if facts.image is None else facts.image.topics.get(partition.topic)
    registration = None if topic is None else topic.partitions.get(partition.partition)
    if registration is None or facts.broker_id is None:
        return False
    in_sync = (*registration.isr, *registration.elr)
    return registration.replicas[:1] != (facts.broker_id,) and any(number != facts.broker_id for number in in_sync)


def _missing(facts: BrokerFacts) -> Iterator[tuple[LogFacts, MissingRecords]]:
    return ((log, records) for log in facts.logs for records in log.missing)


def middles_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs without a segment between two others. A compacted log has such gaps."""
    for log, (start, end, known_by) in _missing(facts):
        if known_by is None and not is_compacted(facts.image, log.partition.topic, facts.broker_id, facts.config):
            name = partition_name(*log.partition)
            sentence = f"{name} has no segment with {offset_range(start, end)}"
            ends = f"the batches before {start} and from {end} on are there"
            if start == log.start:
                ends = f"the log begins at {start}, its first batch at {end}"
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", ends)
            yield where_it_leads(premise, facts, log, sentence, evidence, "where it leads, consumers skip them")


def ends_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for logs that end below an offset that another file of their disk knows."""
    yield from _newest_segment_there(premise, facts)
    yield from _last_segment_filled(premise, facts)
    yield from _end_readable(premise, facts)
    for log, (start, end, known_by) in _missing(facts):
        partition, log_dir = log.partition, log.log_dir
        if known_by is not None:
            name = partition_name(*partition)
            sentence = f"{name} ends at {start} here, but {known_by} shows records up to offset {end - 1}"
            evidence = PremiseEvidence(f"{log_dir}/{name}", f"its log ends at {start}")
            if only_follows(partition, facts, in_the_end=False):
                then = "it is not elected now, and fetches them from the leader"
                yield not_seen(premise, facts, f"{sentence}: {then}", None, evidence)
                continue
            then = f"as leader {facts.name} makes the other replicas delete theirs"
            if is_alone(partition, facts):
                then = "no other broker has a replica with them"
            yield refuted(premise, facts, f"{sentence}: {then}", evidence, log_dir=log_dir, partition=name)


def _newest_segment_there(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for a log whose last segment the broker had closed, as it does once it begins a newer one.

    A broker that is killed while it stops closes some segments, too. So several in a log dir show nothing. The number
    of missing records after one is not known, and can be 0.
    """
    closed = [log for log in facts.logs if log.is_closed]
    counts = Counter(log.log_dir for log in closed)
    for log in closed:
        if counts[log.log_dir] == 1 and not only_follows(log.partition, facts, in_the_end=False):
            name, end = partition_name(*log.partition), log.end
            cut = f"the time index of the segment that ends at {end} is trimmed to its entries"
            sentence = (
                f"{name} ends at {end}, but the broker was killed after it had closed the last segment. A newer one"
                " may have been removed"
            )
            provide = f"{EVERY_DISK}; or --allow {premise.id} if none was"
            yield not_seen(premise, facts, sentence, provide, PremiseEvidence(f"{log.log_dir}/{name}", cut))


def _last_segment_filled(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for an empty last segment after others. A broker begins a segment for a batch (UnifiedLog.maybeRoll).

    A broker that deletes all segments begins one as well, and so may a follower that truncates.
    """
    for log in facts.logs:
        if log.is_emptied and not only_follows(log.partition, facts, in_the_end=False):
            name = partition_name(*log.partition)
            sentence = (
                f"{name} ends at {log.end} with an empty segment. A broker mostly begins one for a batch, so records"
                " may be missing"
            )
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"the segment that begins at {log.end} has no byte")
            provide = f"{EVERY_DISK}; or --allow {premise.id} if no records are missing"
            yield not_seen(premise, facts, sentence, provide, evidence)


def _end_readable(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for bytes at the end of a log that the broker truncates, without a batch header.

    After a power loss most of them are from an unacknowledged batch.
    """
    for log in facts.logs:
        if log.unread_size and not only_follows(log.partition, facts, in_the_end=False):
            name = partition_name(*log.partition)
            size = counted(log.unread_size, "byte")
            sentence = (
                f"{name} ends at {log.end}: the start truncates {size} that name no batch, records may be in them"
            )
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"{size} after the last batch")
            yield not_seen(premise, facts, sentence, f"{EVERY_DISK}; or --allow {premise.id}", evidence)


TABLE = (
    Premise(
        HEADS_THERE, PremiseKind.PRESENCE, "The first segment of each log is there.",
        "The first epoch of a log is not below its first segment, nor below its log start in a checkpoint. No index"
        " is below the first segment of a log without epochs.",
        "Epochs that begin below, because Kafka moves the first epoch with the log start. A topic that leaves remote"
        " storage can leave a follower so. The same for an index without its .log, if the log has no epochs. Not seen:"
        " a replica that is not elected.",
        "As leader it makes the other replicas delete the records below its log start.",
        "Restore the first segments, or let another replica lead (kcheck recover).",
        "UnifiedLog.maybeIncrementLogStartOffset, LeaderEpochFileCache.truncateFromStart", heads_there,
        ends_start=False, rules=("KC203",), cost=PremiseCost.HOLE,
    ),
    Premise(
        MIDDLES_THERE, PremiseKind.PRESENCE, "No offset is missing at the log start, or between two segments.",
        "Each segment of a log that is not compacted ends where the next one begins. The first batch is at the log "
        "start.",
        "A segment that ends below the next one, or a first batch above the log start. Not seen in a replica that is "
        "not elected.",
        "Consumers that read from it skip the offsets; followers that fetch from it get the same gap.",
        "Let another replica lead; kcheck repair --against moves the directory aside, and the broker fetches it again.",
        "LogLoader.loadSegmentFiles, UnifiedLog.read 3.0 to 4.3.1", middles_there, ends_start=False,
        rules=("KC222",), cost=PremiseCost.HOLE,
    ),
    Premise(
        ENDS_THERE, PremiseKind.PRESENCE, "Each log ends where its broker left it.",
        "No high watermark, and after a clean stop no recovery point, index or producer snapshot, is above a log end."
        " Nor is the end of a remote segment of its last epoch or a later one.",
        "A file or remote segment that has offsets above the log end. A follower with more of the leader's epoch. Not"
        " seen in a replica that is not elected. Nor are records after a last segment that a killed broker had closed,"
        " or in bytes without a batch header. Not seen either: an empty last segment after a kill.",
        "The broker lowers them without a message. As leader it makes the other replicas truncate.",
        "Let another replica lead. Before this broker starts, ask kcheck recover with the log dirs of all brokers.",
        "LogLoader.load, LogManager.loadLog, UnifiedLog.maybeRoll, ReplicaFetcherThread 3.0 to 4.3.1", ends_there,
        ends_start=False, rules=("KC212", "KC213"), may_lack=True,
    ),
)  # fmt: skip
