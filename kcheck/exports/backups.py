"""The logs in a backup of `kcheck apply`. Truncated or moved files are complete there, as `N.before`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree
from kcheck.errors import KcheckError, UsageError
from kcheck.model.entries import Offset
from kcheck.model.names import FileKind, PartitionDirectory, parse_directory, parse_file, segment_bases
from kcheck.model.plan import SetAside
from kcheck.model.plan_json import parse_plan
from kcheck.model.source import Files

_PLAN, _JOURNAL = "plan.json", "journal.json"
_PLAN_SIZE_MAX = 256 << 20

KeptFile = tuple[str, Offset | None, str, Files]
"""The path of a segment in a backup, its base offset, its name there, and the directory that opens it."""


def is_backup(tree: Tree, path: str) -> bool:
    """Return whether a directory is a backup of `kcheck apply`."""
    return tree.is_directory(path) and tree.exists(join(path, _PLAN)) and tree.exists(join(path, _JOURNAL))


def kept_logs(tree: Tree, path: str) -> Iterator[tuple[PartitionDirectory, tuple[KeptFile, ...]]]:
    """Yield the partitions of which a backup has segments, each with these; UsageError if its plan cannot be read."""
    try:
        plan = parse_plan(tree.read_whole(join(path, _PLAN), size_max=_PLAN_SIZE_MAX))
        kept: Mapping[str, list[KeptFile]] = defaultdict(list)
        for number, operation in enumerate(plan.operations):
            name = f"{number}.before"
            place, (folder, file) = join(path, name), split(operation.path)
            if not tree.exists(place):
                continue
            if isinstance(operation, SetAside) and operation.directory:
                disk = tree.directory(place)
                bases = {f"{base:020}.log": base for base in segment_bases(tree.listing(place).files)}
                kept[operation.path] += [(join(place, log), base, log, disk) for log, base in bases.items()]
            elif parse_file(file).kind is FileKind.LOG:
                kept[folder].append((place, parse_file(file).offset, name, tree.directory(path)))
    except KcheckError as error:
        raise UsageError(f"{path}: {error}") from error
    for folder, files in kept.items():
        directory = parse_directory(split(folder)[1])
        if directory is not None and files:
            yield directory, tuple(files)
