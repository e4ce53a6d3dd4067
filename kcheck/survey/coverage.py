"""The progress of a check, for the progress line, and for the report after an interrupt."""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.disk.paths import join, split
from kcheck.disk.tree import Tree
from kcheck.model.names import LIVE, is_stranger_in_log_dir, parse_directory
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import Target, TargetKind


class CheckedCounts(NamedTuple):
    """The amounts that a check has read."""

    log_dirs: int
    """Log dirs that were opened."""
    partitions: int
    """Partition directories."""
    segments: int
    """Segments in these directories."""
    files: int
    """Files that were read completely."""
    bytes: int
    """Bytes of these files."""
    segments_skipped: int | None = None
    """Segments outside the time span; None without a time span."""


class Progress(NamedTuple):
    """An amount of work, done or planned."""

    log_dirs: int
    """Log dirs."""
    partitions: int
    """Partition directories."""
    bytes: int
    """Bytes of segments."""


class Coverage:
    """The log dirs, partitions and segment bytes done so far; `at` is the current directory.

    `planned` is the first total, from directory listings only. `segments` are counted only there.
    """

    def __init__(self) -> None:
        self.log_dirs = 0
        self.partitions = 0
        self.bytes = 0
        self.at = ""
        self.planned: dict[str, int] = {"log_dirs": 0, "partitions": 0, "segments": 0, "bytes": 0}

    def plan(self, targets: Iterable[Target], wanted: PartitionFilter, *, reads_segments: bool) -> None:
        """Count the planned work; count segment bytes only if `reads_segments`, from their start."""
        for target in targets:
            match target.kind:
                case TargetKind.LOG_DIR:
                    self.planned["log_dirs"] += 1
                    for name in _names(target):
                        self._plan_partition(
                            target.tree, join(target.path, name), wanted, reads_segments=reads_segments
                        )
                case TargetKind.PARTITION:
                    self._plan_partition(target.tree, target.path, None, reads_segments=reads_segments)

    def _plan_partition(self, tree: Tree, path: str, wanted: PartitionFilter | None, *, reads_segments: bool) -> None:
        directory = parse_directory(split(path)[1])
        if directory is None or not (wanted is None or wanted.has(directory.topic, directory.partition)):
            return
        self.planned["partitions"] += 1
        if reads_segments and directory.state in LIVE:
            of_logs = tree.sizes(path, ".log")
            self.planned["segments"] += len(of_logs)
            self.planned["bytes"] += sum(of_logs)

    def done(self) -> Progress:
        """Return the work done."""
        return Progress(self.log_dirs, self.partitions, self.bytes)

    def goal(self) -> Progress:
        """Return the work planned."""
        return Progress(self.planned["log_dirs"], self.planned["partitions"], self.planned["bytes"])


def _names(target: Target) -> tuple[str, ...]:
    try:
        return target.tree.listing(target.path, is_stranger_in_log_dir).directories
    except UnreadableError:
        return ()
