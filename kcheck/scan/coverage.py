"""How much of what was named has been looked at: what a terminal shows meanwhile, and what an interrupt leaves."""

from collections.abc import Sequence
from functools import cached_property

from kcheck.disk.read import UnreadableError
from kcheck.disk.walk import join, list_directory, sizes, split
from kcheck.model.names import DirectoryState, parse_directory
from kcheck.model.report import Row, Wanted
from kcheck.scan.inputs import Kind, Target

READ = (DirectoryState.CURRENT, DirectoryState.FUTURE)
"""The partitions whose segments are read: no broker reads the others again."""


class Coverage:
    """Log dirs and partitions that are done, and bytes of segments that were read; `at` is the directory at work.

    `planned` is how much there was when somebody first asked, by a listing alone: no file is opened for it, and where
    nobody asks, nothing is listed. `segments` are only planned.
    """

    def __init__(self, targets: Sequence[Target] = (), wanted: Wanted | None = None, *, deep: bool = False) -> None:
        """Begin with nothing done; `deep` tells whether segments are read from their start."""
        self.log_dirs = 0
        self.partitions = 0
        self.bytes = 0
        self.at = ""
        self._targets = targets
        self._wanted = wanted or Wanted()
        self._deep = deep

    @cached_property
    def planned(self) -> dict[str, int]:
        """Count what the targets have; sizes only if segments are read from their start, which is `deep`."""
        planned = {"log_dirs": 0, "partitions": 0, "segments": 0, "bytes": 0}
        for target in self._targets:
            match target.kind:
                case Kind.LOG_DIR:
                    planned["log_dirs"] += 1
                    for name in _names(target.path):
                        self._plan_partition(join(target.path, name), self._wanted, planned)
                case Kind.PARTITION:
                    self._plan_partition(target.path, Wanted(), planned)
        return planned

    def _plan_partition(self, path: str, wanted: Wanted, planned: dict[str, int]) -> None:
        found = parse_directory(split(path)[1])
        if found is None or not wanted.has(found.topic, found.partition):
            return
        planned["partitions"] += 1
        if self._deep and found.state in READ:
            of_logs = sizes(path, ".log")
            planned["segments"] += len(of_logs)
            planned["bytes"] += sum(of_logs)

    def row(self) -> Row:
        """Return how far it has come, and of how much, as JSON shows it."""
        done = {"log_dirs": self.log_dirs, "partitions": self.partitions, "bytes": self.bytes}
        return {"done": done, "planned": {name: self.planned[name] for name in done}}


def _names(path: str) -> tuple[str, ...]:
    try:
        return list_directory(path).directories
    except UnreadableError:
        return ()
