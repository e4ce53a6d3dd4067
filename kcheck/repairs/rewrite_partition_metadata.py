"""Write partition.metadata with the topic id in the cluster metadata and the topic's other partitions.

Every source that kcheck read must name one id. The sources are the partitions of the topic on any broker, and the
newest copy of `__cluster_metadata-0`. The repair never invents an id.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from kcheck.formats import partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.finding import Finding
from kcheck.model.names import PARTITION_METADATA
from kcheck.repairs._contract import (
    Evidence,
    Impact,
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
    finding, topic = findings[0], partition.view.topic
    known = partition.log_dir.topic_ids.get(topic, {})
    if not known:
        yield Refused(
            finding,
            f"no other partition of {topic} and no cluster metadata here, so its topic id is unknown",
        )
    elif len(known) > 1:
        yield Refused(finding, f"{len(known)} topic ids for {topic} in partitions and cluster metadata")
    else:
        ((topic_id, where),) = known.items()
        data = partition_metadata.serialize(PartitionMetadata(0, topic_id))
        evidence = (Evidence(where, None, crc_verified=None, what=f"topic id {topic_id}"),)
        reason = f"name the topic id of {topic}, {topic_id}"
        yield RepairStep(finding, (WriteEdit(path_of(partition, PARTITION_METADATA), data),), reason, evidence)


def _is_known(finding: Finding, topic_ids: AbstractSet[str]) -> bool:
    """Return whether one topic id is known."""
    del finding
    return len(topic_ids) == 1


REPAIR = Repair(
    name="rewrite-partition-metadata",
    rank=30,
    scope=RepairScope.PARTITION,
    rules=("KC111", "KC310"),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
    has_evidence=_is_known,
)
