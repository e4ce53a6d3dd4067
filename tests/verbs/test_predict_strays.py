"""Replicas that the cluster no more knows, told by the log of KRaft: bytes of real brokers, moved to other places."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.model.depth import Depth
from kcheck.model.entries import Batch
from kcheck.model.report import PartitionFilter
from kcheck.plans.repair import repair
from kcheck.segments.batches import Walk
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from tests.reports import document
from tests.verbs.test_predict import said, wish

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1"
METADATA = "__cluster_metadata-0"
GONE = "aJBZ6LPXTKqwH3e51WNfxQ"
"""The topic `gone` of the scene `tiered`, which the record at offset 96 removes."""
NO_TOPIC = f"the cluster has no topic with id {GONE}"


@pytest.fixture
def log_dir(tmp_path: Path) -> Path:
    """Return the log dir of `tiered`, the deleted replica of which is there as if it had not been marked."""
    path = tmp_path / "d"
    shutil.copytree(BROKERS / "tiered" / "broker-1" / "data1", path)
    (path / "bootstrap.checkpoint").unlink()  # It names a metadata.version that 3.6 does not know.
    (marked,) = path.glob("gone-0.*-delete")
    marked.rename(path / "gone-0")
    return path


def strays(*paths: Path, kafka: str = "4.3", **settings: str) -> list[tuple[str, str, str, str | None]]:
    """Return the replicas that are set aside or deleted: directories, what becomes of them, why, and the doubt."""
    return [
        (each["dir"], each["outcome"], each["reason"].partition(",")[0], each["uncertain"])
        for row in said(*paths, asked=wish(kafka, **settings))
        for each in row["partitions"]
        if each["outcome"] in ("stray", "deleted")
    ]


def batches(path: Path) -> list[Batch]:
    """Return the batches of a log, or of a snapshot."""
    with LOCAL.open(str(path)) as source:
        return list(Walk(source))


def migrated(log_dir: Path) -> None:
    """Give a log dir the meta.properties of a broker that came from ZooKeeper: it keeps the version 0."""
    properties = log_dir / "meta.properties"
    text = properties.read_text().replace("version=1", "version=0").replace("node.id", "broker.id")
    properties.write_text(text)


def test_a_broker_that_came_from_zookeeper(log_dir: Path) -> None:
    """That it registered as one of KRaft tells."""
    migrated(log_dir)
    assert strays(log_dir, kafka="3.9") == [("gone-0", "stray", NO_TOPIC, None)]
    assert strays(log_dir, kafka="3.9", mode="zk") == []
    shutil.rmtree(log_dir / METADATA)
    assert [row["mode"] for row in said(log_dir, asked=wish("3.9"))] == ["zk"]


@pytest.mark.parametrize(("told", "found"), [(True, ["KC305"]), (False, [])])
def test_a_log_dir_that_a_broker_from_zookeeper_never_formatted(
    told: bool, found: list[str], log_dir: Path, tmp_path: Path
) -> None:
    """With KRaft it does not start: the metadata in the other log dir tell that it has come there."""
    migrated(log_dir)
    shutil.copytree(log_dir / "whole-0", tmp_path / "e" / "other-0")
    if not told:
        shutil.rmtree(log_dir / METADATA)
    paths = [f"1={log_dir}", f"1={tmp_path / 'e'}"]
    report = check(paths, depth=Depth.CHECKPOINTS, as_kind=None, wanted=PartitionFilter(), release=release("3.9"))
    assert found == [each.id for each in report.findings if each.id == "KC305"]
    rows = document(predict(paths, wish("3.9")))["log_dirs"]
    assert {row["outcome"] for row in rows} == {"abort" if told else "ok"}


def test_a_plan_knows_what_the_cluster_does_not(log_dir: Path) -> None:
    """The start sets the directory aside, whatever is mended in it."""
    (log_dir / "gone-0" / "notes").touch()
    operations = repair([str(log_dir)], [], wish("4.3"), accept_loss=False, tidy=True).plan.operations
    (found,) = [each for each in operations if each.path.endswith("gone-0/notes")]
    assert "gone-0 becomes a stray: no broker serves it" in (found.why.broker_now or "")
    assert found.why.broker_now == found.why.broker_after


def test_up_to_3_6_a_log_that_names_no_topic_saves_the_strays(log_dir: Path) -> None:
    (log_dir / "whole-0" / "partition.metadata").unlink()
    assert strays(log_dir, kafka="3.6") == []
    assert [row["outcome"] for row in said(log_dir, asked=wish("3.6"))] == ["abort"]
