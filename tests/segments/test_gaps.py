"""Which offsets no segment of a log holds, from the ends of its segments alone."""

from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.segments.gaps import gaps
from tests.builders import partition_dir, run


def found(path: Path, *bases: int, start: int = 0) -> list[tuple[int, int]]:
    """Return the gaps between segments with these base offsets."""
    with LOCAL.directory(str(path)) as files:
        return [*gaps(files, [Offset(base) for base in bases], Offset(start))]


@pytest.mark.parametrize("index_every", [1, 3, None])
def test_what_is_between_two_segments(tmp_path: Path, index_every: int | None) -> None:
    path = partition_dir(tmp_path / "t-0", [run(0, 99), run(100, 149), run(300, 349)], index_every=index_every)
    assert found(path, 0, 100, 300) == [(150, 300)]
    assert found(path, 0, 100, 300, start=200) == [(150, 300)]
    assert found(path, 0, 100, 300, start=300) == []
    assert found(path, 0) == []


def test_a_segment_that_ends_early(tmp_path: Path) -> None:
    """Its last batches are gone, or it has none; one that cannot be read tells nothing."""
    path = partition_dir(tmp_path / "t-0", [run(0, 99), run(100, 149)])
    log = path / f"{0:020}.log"
    log.write_bytes(log.read_bytes()[:-150])
    assert found(path, 0, 100) == [(80, 100)]
    log.write_bytes(b"")
    assert found(path, 0, 100) == [(0, 100)]
    log.unlink()
    assert found(path, 0, 100) == []
