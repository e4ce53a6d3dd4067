"""`spark.read.format("kcheck")`: the rows of a scan, of log dirs or of a run, without a command."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kcheck.errors import UsageError
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.scan.local_engine import scan
from kcheck.fleet.scan.releases import ReleaseOptions
from kcheck.fleet.spark.data_source import KcheckDataSource, register
from tests.builders import flip_byte, log_dir, partition_dir, run
from tests.cases.build import FIXTURES
from tests.fleet.scan.test_local_engine import tables
from tests.fleet.spark.test_engine import asked
from tests.stores import as_on_disk, upload

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two brokers, one of them with two log dirs, a bit flipped, and a link in the way."""
    folder = tmp_path_factory.mktemp("source")
    for at, (name, topics) in enumerate({"1/d1": "ab", "1/d2": "c", "2/d1": "ab"}.items()):
        names = [f"{topic}-0" for topic in topics]
        offsets = dict.fromkeys(names, 100)
        path = log_dir(folder / "fleet" / name, broker_id=int(name[0]), recovery_point=offsets, high_watermark=offsets)
        for each in names:
            partition_dir(path / each, [run(0, 49), run(50, 99, epoch=at)])
    flip_byte(folder / "fleet" / "2" / "d1" / "a-0" / "00000000000000000000.log", 150)
    (folder / "fleet" / "2" / "d1" / "z-0").symlink_to("/")
    return folder


@pytest.fixture(scope="module")
def read(spark: SparkSession) -> Iterator[Any]:
    """Give what reads a table as rows, in a session whose zone is not UTC."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    register(spark)

    def rows(path: Path | str, table: str | None = None, **options: str) -> list[dict[str, Any]]:
        reader = spark.read.format("kcheck").options(**options)
        found: list[dict[str, Any]] = (
            (reader if table is None else reader.option("table", table)).load(str(path)).toArrow().to_pylist()
        )
        return found

    yield rows
    spark.conf.set("spark.sql.session.timeZone", zone)


@pytest.fixture(scope="module")
def expected(fleet: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a run that is there."""
    scan(
        [str(fleet / "fleet" / "{broker}" / "{log_dir}")], asked(fleet / "out", "r", depth="crc", auto=ReleaseOptions())
    )
    return tables(fleet / "out" / "run=r")


def direct(path: Path | str, table: str = "findings", **options: str) -> list[dict[str, Any]]:
    """Return the rows of a table as Spark asks for them, part by part, without Spark between."""
    source, columns = KcheckDataSource({"path": str(path), "table": table, **options}), StructType()
    assert source.schema()
    for column in run_tables()[table].run_columns:
        columns.add(column.name, "string")  # its type is not looked at
    reader = source.reader(columns)
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def test_a_run_is_read(read: Any, fleet: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    """Any table of it; the newest run of an --output-dir directory."""
    assert expected["findings"] == read(fleet / "out" / "run=r", "findings")
    for table in ("runs", "truncation_plans"):
        assert expected[table] == direct(fleet / "out", table)


def test_only_what_a_query_asks_for_is_read(
    spark: SparkSession, read: Any, fleet: Path, expected: dict[str, list[dict[str, Any]]]
) -> None:
    """Columns of a schema, and rows: Spark asks for the log dirs and the topics, and applies its filters again."""
    assert read is not None
    for path in (fleet / "fleet" / "{broker}" / "{log_dir}", fleet / "out"):
        rows = (
            spark.read.format("kcheck").option("table", "segments").schema("topic string, size bigint").load(str(path))
        )
        found = rows.where("topic = 'a' and size > 0").toArrow().to_pylist()
        assert [{"topic": "a", "size": row["size"]} for row in expected["segments"] if row["topic"] == "a"] == found


@pytest.mark.whole
def test_each_new_run_is_a_micro_batch(spark: SparkSession, read: Any, fleet: Path, tmp_path: Path) -> None:
    """A run is read once, when it is complete; so goes a query that stops and starts again."""
    assert read is not None
    layout = str(fleet / "fleet" / "{broker}" / "{log_dir}")
    (tmp_path / "out").mkdir()

    def new_runs() -> list[str]:
        """Return the ids of runs that a query finds."""
        stream = spark.readStream.format("kcheck").option("table", "runs").load(str(tmp_path / "out"))
        query = stream.writeStream.format("parquet").option("checkpointLocation", str(tmp_path / "seen"))
        query.option("path", str(tmp_path / "rows")).trigger(availableNow=True).start().awaitTermination()
        return sorted(row["id"] for row in spark.read.schema(stream.schema).parquet(str(tmp_path / "rows")).collect())

    scan([layout], asked(tmp_path / "out", "a"))
    (tmp_path / "out" / "run=dead" / "findings").mkdir(parents=True)
    assert ["a"] == new_runs()
    scan([layout], asked(tmp_path / "out", "b"))
    assert ["a", "b"] == new_runs()


@pytest.mark.sample(2)
@pytest.mark.parametrize("table", ["findings", "predictions", "clusters", "cluster_partitions"])
def test_the_metadata_of_the_cluster_are_read(table: str, tmp_path: Path) -> None:
    """As by a run: findings and predictions hold the replicas against them, and they are tables themselves."""
    layout = FIXTURES / "clusters" / "4.3.1" / "outlived" / "{broker}" / "{log_dir}"
    scan([str(layout)], asked(tmp_path, "r", auto=ReleaseOptions()))
    alone = [row for row in tables(tmp_path / "run=r")[table] if not str(row.get("id")).startswith("KC4")]
    assert sorted(alone, key=str) == sorted(direct(layout, table), key=str)
    assert alone


def test_log_dirs_are_looked_at(read: Any, fleet: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    """The rows are those of a run, but for what only several brokers show together."""
    layout = fleet / "fleet" / "{broker}" / "{log_dir}"
    alone = [row for row in expected["findings"] if not row["id"].startswith("KC4")]
    found = {name: direct(layout, name, depth="crc") for name in ("partitions", "log_dirs", "segments")}
    found["findings"] = read(layout, "findings", depth="crc")
    for name, rows in found.items():
        assert rows
        assert sorted({**expected, "findings": alone}[name], key=str) == sorted(rows, key=str)


def test_findings_are_read_unless_told(fleet: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    """To the depth of checkpoints, of the newest Kafka, and only of the topics that are wanted."""
    found = direct(fleet / "fleet" / "{broker}" / "{log_dir}", topic="a", kafka="4.3", time_limit="60")
    assert {"a", None} >= {row["topic"] for row in found}
    assert "KC141" not in {row["id"] for row in found}
    assert "KC141" in {row["id"] for row in expected["findings"]}


@pytest.mark.whole
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_what_is_in_a_store_is_read(
    read: Any, fleet: Path, s3: dict[str, Any], expected: dict[str, list[dict[str, Any]]]
) -> None:
    """Log dirs by whoever looks at them: the rows are those of a disk; a run; an inventory, also of a disk."""
    url = upload(fleet / "out", "source-runs", s3)
    assert expected["findings"] == read(f"{url}/run=r", "findings", storage_options=json.dumps(s3))
    disk = shutil.copytree(fleet / "fleet", fleet / "disk", ignore=shutil.ignore_patterns("z-0"))  # no store has links
    url = upload(disk, "source", s3)
    table, layout = "predictions", "{broker}/{log_dir}"
    rows = [f"{broker},{path}" for broker, path in ((1, f"{url}/1/d1"), (1, f"{url}/1/d2"), (2, disk / "2/d1"))]
    (fleet / "names").mkdir()
    (fleet / "names" / "fleet.csv").write_text("\n".join(("broker,log_dir", *rows)))
    named = upload(fleet / "names", "source-names", s3) + "/fleet.csv"
    own = sorted(read(disk / layout, table), key=str)
    assert own
    for root in (f"{url}/{layout}", named):
        found = read(root, table, storage_options=json.dumps(s3))
        assert own == sorted(as_on_disk({table: found}, url, disk)[table], key=str)


def test_what_makes_no_sense_is_told(read: Any, fleet: Path) -> None:
    """A run that is not finished is none."""
    (fleet / "out" / "run=dead" / "findings").mkdir(parents=True, exist_ok=True)
    layout = fleet / "fleet" / "{broker}" / "{log_dir}"
    for path, options, said in (
        (layout, {"table": "colours"}, "table colours: not one of checkpoints, cluster_brokers"),
        (layout, {"depth": "sea"}, "depth sea: not one of checkpoints"),
        (layout, {"storage_options": "x"}, "storage_options x: a JSON object is needed"),
        (layout, {"storage_options": "[]"}, "a JSON object is needed"),
        ("nosuch://x", {}, "nosuch://x: Protocol not known"),
        (layout, {"table": "truncation_plans"}, "table truncation_plans is read from a run"),
        (layout, {"time_limit": "soon"}, "time_limit soon: a number of seconds above 0 is needed"),
        (layout, {"colour": "red"}, "option colour: not one of depth, kafka, path"),
        (layout, {"kafka": "0.7"}, "0.7"),
        (fleet / "out" / "run=dead", {}, "no run in it"),
        (fleet / "nothing", {}, "nothing: no such file or directory"),
    ):
        with pytest.raises(UsageError, match=said):
            direct(path, **options)
    with pytest.raises(PySparkException, match="table colours: not one of"):
        read(layout, "colours")
