"""Replicas that the cluster no more knows, told by the log of KRaft: bytes of real brokers, moved to other places."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.strays import StrayDetector
from kcheck.disk.local import LOCAL
from kcheck.model.cluster import StrayDoubt
from kcheck.model.depth import Depth
from kcheck.model.entries import Batch
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter
from kcheck.plans.repair import repair
from kcheck.segments.batches import Walk
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from kcheck.views.metadata_copy import complete_copy
from tests.builders import flip_byte
from tests.reports import document
from tests.verbs.test_predict import LOG, said, wish

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1"
METADATA = "__cluster_metadata-0"
GONE = "aJBZ6LPXTKqwH3e51WNfxQ"
"""The topic `gone` of the scene `tiered`, which the record at offset 96 removes."""
NO_TOPIC = f"the cluster has no topic with id {GONE}"
OLDER = "this copy of the metadata may be older than the directory"


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


def test_what_the_only_controller_has_removed_is_set_aside(log_dir: Path) -> None:
    """Up to 3.6 it is deleted: here 3.6 does not start, for the metadata are of 4.3."""
    assert strays(log_dir) == [("gone-0", "stray", NO_TOPIC, None)]
    assert strays(log_dir, kafka="3.6") == [("gone-0", "deleted", NO_TOPIC, None)]
    assert strays(log_dir / "gone-0") == [("gone-0", "stray", NO_TOPIC, None)]
    assert predict([str(log_dir)], wish("4.3")).severity is Severity.ERROR
    for kafka, outcome in (("3.6", "abort"), ("4.2", "abort"), ("4.3", "ok")):
        for path in (log_dir, log_dir / "whole-0"):
            (row,) = said(path, asked=wish(kafka))
            reason = f"metadata.version is 30, of Kafka 4.3: Kafka {kafka} does not start with these metadata"
            assert (row["outcome"], [each.partition(";")[0] for each in row["reasons"]]) == (
                outcome, [reason] if outcome == "abort" else [],
            )  # fmt: skip
    assert strays(log_dir, kafka="3.2", mode="kraft") == strays(log_dir, kafka="3.9", mode="zk") == []


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
    assert "gone-0 is set aside as stray: no broker serves it" in (found.why.broker_now or "")
    assert found.why.broker_now == found.why.broker_after


def test_up_to_3_6_a_log_that_names_no_topic_saves_the_strays(log_dir: Path) -> None:
    (log_dir / "whole-0" / "partition.metadata").unlink()
    assert strays(log_dir, kafka="3.6") == []
    assert [row["outcome"] for row in said(log_dir, asked=wish("3.6"))] == ["abort"]


@pytest.mark.parametrize("name", [f"{0:020d}.log.deleted", f"{9999:020d}.log.deleted", "copy.log"])
def test_what_a_start_takes_for_no_segment_says_nothing(name: str, log_dir: Path) -> None:
    """KRaft marks the segments below a snapshot as deleted; the next start removes them, unread."""
    (segment,) = (log_dir / METADATA).glob("*.log")
    copy = complete_copy(LOCAL, str(log_dir / METADATA), 1)
    (log_dir / METADATA / name).write_bytes(segment.read_bytes()[:1000])
    assert copy == complete_copy(LOCAL, str(log_dir / METADATA), 1) is not None


def test_a_replica_of_other_brokers(tmp_path: Path) -> None:
    """`codecs-0` was on the brokers 2 and 1, as the copy of broker 3 tells too; of `whole` that has never heard."""
    shutil.copytree(BROKERS / "stopped" / "broker-3" / "data1", tmp_path / "d")
    for name, there in (("codecs-0", "stopped/broker-2"), ("whole-0", "tiered/broker-1")):
        shutil.copytree(BROKERS / there / "data1" / name, tmp_path / "d" / name)
    assert strays(tmp_path / "d") == [
        ("codecs-0", "stray", "the cluster has no replica of it on broker 3", None),
        ("whole-0", "stray", "the cluster has no topic with id 0umoUjHlR8OQ3GEeloSlMw", OLDER),
    ]


def test_another_copy_may_be_older_than_the_replica(tmp_path: Path) -> None:
    """Broker 3 has lost its own copy; that of broker 2 is here. Other clusters have no say."""
    for number in (2, 3):
        shutil.copytree(BROKERS / "stopped" / f"broker-{number}" / "data1", tmp_path / str(number))
    shutil.copytree(tmp_path / "2" / "codecs-0", tmp_path / "3" / "codecs-0")
    shutil.rmtree(tmp_path / "3" / METADATA)
    assert strays(tmp_path / "3") == strays(tmp_path / "3", BROKERS / "tiered" / "broker-1" / "data1")[:-1] == []
    ((name, _, _, doubt),) = strays(tmp_path / "2", tmp_path / "3")
    assert (name, doubt) == ("codecs-0", OLDER)


def test_what_several_controllers_have_not_committed(log_dir: Path) -> None:
    """Of what a snapshot says there is no doubt."""
    copy = complete_copy(LOCAL, str(log_dir / METADATA), 1)
    assert copy is not None
    assert (copy.epoch, copy.end, copy.snapshot, sorted(copy.voters)) == (1, 116, 0, [1])
    detector = StrayDetector(copy._replace(voters=frozenset({1, 2, 3})), 1, own=True)
    replica = detector.stray(GONE, 0)
    assert replica is not None
    assert (replica.since, replica.doubt) == (96, StrayDoubt.UNCOMMITTED)
    committed = detector._replace(copy=copy._replace(snapshot=97)).stray(GONE, 0)
    assert committed is not None
    assert committed.doubt is None


def test_a_log_of_kraft_that_is_cut(log_dir: Path) -> None:
    """The only controller goes on with what stands before the damage; any other is given the rest once more."""
    log = log_dir / METADATA / LOG
    whole = log.read_bytes()
    at = next(batch for batch in batches(log) if batch.base_offset > 85)
    flip_byte(log, at.position + 30)
    copy = complete_copy(LOCAL, str(log_dir / METADATA), 1)
    assert copy is not None
    assert copy.end == at.base_offset
    assert strays(log_dir) == []
    assert complete_copy(LOCAL, str(log_dir / METADATA), 2) is None
    log.write_bytes(whole[at.position :])
    assert complete_copy(LOCAL, str(log_dir / METADATA), 1) is None


def test_snapshots_and_the_log_behind_them(tmp_path: Path) -> None:
    """What they say together is what the log says alone; without a footer, or an end, nothing is known."""
    path = tmp_path / METADATA
    shutil.copytree(BROKERS / "coordinators" / "broker-1" / "data1" / METADATA, path)
    whole = complete_copy(LOCAL, str(path), 1)
    assert whole is not None
    assert (whole.snapshot, whole.end) == (86, 133)
    newest = max(path.glob("*.checkpoint"))
    data, footer = newest.read_bytes(), batches(newest)[-1]
    newest.write_bytes(data[: footer.position])
    assert complete_copy(LOCAL, str(path), 1) is None
    newest.write_bytes(data)
    flip_byte(newest, footer.position - 1)
    assert complete_copy(LOCAL, str(path), 1) is None
    for snapshot in path.glob("*.checkpoint"):
        snapshot.unlink()
    alone = complete_copy(LOCAL, str(path), 1)
    assert alone is not None
    replicas = [
        {(topic.topic_id, number): partition.replicas for topic, number, partition in copy.image.partitions()}
        for copy in (alone, whole)
    ]
    assert replicas[0] == replicas[1]


def test_a_future_log_where_the_cluster_believes_the_replica_to_be(tmp_path: Path) -> None:
    """`orders-0` was moved from `data2` to `data1`: as the log dirs would lie had the broker ended just before."""
    shutil.copytree(BROKERS / "coordinators" / "broker-1", tmp_path / "1")
    one, other = tmp_path / "1" / "data1", tmp_path / "1" / "data2"
    (old,) = other.glob("orders-0.*-delete")
    old.rename(other / "orders-0")
    (one / "orders-0").rename(one / f"orders-0.{0:032x}-future")
    replaced = ("orders-0", "deleted", f"its future log in {one} replaces it", None)
    for kafka, expected in (("4.3", [replaced]), ("3.7.0", [])):
        found = strays(one, other, kafka=kafka, mode="kraft")
        assert [each for each in found if not each[0].startswith("gone")] == expected
    (one / f"orders-0.{0:032x}-future").rename(other / f"orders-0.{1:032x}-future")
    assert [each[0][:4] for each in strays(one, other)] == ["gone"]
