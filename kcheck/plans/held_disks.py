"""Reads what the disks of brokers hold of a cluster whose metadata is lost, for `core.rescue.rebuild`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kcheck.core.cluster.metadata_replay import Fields, MetadataReplay
from kcheck.core.election.plans import CopyState, PartitionElection
from kcheck.core.premises.table import why_not_started
from kcheck.core.rescue.held import HeldDisks, HeldLogDir, HeldPartition, HeldReplica, OldMetadata
from kcheck.core.rescue.made_ids import made_id
from kcheck.core.rescue.quorum_loss import RescueNode, is_usable
from kcheck.core.rescue.rebuild import TOPIC
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import join, split
from kcheck.disk.planned import PlannedTree
from kcheck.disk.tree import Tree
from kcheck.formats import partition_metadata, producer_snapshot
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.names import (
    META_PROPERTIES,
    METADATA_DIRECTORY,
    PARTITION_METADATA,
    TRANSACTION_STATE,
    DirectoryState,
    FileKind,
    is_legal_topic,
    parse_directory,
    parse_file,
)
from kcheck.model.plan import Digest, FileOp, SetAside, Why, Write, digest
from kcheck.model.release import Release
from kcheck.model.remote_log import REMOTE_LOG_METADATA
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.rebuild_files import kraft_identity
from kcheck.records.batch import LOG_APPEND_TIME
from kcheck.replicas.elect import ClusterElection, ElectionQuestion, elect
from kcheck.replicas.replica import LogFile
from kcheck.replicas.transaction_states import transaction_states
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_copy import Extent, read_copy
from kcheck.views.metadata_paths import identity_of
from kcheck.views.targets import Target, has_no_disk

_EVERY = PartitionFilter()
_NO_ID = made_id("a topic without an id")
"""Stands for the id that the plan will write."""
_KEPT = {
    "ConfigRecord": ("resourceType", "resourceName", "name"),
    "AccessControlEntryRecord": ("id",),
    "UserScramCredentialRecord": ("name", "mechanism"),
    "ClientQuotaRecord": ("entity", "key"),
    "DelegationTokenRecord": ("tokenId",),
}
"""The records that only an old copy has, and the fields that name what they are about."""
_REMOVALS = {
    "RemoveAccessControlEntryRecord": "AccessControlEntryRecord",
    "RemoveUserScramCredentialRecord": "UserScramCredentialRecord",
    "RemoveDelegationTokenRecord": "DelegationTokenRecord",
}


class _Facts(NamedTuple):
    """Facts from the batches of a partition."""

    producer_id: int = -1
    append_time: bool = False
    timestamp: int = 0
    is_tiered: bool = False


def held_disks(
    targets: Sequence[Target],
    nodes: Iterable[RescueNode],
    release: Release,
    planned: Mapping[int, Mapping[str, str]] = {},
    *,
    as_they_are: bool = False,
) -> HeldDisks:
    """Return the contents of the log dirs of brokers; `nodes` have copies of the metadata.

    Brokers start with the ids of KRaft and the settings that a plan changes, or `as_they_are`.
    """
    log_dirs = LogDirs(release)
    opened = {target.path: log_dirs.open(target) for target in targets}
    here: list[tuple[str, str]] = []
    compacted: set[str] = set()
    rows = []
    for target in targets:
        log_dir = opened[target.path]
        view, identity = log_dir.view, log_dir.view.files.get(META_PROPERTIES)
        assert view.where.broker_id is not None
        rows.append(
            HeldLogDir(
                view.where.broker_id,
                target.path,
                view.cluster_id,
                view.directory_id,
                None if identity is None else identity.parsed.value.version,
                view.shutdown_epoch,
                view.locked_by,
                None if log_dir.unlisted is None else log_dir.unlisted.words,
                tuple(name for name, parts in log_dir.directories if parts.state is not DirectoryState.CURRENT),
                has_no_disk(target.tree, target.path),
            )
        )
        here += [(target.path, name) for name, _ in log_dir.directories]
        compacted |= (log_dir.checkpoints.cleaned or {}).keys()
    places = {(opened[path].view.where.broker_id, name): path for path, name in here}
    unnamed = tuple(_unnamed(targets))
    if not any(parts.state is DirectoryState.CURRENT for row in opened.values() for _, parts in row.directories):
        return HeldDisks(tuple(rows), {}, unnamed=unnamed)
    disks = HeldDisks(tuple(rows), {}, frozenset(compacted), old=_old(nodes), unnamed=unnamed)
    trees = {
        target.path: target.tree
        if as_they_are
        else _as_planned(target, row, disks, partition_directories(name for name, _ in opened[row.path].directories))
        for target, row in zip(targets, rows, strict=True)
        if row.unlisted is None
    }
    return _with_partitions(disks, targets, trees, places, release, {} if as_they_are else planned)


def _unnamed(targets: Sequence[Target]) -> Iterator[tuple[int, str]]:
    """Yield other log dirs of the same brokers in the folders of their log dirs, by the ids in meta.properties."""
    named = {target.tree.real(target.path) for target in targets}
    for target in targets:
        own, folder = identity_of(target.tree, target.path), split(target.tree.real(target.path))[0]
        with suppress(UnreadableError):
            for name in target.tree.directory(folder).entries().directories:
                other = identity_of(target.tree, join(folder, name))
                is_same = own.cluster_id is not None and (other.cluster_id, other.node_id) == (
                    own.cluster_id, target.broker_id,
                )  # fmt: skip
                if is_same and target.broker_id is not None and join(folder, name) not in named:
                    yield target.broker_id, join(folder, name)


def _as_planned(target: Target, row: HeldLogDir, disks: HeldDisks, names: Iterable[str]) -> Tree:
    """Return a log dir with the ids of the plan, and without a metadata copy that the plan removes."""
    real = target.tree.real(target.path)
    operations: list[FileOp] = []
    if target.tree.is_directory(join(target.path, METADATA_DIRECTORY)):
        gone = SetAside(join(real, METADATA_DIRECTORY), Digest(None, 0), None, Why(None, ""), directory=True)
        operations.append(gone)
    if (identity := kraft_identity(target.tree, row, disks)) is not None:
        operations.append(identity)
    data = partition_metadata.serialize(PartitionMetadata(0, _NO_ID))
    for name in partition_directories(names):
        if not target.tree.exists(join(target.path, name, PARTITION_METADATA)):
            path = join(real, name, PARTITION_METADATA)
            operations.append(Write(path, None, digest(data), Why(None, ""), data))
    return PlannedTree(target.tree, {real: target.path}, tuple(operations)) if operations else target.tree


def _with_partitions(
    disks: HeldDisks,
    targets: Sequence[Target],
    trees: Mapping[str, Tree],
    places: Mapping[tuple[int | None, str], str],
    release: Release,
    planned: Mapping[int, Mapping[str, str]],
) -> HeldDisks:
    arguments = [f"{target.broker_id}={target.path}" for target in targets if target.path in trees]
    question = ElectionQuestion(incomplete_ok=True, planned=planned)
    election = elect(arguments, question, wanted=_EVERY, release=release, trees=trees)
    election = election.whole()
    partitions, append_time, tiered = {}, set(), set()
    producer_id, timestamp = -1, 0
    for row in election.of_cluster:
        if not is_legal_topic(row.topic):
            continue
        partition, facts = _partition(row, election, places)
        partitions[row.topic, row.partition] = partition
        producer_id, timestamp = max(producer_id, facts.producer_id), max(timestamp, facts.timestamp)
        if facts.append_time:
            append_time.add(row.topic)
        if facts.is_tiered:
            tiered.add(row.topic)
    has_remote = any(topic == REMOTE_LOG_METADATA for topic, _ in partitions)
    return disks._replace(
        partitions=partitions, append_time=frozenset(append_time), producer_id=producer_id, timestamp=timestamp,
        tiered=frozenset(tiered if has_remote else ()), ended=tuple(_ended(election, disks.brokers)),
    )  # fmt: skip


def _ended(election: ClusterElection, brokers: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Yield the brokers that do not start by their premises, with the reason."""
    for number in brokers:
        reason = why_not_started(row for row in election.premises if row.broker_id == number)
        if reason is not None:
            yield number, reason


def _partition(
    row: PartitionElection, election: ClusterElection, places: Mapping[tuple[int | None, str], str]
) -> tuple[HeldPartition, _Facts]:
    replicas, facts = [], _Facts()
    for copy in election.copies(row.topic, row.partition):
        state = copy.state
        if copy.role is not CopyState.CURRENT or copy.dir is None or state.broker_id is None:
            continue
        end = None if state.problem is not None else state.log_end_offset
        path = places[state.broker_id, copy.dir]
        topic_id = None if state.topic_id == _NO_ID else state.topic_id
        replicas.append(HeldReplica(state.broker_id, path, topic_id, state.latest_epoch, end))
        facts = _both(facts, _of_batches(state.logs))
        facts = _both(facts, _of_snapshots(join(path, copy.dir)))
        facts = _both(facts, _Facts(is_tiered=bool(state.cache) and state.cache[0].start_offset < state.first_segment))
        if row.topic == TRANSACTION_STATE:
            known = (transaction.producer_id for transaction in transaction_states(state.logs)[0].values())
            facts = _both(facts, _Facts(max(known, default=-1)))
    best = row.recommended
    lost = None if best is None or best.lost is None else best.lost.records
    ordered = tuple(sorted(replicas, key=lambda one: one.broker_id))
    return HeldPartition(ordered, None if best is None else best.broker_id, lost), facts


def _both(one: _Facts, other: _Facts) -> _Facts:
    return _Facts(
        max(one.producer_id, other.producer_id),
        one.append_time or other.append_time,
        max(one.timestamp, other.timestamp),
        one.is_tiered or other.is_tiered,
    )


def _of_batches(logs: Iterable[LogFile]) -> _Facts:
    """Return the facts in the headers of all batches."""
    from kcheck.segments.header_columns import HeaderReader  # numpy: loaded only here

    facts = _Facts()
    for file in logs:
        with file.open() as source:
            for columns in HeaderReader(source, verify=False):
                if len(columns.position):
                    modern = columns.magic >= 2
                    facts = _both(
                        facts,
                        _Facts(
                            int(columns.producer_id.max()),
                            bool(((columns.attributes & LOG_APPEND_TIME) != 0)[modern].any()),
                            int(columns.max_timestamp.max()),
                        ),
                    )
    return facts


def _of_snapshots(path: str) -> _Facts:
    """Return the largest producer id in producer snapshots, as its batches may be deleted."""
    folder = LOCAL.directory(path)
    largest = -1
    for name in folder.entries().sizes:
        if parse_file(name).kind is FileKind.PRODUCER_SNAPSHOT:
            try:
                value = producer_snapshot.parse(folder.read_whole(name, 64 << 20)).value
            except UnreadableError:
                continue
            largest = max((largest, *(producer.producer_id for producer in value.producers)))
    return _Facts(largest)


def _old(nodes: Iterable[RescueNode]) -> OldMetadata | None:
    """Return the newest complete copy, or else the rest of one, with the records that an image does not keep."""
    copies = [node for node in nodes if node.copy is not None]
    if not copies:
        return None
    newest = max(copies, key=lambda node: (is_usable(node), node.age))
    kept: dict[tuple[str, str], tuple[str, Mapping[str, Any]]] = {}
    names: dict[str, str] = {}

    def observe(replay: MetadataReplay, name: str, data: Fields, offset: int, timestamp: int) -> None:
        del replay, offset, timestamp
        if name == "TopicRecord":
            names[data["topicId"]] = data["name"]
        if name == "RemoveTopicRecord":  # Its configuration goes with it (ConfigurationControlManager).
            gone = names.get(data["topicId"])
            for key in [key for key, row in kept.items() if _is_config_of(row, gone)]:
                del kept[key]
        of = _REMOVALS.get(name, name)
        if of not in _KEPT:
            return
        key = (of, repr([data[field] for field in _KEPT[of]]))
        if name in _REMOVALS or data.get("remove") or (name == "ConfigRecord" and data["value"] is None):
            kept.pop(key, None)
        else:
            kept[key] = (name, dict(data))

    assert newest.copy is not None
    copy = read_copy(LOCAL, newest.copy.path, newest.node_id, Extent(torn=True), observe)
    missing = None if is_usable(newest) else f"{copy.defects[0].place}: {copy.defects[0].why}"
    return OldMetadata(newest.node_id, copy.image, tuple(kept.values()), missing)


def _is_config_of(row: tuple[str, Mapping[str, Any]], topic: str | None) -> bool:
    name, data = row
    return name == "ConfigRecord" and (data["resourceType"], data["resourceName"]) == (TOPIC, topic)


def partition_directories(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of directories that hold a replica that a broker serves."""
    for name in names:
        parts = parse_directory(name)
        if parts is not None and parts.state is DirectoryState.CURRENT and is_legal_topic(parts.topic):
            yield name
