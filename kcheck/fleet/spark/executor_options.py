"""The options of every step of a scan by Spark."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.local_engine import THREADS


class TableTarget(NamedTuple):
    """The target of a task's table files, below `folder`; `about` goes into each file."""

    folder: str
    about: Mapping[str, str]


class ExecutorOptions(NamedTuple):
    """Options of a scan of directories. A directory that takes more than `seconds` becomes a finding.

    `urls` are the stores of log dirs, with at most `requests` parallel requests. `options` are for every file system.
    `shared` is a folder in the folder of the run, if Spark writes below it. An executor that does not see it would
    write for itself alone. Files of tables go to the `target`; it is empty for a task without files.
    """

    how: ScanOptions
    seconds: float
    urls: tuple[str, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    requests: int = THREADS
    shared: str | None = None
    target: TableTarget = TableTarget("", {})
