"""The edits of a rescue as operations, one plan for each node, as each disk is on its own machine."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck import __version__
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.core.rescue.ways import AddVoters, CopyLog, DropLog, DropSnapshots, DropVote, RescueEdit, WriteVote
from kcheck.disk.identity import known_identities
from kcheck.disk.paths import join
from kcheck.disk.places import digest_of, digest_of_file
from kcheck.disk.tree import Tree
from kcheck.errors import UsageError
from kcheck.formats import quorum_state
from kcheck.handouts.quorum_steps import NodeFile
from kcheck.model.names import (
    LEADER_EPOCHS,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    FileKind,
    log_name,
    metadata_snapshots,
    segment_bases,
    segment_prefix,
)
from kcheck.model.plan import CONTENT_SIZE_MAX, FileOp, Plan, SetAside, Truncate, Why, Write, digest, serialize_plan
from kcheck.model.release import Release
from kcheck.model.report import Row
from kcheck.records.raft_batch import voters_batch
from kcheck.segments.batches import Walk
from kcheck.words import counted, listed


class NodePlan(NamedTuple):
    """The changes on the disk of one node."""

    node_id: int
    plan: Plan

    @property
    def name(self) -> str:
        """The name of its file."""
        return f"plan-{self.node_id}.json"


def node_files(plans: Iterable[NodePlan], folder: str) -> tuple[NodeFile, ...]:
    """Return the paths of plans and of their backups."""
    return tuple(
        NodeFile(plan.node_id, join(folder, plan.name), join(folder, f"backup-{plan.node_id}")) for plan in plans
    )


def plan_texts(plans: Iterable[NodePlan]) -> dict[str, bytes]:
    """Return the files of plans, by name."""
    return {plan.name: serialize_plan(plan.plan, kcheck=__version__) for plan in plans}


def plan_row(plan: NodePlan) -> Row:
    """Return a plan as a row with its number of operations."""
    return {"node_id": plan.node_id, "operations": len(plan.plan.operations)}


def node_plans(tree: Tree, edits: Iterable[RescueEdit], release: Release) -> tuple[NodePlan, ...]:
    """Return a plan for each node that has edits; UsageError if a file is too large for a plan."""
    by_node: dict[tuple[int, str], list[RescueEdit]] = {}
    for edit in edits:
        by_node.setdefault((edit.node.node_id, edit.node.log_dir), []).append(edit)
    plans = []
    for (number, log_dir), own in by_node.items():
        real = tree.real(log_dir)
        operations = edit_operations(tree, real, own)
        plans.append(NodePlan(number, Plan(release.name, (real,), operations, known_identities([(tree, real)]))))
    return tuple(plans)


def edit_operations(tree: Tree, log_dir: str, edits: Iterable[RescueEdit]) -> tuple[FileOp, ...]:
    """Return the edits of the metadata log in a log dir as operations."""
    files = _MetadataFiles(tree, log_dir)
    for edit in edits:
        files.make(edit)
    return tuple(files.operations())


class _MetadataFiles:
    """The planned files of a metadata log, with new bytes, a shorter size, or removed."""

    def __init__(self, tree: Tree, log_dir: str) -> None:
        self._tree, self._path = tree, join(log_dir, METADATA_DIRECTORY)
        has_log = tree.is_directory(self._path)
        self._sizes: Mapping[str, int | None] = tree.directory(self._path).entries().sizes if has_log else {}
        self._new: dict[str, tuple[bytes | int | None, str]] = {}

    def make(self, edit: RescueEdit) -> None:
        """Make an edit."""
        match edit:
            case CopyLog(_, source):
                why = f"the newest copy of the metadata, of node {source.node_id}"
                self._new = dict.fromkeys(self._sizes, (None, f"{why}, takes its place"))
                self._new |= {name: (data, why) for name, data in copied(self._tree, source)}
            case AddVoters(_, offset, epoch, timestamp, voters):
                names = listed(voter.voter_id for voter in voters)
                why = f"the record says that controller {names} is the only voter, in epoch {epoch}"
                self._cut_tail(offset)
                self._new[log_name(offset)] = (voters_batch(offset, epoch, timestamp, voters), why)
                for ending in (".index", ".timeindex"):
                    if (name := f"{segment_prefix(offset)}{ending}") in self._sizes:
                        self._new[name] = (None, "the node makes it again from the segment")
            case WriteVote(_, state):
                why = f"the node begins with epoch {state.leader_epoch}, above all that any node has seen"
                self._new[FileKind.QUORUM_STATE] = (quorum_state.serialize(state), why)
            case DropVote(_, why):
                self._new[FileKind.QUORUM_STATE] = (None, why)
            case DropLog(_, why):
                self._new = dict.fromkeys(self._sizes, (None, why))
            case DropSnapshots(_, names):
                self._new |= dict.fromkeys(names, (None, "a corrupt snapshot, of which older files have all records"))

    def _cut_tail(self, end: int) -> None:
        """Truncate the bytes after the last valid batch. The new segment begins at its end."""
        if self._new:
            return  # A copy has no such bytes.
        bases = [base for base in segment_bases(self._sizes) if base < end]
        if not bases:
            return
        name = log_name(bases[-1])
        size = _valid_size(self._tree, join(self._path, name))
        if size < (self._sizes[name] or 0):
            self._new[name] = (size, "no valid batch begins here")

    def operations(self) -> Iterator[FileOp]:
        """Yield the operations, by name."""
        for name, (wanted, reason) in sorted(self._new.items()):
            path, why = join(self._path, name), Why(None, reason)
            before = digest_of_file(self._tree, path) if name in self._sizes else None
            if wanted is None:
                if before is not None:
                    yield SetAside(path, before, None, why, directory=False)
            elif isinstance(wanted, int):
                assert before is not None
                with self._tree.open(path) as source:
                    after = digest_of([source.pread(wanted, 0)])
                yield Truncate(path, before, after, why)
            elif before != digest(wanted):
                yield Write(path, before, digest(wanted), why, wanted)


def copied(tree: Tree, node: RescueNode) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a copy that another node needs, which are the newest snapshot and the log after it.

    UsageError if one is too large for a plan.
    """
    path, end = join(node.log_dir, METADATA_DIRECTORY), node.age[1]
    corrupt = () if node.copy is None else node.copy.corrupt_snapshots
    names = tree.directory(path).entries().sizes
    intact = [name for name in names if name not in corrupt]
    snapshots = [(snapshot, name) for _, snapshot, name in metadata_snapshots(intact) if snapshot <= end]
    first, newest = snapshots[-1] if snapshots else (0, None)
    bases = segment_bases(names)
    begin = max((base for base in bases if base <= first), default=0)
    kept = [log_name(base) for base in bases if base >= begin]
    for name in (newest, *kept, LEADER_EPOCHS, PARTITION_METADATA):
        if name is None or name not in names:
            continue
        size = _valid_size(tree, join(path, name)) if name in kept[-1:] else names[name] or 0
        if size > CONTENT_SIZE_MAX:
            raise UsageError(
                f"{join(path, name)} has {size} bytes, more than a plan carries; copy {path} to the controller"
                " (cp -a, without quorum-state), and ask again"
            )
        with tree.open(join(path, name)) as source:
            yield name, source.pread(size, 0)


def _valid_size(tree: Tree, path: str) -> int:
    """Return the end of the valid batches of a segment."""
    with tree.open(path) as source:
        walk = Walk(source, verify=True)
        for _ in walk:
            pass
        return walk.position


def plan_words(plans: Iterable[NodePlan]) -> str:
    """Return how much the plans change."""
    return ", ".join(f"node {plan.node_id}: {counted(len(plan.plan.operations), 'file')}" for plan in plans)
