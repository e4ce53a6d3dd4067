"""Premises about the records that the log cleaner deletes after the broker has started."""

from collections import Counter
from collections.abc import Iterator

from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.judged import proven, refuted
from kcheck.core.premises.premise import Premise, PremiseCost, PremiseKind
from kcheck.model.premises import JudgedPremise, PremiseEvidence
from kcheck.words import agree, counted, partition_name


def has_keys(premise: Premise, facts: BrokerFacts) -> Iterator[JudgedPremise]:
    """Look for records without key in compacted topics that were never cleaned (Cleaner.shouldRetainRecord)."""
    if facts.keyless_logs is None or facts.image is None:
        return
    total, removed = Counter[str](), Counter[str]()
    for log in facts.keyless_logs:
        total[log.partition.topic] += log.records
        removed[log.partition.topic] += log.removed
    for topic, count in total.items():
        logs = [log for log in facts.keyless_logs if log.partition.topic == topic]
        deletes = f"the cleaner deletes {removed[topic]} at its first run"
        if not removed[topic]:
            deletes = "the cleaner deletes them once their segment rolls"
        sentence = (
            f"{topic} is compacted; {counted(count, 'record')} {agree(count, 'has', 'have')} no key: {deletes}; set"
            " cleanup.policy=delete for the topic first, or log.cleaner.enable=false"
        )
        evidence = (
            PremiseEvidence(f"{log.log_dir}/{partition_name(*log.partition)}", f"{log.records} records without key")
            for log in logs
        )
        yield refuted(premise, facts, sentence, *evidence)
    if not total:
        yield proven(premise, facts, PremiseEvidence(facts.image_path or "", "no such record was found"))


TABLE = (
    Premise(
        "P801", PremiseKind.COMPACTION, "Compacted topics hold no records without key.",
        "The logs of compacted topics that were never cleaned have only records with a key.",
        "Records without key in a compacted topic that was never cleaned; at most 256 MiB are read.",
        "The log cleaner deletes the records without key.",
        "Set cleanup.policy=delete for the topic first, or start with log.cleaner.enable=false.",
        "Cleaner.shouldRetainRecord 0.9 to 4.3.1", has_keys, ends_start=False, cost=PremiseCost.REMOVED,
    ),
)  # fmt: skip
