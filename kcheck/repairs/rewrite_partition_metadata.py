"""Write partition.metadata with the topic id of every other partition of the topic.

The repair requires that all partitions of the topic that kcheck read, on any broker, have the same id. It never invents
an id.
"""

from collections.abc import Iterator

from kcheck.formats import partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.finding import Finding
from kcheck.model.names import PARTITION_METADATA
from kcheck.repairs._contract import (
    Evidence,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.repairs._files import path_of


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the new file."""
    finding = findings[0]
    known = partition.log_dir.topic_ids.get(partition.view.topic, {})
    if not known:
        yield Refused(finding, f"kcheck read no other partition of {partition.view.topic}: its topic id is unknown")
    elif len(known) > 1:
        yield Refused(finding, f"partitions of {partition.view.topic} have {len(known)} topic ids")
    else:
        ((topic_id, where),) = known.items()
        data = partition_metadata.serialize(PartitionMetadata(0, topic_id))
        evidence = (Evidence(f"{where}/{PARTITION_METADATA}", None, crc_verified=None, what=f"topic id {topic_id}"),)
        reason = f"name the topic id of {partition.view.topic}, {topic_id}"
        yield RepairStep(finding, (WriteEdit(path_of(partition, PARTITION_METADATA), data),), reason, evidence)


REPAIR = Repair(
    name="rewrite-partition-metadata",
    rank=30,
    scope=RepairScope.PARTITION,
    rules=("KC111", "KC310"),
    plan=plan,
    page=__doc__,
)
