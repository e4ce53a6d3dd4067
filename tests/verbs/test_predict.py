"""What `kcheck predict` says of log dirs: facts that the oracle tests hold too, one by one, and what only it knows."""

import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.startup import settings
from kcheck.errors import UsageError
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from tests.builders import broker, log_dir, partition_dir, run, write
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


def test_the_size_of_the_indexes_decides() -> None:
    """A start aborts where the entries of the active index do not fit."""
    path = whole(Path("d"), clean=True) / "t-0"
    write(path, {INDEX: b"".join(OFFSET_INDEX_ENTRY.pack(n, n * 10) for n in range(1, 9))})
    row, _ = one("d", asked=wish(segment_index_bytes="32"))
    assert "8 entries need more than 32 bytes" in row["reason"]


def metadata_log(path: Path, *snapshots: str, base: int = 0) -> Path:
    """Write a log dir with a log of KRaft of ten offsets, and empty snapshots of these names."""
    log_dir(path, clean=True)
    log = partition_dir(path / "__cluster_metadata-0", [run(base, base + 9)], epoch_entries=[(0, base)])
    return write(log, dict.fromkeys(snapshots, b""))


def test_a_partition_that_stands_alone() -> None:
    """The checkpoints around it count."""
    whole(Path("d"), clean=True)
    row, partition = one("d/t-0")
    assert (row["path"], row["verdict"], partition["log_end_offset"]) == ("d", "will boot", 10)


def test_a_partition_does_not_start_a_broker_that_its_log_dir_stops() -> None:
    """A broker loads log dirs as a whole; each partition by its path has the verdict of all of it."""
    path = whole(Path("d"), clean=True)
    partition_dir(path / "u-0", [run(0, 4)])
    partition_dir(path / "not a partition", [run(0, 4)])
    (alone,), (both,), (every,) = said("d/t-0"), said("d/t-0", "d/u-0"), said("d/u-0", "d")
    assert {row["verdict"] for row in (alone, both, every)} == {"will not boot"}
    (path / "not a partition").rename("elsewhere")
    (both,), (every,) = said("d/t-0", "d/u-0"), said("d/u-0", "d")
    assert [[row["dir"] for row in shown["partitions"]] for shown in (both, every)] == [["t-0", "u-0"]] * 2


def test_a_partition_outside_of_a_log_dir_says_nothing_of_its_broker() -> None:
    whole(Path("d"), clean=True).joinpath("t-0").rename("t-0")
    row, partition = one("t-0")
    assert (row["verdict"], partition["outcome"]) == ("will load if its broker starts", "ok")


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


@pytest.mark.sample(4)
@pytest.mark.parametrize("kafka", ["4.3", "4.0.0", "3.9", "3.6", "2.8", "2.7", "2.3", "2.2", "1.1", "0.11.0", "0.10.2"])
def test_every_case_is_predicted(kafka: str) -> None:
    """No damage of the cases ends in an exception, in any release."""
    dirs = sorted(path.parent for path in shared_copies().rglob("recovery-point-offset-checkpoint"))
    for path in dirs[::3]:
        report = predict([str(path)], wish(kafka)).report()
        document(report)
        assert [] == [found.message for found in report.collected if found.id == "KC000"]


@pytest.mark.parametrize(("kafka", "outcome"), [("2.2.0", "deleted"), ("2.2.1", "abort"), ("2.2.2", "deleted")])
def test_a_deleted_log_without_a_segment(kafka: str, outcome: str) -> None:
    log_dir(Path("d"))
    (Path("d") / f"t-0.{0:032x}-delete").mkdir()
    assert one("d", asked=wish(kafka))[1]["outcome"] == outcome


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
