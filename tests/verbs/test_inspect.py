"""What `kcheck inspect` shows of log dirs, partition directories and files."""

import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LocalTree
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from tests.builders import (
    batch,
    epochs,
    index,
    log,
    log_dir,
    message,
    meta_properties,
    offsets,
    partition_dir,
    partition_metadata,
    run,
    write,
)
from tests.reports import ids, inspected

pytestmark = pytest.mark.usefixtures("in_folder")

FILE_OF = "0123456789abcdef0123456789abcdef"
LOG = "00000000000000000000.log"

PARTITION_FIELDS = {
    "broker_id", "log_dir", "dir", "topic", "partition", "state", "topic_id", "log_start_offset", "recovery_point",
    "high_watermark", "log_end_offset", "size", "leader_epochs", "segments",
}  # fmt: skip


def only(path: str, **how: Any) -> dict[str, Any]:
    """Return the one item of a path."""
    (item,) = inspected(path, **how)["items"]
    assert isinstance(item, dict)
    return item


def rows(path: str = "data", **how: Any) -> dict[str, dict[str, Any]]:
    """Return the partitions of a log dir by directory."""
    return {row["dir"]: row for row in only(path, **how)["partitions"]}


def test_a_log_dir(data: Path) -> None:
    """Its identity, its checkpoints, and a row for each partition."""
    item = only(str(data))
    partitions = item.pop("partitions")
    ok = {"status": "ok", "defect": None}
    assert {
        "kind": "log-dir",
        "path": "data",
        "broker_id": 1,
        "cluster_id": "c1uster-AAAAAAAAAAAAAA",
        "directory_id": None,
        "clean_shutdown": True,
        "locked_by": None,
        "cordoned": None,
        "checkpoints": {
            "replication-offset-checkpoint": {**ok, "entries": 1},
            "recovery-point-offset-checkpoint": {**ok, "entries": 2},
            "log-start-offset-checkpoint": {**ok, "entries": 1},
            "cleaner-offset-checkpoint": {"status": "missing", "entries": None, "defect": None},
        },
        "unparseable": [],
        "remote_index_cache": None,
    } == item
    assert ["a-0", "b-1"] == [row["dir"] for row in partitions]


def test_a_partition_of_a_log_dir(data: Path) -> None:
    """Offsets from the checkpoints, log start and log end as the broker finds them."""
    row = rows(str(data))["a-0"]
    assert set(row) == PARTITION_FIELDS
    tail = {"end_offset": 300, "size": 1000, "batches": None, "max_timestamp": None}
    untouched = {"end_offset": None, "size": 2000, "batches": None, "max_timestamp": None}
    assert {
        "broker_id": 1,
        "log_dir": "data",
        "dir": "a-0",
        "topic": "a",
        "partition": 0,
        "state": "current",
        "topic_id": "MkU3OEVBNTcwNTJENDM2Qg",
        "log_start_offset": 40,
        "recovery_point": 200,
        "high_watermark": 250,
        "log_end_offset": 300,
        "size": 3000,
        "leader_epochs": [{"epoch": 0, "start_offset": 0}, {"epoch": 2, "start_offset": 200}],
        "segments": [{"base_offset": 0, **untouched}, {"base_offset": 200, **tail}],
    } == row


def test_what_no_checkpoint_says_is_null(data: Path) -> None:
    row = rows(str(data))["b-1"]
    assert (0, 3, None, 10) == tuple(
        row[key] for key in ("log_start_offset", "recovery_point", "high_watermark", "log_end_offset")
    )


@pytest.mark.parametrize("path", ["data/a-0", "data/a-0/"])
def test_a_partition_of_a_log_dir_that_is_named_by_itself(data: Path, path: str) -> None:
    """The log dir around it tells its offsets."""
    item = only(path)
    assert ("partition", path) == (item.pop("kind"), item.pop("path"))
    assert rows(str(data))["a-0"] == item


def test_a_partition_directory_that_stands_alone() -> None:
    """A copy that somebody sent: nobody knows what the checkpoints said."""
    partition_dir(Path("t-3"), [run(50, 99)])
    item = only("t-3")
    assert PARTITION_FIELDS | {"kind", "path"} == set(item)
    assert (None, None, "t-3", None, None, 50, 100) == tuple(
        item[key]
        for key in (
            "broker_id", "log_dir", "dir", "recovery_point", "high_watermark", "log_start_offset", "log_end_offset",
        )
    )  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "state"),
    [
        ("", "current"),
        (f".{FILE_OF}-future", "future"),
        (f".{FILE_OF}-delete", "deleted"),
        (f".{FILE_OF}-stray", "stray"),
    ],
)
def test_the_state_of_a_directory_stands_in_its_name(suffix: str, state: str) -> None:
    log_dir(Path("data"))
    partition_dir(Path(f"data/t-0{suffix}"), [run(0, 9)])
    (row,) = rows().values()
    assert ("t", 0, state) == (row["topic"], row["partition"], row["state"])


def test_an_empty_partition_directory_ends_at_its_start() -> None:
    """A broker makes an empty segment at the log start when it loads it."""
    log_dir(Path("data"), log_start={"t-0": 70})
    write(Path("data/t-0"), {})
    row = rows()["t-0"]
    assert (70, 70, []) == (row["log_start_offset"], row["log_end_offset"], row["segments"])


def test_an_empty_segment_ends_where_it_begins() -> None:
    log_dir(Path("data"))
    partition_dir(Path("data/t-0"), [[]], base_offset=42)
    assert rows()["t-0"]["log_end_offset"] == 42


@pytest.mark.parametrize("tail", [bytes(1000), b"\x01" * 17, batch(100).data[:-1]], ids=["zeros", "17 bytes", "torn"])
@pytest.mark.parametrize("index_every", [None, 1, 3])
def test_the_log_ends_where_valid_batches_end(tail: bytes, index_every: int | None) -> None:
    partition_dir(Path("t-0"), [run(0, 99)], tail=tail, index_every=index_every)
    assert only("t-0")["log_end_offset"] == 100


def test_segments_that_are_on_their_way_are_no_segments() -> None:
    """`.cleaned`, `.swap` and `.deleted` belong to the cleaner; names that are not in 20 digits to nobody."""
    partition_dir(Path("t-0"), [run(0, 9)])
    others = ("00000000000000000010.log.cleaned", "00000000000000000010.log.deleted", "20.log", "x.log")
    write(Path("t-0"), dict.fromkeys(others, log(run(10, 19))))
    item = only("t-0")
    assert ([0], 10) == ([segment["base_offset"] for segment in item["segments"]], item["log_end_offset"])


def test_segments_widen_a_row(data: Path) -> None:
    """Every segment is walked from its start."""
    row = rows(str(data), segments=True)["a-0"]
    (first, second) = row["segments"]
    assert (200, 20, 300, 10) == (first["end_offset"], first["batches"], second["end_offset"], second["batches"])
    assert first["max_timestamp"] == 1_700_000_000_010
    assert {"segments": row["segments"]} == row["shown"]


def test_epochs_widen_a_row(data: Path) -> None:
    row = rows(str(data), epochs=True)["a-0"]
    assert {"epochs": row["leader_epochs"]} == row["shown"]


def test_batches_widen_a_row(data: Path) -> None:
    """The headers of every segment in their order."""
    shown = rows(str(data), batches=True)["a-0"]["shown"]["batches"]
    assert [*range(0, 300, 10)] == [row["base_offset"] for row in shown]
    assert {
        "position": 900, "size": 100, "magic": 2, "base_offset": 290, "last_offset": 299, "leader_epoch": 2,
        "records": 10, "max_timestamp": 1_700_000_000_010,
    } == shown[-1]  # fmt: skip


def test_files_widen_a_row(data: Path) -> None:
    shown = rows(str(data), files=True)["b-1"]["shown"]["files"]
    assert [{"file": LOG, "size": 100}, {"file": "leader-epoch-checkpoint", "size": 8}] == shown


def test_partitions_are_sorted_by_topic_and_number() -> None:
    log_dir(Path("data"))
    for name in ("b-0", "a-10", "a-9", f"a-9.{FILE_OF}-future"):
        partition_dir(Path("data") / name, [run(0, 9)])
    assert ["a-9", f"a-9.{FILE_OF}-future", "a-10", "b-0"] == list(rows())


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (PartitionFilter(), ["a-0", "a-1", "b-0"]),
        (PartitionFilter(topics=("a",)), ["a-0", "a-1"]),
        (PartitionFilter(topics=("[ab]",)), ["a-0", "a-1", "b-0"]),
        (PartitionFilter(partitions=("0",)), ["a-0", "b-0"]),
        (PartitionFilter(partitions=("a-1", "b-0")), ["a-1", "b-0"]),
    ],
)
def test_topic_and_partition_choose(wanted: PartitionFilter, expected: list[str]) -> None:
    log_dir(Path("data"))
    for name in ("a-0", "a-1", "b-0"):
        partition_dir(Path("data") / name, [run(0, 9)])
    assert expected == list(rows(wanted=wanted))


def test_findings_of_other_partitions_are_not_told() -> None:
    """Neither those of the partitions nor those of the log dir's checkpoints."""
    points = {"a-0": 99, "b-0": 99}
    log_dir(Path("data"), recovery_point=points, high_watermark=points)
    for name in ("a-0", "b-0"):
        partition_dir(Path("data") / name, [run(0, 9)])
    found = inspected("data", wanted=PartitionFilter(topics=("b",)))["findings"]
    assert found
    assert {("b", 0)} == {(row["topic"], row["partition"]) for row in found}


def test_a_file_of_every_kind(data: Path) -> None:
    """Recognised by its name, decoded, with what the broker reads in it."""
    partition = data / "a-0"
    names = {
        data / "recovery-point-offset-checkpoint": "offset-checkpoint",
        data / "meta.properties": "meta-properties",
        data / ".kafka_cleanshutdown": "clean-shutdown",
        partition / "leader-epoch-checkpoint": "leader-epoch-checkpoint",
        partition / "partition.metadata": "partition-metadata",
        partition / LOG: "segment",
        partition / "00000000000000000000.index": "offset-index",
    }
    for path, kind in names.items():
        item = only(str(path))
        assert (kind, str(path)) == (item["kind"], item["path"])


def test_an_offset_checkpoint(data: Path) -> None:
    item = only(f"{data}/recovery-point-offset-checkpoint")
    entries = [{"topic": "a", "partition": 0, "offset": 200}, {"topic": "b", "partition": 1, "offset": 3}]
    assert (0, entries, []) == (item["version"], item["entries"], item["defects"])
    assert {"entries": entries} == item["broker_reads"]


def test_a_damaged_offset_checkpoint_is_an_answer() -> None:
    """What can be read, what the broker makes of it, and a finding."""
    write(Path(), {"replication-offset-checkpoint": b"0\n3x\na 0 5\n"})
    found = inspected("replication-offset-checkpoint")
    (item,) = found["items"]
    assert [{"topic": "a", "partition": 0, "offset": 5}] == item["entries"]
    assert {"error": "IOException"} == item["broker_reads"]
    assert [2] == [defect["line"] for defect in item["defects"]]
    assert "KC101" in ids(found) or "KC102" in ids(found)


def test_a_segment() -> None:
    write(Path(), {LOG: log(run(0, 99)) + bytes(50)})
    assert {
        "kind": "segment", "path": LOG, "base_offset": 0, "end_offset": 100, "size": 1050, "valid_size": 1000,
        "stopped_by": "an entry of 0 bytes is too small for a batch", "batches": 10,
        "max_timestamp": 1_700_000_000_010,
    } == only(LOG)  # fmt: skip


def test_the_batches_of_a_segment() -> None:
    write(Path(), {LOG: log([message(0, magic=0), message(9, magic=1, codec=1), batch(10, 5, epoch=3)])})
    headers = only(LOG, batches=True)["headers"]
    assert [(0, 0, 1, None), (1, 9, None, None), (2, 10, 5, 3)] == [
        (row["magic"], row["base_offset"], row["records"], row["leader_epoch"]) for row in headers
    ]


def test_an_empty_segment_file() -> None:
    write(Path(), {"00000000000000000007.log": b""})
    item = only("00000000000000000007.log")
    assert (7, 7, 0, None) == (item["base_offset"], item["end_offset"], item["batches"], item["max_timestamp"])


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("offset-checkpoint", offsets({"t-0": 1})),
        ("leader-epoch-checkpoint", epochs((0, 0))),
        ("meta-properties", meta_properties(1)),
        ("partition-metadata", partition_metadata()),
        ("clean-shutdown", b'{"version":0,"brokerEpoch":7}'),
        ("offset-index", index((5, 100))),
        ("segment", log(run(0, 9))),
    ],
)
def test_a_renamed_copy_is_read_as_what_it_is_said_to_be(kind: str, content: bytes) -> None:
    write(Path(), {"copy.bak": content})
    found = inspected("copy.bak", as_kind=kind)
    (item,) = found["items"]
    assert (kind, "copy.bak", []) == (item["kind"], item["path"], found["findings"])


def test_a_name_that_is_none_of_kafkas_asks_for_as() -> None:
    Path("notes.txt").touch()
    with pytest.raises(UsageError, match=r"^notes.txt: not a Kafka file name; use --as KIND: .*offset-checkpoint"):
        inspected("notes.txt")


def test_an_unknown_kind_names_the_known() -> None:
    Path("notes.txt").touch()
    with pytest.raises(UsageError, match=r"^unknown --as poem; use one of .*offset-checkpoint"):
        inspected("notes.txt", as_kind="poem")


def test_a_missing_file_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"^gone.log: no such file or directory$"):
        inspected("gone.log")


def test_where_nobody_may_look_no_kind_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be a directory."""

    def refuses(*_: object) -> int:
        raise UnreadableError("Permission denied")

    Path("notes").touch()
    monkeypatch.setattr(LocalTree, "size", refuses)
    with pytest.raises(UsageError, match=r"^notes: Permission denied$"):
        inspected("notes")


def test_a_link_that_the_user_named_is_read(data: Path) -> None:
    Path("link.index").symlink_to(f"{data}/a-0/00000000000000000000.index")
    assert only("link.index", as_kind="offset-index")["entries"]


def test_a_fifo_that_the_user_named_cannot_be_read() -> None:
    os.mkfifo("00000000000000000000.index")
    found = inspected("00000000000000000000.index")
    assert ([], ["KC001"]) == (found["items"], ids(found))
