"""What `kcheck predict` says of log dirs: facts that the oracle tests hold too, one by one, and what only it knows."""

import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter
from kcheck.startup.log_manager import StartOptions
from kcheck.verbs.check import check
from kcheck.verbs.predict import directories, predict, prediction_of
from kcheck.views.broker_settings import settings_of
from kcheck.views.log_dir import LogDirs, open_log_dir, partitions
from tests.builders import (
    batch,
    broker,
    checkpoint,
    flip_byte,
    log_dir,
    meta_properties,
    partition_dir,
    partition_metadata,
    run,
    write,
)
from tests.cases.build import shared_copies
from tests.reports import document, inspected

pytestmark = pytest.mark.usefixtures("in_folder")

LOG, INDEX = f"{0:020d}.log", f"{0:020d}.index"


def whole(path: Path, *, clean: bool) -> Path:
    """Write a log dir with one log of the offsets 0 to 9, with all that a broker leaves of it."""
    broker(path, run(0, 9), clean=clean)
    write(path / "t-0", {f"{0:020d}.timeindex": b""})
    return path


def wish(kafka: str = "4.3", *, clean: bool | None = None, **config: str) -> StartOptions:
    """Return what the user says."""
    chosen = release(kafka)
    named = {name.replace("_", "."): value for name, value in config.items()}
    return StartOptions(clean, settings(named, chosen), chosen)


def said(*paths: str | Path, asked: StartOptions | None = None) -> list[dict[str, Any]]:
    """Return the log dirs of the document."""
    found = document(predict([str(path) for path in paths], asked or wish()))["log_dirs"]
    assert isinstance(found, list)
    return found


def one(*paths: str | Path, asked: StartOptions | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the one log dir, and the one partition in it."""
    (row,) = said(*paths, asked=asked)
    (partition,) = row["partitions"]
    return row, partition


@pytest.mark.parametrize("name", ["c-0", "replication-offset-checkpoint"])
def test_of_what_could_not_be_read_nothing_is_promised(name: str) -> None:
    """A link out of the log dir: the broker follows it, kcheck does not."""
    whole(Path("d"), clean=True)
    partition_dir(Path("elsewhere"), [run(0, 9)])
    (Path("d") / name).unlink(missing_ok=True)
    target = Path("elsewhere") if name == "c-0" else next(Path("elsewhere").iterdir())
    (Path("d") / name).symlink_to(target.absolute())
    (row,) = said("d")
    assert (row["verdict"], row["uncertain"]) == ("not known", f"kcheck cannot read {name}")


def test_a_clean_log_dir_boots() -> None:
    """Nothing is read again, the recovery point is the log end, and the active indexes get their full size."""
    whole(Path("d"), clean=True)
    row, partition = one("d")
    assert (row["outcome"], row["verdict"], row["clean_start"], row["next_start"]) == ("ok", "will boot", True, None)
    assert (partition["outcome"], partition["reason"], partition["lost"], partition["scan_bytes"]) == (
        "ok", None, None, 0,
    )  # fmt: skip
    assert (partition["log_start_offset"], partition["log_end_offset"], partition["recovery_point"]) == (0, 10, 10)
    assert {INDEX, f"{0:020d}.timeindex"} == set(partition["files"]["changed"] + partition["files"]["created"]) - {
        "leader-epoch-checkpoint",
        f"{10:020d}.snapshot",
    }


@pytest.mark.parametrize("name", [INDEX, "leader-epoch-checkpoint"])
def test_a_fifo_under_the_name_of_a_file_says_nothing(name: str) -> None:
    """A directory under another name does not matter; one under this name is KC233 (tests/oracle)."""
    path = whole(Path("d"), clean=True) / "t-0"
    (path / "other").mkdir()
    assert "ok" == one("d")[1]["outcome"]
    (path / name).unlink(missing_ok=True)
    os.mkfifo(path / name)
    row, partition = one("d")
    assert ("not known", "unknown", f"{name} is not a regular file") == (
        row["verdict"], partition["outcome"], partition["reason"],
    )  # fmt: skip


def test_a_batch_with_a_wrong_crc_is_cut_with_all_behind_it() -> None:
    """The segment ends before the batch, and every later segment is renamed to be removed."""
    log_dir(Path("d"), clean=False, recovery_point={"t-0": 0}, high_watermark={"t-0": 15})
    path = partition_dir(Path("d/t-0"), [run(0, 9), run(10, 19)])
    write(path, {"partition.metadata": partition_metadata()})
    flip_byte(path / LOG, (path / LOG).stat().st_size - 1)
    row, partition = one("d")
    assert row["verdict"] == "will boot but lose 20 records"
    assert partition["log_end_offset"] == 0
    lost = partition["lost"]
    assert (lost["from"], lost["to"], lost["records"], lost["below_high_watermark"]) == (0, 20, 20, 15)
    renamed = {each["from"]: each["to"] for each in partition["files"]["renamed"]}
    assert renamed[f"{10:020d}.log"] == f"{10:020d}.log.deleted"


def test_the_marker_is_overruled() -> None:
    """A damaged batch stays where the stop was clean."""
    whole(Path("d"), clean=True)
    flip_byte(Path("d/t-0") / LOG, (Path("d/t-0") / LOG).stat().st_size - 1)
    assert one("d")[1]["outcome"] == "ok"
    assert one("d", asked=wish(clean=False))[1]["outcome"] == "lost"


def test_a_log_start_above_the_log_end_deletes_everything() -> None:
    """An empty segment begins at the log start."""
    log_dir(Path("d"), clean=True, log_start={"t-0": 50})
    write(partition_dir(Path("d/t-0"), [run(0, 9)]), {"partition.metadata": partition_metadata()})
    row, partition = one("d")
    assert row["lost_records"] == 10
    assert (partition["log_start_offset"], partition["log_end_offset"], partition["leader_epochs"]) == (50, 50, [])
    assert f"{50:020d}.log" in partition["files"]["created"]


def test_an_index_that_points_behind_the_log_hides_it() -> None:
    """The log end falls to the base offset, and offsets are given away again."""
    path = whole(Path("d"), clean=True) / "t-0"
    write(path, {INDEX: OFFSET_INDEX_ENTRY.pack(500, 10_000_000)})
    _, partition = one("d")
    assert (partition["outcome"], partition["log_end_offset"], partition["lost"]["records"]) == ("lost", 0, 10)
    assert "the log ends at offset 0" in partition["reason"]


def test_zeros_behind_a_clean_log_abort() -> None:
    """The next start is unclean then with KRaft; a broker with ZooKeeper leaves the marker again."""
    path = whole(Path("d"), clean=True) / "t-0"
    (path / LOG).write_bytes((path / LOG).read_bytes() + bytes(40))
    row, _ = one("d")
    assert (row["outcome"], row["verdict"], row["next_start"]) == ("abort", "will not boot", "unclean")
    assert row["reason"].startswith("t-0: CorruptRecordException")
    assert one("d", asked=wish("3.9", mode="zk"))[0]["next_start"] == "clean"
    assert one("d", asked=wish(clean=False))[0]["outcome"] == "ok"


def test_an_unreadable_checkpoint_takes_the_log_dir_offline() -> None:
    """Where a log is to be renamed on top of that, the start aborts; up to 2.8 there is no such look."""
    path = whole(Path("d"), clean=True)
    write(path, {"recovery-point-offset-checkpoint": b"7\n0\n"})
    row, _ = one("d")
    assert (row["verdict"], row["reason"]) == (
        "will go offline", "recovery-point-offset-checkpoint cannot be read: IOException",
    )  # fmt: skip
    (path / "t-0" / "partition.metadata").unlink(missing_ok=True)
    assert one("d")[0]["outcome"] == "abort"
    assert one("d", asked=wish("2.8"))[0]["outcome"] == "offline"


def test_an_unreadable_file_of_a_partition() -> None:
    """The log dir goes offline; what else may happen depends on the order in which its logs are loaded."""
    path = whole(Path("d"), clean=True)
    write(path / "t-0", {"leader-epoch-checkpoint": b"1\n0\n", "partition.metadata": partition_metadata()})
    row, partition = one("d")
    assert (row["outcome"], row["uncertain"], partition["outcome"]) == ("offline", None, "offline")
    partition_dir(path / "u-0", [run(0, 9)])
    (row,) = said("d")
    assert "after the unreadable file: the broker renames u-0 to -stray" in row["uncertain"]
    assert said("d", asked=wish("3.1", mode="zk"))[0]["outcome"] == "abort"


def test_what_a_broker_with_remote_storage_cannot_open() -> None:
    """Without the setting nobody knows; kcheck does not model the preview of remote storage in 3.5."""
    path = whole(Path("d"), clean=True)
    write(path / "remote-log-index-cache", {".nfs01": b""})
    why = "remote-log-index-cache: 1 name that no broker can load: .nfs01"
    setting = "remote.log.storage.system.enable"
    (aborted,) = said("d", asked=wish(**{setting: "true"}))
    assert ("abort", why) == (aborted["outcome"], aborted["reasons"][0])
    (unsure,) = said("d")
    assert ("ok", f"startup aborts if {setting} is true: {why}") == (unsure["outcome"], unsure["uncertain"])
    for asked in (wish(**{setting: "false"}), wish("3.5", **{setting: "true"})):
        (row,) = said("d", asked=asked)
        assert ("ok", None) == (row["outcome"], row["uncertain"])


def test_a_log_without_a_topic_id_is_set_aside_by_kraft() -> None:
    """ZooKeeper's broker needs no id."""
    path = whole(Path("d"), clean=True)
    (path / "t-0" / "partition.metadata").unlink(missing_ok=True)
    assert one("d")[1]["outcome"] == "stray"
    assert one("d", asked=wish("3.9", mode="zk"))[1]["outcome"] == "ok"
    assert one("d", asked=wish("3.7.0", mode="kraft"))[0]["outcome"] == "abort"


def test_log_dirs_of_one_broker_share_its_fate() -> None:
    """One partition twice, or one log dir that aborts, and none is loaded."""
    for name in ("d1", "d2"):
        whole(Path(name), clean=True)
        write(Path(name), {"meta.properties": meta_properties(1)})
        write(Path(name) / "t-0", {"partition.metadata": partition_metadata()})
    rows = said("d1", "d2")
    assert ["abort", "abort"] == [row["outcome"] for row in rows]
    assert rows[0]["reason"] == "t-0 exists twice: d1/t-0 and d2/t-0"
    Path("d2/t-0").rename("d2/lost+found")
    rows = said("d1", "d2")
    assert rows[0]["reason"].startswith("d2 aborts the start of the broker: lost+found is not a valid")


def test_the_size_of_the_indexes_decides() -> None:
    """A start aborts where the entries of the active index do not fit."""
    path = whole(Path("d"), clean=True) / "t-0"
    write(path, {INDEX: b"".join(OFFSET_INDEX_ENTRY.pack(n, n * 10) for n in range(1, 9))})
    row, _ = one("d", asked=wish(segment_index_bytes="32"))
    assert "8 entries need more than 32 bytes" in row["reason"]


def test_a_split_makes_two_segments() -> None:
    """An offset that does not fit into its segment begins another one."""
    far = 2**31 + 5
    log_dir(Path("d"), clean=False)
    path = partition_dir(Path("d/t-0"), [[*run(0, 4), batch(far, 1), batch(far + 1, 1)]], index_every=None)
    write(path, {"partition.metadata": partition_metadata()})
    _, partition = one("d")
    assert (partition["outcome"], partition["log_end_offset"]) == ("repaired", far + 2)
    assert f"{far:020d}.log" in partition["files"]["created"]
    assert "the broker splits the segment" in partition["reason"]


def test_a_swap_takes_the_place_of_its_segment() -> None:
    """From 3.0 on it is renamed; up to 2.8 it is recovered before."""
    path = whole(Path("d"), clean=True) / "t-0"
    write(path, {"partition.metadata": partition_metadata(), f"{LOG}.swap": (path / LOG).read_bytes()})
    for kafka in ("4.3", "2.8"):
        _, partition = one("d", asked=wish(kafka))
        assert partition["outcome"] == "repaired"
        assert partition["log_end_offset"] == 10
        assert {"from": f"{LOG}.swap", "to": LOG} in partition["files"]["renamed"]


def metadata_log(path: Path, *snapshots: str, base: int = 0) -> Path:
    """Write a log dir with a log of KRaft of ten offsets, and empty snapshots of these names."""
    log_dir(path, clean=True)
    log = partition_dir(path / "__cluster_metadata-0", [run(base, base + 9)], epoch_entries=[(0, base)])
    return write(log, dict.fromkeys(snapshots, b""))


def test_a_partition_that_stands_alone() -> None:
    """The checkpoints around it count."""
    whole(Path("d"), clean=True)
    row, partition = one("d/t-0")
    assert (row["path"], partition["log_end_offset"]) == ("d", 10)


def test_a_file_is_no_log_dir() -> None:
    whole(Path("d"), clean=True)
    with pytest.raises(UsageError, match="needs a log dir or partition directory"):
        predict([f"d/t-0/{LOG}"], wish())


def test_what_cannot_be_read_is_not_known() -> None:
    """A broker may follow a link where kcheck does not: that is said, and nothing is guessed."""
    path = whole(Path("d"), clean=False) / "t-0"
    (path / LOG).rename("elsewhere")
    (path / LOG).symlink_to(Path("elsewhere").resolve())
    found = predict(["d"], wish())
    assert found.report().unfinished
    (row,) = document(found)["log_dirs"]
    assert (row["verdict"], row["partitions"][0]["outcome"]) == ("not known", "unknown")
    assert row["partitions"][0]["reason"] == f"{LOG}: a symbolic link: not followed"


def test_a_small_file_of_a_tebibyte_is_not_known() -> None:
    """Its zeros are on no disk, and are not put into memory either."""
    path = whole(Path("d"), clean=False) / "t-0"
    os.truncate(path / "leader-epoch-checkpoint", 1 << 40)
    (row,) = said("d")
    assert row["partitions"][0]["reason"] == (
        f"leader-epoch-checkpoint: {1 << 40} bytes are too many for a file of this kind"
    )


def test_only_what_is_wanted() -> None:
    whole(Path("d"), clean=True)
    partition_dir(Path("d") / "other-0", [run(0, 9)])
    (row,) = said("d", asked=wish()._replace(wanted=PartitionFilter(topics=("other",))))
    assert ["other"] == [partition["topic"] for partition in row["partitions"]]


def test_how_bad_it_is() -> None:
    """The exit code follows from it."""
    path = whole(Path("d"), clean=True)
    write(path / "t-0", {"partition.metadata": partition_metadata()})
    assert predict(["d"], wish()).severity is Severity.INFO
    write(path, {"log-start-offset-checkpoint": checkpoint(["t 0 99"])})
    assert predict(["d"], wish()).severity is Severity.ERROR
    assert [1] == [
        start.broker_id or 1 for start in prediction_of(directories(["d"]), wish(), LogDirs(wish().release)).log_dirs
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize("kafka", ["4.3", "4.0.0", "3.9", "3.6", "2.8", "2.7", "2.3", "2.2", "1.1", "0.11.0", "0.10.2"])
def test_every_case_is_predicted(kafka: str) -> None:
    """No damage of the cases ends in an exception, in any release."""
    dirs = sorted(path.parent for path in shared_copies().rglob("recovery-point-offset-checkpoint"))
    for path in dirs[::3]:
        report = predict([str(path)], wish(kafka)).report()
        document(report)
        assert [] == [found.message for found in report.collected if found.id == "KC000"]


@pytest.mark.parametrize(
    ("index", "times", "asked", "abort"),
    [
        (96, 96, None, True),
        (96, 96, "4096", False),
        (1200, 1200, None, False),
        (96, 1200, None, False),
        (0, 96, None, False),
    ],
)
def test_a_topic_has_indexes_of_its_own(index: int, times: int, asked: str | None, abort: bool, tmp_path: Path) -> None:
    """A killed broker left them as large as segment.index.bytes allows, if both say so, and nobody says otherwise."""
    batches = [batch(at, 1, timestamp=1000 + at, payload=bytes(50)) for at in range(30)]
    path = broker(tmp_path / "d", batches, clean=False)
    write(path / "t-0", {INDEX: bytes(index), f"{0:020d}.timeindex": bytes(times)})
    defined = ("index.interval.bytes=1", *(() if asked is None else (f"segment.index.bytes={asked}",)))
    found = one(path, asked=StartOptions(None, settings_of([], None, defined, release()), release()))[1]
    assert (found["outcome"] == "abort") == abort


@pytest.mark.parametrize(("kafka", "outcome"), [("2.2.0", "deleted"), ("2.2.1", "abort"), ("2.2.2", "deleted")])
def test_a_deleted_log_without_a_segment(kafka: str, outcome: str) -> None:
    log_dir(Path("d"))
    (Path("d") / f"t-0.{0:032x}-delete").mkdir()
    assert one("d", asked=wish(kafka))[1]["outcome"] == outcome


def test_a_deleted_log_is_in_remote_storage_no_more() -> None:
    """Its topic has no settings any more: the log starts where its first segment does."""
    for name, start in (("t-0", 0), (f"t-0.{0:032x}-delete", 20)):
        log_dir(Path(name))
        write(partition_dir(Path(name) / name, [run(20, 29)]), {"remote_log_snapshot": b""})
        assert one(name, asked=wish("3.6", mode="kraft"))[1]["log_start_offset"] == start
        found = open_log_dir(LOCAL, name, None, release("3.6"))
        (view,) = partitions(LOCAL, found, wanted=PartitionFilter(), walk_all=False, release=release("3.6"))
        assert view.log_start_offset == start


def test_a_link_to_itself_is_no_file() -> None:
    """File.isFile is false of it, and the broker lists files alone."""
    before = said(whole(Path("d"), clean=True))
    Path("d/t-0/loop.log").symlink_to("loop.log")
    assert before == said("d")


def test_a_log_that_is_too_large_is_told_by_all() -> None:
    """By its size alone: inspect and check at every depth, and the start ends; up to 2.0 it takes it for another."""
    path = whole(Path("data"), clean=True) / "t-0" / LOG
    os.truncate(path, 2**32 + path.stat().st_size)
    for depth in (None, Depth.CHECKPOINTS, Depth.HEADERS):
        checked = {"as_kind": None, "wanted": PartitionFilter(), "release": release("4.3")}
        found = inspected("data") if depth is None else document(check(["data"], depth=depth, **checked))
        assert ["fatal"] == [each["severity"] for each in found["findings"] if each["id"] == "KC230"]
    assert ("abort", "unknown") == (one("data")[0]["outcome"], one("data", asked=wish("2.0"))[1]["outcome"])
    os.truncate(path, 2**31)
    assert "IllegalArgumentException" in one("data", asked=wish("2.0"))[1]["reason"]
