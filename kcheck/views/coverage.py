"""How much of what was named has been looked at: what a terminal shows meanwhile, and what an interrupt leaves."""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.disk.walk import join, list_directory, sizes, split
from kcheck.model.names import LIVE, parse_directory
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.views.targets import Target, TargetKind


class CheckedCounts(NamedTuple):
    """How much a check has read."""

    log_dirs: int
    """Log dirs that were opened."""
    partitions: int
    """Partition directories."""
    segments: int
    """Segments of these."""
    files: int
    """Files that were read from end to end."""
    bytes: int
    """Bytes of these files."""
    segments_skipped: int | None = None
    """Segments outside of the time span; None if there is none."""


class Progress(NamedTuple):
    """How far a check has come."""

    log_dirs: int
    """Log dirs."""
    partitions: int
    """Partition directories."""
    bytes: int
    """Bytes of segments."""


class Coverage:
    """Log dirs and partitions that are done, and bytes of segments that were read; `at` is the directory at work.

    `planned` is how much there was when the look began, by a listing alone: no file is opened for it. `segments` are
    only planned.
    """

    def __init__(self) -> None:
        self.log_dirs = 0
        self.partitions = 0
        self.bytes = 0
        self.at = ""
        self.planned = {"log_dirs": 0, "partitions": 0, "segments": 0, "bytes": 0}

    def plan(self, targets: Iterable[Target], wanted: PartitionFilter, *, deep: bool) -> None:
        """Count what the targets have; sizes only if segments are read from their start, which is `deep`."""
        for target in targets:
            match target.kind:
                case TargetKind.LOG_DIR:
                    self.planned["log_dirs"] += 1
                    for name in _names(target.path):
                        self._plan_partition(join(target.path, name), wanted, deep=deep)
                case TargetKind.PARTITION:
                    self._plan_partition(target.path, None, deep=deep)

    def _plan_partition(self, path: str, wanted: PartitionFilter | None, *, deep: bool) -> None:
        directory = parse_directory(split(path)[1])
        if directory is None or not (wanted is None or wanted.has(directory.topic, directory.partition)):
            return
        self.planned["partitions"] += 1
        if deep and directory.state in LIVE:
            of_logs = sizes(path, ".log")
            self.planned["segments"] += len(of_logs)
            self.planned["bytes"] += sum(of_logs)

    def done(self) -> Progress:
        """Return what is done."""
        return Progress(self.log_dirs, self.partitions, self.bytes)

    def goal(self) -> Progress:
        """Return what was planned."""
        return Progress(self.planned["log_dirs"], self.planned["partitions"], self.planned["bytes"])


def _names(path: str) -> tuple[str, ...]:
    try:
        return list_directory(path).directories
    except UnreadableError:
        return ()
