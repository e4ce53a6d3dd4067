"""Write the missing meta.properties of a ZooKeeper broker that ZooKeeper assigns these replicas.

The metadata in ZooKeeper (`--metadata`) must assign exactly the partitions in all log dirs of the broker to one broker.
No other broker may have them. The cluster id comes from the znode /cluster/id. The same file goes into each log dir.
"""

from collections.abc import Iterator

from kcheck.core.premises.identity import GENERATED_ID
from kcheck.formats import meta_properties
from kcheck.formats.meta_properties import MetaProperties
from kcheck.model.finding import Finding
from kcheck.model.names import META_PROPERTIES
from kcheck.repairs._contract import (
    Evidence,
    Impact,
    LogDirSite,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
    WriteEdit,
)
from kcheck.words import counted


def plan(log_dir: LogDirSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the new file."""
    owner = log_dir.owner
    for finding in findings:
        if owner is None or finding.data["premise"] != GENERATED_ID:
            continue
        cluster = {} if owner.cluster_id is None else {"cluster.id": owner.cluster_id}
        properties = {"version": "0", "broker.id": str(owner.broker_id), **cluster}
        replicas = counted(owner.replicas, "replica")
        what = f"the {replicas} in the log dirs are exactly the partitions of broker {owner.broker_id}"
        yield RepairStep(
            finding, (WriteEdit(META_PROPERTIES, meta_properties.serialize(MetaProperties(properties))),),
            f"name broker {owner.broker_id} and its cluster, so that the broker keeps its id",
            (Evidence(owner.path, None, crc_verified=None, what=what),),
        )  # fmt: skip


REPAIR = Repair(
    name="write-meta-properties",
    rank=33,
    scope=RepairScope.LOG_DIR,
    rules=("KC315",),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
