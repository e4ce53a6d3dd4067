"""Which logs paths name."""

import shutil
from pathlib import Path

import pytest

from kcheck.api import PartitionFilter, export
from kcheck.disk.new_files import NewFiles
from kcheck.errors import UsageError
from kcheck.model.entries import Offset
from kcheck.model.plan import Plan, SetAside, Truncate, digest, serialize_plan
from kcheck.replicas.saved_records import save_lost
from tests.builders import flip_byte, log_dir, write
from tests.disk.plans import WHY
from tests.exports.logs import data, exported, log_of, offsets_of, segments
from tests.replicas.test_group_offsets import log_files

STRAY = f"t-0.{'b' * 32}-stray"


def paths_of(*paths: Path, **options: object) -> list[str]:
    """Return the paths of the logs."""
    return [log.log.path for log in export(*paths, **options).logs]


@pytest.mark.parametrize(("suffix", "state"), [("-delete", "deleted"), ("-stray", "stray"), ("-future", "future")])
def test_a_directory_that_no_broker_serves(tmp_path: Path, suffix: str, state: str) -> None:
    """It is of the partition in its name."""
    log = log_of(segments(tmp_path / f"a.b-7.{'b' * 32}{suffix}", [data(0)]))
    assert ("a.b", 7, state, "a.b-7") == (log.topic, log.partition, str(log.state), log.name)


def test_a_single_file(tmp_path: Path) -> None:
    """Its directory names the partition, if one does; a deleted segment is one too."""
    path = segments(tmp_path / "t-0", [data(4)])
    (path / "00000000000000000004.log").rename(path / "00000000000000000004.log.deleted")
    log = log_of(path / "00000000000000000004.log.deleted")
    assert ("t", 0, str(path)) == (log.topic, log.partition, log.path)
    assert [4, 5] == offsets_of(path / "00000000000000000004.log.deleted")[0]
    bare = write(tmp_path / "x", {"a.log": data(4).data, "b.log": data(6).data})
    log = log_of(bare / "a.log")
    assert (None, None, "a.log") == (log.topic, log.partition, log.name)
    assert [4, 5] == offsets_of(bare / "a.log")[0]
    assert [f"{bare}/a.log", f"{bare}/b.log"] == paths_of(bare / "b.log", bare / "a.log")
    write(bare, {f"{at:020}.log": data(at).data for at in (2, 0)})
    (both,) = export(bare / f"{2:020}.log", bare / f"{0:020}.log").logs
    assert (None, str(bare), [0, 1, 2, 3]) == (both.log.topic, both.log.path, [one.offset for one in both.records()])


def test_files_of_one_directory_are_one_log(tmp_path: Path) -> None:
    path = segments(tmp_path / "t-0", [data(0)], [data(2)], [data(4)])
    named = (path / "00000000000000000004.log", path / "00000000000000000000.log")
    (log,) = export(*named).logs
    assert [0, 1, 4, 5] == [one.offset for one in log.records()]


def test_what_elect_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory, that of the partition, that of a replica, or a file of it; a broker id is no partition."""
    path = segments(tmp_path / "orders-3", [data(0), data(2)], [data(4)])
    out = tmp_path / "saved"
    with NewFiles(str(out), (), apart_from=()) as files:
        save_lost(files, "", "orders-3", 1, log_files(path), Offset(2), Offset(6))
    folder = out / "orders-3" / "broker-1"
    for named in (out, out / "orders-3", folder, folder / "00000000000000000002.log"):
        log = log_of(named)
        assert ("orders", 3, str(folder)) == (log.topic, log.partition, log.path)
        assert [2, 3, 4, 5] == offsets_of(named)[0]
    monkeypatch.chdir(folder)
    assert "orders-3" == log_of(Path("00000000000000000002.log")).name
    monkeypatch.chdir(folder.parent)
    assert "orders-3" == log_of(Path("broker-1")).name
    shutil.copytree(folder, out / "orders-3" / "broker-2")
    with pytest.raises(UsageError, match=r"orders-3 is there 2 times: .*broker-1, .*broker-2; name one of these"):
        export(out)


def test_a_topic_may_be_called_broker(tmp_path: Path) -> None:
    """In a log dir whose name looks like that of a partition: a log has more files than what elect saves."""
    path = log_dir(tmp_path / "disk-1")
    write(segments(path / "broker-1", [data(0)]), {"partition.metadata": b"version: 0\ntopic_id: x"})
    for named in (path, path / "broker-1", path / "broker-1" / "00000000000000000000.log"):
        log = log_of(named)
        assert ("broker", 1) == (log.topic, log.partition)


def test_a_log_dir_has_its_partitions_but_those_of_brokers(tmp_path: Path) -> None:
    """A filter may name these."""
    log_dir(tmp_path)
    for name in ("__consumer_offsets-0", "__cluster_metadata-0", "b-1", "b-0", "a-10"):
        segments(tmp_path / name, [data(0)])
    assert [f"{tmp_path}/{name}" for name in ("a-10", "b-0", "b-1")] == paths_of(tmp_path)
    assert 2 == len(export(tmp_path).skipped)
    internal = PartitionFilter(topics=("__consumer_offsets",))
    assert [f"{tmp_path}/__consumer_offsets-0"] == paths_of(tmp_path, partitions=internal)
    assert [f"{tmp_path}/b-1"] == paths_of(tmp_path, partitions=PartitionFilter(partitions=("b-1",)))
    assert [f"{tmp_path}/__cluster_metadata-0"] == paths_of(tmp_path / "__cluster_metadata-0")


def test_only_internal_topics(tmp_path: Path) -> None:
    log_dir(tmp_path)
    segments(tmp_path / "__consumer_offsets-0", [data(0)])
    with pytest.raises(UsageError, match=r"no partition to export; only .*__consumer_offsets-0"):
        export(tmp_path)


def test_a_named_directory_comes_before_one_in_a_log_dir(tmp_path: Path) -> None:
    """Two that are named, or two log dirs, leave it open."""
    log_dir(tmp_path / "one")
    served = segments(tmp_path / "one" / "t-0", [data(0)])
    stray = segments(tmp_path / "one" / STRAY, [data(0)])
    assert [str(served)] == paths_of(tmp_path / "one")
    assert [str(stray)] == paths_of(tmp_path / "one", stray)
    with pytest.raises(UsageError, match="t-0 is there 2 times"):
        export(served, stray)
    log_dir(tmp_path / "two")
    segments(tmp_path / "two" / "t-0", [data(0)])
    with pytest.raises(UsageError, match="name one of these"):
        export(tmp_path / "one", tmp_path / "two")


@pytest.mark.parametrize(
    ("name", "message"), [("x.index", "only a .log has records"), ("gone", "no such file or directory")]
)
def test_what_is_no_log(tmp_path: Path, name: str, message: str) -> None:
    write(tmp_path, {"x.index": b""})
    with pytest.raises(UsageError, match=message):
        export(tmp_path / name)


def test_a_hostile_name(tmp_path: Path) -> None:
    """The directory of no topic that a client can create is read all the same."""
    path = segments(tmp_path / "a\x1b[31m\udcff\n-0", [data(0)])
    assert [0, 1] == [one.offset for one in exported(path).records()]


def test_a_segment_that_cannot_be_read(tmp_path: Path) -> None:
    """The others are exported, and the answer says which one was not."""
    path = segments(tmp_path / "t-0", [data(0)], [data(4)])
    (path / "00000000000000000002.log").symlink_to(path / "00000000000000000004.log")
    answer = export(path)
    (log,) = answer.logs
    assert [0, 1, 4, 5] == [one.offset for one in log.records()]
    assert [f"{path}/00000000000000000002.log"] == [name for name, _ in log.unreadable]
    assert {"damaged": None} == {str(row.why): row.records for row in log.left_out.rows()}


def test_the_backup_of_a_repair(tmp_path: Path) -> None:
    """What apply cut or moved away is whole in the backup: the plan beside it names the partition."""
    folder, backup = log_dir(tmp_path / "data", recovery_point={"t-0": 0}, clean=False), tmp_path / "backup"
    path = segments(folder / "t-0", [data(0), data(2)], [data(4)])
    flip_byte(path / "00000000000000000000.log", len(data(0).data) + 70)
    aside = segments(folder / STRAY, [data(0)])
    before = Truncate(f"{path}/00000000000000000000.log", digest(b"12"), digest(b"1"), WHY)
    moved = SetAside(str(aside), digest(b""), None, WHY, directory=True)
    other = SetAside(f"{path}/00000000000000000004.log", digest(b""), None, WHY, directory=False)
    plan = Plan("4.3", (str(folder),), (before, moved, other))
    write(backup, {"plan.json": serialize_plan(plan, kcheck="0"), "journal.json": b"{}"})
    for number, file in ((0, "00000000000000000000.log"), (2, "00000000000000000004.log")):
        (backup / f"{number}.before").write_bytes((path / file).read_bytes())
    answer = export(backup)
    assert [0, 1, 4, 5] == [one.offset for one in answer.logs[0].records()]
    aside.rename(backup / "1.before")
    with pytest.raises(UsageError, match="t-0 is there 2 times"):
        export(backup)
    (backup / "plan.json").write_bytes(b"{")
    with pytest.raises(UsageError, match="the plan is not valid JSON"):
        export(backup)
