"""What the rules on sequence numbers share."""

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
    """Yield the one finding about the batches with this fault, none where there are none."""
    if view.producers is None or not served(view):
        return
    found = [faulty for faulty in view.producers.sequences if faulty.fault is fault]
    if not found:
        return
    count, one = view.producers.counts[fault], found[0]
    yield rule.finding(
        view.where,
        f"the batch at offset {one.base_offset} begins with sequence {one.first_sequence} of producer "
        f"{one.producer_id}, epoch {one.producer_epoch}; the batch before ends at offset {one.offset_before} with "
        f"sequence {one.sequence_before}{and_further(count, 'batch', 'batches')}",
        effect=f"{kafka(release)} {effect}.",
        advice=advice,
        data={"count": count, "batches": tuple(faulty._asdict() for faulty in found[:DATA_MAX])},
    )
