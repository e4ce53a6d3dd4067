"""The options of every step of a scan by Spark."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.local_engine import THREADS


class TableTarget(NamedTuple):
    """Where tasks write files of tables: below `folder`; `about` goes into each file."""

    folder: str
    about: Mapping[str, str]


class ExecutorOptions(NamedTuple):
    """Options of a scan of directories. One that takes more than `seconds` becomes a finding.

    `urls` are the stores that log dirs are in, of which so many `requests` are made at once; `options` are those of
    every file system. `shared` is a folder in that of the run, where Spark writes below it: an executor that does not
    see it would write for itself alone. Files of tables go to the `target`; who writes none has none.
    """

    how: ScanOptions
    seconds: float
    urls: tuple[str, ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    requests: int = THREADS
    shared: str | None = None
    target: TableTarget = TableTarget("", {})
