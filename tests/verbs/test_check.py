"""What `kcheck check` looks at, at each depth."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL, LocalDirectory
from kcheck.errors import UsageError
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.model.source import Source
from kcheck.survey.coverage import Coverage
from kcheck.verbs.check import ReadOptions, check
from kcheck.verbs.next_starts import NextStarts
from tests.builders import batch, broker, flip_byte, log, partition_dir, run, write
from tests.reports import EVERY, document, ids

pytestmark = pytest.mark.usefixtures("in_folder")


def checked(
    *paths: str, depth: str = "crc", as_kind: str | None = None, wanted: PartitionFilter = EVERY
) -> dict[str, Any]:
    """Return what `kcheck check` says."""
    return document(check([*paths], depth=Depth(depth), as_kind=as_kind, wanted=wanted, release=release("4.3")))


def test_a_segment_that_was_named_alone() -> None:
    """With its indexes, if they stand beside it; what it is can be said."""
    partition_dir(Path("t-0"), [run(0, 99)])
    found = checked("t-0/00000000000000000000.log")
    assert {"log_dirs": 0, "partitions": 0, "segments": 1, "files": 2, "bytes": 1072} == found["checked"]
    Path("t-0/00000000000000000000.log").rename("copy")
    assert 1000 == checked("copy", as_kind="segment")["checked"]["bytes"]


def test_what_cannot_be_read_is_told() -> None:
    """And the rest is looked at."""
    broker(Path("data"), run(0, 99))
    for name in ("00000000000000000000.timeindex", "00000000000000000099.snapshot"):
        os.mkfifo(f"data/t-0/{name}")
    os.mkfifo("00000000000000000000.log")
    os.mkfifo("meta.properties")
    unread = [row["file"] for row in checked("data")["findings"] if row["id"] == "KC001"]
    assert ["00000000000000000000.timeindex", "00000000000000000099.snapshot"] == unread
    assert ["KC001", "KC001"] == ids(checked("00000000000000000000.log", "meta.properties"))


def test_a_segment_that_vanishes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    broker(Path("data"), run(0, 99))

    def late(_: LocalDirectory, name: str) -> AbstractContextManager[Source]:
        path = Path("data/t-0", name)
        path.unlink(missing_ok=True)
        return LOCAL.open(str(path))

    monkeypatch.setattr(LocalDirectory, "open", late)
    assert "KC001" in ids(checked("data"))


def test_an_unknown_kind_is_a_usage_error() -> None:
    write(Path(), {"copy": b""})
    with pytest.raises(UsageError, match="not a Kafka file name"):
        checked("copy")


def test_a_link_to_a_directory_counts_as_one() -> None:
    """Wherever it leads a broker follows it, and cannot read its name; one that leads nowhere it passes over."""
    broker(Path("data"), run(0, 99))
    Path("elsewhere").mkdir()
    (Path("data") / "dangling").symlink_to("nowhere")
    before = ids(checked("data", depth="checkpoints"))
    (Path("data") / "backup").symlink_to(Path("elsewhere").absolute())
    assert sorted([*before, "KC301"]) == sorted(ids(checked("data", depth="checkpoints")))
    assert "KC301" not in before


@pytest.mark.parametrize(("swap", "found"), [("0", []), ("60", ["KC405"])])
def test_a_compaction_that_a_start_finishes_brings_the_first_segment(swap: str, found: list[str]) -> None:
    """A broker that was killed while it put the compacted segment in its place has deleted the old one already."""
    broker(Path("d1"), run(0, 49), broker_id=1)
    broker(Path("d2"), run(60, 99), broker_id=2)
    write(Path("d2") / "t-0", {f"{int(swap):020d}.log.swap": log(run(int(swap), 69))})
    assert found == [each for each in ids(checked("1=d1", "2=d2")) if each == "KC405"]


def test_an_interrupt_simulates_no_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings so far are shown at once: a start can take minutes."""
    broker(Path("data"), run(0, 99), clean=False, recovery_point=0)
    flip_byte(Path("data/t-0/00000000000000000000.log"), 90)
    write(Path("data/t-0"), {"00000000000000000100.log": batch(100).data})

    def stop(_: Coverage) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(NextStarts, "_predicted", lambda *_: pytest.fail("a start is simulated"))
    answer = check(
        ["data"],
        depth=Depth.CRC,
        as_kind=None,
        wanted=EVERY,
        release=release("4.3"),
        reading=ReadOptions(tell=stop),
    )
    assert answer.interrupted is not None
    assert any(finding.id == "KC141" and finding.claims for finding in answer.collected)
