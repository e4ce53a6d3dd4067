"""What a scan of a fleet says of the next starts."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kcheck.arrow import from_bytes, to_bytes
from kcheck.core.premises.facts import LogFacts, MisdatedRecords, MissingRecords
from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LoadedLog, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.fleet.run import open_run
from kcheck.fleet.runs.report import report
from kcheck.fleet.scan.broker_step import look_at_broker
from kcheck.fleet.scan.identify import ScanOptions, identify
from kcheck.fleet.scan.inventory import FleetLogDir
from kcheck.fleet.scan.predictions import LIGHT, START, light_log, start_row
from kcheck.fleet.scan.rows import seen_of, tables_of
from kcheck.fleet.scan.steps import list_items, scan_items
from kcheck.model.depth import Depth
from kcheck.model.entries import Epoch, Offset
from kcheck.model.loss import BatchFaults, DatedRecords, UnreadableRecords
from kcheck.model.names import DirectoryState, PartitionDirectory, TopicPartition
from kcheck.model.report import PartitionFilter
from tests.cli.command import kcheck
from tests.fleet.scan.test_cluster_metadata import FIXTURES
from tests.fleet.scan.test_local_engine import LAYOUT, scanned
from tests.verbs.test_predict import metadata_log, whole


def test_a_fleet_reads_no_log_through_unless_it_is_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an unclean stop only the boot cost is known then; the row of the log dir tells the verdict."""
    monkeypatch.chdir(tmp_path)
    whole(Path("clean"), clean=True)
    whole(Path("killed"), clean=False)
    metadata_log(Path("kraft"))
    told = [row for path in ("clean", "killed", "kraft") for row in of_fleet(path, "checkpoints")]
    assert [
        ("clean", "t-0", "ok", None, 0),
        ("clean", None, "ok", "will boot", 0),
        ("killed", "t-0", "unknown", "the broker reads all its segments when it starts", 100),
        ("killed", None, "unknown", "not known", 100),
    ] == [(*row[:4], row[4] and 100) for row in told[:4]]
    assert ("kraft", None, "ok", "will boot") == told[-1][:4]
    assert [("t-0", "ok"), (None, "ok")] == [row[1:3] for row in of_fleet("killed", "crc")]


def of_fleet(path: str, depth: str) -> list[tuple[Any, ...]]:
    """Return what a scan of a fleet says of a log dir and the directories in it."""
    how = ScanOptions(Depth(depth), PartitionFilter(), release("4.3"))
    found = identify(FleetLogDir(path), how)
    seen = [
        batch for _, items in list_items(found, how) for data in scan_items(items, how) for batch in from_bytes(data)
    ]
    of_broker = look_at_broker(((found, [to_bytes(seen_of(batch)) for batch in seen]),), how)
    whole_log_dir = [batch for name, data in of_broker if name == "predictions" for batch in from_bytes(data)]
    rows = [*(tables_of(batch)["predictions"] for batch in seen), *whole_log_dir]
    names = ("log_dir", "dir", "outcome", "reason", "scan_bytes")
    return [tuple(row[name] for name in names) for batch in rows for row in batch.to_pylist()]


def test_one_prediction_is_one_truth(tmp_path: Path) -> None:
    """Strays, losses and outcomes are the same in tables, report, metrics, and the comparison of replicas."""
    roots = [FIXTURES / "clusters" / "4.3.1" / LAYOUT, FIXTURES / "brokers" / "4.3.1" / LAYOUT]
    _, rows = scanned(tmp_path, *roots, depth="crc")
    summary: Any = report(open_run(str(tmp_path / "out")), lambda *_: True, lambda *_: False).body
    of_log_dirs = [row for row in rows["predictions"] if row["dir"] is None]
    losing = [row for row in rows["predictions"] if row["lost"] is not None]
    assert (
        len(losing) == summary["partitions_losing"] == sum(row["losing_partitions"] for row in summary["broker_starts"])
    )
    counted = Counter[str]()
    for row in summary["broker_starts"]:
        counted.update(row["outcomes"])
    lossy, unserved = (
        {(row["cluster"], row["log_dir"]) for row in rows["predictions"] if has(row)}
        for has in (lambda row: row["lost"] is not None, is_stray)
    )
    effects = dict.fromkeys(unserved, "stray") | dict.fromkeys(lossy, "lost")
    expected = Counter(
        effects.get((row["cluster"], row["log_dir"]), "ok") if row["outcome"] == "ok" else row["outcome"]
        for row in of_log_dirs
    )
    assert expected == +counted
    told = kcheck(
        "fleet", "report", tmp_path / "out", "--html", tmp_path / "x.html", "--prometheus", tmp_path / "m.prom"
    )
    assert told.code in (0, 1)
    metrics = [line for line in (tmp_path / "m.prom").read_text().splitlines() if "_broker_losing_partitions{" in line]
    assert len(losing) == sum(int(line.rpartition(" ")[2]) for line in metrics)
    strays = {replica_of(row) for row in rows["predictions"] if is_stray(row)}
    assert len(strays) == sum(row["unserved_partitions"] for row in summary["broker_starts"]) > 2
    assert strays.isdisjoint(replica_of(row) for row in rows["replica_sets"] if row["able"])
    of_strays = [row for row in rows["truncation_plans"] if replica_of(row) in strays]
    assert of_strays
    assert all(row["problem"].startswith("no broker serves it: ") for row in of_strays)
    without = [row for row in rows["replica_sets"] if not row["able"]]
    assert {("outlived", "gone")} <= {(row["cluster"], row["topic"]) for row in without}


def replica_of(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["cluster"], row["topic"], row["partition"], row["broker_id"]


def is_stray(row: dict[str, Any]) -> bool:
    """Whether the next start makes a stray of a replica; what an earlier one has set aside is none any more."""
    return (row["outcome"], row["dir"]) == ("stray", f"{row['topic']}-{row['partition']}")


_LOADED = LoadedLog(Offset(3), Offset(9), Offset(9), (), unstable=False, bases=(0,))
_DIRECTORY = PartitionDirectory("t", 0, DirectoryState.CURRENT, canonical=True)
_START = PartitionPrediction("t-0", _DIRECTORY, Outcome.OK, None, log=_LOADED)
_FACTS = LogFacts(
    TopicPartition("t", 0), "d", lost_head=(Offset(1), Offset(2)), missing=(MissingRecords(Offset(1), Offset(2), "x"),),
    misdated=(MisdatedRecords(Offset(1), Offset(2), 3, is_head=True),), topic_id="id", epoch=Epoch(4), end=Offset(9),
    unseen_epoch=Epoch(5), is_closed=True, is_emptied=True, loses=True, start=Offset(3),
    batches=BatchFaults(
        (UnreadableRecords(Offset(1), Offset(2), "crc"),), ((Offset(1), Offset(2)),), ((Offset(3), Offset(4)),), False,
        (DatedRecords(Offset(1), Offset(2), 3, 4),), ((Offset(5), Offset(6)),), (Offset(0), Offset(1), 7, 0),
        (Offset(0), Offset(2)), "it is incomplete", (Offset(1), Offset(1), 8, 1), ((Offset(7), Offset(8)),),
    ),
    closed_at=Offset(8), lacks_snapshot=True, keys_of=(1, 9), homeless=("g",), producer_id=6, unread_size=11,
    hides=True, by_index=True, lacks_epochs=True, oldest=12, sizes=(13, 14), is_served=False, is_compacted=True,
)  # fmt: skip


@pytest.mark.parametrize(
    "log", [_FACTS, _FACTS._replace(batches=None), LogFacts(TopicPartition("t", 0), "d", start=Offset(3))]
)
def test_the_premises_of_a_scan_see_every_fact_of_a_log(log: LogFacts) -> None:
    """Each field crosses to the look at the broker, but those that other log dirs show."""
    usual, of_cluster = (
        LogFacts._field_defaults,
        {"remote", "remote_report", "regular", "lower", "other_name", "replica", "short_leader"},
    )
    unused = {name for name, value in _FACTS._asdict().items() if name in usual and value == usual[name]}
    assert of_cluster == unused
    columns = dict(zip((column.name for column in START), start_row(_START, log, None), strict=True))
    row = [columns[name] for name in LIGHT]
    assert log._replace(end=Offset(9)) == light_log("d", _START.directory, log.topic_id, row)
