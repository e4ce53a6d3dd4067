"""What `kcheck end-offset` answers from log dirs and bare files."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.errors import UsageError
from kcheck.model.unreadable import UnreadableError
from tests.builders import broker, epochs, run, write
from tests.growth import grows_with_its_input
from tests.reports import answered

pytestmark = pytest.mark.usefixtures("in_folder")


@pytest.fixture
def data() -> Path:
    """Write a log dir with the epochs 0 from 0, 2 from 40 and 5 from 90, and the log end 100."""
    batches = [*run(0, 39), *run(40, 89, epoch=2), *run(90, 99, epoch=5)]
    return broker(Path("data"), batches, epoch_entries=[(0, 0), (2, 40), (5, 90)])


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


def test_a_replica_that_cannot_be_read_answers_with_a_storage_error(data: Path) -> None:
    write(data / "t-0", {"leader-epoch-checkpoint": b"0\n1\n0 0\n1 5\n"})
    (row,) = answered(data, epochs=(0,))["answers"]
    assert ("KAFKA_STORAGE_ERROR", -1, -1) == (row["error"], row["epoch"], row["end_offset"])
    assert "cannot read leader-epoch-checkpoint" in row["problem"]


def test_the_table_of_many_epochs_grows_with_their_number() -> None:
    """A file can have a million lines: not all of them are gone through for each."""

    def table(count: int) -> Callable[[], object]:
        Path(str(count)).mkdir(exist_ok=True)
        write(Path(str(count)), {"leader-epoch-checkpoint": epochs(*((epoch, 10 * epoch) for epoch in range(count)))})
        return lambda: answered(f"{count}/leader-epoch-checkpoint", log_end=10 * count)

    assert grows_with_its_input(table, 100)
