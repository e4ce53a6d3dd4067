"""What goes wrong in executors: the steps of a scan, with something harmful in the middle of them."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from kcheck.disk.directory import Directory
from kcheck.fleet.scan import broker_step, identify
from kcheck.fleet.scan import steps as fleet_stages
from kcheck.fleet.spark import executor_steps as stages
from kcheck.fleet.spark import table_writer as tables
from kcheck.fleet.spark.executor_options import ExecutorOptions
from kcheck.model.views import PartitionView
from kcheck.survey.rule_runner import check_partition
from kcheck.views.log_dir import open_log_dir, report_links
from kcheck.views.partition import read_small
from tests.fleet.hanging import hang, hours_pass

Batches = Iterator[pa.RecordBatch]


def kill() -> None:
    """End this process as the system does when memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def raises() -> None:
    """Meet a bug."""
    raise RuntimeError("boom")


def exhaust() -> None:
    """Take more memory than there may be."""
    held = [bytearray(1 << 24) for _ in range(1 << 10)]
    assert held


MEMORY_MAX = 1 << 26
HARMS: dict[str, Callable[[], None]] = {"kill": kill, "exhaust": exhaust, "hang": hang, "raises": raises}


def harmed_check(view: PartitionView, kafka: Any) -> Any:
    """Check a partition; topics with the names of harms do harm."""
    HARMS.get(view.topic, lambda: None)()
    return check_partition(view, kafka)


def harmed_read(files: Directory, *rest: Any, **more: Any) -> Any:
    """Read a small file; nobody gets through one below `unidentified`."""
    if "/unidentified" in files.path:
        kill()
    return read_small(files, *rest, **more)


def harmed_open(tree: Any, path: str, *rest: Any) -> Any:
    """Open a log dir; nobody can list one below `unlisted`."""
    if "/unlisted" in path:
        raises()
    return open_log_dir(tree, path, *rest)


def harmed_report(opened: Any, wanted: Any) -> None:
    """Look at links; nobody gets through those of `unseen`."""
    if "/unseen" in opened.view.where.log_dir:
        kill()
    report_links(opened, wanted)


@contextmanager
def harmful() -> Iterator[None]:
    """Have the steps in this process, and in those that it starts, do harm."""
    with (
        hours_pass(),
        mock.patch.object(identify, "read_small", harmed_read),
        mock.patch.multiple(fleet_stages, check_partition=harmed_check, open_log_dir=harmed_open),
        mock.patch.multiple(broker_step, open_log_dir=harmed_open, report_links=harmed_report),
    ):
        yield


def identify_all(batches: Batches, options: ExecutorOptions) -> Batches:
    """Identify, with harm."""
    with harmful():
        yield from stages.identify_all(batches, options)


def list_all(batches: Batches, options: ExecutorOptions) -> Batches:
    """List, with harm."""
    with harmful():
        yield from stages.list_all(batches, options)


def scan_all(batches: Batches, options: ExecutorOptions) -> Batches:
    """Scan, with harm, and with less memory."""
    with harmful(), mock.patch.object(stages, "MEMORY_MAX", MEMORY_MAX):
        yield from stages.scan_all(batches, options)


def look_at_all(batches: Batches, options: ExecutorOptions) -> Batches:
    """Look at brokers, with harm."""
    with harmful():
        yield from stages.look_at_all(batches, options)


def scan_once_more(batches: Batches, options: ExecutorOptions) -> Batches:
    """Scan, once more for the first to come."""
    yield from _lost_once("scan", stages.scan_all(batches, options))


def write_once_more(batches: Batches, **how: Any) -> Batches:
    """Write the tables, once more for the first to come."""
    yield from _lost_once("tables", tables.write_all(batches, **how))


def _lost_once(name: str, found: Batches) -> Batches:
    """Yield what is found; the first to come ends its process in the middle, as if the executor were lost."""
    mark = Path(os.environ["KCHECK_TEST_MARKS"]) / name
    for number, batch in enumerate(found):
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            yield batch
            continue
        assert number == 0
        yield batch
        kill()


def scan_never(batches: Batches, options: ExecutorOptions) -> Batches:
    """End the process, however often it is tried."""
    yield from stages.scan_all(batches, options)
    kill()
