"""Shared by the rules on sequence numbers."""

from collections.abc import Iterable

from kcheck.model.finding import Finding
from kcheck.model.producers import SequenceFault
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX, and_further, kafka


def sequence_finding(
    rule: Rule, view: PartitionView, fault: SequenceFault, effect: str, advice: str, release: Release
) -> Iterable[Finding]:
    """Yield one finding about the batches with this fault; none if there are nfirst."""
    if view.producers is None or not served(view):
        return
    batches = [faulty for faulty in view.producers.sequences if faulty.fault is fault]
    if not batches:
        return
    count, first = view.producers.counts[fault], batches[0]
    yield rule.finding(
        view.where,
        f"the batch at offset {first.base_offset} begins with sequence {first.first_sequence} of producer "
        f"{first.producer_id}, epoch {first.producer_epoch}. The previous batch ends at offset {first.offset_before} "
        f"with sequence {first.sequence_before}{and_further(count, 'batch')}",
        effect=f"{kafka(release)} {effect}.",
        advice=advice,
        data={"count": count, "batches": tuple(faulty._asdict() for faulty in batches[:DATA_MAX])},
    )
