"""A scan of a fleet: the rows are what check and inspect say, in order, whatever happens to one directory."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from kcheck.core.releases.releases import release
from kcheck.disk.output import let_go, occupied, publish
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet import run_output as output
from kcheck.fleet.run_output import MANIFEST, run_tables
from kcheck.fleet.scan import steps as stages
from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.local_engine import ScanRun, scan
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.fleet.scan.remembered import left_by
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter, Report, finding_row
from kcheck.verbs.check import check
from tests.builders import broker, flip_byte, log_dir, partition_dir, run, write
from tests.oracle.ask import sampled
from tests.reports import document, inspected

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

BROKERS = Path(__file__).parents[3] / "fixtures" / "brokers"
LAYOUT = "{cluster}/{broker}/{log_dir}"
Rows = dict[str, list[dict[str, Any]]]


def scanned(
    tmp_path: Path,
    *roots: str | Path,
    kafka: str = "4.3",
    depth: str = "checkpoints",
    wanted: PartitionFilter | None = None,
    name: str = "r",
    since: str | None = None,
    remembers: bool = False,
    auto: ReleaseOptions | None = None,
    **how: Any,
) -> tuple[Report, Rows]:
    """Return the report of a scan, and the rows of its tables."""
    asked = ScanOptions(Depth(depth), wanted or PartitionFilter(), release(kafka), since, remembers, auto)
    plain = {"jobs": 1, "seconds": 60, "now": lambda: 1_700_000_000_000, "tell": lambda _: None}
    every = {"shown": lambda *_: True, "fails": lambda *_: False}
    report, _ = scan(
        [str(root) for root in roots], ScanRun(name, str(tmp_path / "out"), asked, **{**plain, **every, **how})
    )
    return report, tables(tmp_path / "out" / f"run={name}")


def tables(path: Path) -> Rows:
    """Return the rows of every table of a run, and hold that the manifest counts them."""
    manifest = json.loads((path / MANIFEST).read_text())
    assert set(run_tables()) == set(manifest["tables"])
    found: Rows = {}
    for name, about in manifest["tables"].items():
        parts = sorted((path / name).iterdir())
        assert [part.name for part in parts] == [part["file"] for part in about["parts"]]
        assert [part.stat().st_size for part in parts] == [part["size"] for part in about["parts"]]
        found[name] = [row for part in parts for row in parquet.ParquetFile(part).read().to_pylist()]
        assert about["rows"] == len(found[name]) == sum(part["rows"] for part in about["parts"])
    return found


NOT_OF_SCANS = {"KC401", "KC601", "KC602"}
"""The rules that only `kcheck check` asks."""


def told(path: str, kafka: str, depth: str = "checkpoints", *others: str) -> list[dict[str, Any]]:
    """Return the findings of check as rows, without those that no scan has."""
    report = check([path, *others], depth=Depth(depth), as_kind=None, wanted=PartitionFilter(), release=release(kafka))
    rows = (row for row in map(finding_row, report.findings) if row["id"] not in NOT_OF_SCANS)
    return [{name: json.dumps(each) if isinstance(each, dict) else each for name, each in row.items()} for row in rows]


RUN_ONLY = ("cluster", "broker", "kafka_differs")
"""The columns of findings that only a run has."""


def places(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of findings as those of check are, in its order."""
    own = [{name: value for name, value in row.items() if name not in RUN_ONLY} for row in rows]
    return sorted(own, key=str)


@pytest.mark.parametrize("version", sampled(sorted(path.name for path in BROKERS.iterdir() if path.is_dir())))
def test_the_findings_are_those_of_check(version: str, tmp_path: Path) -> None:
    """Of every broker of every scene; an unclean election is in the newest metadata, which another one may have."""
    kafka = version.rpartition(".")[0]
    _, rows = scanned(tmp_path, BROKERS / version / LAYOUT, kafka=kafka)
    brokers = [path for path in (BROKERS / version).glob("*/*") if path.is_dir()]
    assert len({(row["cluster"], row["broker"]) for row in rows["log_dirs"]}) == len(brokers) > 0
    for path in brokers:
        own = [
            row
            for row in rows["findings"]
            if (row["cluster"], row["broker"]) == path.parts[-2:] and not row["id"].startswith(("KC254", "KC4"))
        ]
        assert sorted((row for row in told(str(path), kafka) if row["id"] != "KC254"), key=str) == places(own)


@pytest.mark.parametrize("depth", ["headers", "crc", "records"])
def test_deeper_findings_are_those_of_check(depth: str, tmp_path: Path) -> None:
    """On a directory with damage that only the depth shows."""
    data = tmp_path / "b" / "data"
    broker(data, [*run(0, 59), *run(60, 89, epoch=2)], epoch_entries=[(0, 0), (1, 60)])
    partition_dir(data / "u-0", [run(0, 99), run(100, 199)])
    flip_byte(data / "u-0" / "00000000000000000000.log", 150)
    _, rows = scanned(tmp_path, tmp_path / "b", depth=depth)
    expected = told(str(tmp_path / "b"), "4.3", depth)
    assert sorted(expected, key=str) == places(rows["findings"])
    assert ("KC141" in {row["id"] for row in expected}) == (depth != "headers")
    batches = {(row["dir"], row["base_offset"]): row["batches"] for row in rows["segments"]}
    assert batches == {("t-0", 0): 9, ("u-0", 0): 10, ("u-0", 100): 10}
    assert all(row["max_timestamp"] is not None for row in rows["segments"])


def test_the_rows_are_what_inspect_shows(tmp_path: Path) -> None:
    """Partitions, epochs and segments of the newest brokers; a row stands where its directory would be sorted."""
    folder = BROKERS / "4.3.1" / "stopped"
    _, rows = scanned(tmp_path, folder / "{broker}" / "{log_dir}")
    items = [item for path in sorted(folder.iterdir()) for item in inspected(path)["items"]]
    partitions = [partition for item in items for partition in item["partitions"]]
    names = ("broker_id", "log_dir", "dir", "topic", "partition")
    shared = (
        *names,
        "state",
        "topic_id",
        "log_start_offset",
        "recovery_point",
        "high_watermark",
        "log_end_offset",
        "size",
    )
    assert [{name: row[name] for name in shared} for row in partitions] == [
        {name: row[name] for name in shared} for row in rows["partitions"]
    ]
    for table, fields in (
        ("leader_epochs", ("epoch", "start_offset")),
        ("segments", ("base_offset", "end_offset", "size")),
    ):
        assert [
            {**{name: row[name] for name in names}, **{name: part[name] for name in fields}}
            for row in partitions
            for part in row[table]
        ] == [{name: row[name] for name in (*names, *fields)} for row in rows[table]]
    clean = {item["path"]: (item["clean_shutdown"], item["cluster_id"], item["directory_id"]) for item in items}
    assert clean == {
        row["log_dir"]: (row["clean_shutdown"], row["cluster_id"], row["directory_id"]) for row in rows["log_dirs"]
    }
    counts = {
        name: sum(item["checkpoints"].get(name, {}).get("entries") or 0 for item in items)
        for name in {row["file"] for row in rows["checkpoints"]}
    }
    assert counts == {name: sum(row["file"] == name for row in rows["checkpoints"]) for name in counts}
    assert counts


def test_the_same_fleet_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of processes, and of directories that are looked at together."""
    found = []
    for jobs, count in ((1, 64), (2, 3), (3, 1)):
        monkeypatch.setattr(stages, "ITEM_COUNT", count)
        found.append(scanned(tmp_path, BROKERS / "2.8.2" / LAYOUT, kafka="2.8", jobs=jobs, name=f"j{jobs}")[1])
        assert [f"j{jobs}"] == [row.pop("id") for row in found[-1]["runs"]]
    assert found[0] == found[1] == found[2]


def test_only_what_is_wanted_is_looked_at(tmp_path: Path) -> None:
    """What is there beside it is missing to nobody."""
    for name in ("t-0", "u-0"):
        partition_dir(tmp_path / "b" / "data" / name, [run(0, 9)])
    (tmp_path / "b" / "data" / "u-1").symlink_to("/")
    offsets = {"t-0": 10, "u-0": 10}
    log_dir(tmp_path / "b" / "data", recovery_point=offsets, high_watermark=offsets)
    report, rows = scanned(tmp_path, tmp_path / "b", wanted=PartitionFilter(topics=("t",)))
    assert ["t-0"] == [row["dir"] for row in rows["partitions"]]
    assert {row["topic"] for row in rows["findings"]} <= {"t", None}
    assert not report.unfinished
    report, rows = scanned(tmp_path, tmp_path / "b", name="all")
    assert report.unfinished
    assert [("KC001", "u-1")] == [(row["id"], row["dir"]) for row in rows["findings"] if row["id"] == "KC001"]


def test_names_may_be_anything(tmp_path: Path) -> None:
    """Bytes that are no text are escaped in rows, and lead to the directory all the same."""
    data = tmp_path / "fleet" / "\udcff{b}\n" / "d\udcfe"
    log_dir(data, high_watermark={})
    partition_dir(data / "t\udcfd-0", [run(0, 9)])
    _, rows = scanned(tmp_path, tmp_path / "fleet" / "{broker}" / "{log_dir}")
    (row,) = rows["partitions"]
    assert ("\\udcff{b}\n", f"{tmp_path}/fleet/\\udcff{{b}}\n/d\\udcfe", "t\\udcfd-0", "t\\udcfd", 10) == tuple(
        row[name] for name in ("broker", "log_dir", "dir", "topic", "log_end_offset")
    )
    expected = told(str(data), "4.3")
    assert [row["id"] for row in expected] == [row["id"] for row in sorted(rows["findings"], key=lambda row: row["id"])]


def test_a_broker_is_what_the_layout_says(tmp_path: Path) -> None:
    """Else what meta.properties says; a number in the layout stands for it where that file is missing."""
    log_dir(tmp_path / "f" / "7" / "d1", broker_id=None)
    log_dir(tmp_path / "f" / "7" / "d2", broker_id=3, cluster_id="other")
    log_dir(tmp_path / "f" / "x" / "d1", broker_id=None)
    _, rows = scanned(tmp_path, tmp_path / "f" / "{broker}" / "{log_dir}")
    names = ("cluster", "broker", "broker_id")
    assert [(None, "7", 7), ("other", "7", 3), (None, "x", None)] == [
        tuple(row[name] for name in names) for row in rows["log_dirs"]
    ]
    _, rows = scanned(tmp_path, tmp_path / "f" / "7" / "d2", name="alone")
    assert [("other", "3", 3)] == [tuple(row[name] for name in names) for row in rows["log_dirs"]]


def test_a_disk_that_is_foreign_is_told_as_check_does(tmp_path: Path) -> None:
    """Two disks of one id side by side, of two clusters."""
    for name, cluster in (("d1", "one"), ("d2", "other")):
        log_dir(tmp_path / "f" / "b" / name, cluster_id=cluster)
    expected = told(str(tmp_path / "f" / "b"), "4.3")
    assert "KC305" in {row["id"] for row in expected}
    for name, root in (("folder", tmp_path / "f" / "b"), ("layout", tmp_path / "f" / "{broker}" / "{log_dir}")):
        _, rows = scanned(tmp_path, root, name=name)
        assert sorted(expected, key=str) == places(rows["findings"])


def test_what_is_shown_is_written_and_what_fails_is_told(data: Path, tmp_path: Path) -> None:
    """A finding that is not shown can be one to fail on."""
    flip_byte(tmp_path / "fleet" / "1" / "d1" / "bad-0" / "leader-epoch-checkpoint", 0)
    asked = ScanRun(
        "r", str(tmp_path / "out"), ScanOptions(Depth.CHECKPOINTS, PartitionFilter(), release("4.3")), 1, 60, lambda: 0,
        shown=lambda rule, severity: (rule, severity) == ("KC310", Severity.ERROR),
        fails=lambda rule, _: rule == "KC101", tell=lambda _: None,
    )  # fmt: skip
    report, failed = scan([str(data)], asked)
    rows = tables(tmp_path / "out" / "run=r")
    assert failed
    assert ["KC310"] * 6 == [row["id"] for row in rows["findings"]]
    assert report.summary() == {"info": 0, "warning": 0, "error": 6, "fatal": 0}
    assert document(report)["summary"] == report.summary()


def test_rows_are_written_in_groups_and_parts(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that memory does not grow with the fleet."""
    monkeypatch.setattr(stages, "ITEM_COUNT", 1)
    monkeypatch.setattr(output, "_GROUP_COUNT", 2)
    monkeypatch.setattr(output, "_PART_SIZE", 1)
    _, rows = scanned(tmp_path, data)
    parts = sorted((tmp_path / "out" / "run=r" / "partitions").iterdir())
    assert [[2], [2], [2]] == [
        [found.row_group(number).num_rows for number in range(found.num_row_groups)]
        for found in (parquet.ParquetFile(part).metadata for part in parts)
    ]
    assert 6 == len(rows["partitions"])


def test_a_run_that_ends_early_is_none(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left of it, whether it was interrupted or its disk refused."""

    def refuse(path: str) -> Any:
        raise OSError(28, "No space left on device", path)

    def interrupt(*_: object) -> Any:
        raise KeyboardInterrupt

    for name, value, error in (
        ("create", refuse, KcheckError),
        ("publish", lambda path, _: refuse(path), KcheckError),
        ("publish", interrupt, KeyboardInterrupt),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(output, name, value)
            with pytest.raises(error):
                scanned(tmp_path, data)
        assert [] == [*(tmp_path / "out").iterdir()]


def test_the_manifest_is_written_last(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it counts is whole on the disk then."""
    original = publish

    def published(path: str, content: bytes) -> None:
        folder = Path(path).parent
        manifest = json.loads(content)
        for name, about in manifest["tables"].items():
            for part in about["parts"]:
                assert part["rows"] == parquet.ParquetFile(folder / name / part["file"]).metadata.num_rows
        original(path, content)

    monkeypatch.setattr(output, "publish", published)
    scanned(tmp_path, data)
    assert [MANIFEST] == [path.name for path in (tmp_path / "out" / "run=r").iterdir() if path.is_file()]


def test_a_process_that_is_killed_leaves_no_run(data: Path, tmp_path: Path) -> None:
    """Nothing that a query over `run=*` reads; the same name can be tried again, but not while another writes it."""
    dead = tmp_path / "out" / ".unfinished=r"
    (dead / "findings").mkdir(parents=True)
    (dead / "findings" / "part-00000.parquet").write_bytes(b"PAR1")
    holder = occupied(str(dead))
    assert holder is not None
    with pytest.raises(UsageError, match="run=r is being written by another process"):
        scanned(tmp_path, data)
    with pytest.raises(UsageError, match="--resume r: another process writes it"):
        left_by(str(tmp_path / "out"), "r")
    let_go(holder)
    _, rows = scanned(tmp_path, data)
    assert rows["partitions"]
    assert ["run=r"] == [path.name for path in (tmp_path / "out").iterdir()]


def test_a_run_is_written_once_and_outside(data: Path, tmp_path: Path) -> None:
    """Never over another one, never into what is looked at."""
    scanned(tmp_path, data)
    before = tables(tmp_path / "out" / "run=r")
    with pytest.raises(UsageError, match="run=r already exists"):
        scanned(tmp_path, data)
    assert before == tables(tmp_path / "out" / "run=r")
    with pytest.raises(UsageError, match=r"is inside .*d1, which was checked"):
        scanned(tmp_path / "fleet" / "1" / "d1", data)
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot create"):
        scanned(tmp_path / "file", data)


def test_times_that_no_calendar_has_are_unknown(tmp_path: Path) -> None:
    """The damage is a finding of the deeper look; a table can be read all the same."""
    data = tmp_path / "b" / "data"
    log_dir(data)
    partition_dir(data / "t-0", [run(0, 9)])
    path = data / "t-0" / "00000000000000000000.log"
    content = bytearray(path.read_bytes())
    content[35:43] = b"\x7f" + b"\xff" * 7
    write(data / "t-0", {path.name: bytes(content)})
    _, rows = scanned(tmp_path, tmp_path / "b", depth="headers")
    assert [(1, None)] == [(row["batches"], row["max_timestamp"]) for row in rows["segments"]]
