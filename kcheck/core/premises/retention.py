"""Premises about the records that retention by time deletes after the broker has started."""

from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.core.start.topic_settings import retention_ms
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import offset_range, partition_name

DATED = "P802"
"""The premise that no time index dates its segment before its records."""


def is_dated(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for segments that retention treats as old, though their records are not.

    A segment has the age of the last entry of its time index (LogSegment.maxTimestampSoFar). Retention deletes from the
    oldest segment up to the first young enough one (UnifiedLog.deletableSegments), also the active segment. An entry
    that is only older counts if the retention time had passed when the newest record was written.
    """
    misdated = ((log.partition, log.log_dir, records) for log in facts.logs for records in log.misdated)
    for partition, log_dir, (start, end, timestamp, is_head, newest) in misdated:
        kept = retention_ms(facts.image, partition.topic, facts.config or {})
        if kept is None or (newest is not None and newest - timestamp <= kept):
            continue
        name = partition_name(*partition)
        when = "at its first check" if is_head else "once the segments before them have expired"
        sentence = (
            f"{name}: the time index dates {offset_range(start, end)} by timestamp {timestamp}, but the records are"
            f" newer. Retention deletes them {when}; kcheck repair rebuilds the time index"
        )
        evidence = PremiseEvidence(f"{log_dir}/{name}", f"the last entry of a .timeindex has timestamp {timestamp}")
        yield refuted(premise, facts, sentence, evidence, log_dir=log_dir, partition=name)


TABLE = (
    Premise(
        DATED, PremiseKind.RETENTION, "No time index dates its segment before its records.",
        "The last entry of each time index is not 0 and not older than an earlier one. It is not older than the "
        "newest record by more than retention.ms. P307 says how much is read.",
        "An older entry, or 0, of a segment with newer records that the broker does not recover. Only in a topic that "
        "retention.ms expires.",
        "The first check of retention deletes the segment, the active one too, if all before it are as old.",
        "Run kcheck repair before the broker starts. It rebuilds the time index.",
        "LogSegment.maxTimestampSoFar, Log.deletableSegments 0.10.1 to 2.8; UnifiedLog.deletableSegments to 4.3.1",
        is_dated, ends_start=False, rules=("KC155", "KC161", "KC162"), cost=PremiseCost.UNCOUNTED,
    ),
)  # fmt: skip
