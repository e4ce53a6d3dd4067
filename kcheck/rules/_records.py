"""Shared by the rules on records. A batch has a matching CRC, and a fault inside."""

from collections.abc import Callable

from kcheck.model.finding import Effect, Finding, Severity
from kcheck.model.release import Release
from kcheck.model.segments import FaultyRecord, RecordFault, SegmentView
from kcheck.rules._contract import Rule
from kcheck.rules._segments import KEEP_A_COPY, REFETCH
from kcheck.rules._words import DATA_MAX, and_further, kafka

ADVICE = (
    f"{KEEP_A_COPY} Compare the batch with the other replicas. {REFETCH} If all replicas have the same batch, it came "
    "from its producer, and consumers must seek past it."
)

UNDECODED_PAGE = """
What the broker does:

- The broker and its followers do not decode records. They store and serve the batch as it is.
- A consumer fails at the first offset of the batch that it cannot decode (InvalidRecordException, KafkaException),
  again and again. It can only seek past it.
- Compaction fails when it decodes the batch. In 2.1 and later the cleaner then skips this partition. In 2.0 and earlier
  its thread ends, and the broker compacts nothing until it restarts.
- Coordinators that load `__consumer_offsets` or `__transaction_state` fail to load the partition.

What to do: Compare the batch with the other replicas. If another replica has it right, stop the broker and move this
partition directory outside every log dir. The broker then re-replicates it. If all replicas have the same batch, it
came from its producer, and consumers must seek past it.
"""
"""The end of the page of every rule about a batch that cannot be decoded."""


def records_finding(
    rule: Rule,
    view: SegmentView,
    faults: tuple[RecordFault, ...],
    effect: Callable[[FaultyRecord], str | Effect],
    *,
    advice: str = ADVICE,
    severity: Severity | None = None,
) -> list[Finding]:
    """Return one finding about the batches with these faults inside; an empty list without any."""
    batches = [] if view.records is None else [batch for batch in view.records.faults if batch.fault in faults]
    if view.records is None or not batches:
        return []
    first = min(batches, key=lambda batch: batch.position)
    count = sum(view.records.counts.get(fault, 0) for fault in faults)
    record = "" if first.record is None else f", record {first.record}"
    return [
        rule.finding(
            view.where._replace(position=first.position),
            f"position {first.position}: the batch of {_offsets(first)}{record}: {first.problem}"
            f"{and_further(count, 'batch')}",
            effect=effect(first),
            advice=advice,
            severity=severity,
            data={"count": count, "batches": tuple(_row(batch) for batch in batches[:DATA_MAX])},
        )
    ]


def _offsets(batch: FaultyRecord) -> str:
    if batch.base_offset == batch.last_offset:
        return f"offset {batch.base_offset}"
    return f"offsets {batch.base_offset} to {batch.last_offset}"


def _row(batch: FaultyRecord) -> dict[str, object]:
    return {**batch._asdict(), "fault": str(batch.fault)}


def undecoded(release: Release) -> Callable[[FaultyRecord], str]:
    """Return the effect of a batch that cannot be decoded, which only readers of its records notice."""
    cleaner = "skips the partition" if release.cleaner_skips_bad_partitions else "ends, for every partition"

    def effect(batch: FaultyRecord) -> str:
        return (
            f"{kafka(release)} does not decode it at startup, and followers copy it as it is. Consumers fail at "
            f"offset {batch.base_offset} again and again; if the topic is compacted, the cleaner {cleaner}."
        )

    return effect
