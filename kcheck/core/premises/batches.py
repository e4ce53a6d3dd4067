"""The premise that what a broker serves can be read: a start does not look at most batches."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.judged import EVERY_DISK, not_seen, proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.premises.presence import ELSEWHERE, another_may_lead, is_alone, kept, only_follows
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import counted, offset_span, partition_name

READABLE, OWN_BATCHES, LOOKUPS = "P307", "P308", "P310"
"""The premises that readers can read every batch, that segments have those of their log, and that lookups find them."""


def readable(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for batches that a start keeps and that no consumer or follower accepts.

    Where another replica of the ISR may lead, an election decides whether this one is read.
    """
    damaged = [(log, records) for log in facts.logs if log.batches for records in log.batches.unreadable]
    for log, (start, end, why) in damaged:
        name = partition_name(*log.partition)
        sentence = f"{name}: {offset_span(start, end)} cannot be read ({why})"
        evidence = PremiseEvidence(f"{log.log_dir}/{name}", f"{offset_span(start, end)}: {why}")
        if only_follows(log.partition, facts, in_the_end=True):
            yield kept(premise, facts, sentence, evidence)
        elif another_may_lead(log.partition, facts):
            yield not_seen(premise, facts, f"{sentence}: {ELSEWHERE}", EVERY_DISK, evidence)
        else:
            then = "where it leads, consumers and followers stop there"
            if is_alone(log.partition, facts):
                then = "no other broker has a replica with them"
            yield refuted(premise, facts, f"{sentence}: {then}", evidence, log_dir=log.log_dir, partition=name)
    partly = sum(not log.batches.is_complete for log in facts.logs if log.batches is not None)
    if partly:
        sentence = f"not all batches of {counted(partly, 'log')} were read; kcheck check --depth crc reads all"
        yield not_seen(premise, facts, sentence, None)
    elif not damaged and any(log.batches is not None for log in facts.logs):
        yield proven(premise, facts, PremiseEvidence(facts.logs[0].log_dir, "the batches of all logs were read"))


def own_batches(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments whose time index was made for other batches: somebody copied another `.log` over theirs."""
    for log in facts.logs:
        for span in () if log.batches is None else log.batches.foreign:
            name = partition_name(*log.partition)
            sentence = f"{name}: the time index of {offset_span(*span)} was made for other batches"
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", "its last entry is newer than its batch")
            yield _where_it_leads(
                premise, facts, log, sentence, evidence, "the segment may be of another log, and its own records lost"
            )


def lookups(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for entries of offset indexes from which a read begins behind the batch that it wants."""
    for log in facts.logs:
        for span in () if log.batches is None else log.batches.skipped:
            name = partition_name(*log.partition)
            sentence = f"{name}: the offset index leads reads of {offset_span(*span)} to another place"
            evidence = PremiseEvidence(f"{log.log_dir}/{name}", "an entry of a .index names a later or no batch")
            yield _where_it_leads(
                premise, facts, log, sentence, evidence,
                "consumers and followers skip them, or stop there; kcheck repair rebuilds the index",
            )  # fmt: skip


def _where_it_leads(
    premise: Premise, facts: BrokerFacts, log: LogFacts, sentence: str, evidence: PremiseEvidence, then: str
) -> JudgedPremise:
    """Judge what only matters where the replica leads."""
    if only_follows(log.partition, facts, in_the_end=True):
        return not_seen(premise, facts, f"{sentence}; the replica is not elected now", None, evidence)
    if another_may_lead(log.partition, facts):
        return not_seen(premise, facts, f"{sentence}: {ELSEWHERE}", EVERY_DISK, evidence)
    name = partition_name(*log.partition)
    return refuted(premise, facts, f"{sentence}: {then}", evidence, log_dir=log.log_dir, partition=name)


TABLE = (
    Premise(
        READABLE, PremiseKind.PRESENCE, "Consumers and followers can read every batch.",
        "The CRC of every batch matches, and the offsets ascend. Of a broker, 16 MiB and 1,000 segments are read.",
        "A batch whose CRC, size or offsets are wrong. Of a replica that is not elected: not seen.",
        "The broker serves the batch: consumers end with CorruptRecordException, followers stop before it.",
        "Let another replica lead; kcheck repair --against moves the directory aside, and the broker fetches it again.",
        "DefaultRecordBatch.ensureValid 0.11 to 4.3.1; AbstractFetcherThread", readable, ends_start=False,
        rules=("KC141", "KC142"), cost=PremiseCost.HOLE,
    ),
    Premise(
        OWN_BATCHES, PremiseKind.PRESENCE, "Each segment has the batches that its time index was made for.",
        "The last entry of the time index has the timestamp of its batch. P307 says how much is read.",
        "The batch is older. Of a replica that is not elected: not seen.",
        "The broker serves the batches. They may come from another partition, if its .log was copied there.",
        "Compare the segment with another replica or a backup first. kcheck repair only rebuilds the time index.",
        "TimeIndex.maybeAppend, LogSegment.append 0.10.1 to 4.3.1", own_batches, ends_start=False,
        rules=("KC162",), cost=PremiseCost.UNCOUNTED,
    ),
    Premise(
        LOOKUPS, PremiseKind.PRESENCE, "Lookups in the offset indexes find every batch.",
        "Each entry names the place of a batch that is not behind that of its offset. P307 says how much is read.",
        "An entry that names a later batch, or none. Of a replica that is not elected: not seen.",
        "The broker does not notice it. Reads begin behind the records, and go on without them, or fail.",
        "Run kcheck repair before the start: it rebuilds the offset index.",
        "LogSegment.translateOffset, OffsetIndex.lookup 2.3 to 4.3.1", lookups, ends_start=False,
        rules=("KC151", "KC152", "KC153"), cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
