"""Refuses `--topic` and `--partition` that match nothing: a healthy answer about no partition would mislead."""

from collections.abc import Callable, Iterable, Iterator

from kcheck.disk.paths import split
from kcheck.errors import UsageError
from kcheck.formats import offset_checkpoint
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import OFFSET_CHECKPOINTS, is_stranger_in_log_dir, parse_directory
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import Target, TargetKind
from kcheck.words import partition_name

_NAMES_MAX = 20_000
"""kcheck looks for the nearest names among this many."""


def require_match(
    targets: Iterable[Target], wanted: PartitionFilter, image: Callable[[], ClusterImage | None] = lambda: None
) -> None:
    """Raise UsageError if the filter matches no partition of the targets, nor of the metadata `image`.

    A log dir that cannot be listed may hold the partition, and a file has no filter.
    """
    if not wanted.topics and not wanted.partitions:
        return
    known: set[tuple[str, int]] = set()
    try:
        for target in targets:
            if target.kind is TargetKind.FILE:
                return
            for topic, partition in _partitions_of(target):
                if wanted.has(topic, partition):
                    return
                known.add((topic, partition))
    except UnreadableError:
        return
    metadata = image()
    for of, number, _ in () if metadata is None else metadata.partitions():
        if wanted.has(of.name, number):
            return
        known.add((of.name, number))
    raise no_match(wanted, known)


def _partitions_of(target: Target) -> Iterator[tuple[str, int]]:
    """Yield the partitions with a directory, then the partitions of the checkpoints alone."""
    if target.kind is TargetKind.PARTITION:
        names: Iterable[str] = (split(target.path)[1],)
    else:
        listing = target.tree.listing(target.path, is_stranger_in_log_dir)
        names = (*listing.directories, *listing.others)
    for directory in map(parse_directory, names):
        if directory is not None:
            yield directory.topic, directory.partition
    for name in OFFSET_CHECKPOINTS if target.kind is TargetKind.LOG_DIR else ():
        if name in listing.files:
            value = offset_checkpoint.parse(target.tree.directory(target.path).read_whole(name)).value
            yield from ((topic, partition) for topic, offsets in value.by_topic().items() for partition in offsets)


def no_match(wanted: PartitionFilter, known: Iterable[tuple[str, int]]) -> UsageError:
    """Return the error for a filter that matches no known partition, with the nearest names."""
    from difflib import get_close_matches  # only for the message

    given = [f"--topic {topic}" for topic in wanted.topics] + [f"--partition {part}" for part in wanted.partitions]
    some = sorted(known)[:_NAMES_MAX]
    topics = sorted({topic for topic, _ in some})
    near = [name for pattern in wanted.topics for name in get_close_matches(pattern, topics)]
    names = [partition_name(topic, partition) for topic, partition in some]
    near += [name for pattern in wanted.partitions for name in get_close_matches(pattern, names)]
    nearest = f"; did you mean {', '.join(dict.fromkeys(near))}?" if near else ""
    return UsageError(f"{' '.join(given)}: no partition matches{nearest}")
