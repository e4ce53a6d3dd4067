"""What `kcheck end-offset` answers from log dirs and bare files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.errors import UsageError
from kcheck.model.unreadable import UnreadableError
from tests.builders import broker, epochs, flip_byte, partition_dir, run, write
from tests.growth import grows_with_its_input
from tests.reports import answered

pytestmark = pytest.mark.usefixtures("in_folder")

FIELDS = ["broker_id", "topic", "partition", "requested_epoch", "epoch", "end_offset", "error", "log_end_offset"]


@pytest.fixture
def data() -> Path:
    """Write a log dir with the epochs 0 from 0, 2 from 40 and 5 from 90, and the log end 100."""
    batches = [*run(0, 39), *run(40, 89, epoch=2), *run(90, 99, epoch=5)]
    return broker(Path("data"), batches, epoch_entries=[(0, 0), (2, 40), (5, 90)])


def said(*paths: str | Path, **how: Any) -> dict[int, tuple[int, int, str]]:
    """Return epoch, end offset and error by the epoch that was asked for."""
    rows = answered(*paths, **how)["answers"]
    return {row["requested_epoch"]: (row["epoch"], row["end_offset"], row["error"]) for row in rows}


def test_an_answer_has_every_field(data: Path) -> None:
    found = answered(data, epochs=(2,))
    (row,) = found["answers"]
    assert ("P5", [1, "t", 0, 2, 2, 90, "NONE", 100]) == (found["profile"], [row[key] for key in FIELDS])


@pytest.mark.parametrize(
    ("epoch", "expected"),
    [(0, (0, 40)), (1, (0, 40)), (2, (2, 90)), (4, (2, 90)), (5, (5, 100)), (6, (-1, -1)), (-1, (-1, -1))],
)
def test_the_largest_epoch_that_is_not_above_the_asked_one(data: Path, epoch: int, expected: tuple[int, int]) -> None:
    """Its end is where the next one starts."""
    assert {epoch: (*expected, "NONE")} == said(data, epochs=(epoch,))


def test_several_epochs_are_answered_in_their_order(data: Path) -> None:
    rows = answered(data, epochs=(5, 0, 5))["answers"]
    assert [5, 0, 5] == [row["requested_epoch"] for row in rows]


def test_without_an_epoch_every_one_worth_knowing_is_asked(data: Path) -> None:
    """The known ones, the one below, the gaps and the one above."""
    assert [*range(-1, 7)] == list(said(data))


@pytest.mark.parametrize(
    ("current", "kafka", "error"),
    [
        (-1, "4.3", "NONE"),
        (5, "4.3", "NONE"),
        (4, "4.3", "FENCED_LEADER_EPOCH"),
        (6, "4.3", "UNKNOWN_LEADER_EPOCH"),
        (4, "2.1", "FENCED_LEADER_EPOCH"),
        (4, "2.0", "NONE"),
    ],
)
def test_a_request_of_another_epoch_is_fenced_from_2_1(data: Path, current: int, kafka: str, error: str) -> None:
    (row,) = answered(data, epochs=(2,), current=current, kafka=kafka)["answers"]
    assert error == row["error"]
    if error != "NONE":
        assert (-1, -1) == (row["epoch"], row["end_offset"])


def test_a_release_before_the_request_refuses_it(data: Path) -> None:
    """OffsetsForLeaderEpoch came with 0.11."""
    (row,) = answered(data, epochs=(2,), kafka="0.10.2")["answers"]
    assert ("UNSUPPORTED_VERSION", -1) == (row["error"], row["end_offset"])


@pytest.mark.parametrize(("kafka", "epoch"), [("1.1", None), ("2.0", 2), ("4.3", 2)])
def test_the_epoch_is_in_the_answer_from_2_0(data: Path, kafka: str, epoch: int | None) -> None:
    """Version 0 of the reply has none: null."""
    (row,) = answered(data, epochs=(2,), kafka=kafka)["answers"]
    assert (epoch, 90) == (row["epoch"], row["end_offset"])


def test_a_bare_file_answers_with_the_log_end_that_is_said() -> None:
    write(Path(), {"leader-epoch-checkpoint": epochs((0, 0), (3, 50))})
    found = answered("leader-epoch-checkpoint", epochs=(0, 3), log_end=80)["answers"]
    assert [(None, None, 0, 50, 80), (None, None, 3, 80, 80)] == [
        (row["topic"], row["partition"], row["epoch"], row["end_offset"], row["log_end_offset"]) for row in found
    ]


def test_a_bare_file_without_a_log_end_is_a_usage_error() -> None:
    write(Path(), {"leader-epoch-checkpoint": epochs((0, 0))})
    with pytest.raises(UsageError, match=r"^leader-epoch-checkpoint: a bare .* needs --log-end-offset$"):
        answered("leader-epoch-checkpoint")


def test_a_bare_file_that_cannot_be_read_is_named() -> None:
    os.mkfifo("leader-epoch-checkpoint")
    with pytest.raises(UnreadableError, match=r"^leader-epoch-checkpoint: not a regular file$"):
        answered("leader-epoch-checkpoint,leo=5")


def test_a_log_end_that_is_said_is_not_taken_for_a_log(data: Path) -> None:
    """Where there are segments they tell the log end."""
    assert (5, 100, "NONE") == said(data, epochs=(5,), log_end=7)[5]


def test_a_replica_answers_as_it_lies(data: Path) -> None:
    """A start may change the answer: `--after-start`."""
    (data / ".kafka_cleanshutdown").unlink()
    write(data, {"recovery-point-offset-checkpoint": b"0\n1\nt 0 0\n"})
    flip_byte(data / "t-0" / "00000000000000000000.log", 650)
    assert (5, 100, "NONE") == said(data, epochs=(5,))[5]
    assert (2, 60, "NONE") == said(data, epochs=(2,), after_start=True)[2]


def test_a_replica_that_cannot_be_read_answers_with_a_storage_error(data: Path) -> None:
    write(data / "t-0", {"leader-epoch-checkpoint": b"0\n1\n0 0\n1 5\n"})
    (row,) = answered(data, epochs=(0,))["answers"]
    assert ("KAFKA_STORAGE_ERROR", -1, -1) == (row["error"], row["epoch"], row["end_offset"])
    assert "cannot read leader-epoch-checkpoint" in row["problem"]


def test_answers_are_in_the_order_of_partitions_and_brokers() -> None:
    for number in (2, 1):
        broker(Path(f"d{number}"), run(0, 9), broker_id=number)
        partition_dir(Path(f"d{number}/a-10"), [run(0, 9)])
        partition_dir(Path(f"d{number}/a-9"), [run(0, 9)])
    rows = answered("d2", "d1", epochs=(0,))["answers"]
    expected = [("a", 9, 1), ("a", 9, 2), ("a", 10, 1), ("a", 10, 2), ("t", 0, 1), ("t", 0, 2)]
    assert expected == [(row["topic"], row["partition"], row["broker_id"]) for row in rows]


def test_a_partition_directory_that_stands_alone_answers(data: Path) -> None:
    (data / "t-0").rename("t-0")
    assert (2, 90, "NONE") == said("t-0", epochs=(2,))[2]


def test_a_bare_file_has_the_broker_that_is_said() -> None:
    """As for the other verbs."""
    write(Path(), {"leader-epoch-checkpoint": epochs((0, 0))})
    (row,) = answered("7=leader-epoch-checkpoint,leo=9", epochs=(0,))["answers"]
    assert (7, 0, 9) == (row["broker_id"], row["epoch"], row["end_offset"])


def test_the_table_of_many_epochs_grows_with_their_number() -> None:
    """A file can have a million lines: not all of them are gone through for each."""

    def table(count: int) -> Callable[[], object]:
        Path(str(count)).mkdir(exist_ok=True)
        write(Path(str(count)), {"leader-epoch-checkpoint": epochs(*((epoch, 10 * epoch) for epoch in range(count)))})
        return lambda: answered(f"{count}/leader-epoch-checkpoint", log_end=10 * count)

    assert grows_with_its_input(table, 100)
