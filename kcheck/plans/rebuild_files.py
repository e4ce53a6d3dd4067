"""A rebuild of metadata as operations of plans (the new controller's snapshot, and ids that disks lack)."""

from collections.abc import Iterable, Iterator, Sequence

from kcheck.core.rescue.held import HeldDisks, HeldLogDir
from kcheck.core.rescue.made_ids import made_id
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.core.rescue.rebuild import Rebuild, records_of
from kcheck.core.rescue.ways import RescueEdit
from kcheck.disk.identity import known_identities
from kcheck.disk.paths import join
from kcheck.disk.places import digest_of_file
from kcheck.disk.tree import Tree
from kcheck.errors import UsageError
from kcheck.formats import meta_properties, partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.cluster import Voter
from kcheck.model.names import META_PROPERTIES, METADATA_DIRECTORY, PARTITION_METADATA, FileKind
from kcheck.model.plan import CONTENT_SIZE_MAX, FileOp, Plan, Why, Write, digest
from kcheck.model.release import Release
from kcheck.plans.rescue_files import NodePlan, edit_operations
from kcheck.records.raft_batch import snapshot
from kcheck.schemas.encode import metadata_record
from kcheck.words import partition_name

_OFFSETS, _EPOCHS = 1000, 100
"""The distance of the snapshot above all offsets and epochs of the disks here. A missing disk may have seen more."""
_KRAFT = 1
"""The version of meta.properties with node.id (MetaPropertiesVersion.V1)."""


def with_ids(disks: HeldDisks) -> HeldDisks:
    """Return the disks with the directory ids that the plan gives to log dirs of ZooKeeper."""
    return disks._replace(log_dirs=tuple(row._replace(directory_id=_directory_id(row)) for row in disks.log_dirs))


def _directory_id(row: HeldLogDir) -> str | None:
    """Return the id of a log dir. A broker of 3.7 and later makes one, unless meta.properties has it."""
    if row.directory_id is not None or row.version == _KRAFT:
        return row.directory_id
    return made_id(row.cluster_id or "", str(row.broker_id), row.path)


def place_of_snapshot(nodes: Iterable[RescueNode]) -> tuple[int, int]:
    """Return an offset and an epoch above all of the disks here. Brokers then remove their old copies."""
    ends, epochs = [0], [0]
    for node in nodes:
        ends += [node.snapshot_end, 0 if node.copy is None else node.copy.end]
        epochs.append(node.epoch)
    return max(ends) + _OFFSETS, max(epochs) + _EPOCHS


def rebuild_plans(
    tree: Tree, plan: Rebuild, disks: HeldDisks, controller: RescueNode, place: tuple[int, int] | None,
    voters: tuple[Voter, ...], release: Release, edits: Sequence[RescueEdit] = (),
) -> tuple[NodePlan, ...]:  # fmt: skip
    """Return a plan for the controller, and one for each broker whose disks lack ids.

    UsageError if a plan is too large. `place` is the end of the snapshot; None for bootstrap.checkpoint, the first
    records of the controller. `edits` remove files of metadata that keep brokers from starting.
    """
    target = tree.real(controller.log_dir)
    operation = _metadata(tree, plan, disks, target, place, voters)
    of_controller = Plan(release.name, (target,), (operation,), known_identities([(tree, target)]))
    plans = [NodePlan(controller.node_id, of_controller)]
    for broker in disks.brokers:
        own = [row for row in disks.log_dirs if row.broker_id == broker]
        operations = tuple(op for row in own for op in _ids(tree, row, plan, disks))
        for log_dir in dict.fromkeys(edit.node.log_dir for edit in edits if edit.node.node_id == broker):
            here = [edit for edit in edits if edit.node.log_dir == log_dir]
            operations += edit_operations(tree, tree.real(log_dir), here)
        if operations:
            paths = tuple(tree.real(row.path) for row in own)
            identities = known_identities([(tree, path) for path in paths])
            plans.append(NodePlan(broker, Plan(release.name, paths, operations, identities)))
    return tuple(plans)


def _metadata(
    tree: Tree, plan: Rebuild, disks: HeldDisks, log_dir: str, place: tuple[int, int] | None, voters: tuple[Voter, ...]
) -> Write:
    end, epoch = place or (0, 0)
    values = [metadata_record(name, version, data) for name, version, data in records_of(plan, disks)]
    data = snapshot(values, epoch, disks.timestamp, () if place is None else voters)
    if len(data) > CONTENT_SIZE_MAX:
        raise UsageError(f"the snapshot has {len(data)} bytes, more than a plan carries")
    if place is None:
        path = join(log_dir, FileKind.BOOTSTRAP)
        return _write(tree, path, data, "the metadata from the disks, as the first records of the controller")
    path = join(log_dir, METADATA_DIRECTORY, f"{end:020}-{epoch:010}.checkpoint")
    reason = f"the metadata from the disks, as a snapshot at offset {end} of epoch {epoch}, above every other"
    return Write(path, None, digest(data), Why(None, reason), data)


def kraft_identity(tree: Tree, row: HeldLogDir, disks: HeldDisks) -> Write | None:
    """Return the meta.properties of KRaft for a log dir of ZooKeeper, or without one; None if it has it."""
    if row.version == _KRAFT:
        return None
    identity = {
        "node.id": str(row.broker_id), "directory.id": str(_directory_id(row)), "version": str(_KRAFT),
        "cluster.id": str(disks.cluster_id),
    }  # fmt: skip
    data = meta_properties.serialize(meta_properties.MetaProperties(identity))
    return _write(tree, join(tree.real(row.path), META_PROPERTIES), data, "a KRaft broker needs node.id and version 1")


def _ids(tree: Tree, row: HeldLogDir, plan: Rebuild, disks: HeldDisks) -> Iterator[FileOp]:
    """Yield the missing ids of a log dir, which are the ids of KRaft and of its partitions."""
    log_dir = tree.real(row.path)
    if (identity := kraft_identity(tree, row, disks)) is not None:
        yield identity
    ids = {topic.name: topic.topic_id for topic in plan.topics}
    for (topic, number), held in disks.partitions.items():
        for replica in held.replicas:
            if replica.log_dir == row.path and replica.topic_id is None:
                name = partition_name(topic, number)
                data = partition_metadata.serialize(PartitionMetadata(0, ids[topic]))
                path = join(log_dir, name, PARTITION_METADATA)
                yield _write(tree, path, data, f"without the topic id of {topic} the broker sets the replica aside")


def _write(tree: Tree, path: str, data: bytes, reason: str) -> Write:
    before = digest_of_file(tree, path) if tree.exists(path) else None
    return Write(path, before, digest(data), Why(None, reason), data)
