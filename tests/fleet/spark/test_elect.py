"""`kcheck elect --from RUN --engine spark`: the answer is that of one machine."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kcheck.errors import UsageError
from kcheck.fleet.runs import elect, elections
from kcheck.fleet.spark import elect as by_spark
from kcheck.model.report import PartitionFilter
from kcheck.replicas.elect import ElectionQuestion
from tests.bench.elect_run import Size, make_run
from tests.cases.build import FIXTURES
from tests.cli.command import kcheck
from tests.fleet.runs.test_elect import document, from_run
from tests.fleet.scan.test_local_engine import LAYOUT, scanned

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_the_answer_is_that_of_one_machine(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of real clusters, and of many partitions in several tasks of which only the worst are listed."""
    monkeypatch.setattr(by_spark, "_OF_SLICE", 100)
    scanned(tmp_path, FIXTURES / "clusters" / "4.3.1" / LAYOUT, depth="crc")
    make_run(tmp_path / "many", Size(300))
    question, every = ElectionQuestion(incomplete_ok=True), PartitionFilter()
    of_clusters = str(tmp_path / "out")
    here = from_run(tmp_path / "out", question, cluster="outlived", wanted=every)
    there = by_spark.elect_run(of_clusters, "outlived", question, wanted=every, session=nullcontext(spark))
    assert document(here) == document(there)
    assert here.partitions
    plans = [tmp_path / name for name in ("here", "there")]
    run = str(tmp_path / "many")
    elect.elect_run(run, None, question, wanted=every, out=str(plans[0]))
    by_spark.elect_run(run, None, question, wanted=every, session=nullcontext(spark), out=str(plans[1]))
    ours, theirs = ({file.name: file.read_text() for file in plan.iterdir()} for plan in plans)
    assert ours == {name: text.replace(str(plans[1]), str(plans[0])) for name, text in theirs.items()}
    monkeypatch.setattr(elections, "SHOWN_MAX", 7)
    here = from_run(tmp_path / "many")
    there = by_spark.elect_run(run, None, ElectionQuestion(), wanted=every, session=nullcontext(spark))
    assert document(here) == document(there)
    assert (7, 23) == (len(here.partitions), here.left_out)


def test_what_spark_cannot_do_is_refused() -> None:
    with pytest.raises(UsageError, match="--engine spark reads runs on a disk"):
        by_spark.elect_run(
            "s3://b/runs",
            None,
            ElectionQuestion(),
            wanted=PartitionFilter(),
            session=nullcontext(),
        )
    for options in (("--engine", "flink"), ("--master", "local[2]")):
        done = kcheck("elect", "--from", "x", *options)
        assert (2, True) == (done.code, "use local, or spark [--master URL]" in " ".join(done.err.split()))
