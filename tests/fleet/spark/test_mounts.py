"""A log dir that a host no longer sees fails the task that reads it: what it has found of the rest does not count."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.errors import KcheckError
from kcheck.fleet.scan.identify import Identified, ScanOptions
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.spark.executor_options import ExecutorOptions
from kcheck.fleet.spark.executor_steps import broker_rows, identified_of
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from tests.builders import log_dir, partition_dir, run

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

OPTIONS = ExecutorOptions(ScanOptions(Depth.CHECKPOINTS, PartitionFilter(), release("4.3")), 60)


def identified(path: Path) -> Identified:
    """Make a log dir, and return it with its broker."""
    log_dir(path, recovery_point={}, high_watermark={}, log_start={})
    for topic in "ab":
        partition_dir(path / f"{topic}-0", [run(0, 9)])
    ((_, found),) = identified_of([FleetLogDir(str(path), is_there=True)], OPTIONS)
    assert isinstance(found, Identified)
    return found


def test_a_log_dir_that_vanishes_while_it_is_read(tmp_path: Path) -> None:
    """It was there when the task began."""
    rows = broker_rows([identified(tmp_path / "d")], OPTIONS, ends_broker=True)
    assert next(rows)
    shutil.rmtree(tmp_path / "d")
    with pytest.raises(KcheckError, match=f"does not see {tmp_path / 'd'}"):
        list(rows)


def test_a_log_dir_that_is_gone_before_it_is_read(tmp_path: Path) -> None:
    """The task does not begin."""
    known = identified(tmp_path / "d")
    shutil.rmtree(tmp_path / "d")
    with pytest.raises(KcheckError, match=f"does not see {tmp_path / 'd'}"):
        next(broker_rows([known], OPTIONS, ends_broker=True))


def test_rows_that_nobody_reads_to_the_end(tmp_path: Path) -> None:
    """A query with a limit asks for no more."""
    rows = broker_rows([identified(tmp_path / "d")], OPTIONS, ends_broker=True)
    assert next(rows)
    shutil.rmtree(tmp_path / "d")
    rows.close()  # type: ignore[attr-defined]  # it is a generator
