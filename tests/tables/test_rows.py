"""The rows of the tables of a run: what a view becomes, as many values as there are columns, in their order."""

from pathlib import Path

import pytest

from kcheck.arrow import batch_of, from_bytes
from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.fleet.scan.broker_step import look_at_broker
from kcheck.fleet.scan.identify import ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.rows import tables_of
from kcheck.fleet.scan.steps import list_items, scan_batches
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.segments.segment import read_segment
from kcheck.tables import checkpoints, leader_epochs, log_dirs, segments
from kcheck.tables import partitions as partitions_table
from kcheck.views.log_dir import open_log_dir, partitions
from tests.builders import log_dir, partition_dir, run

NEWEST = release("4.3")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make a log dir with a partition of two segments, and an empty directory."""
    path = log_dir(tmp_path / "data", recovery_point={"t-0": 5, "gone-7": 3}, high_watermark={"t-0": 30})
    partition_dir(path / "t-0", [run(0, 9), run(10, 19, epoch=2)], epoch_entries=[(0, 0), (2, 10)])
    (path / "u-1").mkdir()
    return path


def test_a_partition_and_what_is_in_it(data: Path) -> None:
    """A segment that was read from its start tells more than another; the last one is, where it is small."""
    t, u = partitions(
        LOCAL, open_log_dir(LOCAL, str(data), None, NEWEST), wanted=PartitionFilter(), walk_all=False, release=NEWEST
    )
    where = (1, str(data))
    assert (
        *where, "t-0", "t", 0, "current", None, None, 0, 5, 30, 20, t.size, True, 2, 2, 2, 2, True,
    ) == partitions_table.row(t, complete=True)  # fmt: skip
    assert (
        *where, "u-1", "u", 1, "current", None, None, 0, None, None, 0, 0, True, 0, 0, None, None, False,
    ) == partitions_table.row(u, complete=False)  # fmt: skip
    assert [(0, 0, 0), (1, 2, 10)] == [*leader_epochs.rows(t)]
    assert [] == [*leader_epochs.rows(u)] == [*segments.rows(u)]
    size = t.size // 2
    last = (10, 20, size, 1, t.segments[1].max_timestamp)
    assert [(0, None, size, None, None), last] == [*segments.rows(t)]
    files, base = LOCAL.directory(str(data / "t-0")), t.segments[0].base_offset
    first = read_segment(files, "00000000000000000000.log", t.where, base, verify=False)
    assert [(0, 10, size, 1, first.max_timestamp), last] == [*segments.rows(t._replace(read=(first,)))]


def test_a_log_dir_and_its_checkpoints(data: Path) -> None:
    """Entries without a directory stand there too."""
    view = open_log_dir(LOCAL, str(data), None, NEWEST).view
    where = (1, str(data))
    kafka = ("4.3", "3.3", "4.3", "node.id in meta.properties")
    assert (*where, "c1uster-AAAAAAAAAAAAAA", None, True, False, 2, "kraft", 7, *kafka, True, None) == log_dirs.row(
        view, 2, "kraft", kafka, None, metadata_log=True
    )
    assert {
        (*where, "recovery-point-offset-checkpoint", "t", 0, 5),
        (*where, "recovery-point-offset-checkpoint", "gone", 7, 3),
        (*where, "replication-offset-checkpoint", "t", 0, 30),
    } == {*checkpoints.rows(view)}


def test_the_steps_need_no_process_of_their_own(data: Path) -> None:
    """Batches in, batches out: any engine can map them. An empty batch has the columns of a full one."""
    how = ScanOptions(Depth.CHECKPOINTS, PartitionFilter(), NEWEST)
    found = identify(FleetLogDir(str(data)), how)
    assert ("c1uster-AAAAAAAAAAAAAA", "1", 1) == (found.cluster, found.broker, found.broker_id)
    ((count, items),) = list_items(found, how)
    (batch,) = scan_batches(from_bytes(items), how)
    assert count == batch.num_rows == 2
    rows = {name: table.num_rows for name, table in tables_of(batch).items()}
    assert (2, 2, 2, 2) == tuple(rows[name] for name in ("partitions", "leader_epochs", "segments", "predictions"))
    assert rows["findings"] > 0
    assert {"findings", "log_dirs", "checkpoints", "predictions", "premises"} == {
        name for name, _ in look_at_broker(((found, ()),), how)
    }
    assert batch_of((), segments.TABLE.run_columns).schema == tables_of(batch)["segments"].schema
