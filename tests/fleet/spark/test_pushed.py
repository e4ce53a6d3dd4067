"""What a query asks of a few columns decides which log dirs, partitions and row groups are looked at."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import EqualNullSafe, EqualTo, GreaterThan, In, Not
from pyspark.sql.types import StructType

from kcheck.errors import UsageError
from kcheck.fleet.run import open_run, part_batches
from kcheck.fleet.scan.local_engine import scan
from kcheck.fleet.spark.data_source import KcheckDataSource, KcheckReader, KcheckStreamReader
from kcheck.fleet.spark.pushed import Pushed
from kcheck.model.report import PartitionFilter
from tests.fleet.spark.test_engine import asked

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def reader(path: Path, *filters: Any, **options: str) -> KcheckReader:
    """Return a reader of topics to which filters were pushed."""
    source = KcheckDataSource({"path": str(path), "table": "partitions", **options})
    made = source.reader(StructType().add("log_dir", "string").add("topic", "string"))
    assert [*filters] == [*made.pushFilters([*filters])]
    return made


def topics(made: KcheckReader) -> list[list[str]]:
    """Return the topics that each task of a reader reads."""
    return [[row["topic"] for batch in made.read(part) for row in batch.to_pylist()] for part in made.partitions()]


def test_filters_are_understood() -> None:
    """Values of a column that all filters allow; another comparison, null and other columns are left to Spark."""
    pushed = Pushed.of(
        [
            In(("topic",), ("a", "b")),
            EqualTo(("topic",), "b"),
            EqualNullSafe(("cluster",), None),
            Not(EqualTo(("broker",), "1")),
            GreaterThan(("partition",), 3),
            EqualTo(("size",), 3),
        ]
    )
    assert {"topic": frozenset("b")} == pushed.values
    assert PartitionFilter(("b",)) == pushed.of_partitions(PartitionFilter())
    assert PartitionFilter(("x",)) == pushed.of_partitions(PartitionFilter(("x",)))
    both = Pushed.of([EqualTo(("topic",), "b"), In(("partition",), (7, 8))])
    assert PartitionFilter(("b",), ("7", "8")) == both.of_partitions(PartitionFilter())
    for odd in ([EqualTo(("topic",), "b*")], [EqualTo(("topic",), "a"), EqualTo(("topic",), "b")]):
        assert PartitionFilter() == Pushed.of(odd).of_partitions(PartitionFilter())


def test_only_log_dirs_and_topics_that_can_match_are_looked_at(data: Path) -> None:
    """One task a log dir; of one it reads the directories of the topic alone."""
    assert [["a", "b", "bad", "c", "d"], ["e"]] == topics(reader(data))
    second = str(data.parents[1] / "1" / "d2")
    assert [["e"]] == topics(reader(data, EqualTo(("log_dir",), second)))
    assert [["c"], []] == topics(reader(data, EqualTo(("topic",), "c")))
    assert [] == topics(reader(data, EqualTo(("broker",), "2")))
    assert [[], ["e"]] == topics(reader(data, EqualTo(("topic",), "e"), EqualTo(("partition",), 0)))


def test_only_row_groups_that_can_match_are_read(data: Path, tmp_path: Path) -> None:
    """Of a run, and only the columns of the schema."""
    scan([str(data)], asked(tmp_path / "out", "r"))
    assert [["a", "b", "bad", "c", "d", "e"]] == topics(reader(tmp_path / "out"))
    assert [[]] == topics(reader(tmp_path / "out", EqualTo(("topic",), "zz")))
    (file,) = open_run(str(tmp_path / "out")).parts["partitions"]
    rows = [*part_batches(file, "partitions", ("topic",), {"topic": frozenset("b"), "partition": frozenset((0,))})]
    assert 6 == sum(batch.num_rows for batch in rows)
    assert ["topic"] == rows[0].schema.names


def test_a_schema_has_columns_of_the_table(tmp_path: Path) -> None:
    source = KcheckDataSource({"path": str(tmp_path)})
    with pytest.raises(UsageError, match="table findings has no column colour"):
        source.reader(StructType().add("colour", "string"))


def test_a_stream_reads_each_run_once(data: Path, tmp_path: Path) -> None:
    """Runs that come, in the order in which they ended; one that was removed has nothing to read."""

    def stream(path: Path) -> KcheckStreamReader:
        options = {"path": str(path), "table": "runs"}
        return KcheckDataSource(options).streamReader(StructType().add("id", "string"))

    out = tmp_path / "out"
    with pytest.raises(UsageError, match="readStream needs the --output-dir directory"):
        stream(out).latestOffset()
    out.mkdir()
    first = stream(out).initialOffset()
    assert first == stream(out).latestOffset()
    for name in ("b", "a"):
        scan([str(data)], asked(out, name))
    both = stream(out).latestOffset()
    ids = [batch.to_pylist() for part in stream(out).partitions(first, both) for batch in stream(out).read(part)]
    assert [[{"id": "a"}], [{"id": "b"}]] == ids
    assert [] == [*stream(out).partitions(both, both)]
    assert [] == [*stream(out).partitions(first, {"runs": '["gone"]'})]


def test_a_table_that_an_older_run_has_not(data: Path, tmp_path: Path) -> None:
    scan([str(data)], asked(tmp_path / "out", "r"))
    manifest = tmp_path / "out" / "run=r" / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"replicas": {', '"other": {'))
    with pytest.raises(UsageError, match="has no table replicas"):
        reader(tmp_path / "out", table="replicas").partitions()
