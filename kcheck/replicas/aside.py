"""Finds partition directories that were moved aside. No broker loads them, but they may hold the best log.

A directory counts if its partition.metadata has the id of a topic of the cluster. That file has no partition number.
The number is in the directory's name after the topic's, or in the plan of a backup of kcheck. A topic with one
partition needs no number.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.disk.backup import PLAN
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import absolute, join, split
from kcheck.disk.refusals import unnoticed
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import PlanError, UsageError
from kcheck.formats import partition_metadata
from kcheck.model.finding import Location
from kcheck.model.java import INT_MAX
from kcheck.model.names import PARTITION_METADATA, DirectoryState, PartitionDirectory, is_stranger_in_log_dir
from kcheck.model.plan_json import parse_plan
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import CheckpointOffsets
from kcheck.replicas.loading import ReplicaFiles
from kcheck.views.log_dir import LogDirs
from kcheck.views.partition import try_partition
from kcheck.views.targets import Target, TargetKind, replica_argument

_METADATA_SIZE_MAX, _PLAN_SIZE_MAX = 1 << 16, 64 << 20
_BACKUP = re.compile(r"([0-9]{1,9})\.before")


class TopicName(NamedTuple):
    """The name of a topic, and how many partitions it has, as far as is known."""

    name: str
    partitions: int | None


class AsideSearch(NamedTuple):
    """The criteria by which directories count."""

    topics: Mapping[str, TopicName]
    """The topics of the cluster, by id."""
    wanted: PartitionFilter
    release: Release


def aside_below(argument: str, search: AsideSearch) -> tuple[ReplicaFiles, ...]:
    """Return the directories that the user names as BROKER=PATH: PATH itself, or those in it.

    UsageError: no broker is named, there is no such directory, or it cannot be listed.
    """
    broker_id, path = replica_argument(argument)
    if broker_id is None:
        raise UsageError(f"--aside {argument}: write BROKER=PATH")
    tree = tree_of(path)
    try:
        names = tree.listing(path, is_stranger_in_log_dir).directories
    except UnreadableError as error:
        raise UsageError(f"--aside {path}: {error}") from error
    named = {path: split(path)[1], **{join(path, name): name for name in names}}
    planned = _planned(tree, path) if any(map(_BACKUP.fullmatch, names)) else {}
    return tuple(_copies(tree, broker_id, {place: planned.get(name, name) for place, name in named.items()}, search))


def aside_near(targets: Iterable[Target], log_dirs: LogDirs, search: AsideSearch) -> Iterator[ReplicaFiles]:
    """Yield the unparseable directories in log dirs, then directories next to the log dirs of one broker."""
    around: dict[str, set[int]] = {}
    known = set()
    for target in targets:
        if target.kind is not TargetKind.LOG_DIR or target.tree.is_remote:
            continue
        view = log_dirs.open(target).view
        number = view.where.broker_id
        known.add(LOCAL.real(target.path))
        if number is not None:
            around.setdefault(split(absolute(target.path))[0], set()).add(number)
            yield from _copies(
                target.tree, number, {join(target.path, name): name for name in view.unparseable}, search
            )
    with unnoticed():
        for folder, (number, *others) in around.items():
            if not others:
                yield from _copies(LOCAL, number, _beside(folder, known), search)


def _beside(folder: str, known: set[str]) -> dict[str, str]:
    """Return the directories in a folder that are no log dirs of the command."""
    try:
        names = LOCAL.listing(folder, is_stranger_in_log_dir).directories
    except UnreadableError:
        return {}
    return {join(folder, name): name for name in names if LOCAL.real(join(folder, name)) not in known}


def _copies(tree: Tree, broker_id: int, named: Mapping[str, str], search: AsideSearch) -> Iterator[ReplicaFiles]:
    """Yield the directories of wanted partitions; `named`: paths, each with the name that says the number."""
    for path, name in named.items():
        topic = search.topics.get(_topic_id(tree, path) or "")
        number = None if topic is None else _number(name, topic)
        if topic is None or number is None or not search.wanted.has(topic.name, number):
            continue
        directory = PartitionDirectory(topic.name, number, DirectoryState.CURRENT, canonical=False)
        where = Location(broker_id=broker_id, dir=path)
        offsets = CheckpointOffsets()
        view, _ = try_partition(
            tree.directory(path),
            directory,
            where,
            log_dir=None,
            offsets=offsets,
            walk_all=False,
            release=search.release,
        )
        if view is not None and view.segments:
            yield ReplicaFiles(path, view, None, tree)


def _topic_id(tree: Tree, path: str) -> str | None:
    """Return the topic id in a directory; None without a readable one."""
    try:
        data = tree.read_whole(join(path, PARTITION_METADATA), size_max=_METADATA_SIZE_MAX)
    except UnreadableError:
        return None
    return partition_metadata.parse(data).value.topic_id


def _number(name: str, topic: TopicName) -> int | None:
    """Return the partition number in a name that contains `<topic>-<number>`; None if it has none."""
    match = re.search(rf"{re.escape(topic.name)}-([0-9]{{1,10}})(?![0-9])", name)
    if match is None:
        return 0 if topic.partitions == 1 else None
    number = int(match[1])
    return number if number <= INT_MAX else None


def _planned(tree: Tree, backup: str) -> dict[str, str]:
    """Return the original names of the directories that a backup of kcheck contains, by their names there."""
    try:
        plan = parse_plan(tree.read_whole(join(backup, PLAN), size_max=_PLAN_SIZE_MAX))
    except (UnreadableError, PlanError):
        return {}
    return {f"{number}.before": split(operation.path)[1] for number, operation in enumerate(plan.operations)}
