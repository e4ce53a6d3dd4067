"""A scan by Spark: its rows are those of one machine, in their order, whatever happens to an executor."""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

from kcheck.core.releases.releases import release
from kcheck.disk.local import LocalTree
from kcheck.disk.output import discard
from kcheck.disk.store import mounted
from kcheck.errors import KcheckError, UsageError
from kcheck.fleet.run_output import WrittenFile
from kcheck.fleet.scan import local_engine as fleet
from kcheck.fleet.scan.identify import ScanOptions
from kcheck.fleet.scan.inventory import inventory
from kcheck.fleet.scan.local_engine import ScanRun
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.fleet.scan.remembered import kept_by, left_by
from kcheck.fleet.spark import engine as by_spark
from kcheck.fleet.spark import executor_steps as stages
from kcheck.fleet.spark.engine import scan
from kcheck.fleet.spark.frames import keys_of
from kcheck.fleet.spark.table_writer import in_groups
from kcheck.fleet.spark.transport import SCANNED, ddl, of_tables, rows_batch
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter, Report
from tests.builders import broker, flip_byte, log_dir, partition_dir, run
from tests.cases.build import FIXTURES, FOUND, shared_copy
from tests.cli.command import KCHECK, ROOT, environment
from tests.fleet.hanging import SECONDS
from tests.fleet.scan.test_local_engine import LAYOUT, tables
from tests.fleet.scan.test_releases import MIXED, inventory_of
from tests.fleet.spark import harm
from tests.fleet.spark.cluster import wait_for
from tests.fleet.test_flaky_store import NEVER_SENT, ONCE, always, flaky
from tests.stores import upload
from tests.tiered_states import OLD_LEADER, state

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

SLOW = Path(__file__).parent / "executor"
Rows = dict[str, list[dict[str, Any]]]


def asked(out: Path, name: str, **how: Any) -> ScanRun:
    """Return a run whose time stands still."""
    depth, seconds = how.pop("depth", "checkpoints"), how.pop("seconds", 60)
    every: dict[str, Any] = {"shown": lambda *_: True, "fails": lambda *_: False, "tell": lambda _: None}
    wanted, auto = how.pop("wanted", PartitionFilter()), how.pop("auto", None)
    looked = ScanOptions(Depth(depth), wanted, release("4.3"), auto=auto)
    return ScanRun(name, str(out), looked, jobs=1, seconds=seconds, now=lambda: 1_700_000_000_000, **{**every, **how})


def both(spark: SparkSession, out: Path, roots: Sequence[Path | str], **how: Any) -> tuple[Report, Rows]:
    """Return the report and the rows of a scan by Spark; those of one machine are the same."""
    names = [str(root) for root in roots]
    here, here_fails = fleet.scan(names, asked(out, "here", **how))
    there, there_fails = scan(names, asked(out, "there", **how), nullcontext(spark))
    expected, found = tables(out / "run=here"), tables(out / "run=there")
    assert [{**row, "id": "there"} for row in expected.pop("runs")] == found["runs"]
    assert expected == {name: rows for name, rows in found.items() if name != "runs"}
    assert (here.summary(), here.unfinished, here_fails) == (there.summary(), there.unfinished, there_fails)
    assert here.body == {**there.body, "run": "here", "path": here.body["path"]}
    return there, found


def brokers(folder: Path) -> Iterator[Path]:
    """Yield an inventory of brokers of all releases, and a layout of clusters whose metadata contradict theirs."""
    yield inventory_of(folder / "fleet.csv", MIXED)
    yield FIXTURES / "clusters" / "4.3.1" / LAYOUT


def broken_log(folder: Path) -> Path:
    """Write a log that cannot be unpacked."""
    path = folder / "server.log.gz"
    path.write_bytes(b"\x1f\x8b not gzip")
    return path


def cases() -> Iterator[Path]:
    """Yield the damaged copies that have a log dir."""
    for path in map(shared_copy, FOUND):
        try:
            inventory([str(path)])
        except UsageError:
            continue
        yield path


def test_every_broker_has_the_rows_of_one_machine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table by table, row by row, in the same order, though many tasks compare, and write, a part of them each.

    Their releases differ.

    `test_cluster.py` holds it for every damaged copy as well.
    """
    monkeypatch.setattr(by_spark, "_OF_COMPARISON", 400)
    monkeypatch.setattr(by_spark, "in_groups", lambda parts, _: [parts[:-1], parts[-1:]])
    monkeypatch.setattr(by_spark, "_OF_FILES", 100_000)
    monkeypatch.setattr(by_spark, "_OF_SLICE", 40)
    logs = (str(ROOT / "fixtures" / "logs" / "*" / "server.log*"), str(broken_log(tmp_path)))
    _, rows = both(spark, tmp_path, [*brokers(tmp_path)], auto=ReleaseOptions(), logs=logs)
    assert len([*json.loads(rows["runs"][0]["releases"])]) > 4
    assert 2 == len([*tmp_path.glob("run=there/partitions/*")])
    assert len([*tmp_path.glob("run=there/predictions/*")]) > 1
    assert {"owners", "remote_segments", "tiered_partitions", "remote_objects"} == {
        name for name, found in rows.items() if not found
    }
    assert len({row["id"] for row in rows["findings"]}) > 5


def test_a_deep_look_has_the_rows_of_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    """Names that are no text lead to their directory, and what is not shown is counted all the same."""
    data = tmp_path / "fleet" / "\udcff{b}\n" / "d\udcfe"
    broker(data, [*run(0, 59), *run(60, 89, epoch=2)], epoch_entries=[(0, 0), (1, 60)])
    partition_dir(data / "t\udcfd-0", [run(0, 99), run(100, 199)])
    flip_byte(data / "t\udcfd-0" / "00000000000000000000.log", 150)
    shown = {
        "shown": lambda rule, _: rule == "KC141",
        "fails": lambda _, severity: severity is Severity.WARNING,
    }
    layout = tmp_path / "fleet" / "{broker}" / "{log_dir}"
    report, rows = both(spark, tmp_path / "out", [layout], depth="records", **shown)
    assert ["KC141"] == [row["id"] for row in rows["findings"]]
    assert {"info": 0, "warning": 0, "error": 1, "fatal": 0} == report.summary()


def test_remote_storage_has_the_rows_of_one_machine(spark: SparkSession, tmp_path: Path) -> None:
    """The driver reads __remote_log_metadata, after the executors have read everything else."""
    of = state(OLD_LEADER, "4-back", tmp_path)
    roots = [of / name for name in ("broker-1", "broker-2", "controller")]
    _, rows = both(spark, tmp_path / "out", roots, store=str(of / "store"))
    assert [len(rows[name]) for name in ("tiered_partitions", "remote_segments", "remote_objects")] == [6, 23, 95]


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_log_dirs_in_a_store_have_the_rows_of_one_machine(
    spark: SparkSession, s3: dict[str, Any], tmp_path: Path
) -> None:
    """Executors ask the store by themselves; a log dir on a disk can stand beside those in it."""
    url = upload(FIXTURES / "brokers" / "4.3.1" / "diverged", "spark", s3)
    data = broker(tmp_path / "data", run(0, 99))
    _, rows = both(spark, tmp_path / "out", [f"{url}/{{broker}}/{{log_dir}}", data], depth="headers", options=s3)
    assert {str(data), f"{url}/broker-1/data1", f"{url}/broker-2/data1"} == {row["log_dir"] for row in rows["log_dirs"]}
    assert all(rows[name] for name in ("truncation_plans", "predictions", "segments"))


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_file_of_which_a_store_never_says_anything_ends_the_run(
    spark: SparkSession, s3: dict[str, Any], tmp_path: Path
) -> None:
    """One line names it, and nothing is left."""
    url = upload(FIXTURES / "brokers" / "4.3.1" / "diverged", "spark-never", s3)
    with (
        flaky({**s3, **ONCE}, always(NEVER_SENT, "503")) as (options, _),
        pytest.raises(KcheckError, match=rf"^[^\n]*{url}/broker-\d/data1/\S+/{NEVER_SENT}: the store fails: [^\n]+$"),
    ):
        scan([f"{url}/{{broker}}/{{log_dir}}"], asked(tmp_path / "out", "r", options=options), nullcontext(spark))
    assert [] == [*(tmp_path / "out").iterdir()]


@pytest.mark.whole
def test_a_run_can_be_in_a_store(spark: SparkSession, s3: dict[str, Any], tmp_path: Path) -> None:
    """With what it remembers, and the log dirs that an inventory there names; it is gone on with, as on a disk."""
    folder = FIXTURES / "brokers" / "4.3.1" / "diverged"
    url = upload(folder, "spark-runs", s3)
    (tmp_path / "names").mkdir()
    paths = (f"{url}/broker-1/data1", f"{folder}/broker-2/data1")
    (tmp_path / "names" / "fleet.csv").write_text("\n".join(("log_dir", *paths)))
    root, out = upload(tmp_path / "names", "spark-names", s3) + "/fleet.csv", f"{url}/out"
    fleet.scan([root], asked(tmp_path / "here", "r", options=s3))
    looked = ScanOptions(Depth.CHECKPOINTS, PartitionFilter(), release("4.3"), remembers=True)
    first = ScanRun(**{**asked(tmp_path, "a", options=s3)._asdict(), "out": out, "how": looked})
    reports = [scan([root], first, nullcontext(spark))[0]]
    with mounted([out], s3):
        since = first._replace(name="b", how=looked._replace(since=kept_by(f"{out}/run=a")))
        reports.append(scan([root], since, nullcontext(spark))[0])
        discard(f"{out}/run=b/_manifest.json")
        left = left_by(out, "b")
        reports.append(scan([root], since._replace(how=looked._replace(since=left)), nullcontext(spark))[0])
    system = fsspec.filesystem("s3", use_listings_cache=False, **s3)
    assert ["run=a", "run=b"] == sorted(path.rpartition("/")[2] for path in system.ls(out))
    expected = {**tables(tmp_path / "here" / "run=r"), "runs": 1}
    for name in "ab":
        assert sorted((*expected, "_manifest.json", "_seen")) == sorted(
            path.rpartition("/")[2] for path in system.ls(f"{out}/run={name}")
        )
        system.get(f"{out}/run={name}/", str(tmp_path / name) + "/", recursive=True)
        shutil.rmtree(tmp_path / name / "_seen")
        assert expected == {**tables(tmp_path / name), "runs": 1}
    count = len(expected["partitions"])
    assert [None, count, count] == [report.body.get("carried_over") for report in reports]
    assert spark._jsc.getPersistentRDDs().isEmpty()  # what executors hold


def test_one_bad_place_costs_one_finding(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory, a log dir or a broker that crashes, hangs or meets a bug: the job goes on, as on one machine."""
    for name in ("fine", "unidentified", "unlisted", "unseen"):
        path = log_dir(tmp_path / "fleet" / "1" / name, recovery_point={}, high_watermark={}, log_start={})
        for topic in (*harm.HARMS, "t") if name == "fine" else ("u",):
            partition_dir(path / f"{topic}-0", [run(0, 9)])
    monkeypatch.setattr(fleet, "MEMORY_MAX", harm.MEMORY_MAX)
    for step in ("identify_all", "list_all", "scan_all", "look_at_all"):
        monkeypatch.setattr(stages, step, getattr(harm, step))
    with harm.harmful():
        report, rows = both(spark, tmp_path / "out", [tmp_path / "fleet" / "{broker}" / "{log_dir}"], seconds=SECONDS)
    failed = [row for row in rows["findings"] if row["id"] == "KC000"]
    told = {Path(row["log_dir"]).name if row["dir"] is None else row["dir"]: row["message"] for row in failed}
    assert {
        "kill-0": "kcheck failed here: the worker process died: SIGKILL",
        "hang-0": f"kcheck failed here: no answer in {SECONDS} s",
        "exhaust-0": "kcheck failed here: MemoryError: ",
        "raises-0": "kcheck failed here: RuntimeError: boom",
        "unidentified": "kcheck failed here: the worker process died: SIGKILL",
        "unlisted": "kcheck failed here: RuntimeError: boom",
        "unseen": "kcheck failed here: the worker process died: SIGKILL",
    } == told
    assert report.unfinished
    assert ["fine"] == [Path(row["log_dir"]).name for row in rows["log_dirs"]]


def test_what_is_gone_costs_one_finding(spark: SparkSession, tmp_path: Path) -> None:
    """An inventory that names what is no directory gives the rows of one machine."""
    broker(tmp_path / "d1", run(0, 99))
    (tmp_path / "file").touch()
    (tmp_path / "fleet.csv").write_text(
        "log_dir,broker\n" + "".join(f"{tmp_path}/{n},1\n" for n in ("d1", "file", "d2"))
    )
    report, rows = both(spark, tmp_path / "out", [tmp_path / "fleet.csv"])
    told = {Path(row["log_dir"]).name: row["message"] for row in rows["findings"] if row["id"] == "KC001"}
    assert {"d2": "cannot be read: No such file or directory", "file": "cannot be read: Not a directory"} == told
    assert (1, True) == (len(rows["partitions"]), report.unfinished)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make a log dir with a few partitions."""
    names = [f"{topic}-0" for topic in "abcdef"]
    path = log_dir(tmp_path / "data", recovery_point=dict.fromkeys(names, 10), high_watermark=dict.fromkeys(names, 10))
    for name in names:
        partition_dir(path / name, [run(0, 9)])
    return path


def test_a_task_that_is_run_again_gives_the_same_rows(
    spark: SparkSession, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first attempt had found, or written, counts for nothing.

    A relative root is that of the driver: executors have other working directories.
    """
    monkeypatch.chdir(data.parent)
    monkeypatch.setattr(stages, "scan_all", harm.scan_once_more)
    monkeypatch.setattr("kcheck.fleet.spark.engine.write_all", harm.write_once_more)
    fleet.scan([str(data)], asked(tmp_path / "out", "here"))
    scan([data.name], asked(tmp_path / "out", "there"), nullcontext(spark))
    here, there = ({**tables(tmp_path / "out" / f"run={name}"), "runs": 1} for name in ("here", "there"))
    assert here == there
    assert ["scan", "tables"] == sorted(os.listdir(os.environ["KCHECK_TEST_MARKS"]))
    assert not (tmp_path / "out" / "run=there" / "_staging").exists()


@pytest.mark.whole
def test_what_did_not_change_is_not_looked_at(spark: SparkSession, data: Path, tmp_path: Path) -> None:
    """By Spark or by one machine: each knows what the other one remembers, and the rows are those of a whole look."""
    out = tmp_path / "out"
    looked = ScanOptions(Depth.HEADERS, PartitionFilter(), release("4.3"), remembers=True)
    scan([str(data)], asked(out, "a")._replace(how=looked), nullcontext(spark))
    partition_dir(data / "c-0", [run(100, 109)])
    since = looked._replace(since=kept_by(str(out / "run=a")))
    there, _ = scan([str(data)], asked(out, "b")._replace(how=since), nullcontext(spark))
    here, _ = fleet.scan([str(data)], asked(out, "c")._replace(how=since))
    again, _ = fleet.scan([str(data)], asked(out, "d")._replace(how=since._replace(since=kept_by(str(out / "run=b")))))
    fleet.scan([str(data)], asked(out, "e")._replace(how=looked))
    assert [5, 5, 6] == [report.body["carried_over"] for report in (there, here, again)]
    expected = tables(out / "run=e")
    assert all({**expected, "runs": 1} == {**tables(out / f"run={name}"), "runs": 1} for name in "bcd")


def end_session(session: int) -> None:
    """End every process of a session: those that run Python for executors have left the group of their driver."""
    while of_it := [int(name) for name in os.listdir("/proc") if name.isdigit() and session_of(int(name)) == session]:
        for pid in of_it:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def session_of(pid: int) -> int | None:
    """Return the session of a process, None if it is gone or has ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except (OSError, ValueError):
        return None
    return None if state in "ZX" else int(session)


@pytest.mark.whole
def test_a_run_that_is_killed_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    """Driver and executors are ended while one task hangs; what another one had looked at is known."""
    for number in range(1, 17):
        broker(tmp_path / "fleet" / str(number) / "d", run(0, 99), broker_id=number)
    root, out = str(tmp_path / "fleet" / "{broker}" / "{log_dir}"), tmp_path / "out"
    (tmp_path / "marks").mkdir()
    told = environment(
        PYTHONPATH=f"{SLOW}:{ROOT}", KCHECK_TEST_MARKS=str(tmp_path / "marks"), SPARK_LOCAL_IP="127.0.0.1"
    )
    arguments = ("fleet", "scan", root, "--output-dir", out, "--run", "r", "--remember", "--engine", "spark")
    command = [*KCHECK, *map(str, arguments), "--master", "local[2]"]
    with subprocess.Popen(command, env=told, start_new_session=True) as started:
        wait_for(
            lambda: [*out.glob(".unfinished=r/_seen/*/*.parquet")] and (tmp_path / "marks" / "straggler").exists(),
            started,
        )
        end_session(started.pid)
    how = ScanOptions(Depth.CHECKPOINTS, PartitionFilter(), release("4.3"), remembers=True)
    resumed = asked(out, "r")._replace(how=how._replace(since=left_by(str(out), "r")))
    report, _ = scan([root], resumed, nullcontext(spark))
    assert report.body["carried_over"] in range(1, 16)
    fleet.scan([root], asked(out, "here"))
    assert {**tables(out / "run=here"), "runs": 1} == {**tables(out / "run=r"), "runs": 1}
    assert ["run=here", "run=r"] == sorted(path.name for path in out.iterdir())


def test_a_run_that_spark_gives_up_is_none(
    spark: SparkSession, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line tells why, and nothing is left."""
    monkeypatch.setattr(stages, "scan_all", harm.scan_never)
    with pytest.raises(KcheckError, match=r"Spark could not finish: .*[Pp]ython worker"):
        scan([str(data)], asked(tmp_path / "out", "r"), nullcontext(spark))
    assert [] == [*(tmp_path / "out").iterdir()]


def test_an_interrupt_is_that_of_python(spark: SparkSession) -> None:
    """As for every command: Spark's own calls Java in the middle of a call, and shows how that fails.

    In the background of a shell nobody interrupts.
    """
    del spark
    assert signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_IGN)


def test_a_host_that_does_not_see_a_log_dir_ends_it(
    spark: SparkSession, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run without what is mounted elsewhere would tell that it is gone."""
    (tmp_path / "fleet.csv").write_text(f"log_dir\n{data}\n{tmp_path}/elsewhere\n")
    with monkeypatch.context() as patched:
        patched.setattr(LocalTree, "is_directory", lambda _, path: not path.endswith(".csv"))
        inventoried = stages.for_every_host(inventory([str(tmp_path / "fleet.csv")]))
    monkeypatch.setattr(by_spark, "for_every_host", lambda _: inventoried)
    with pytest.raises(KcheckError, match=r"does not see .*/elsewhere: mount it on every host under this path"):
        scan([str(tmp_path / "fleet.csv")], asked(tmp_path / "out", "r"), nullcontext(spark))
    assert [] == [*(tmp_path / "out").iterdir()]


def test_a_host_that_does_not_see_the_run_ends_it(
    spark: SparkSession, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What its tasks write would be seen by nobody: the run would be whole without it."""
    monkeypatch.setattr(LocalTree, "real", lambda _, path: f"{path}-elsewhere" if path.endswith("/runs") else path)
    with pytest.raises(
        KcheckError, match=r"does not see .*/runs-elsewhere: all hosts need --output-dir below one path"
    ):
        scan([str(data)], asked(tmp_path / "out", "r"), nullcontext(spark))
    assert [] == [*(tmp_path / "out").iterdir()]


def test_of_the_replicas_only_their_keys_are_read_to_count_brokers(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's plan names the fields that it reads of the staged rows."""
    empty = rows_batch([(0, 0, 0, 0, None, None, None, None, *of_tables({}, SCANNED))], SCANNED)
    parquet.write_table(pa.Table.from_batches([empty]), tmp_path / "rows.parquet")
    staged = spark.read.schema(ddl(SCANNED)).parquet(str(tmp_path))
    read = keys_of(staged)._jdf.queryExecution().executedPlan().toString()
    fields = "cluster:string,topic:string,partition:bigint,broker_id:bigint"
    assert f"ReadSchema: struct<compared:array<struct<{fields}>>>" in read


def test_files_are_joined_by_their_bytes() -> None:
    """A group ends with the file that makes it large enough; the last one is what is left."""
    parts = [WrittenFile(name, 1, size) for name, size in (("a", 60), ("b", 60), ("c", 100), ("d", 1), ("e", 2))]
    assert ["ab", "c", "de"] == ["".join(part.file for part in group) for group in in_groups(parts, 100)]
    assert [] == [*in_groups([], 100)]
