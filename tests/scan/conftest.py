"""Directories that several modules look at."""

from pathlib import Path

import pytest

from tests.builders import log_dir, partition_dir, partition_metadata, run, write


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go where the files of a test are: paths are told as they were given, relative ones too."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data() -> Path:
    """Make a log dir with two segments in one partition and one in another."""
    path = log_dir(
        Path("data"),
        recovery_point={"a-0": 200, "b-1": 3},
        high_watermark={"a-0": 250},
        log_start={"a-0": 40},
    )
    partition_dir(path / "a-0", [run(0, 199), run(200, 299, epoch=2)], epoch_entries=[(0, 0), (2, 200)])
    write(path / "a-0", {"partition.metadata": partition_metadata()})
    partition_dir(path / "b-1", [run(0, 9)], index_every=None)
    return path
