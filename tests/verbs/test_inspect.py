"""What `kcheck inspect` shows of log dirs, partition directories and files."""

import os
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.local import LocalTree
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from tests.builders import batch, log, log_dir, message, partition_dir, run, write
from tests.reports import ids, inspected

pytestmark = pytest.mark.usefixtures("in_folder")

LOG = "00000000000000000000.log"

PARTITION_FIELDS = {
    "broker_id", "log_dir", "dir", "topic", "partition", "state", "topic_id", "log_start_offset", "recovery_point",
    "high_watermark", "log_end_offset", "size", "leader_epochs", "segments", "last_stable_offset", "open_transactions",
    "remote",
}  # fmt: skip


def only(path: str, **how: Any) -> dict[str, Any]:
    """Return the one item of a path."""
    (item,) = inspected(path, **how)["items"]
    assert isinstance(item, dict)
    return item


def rows(path: str = "data", **how: Any) -> dict[str, dict[str, Any]]:
    """Return the partitions of a log dir by directory."""
    return {row["dir"]: row for row in only(path, **how)["partitions"]}


def test_a_partition_of_a_log_dir(data: Path) -> None:
    """Offsets from the checkpoints, log start and log end as the broker finds them."""
    row = rows(str(data))["a-0"]
    assert set(row) == PARTITION_FIELDS
    tail = {"end_offset": 300, "size": 1000, "batches": None, "max_timestamp": None}
    untouched = {"end_offset": None, "size": 2000, "batches": None, "max_timestamp": None}
    assert {
        "last_stable_offset": None,
        "open_transactions": None,
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
        "remote": None,
    } == row


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


def test_the_batches_of_a_segment() -> None:
    write(Path(), {LOG: log([message(0, magic=0), message(9, magic=1, codec=1), batch(10, 5, epoch=3)])})
    headers = only(LOG, batches=True)["headers"]
    assert [(0, 0, 1, None), (1, 9, None, None), (2, 10, 5, 3)] == [
        (row["magic"], row["base_offset"], row["records"], row["leader_epoch"]) for row in headers
    ]


def test_a_name_that_is_none_of_kafkas_asks_for_as() -> None:
    Path("notes.txt").touch()
    with pytest.raises(UsageError, match=r"^notes.txt: not a Kafka file name; for example: --as segment"):
        inspected("notes.txt")


def test_an_unknown_kind_names_the_known() -> None:
    Path("notes.txt").touch()
    with pytest.raises(UsageError, match=r"^--as poem: not one of .*offset-checkpoint"):
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


def test_a_log_dir_that_is_given_as_that_of_another_broker() -> None:
    """It is shown, and a finding says what the broker makes of it."""
    log_dir(Path("d1"), broker_id=1)
    (finding,) = (row for row in inspected("7=d1")["findings"] if row["id"] == "KC315")
    assert finding["message"] == "meta.properties says broker 1, but the log dir is given for broker 7"
    assert "KC315" not in {row["id"] for row in inspected("1=d1")["findings"]}
