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


SMALL = 162
"""The bytes of the small files of a broker of `tests.builders`."""


def checked(
    *paths: str, depth: str = "crc", as_kind: str | None = None, wanted: PartitionFilter = EVERY
) -> dict[str, Any]:
    """Return what `kcheck check` says."""
    return document(check([*paths], depth=Depth(depth), as_kind=as_kind, wanted=wanted, release=release("4.3")))


def test_how_much_was_looked_at() -> None:
    """At the depth of the checkpoints the logs are not read from their start."""
    broker(Path("data"), run(0, 99))
    (Path("data/t-0") / "00000000000000000000.timeindex").write_bytes(b"")
    counts = {str(depth): checked("data", depth=depth)["checked"] for depth in Depth}
    assert {"log_dirs": 1, "partitions": 1, "segments": 1, "files": 7, "bytes": SMALL} == counts["checkpoints"]
    index_size = 9 * 8
    assert {**counts["checkpoints"], "files": 10, "bytes": SMALL + 1000 + index_size} == counts["headers"]
    assert counts["headers"] == counts["crc"]


def test_each_depth_finds_more() -> None:
    """A flipped bit of a record shows in the CRC alone, a destroyed length in the headers."""
    broker(Path("data"), run(0, 99))
    flip_byte(Path("data/t-0/00000000000000000000.log"), 90)
    assert [[], [], ["KC141"], ["KC141"]] == [[i for i in ids(checked("data", depth=d)) if i == "KC141"] for d in Depth]
    flip_byte(Path("data/t-0/00000000000000000000.log"), 8)
    assert [False, True, True, True] == ["KC142" in ids(checked("data", depth=d)) for d in Depth]


def test_a_segment_that_was_named_alone() -> None:
    """With its indexes, if they stand beside it; what it is can be said."""
    partition_dir(Path("t-0"), [run(0, 99)])
    found = checked("t-0/00000000000000000000.log")
    assert {"log_dirs": 0, "partitions": 0, "segments": 1, "files": 2, "bytes": 1072} == found["checked"]
    Path("t-0/00000000000000000000.log").rename("copy")
    assert 1000 == checked("copy", as_kind="segment")["checked"]["bytes"]


def test_a_small_file_that_was_named_alone() -> None:
    write(Path(), {"leader-epoch-checkpoint": b"0\n2\n5 0\n4 7\n"})
    found = checked("leader-epoch-checkpoint")
    assert ["KC201"] == ids(found)
    assert {"files": 1, "bytes": 12} == {key: found["checked"][key] for key in ("files", "bytes")}


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


def test_a_directory_in_the_place_of_a_file_is_told() -> None:
    """One under any other name is not."""
    broker(Path("data"), run(0, 99))
    Path("data/t-0/leader-epoch-checkpoint").unlink()
    Path("data/t-0/other").mkdir()
    Path("data/t-0/leader-epoch-checkpoint").mkdir()
    found = checked("data")["findings"]
    assert [("KC233", "leader-epoch-checkpoint")] == [(row["id"], row["file"]) for row in found if row["id"] != "KC154"]


def test_a_segment_that_vanishes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    broker(Path("data"), run(0, 99))

    def late(_: LocalDirectory, name: str) -> AbstractContextManager[Source]:
        path = Path("data/t-0", name)
        path.unlink(missing_ok=True)
        return LOCAL.open(str(path))

    monkeypatch.setattr(LocalDirectory, "open", late)
    assert "KC001" in ids(checked("data"))


def test_a_directory_that_waits_for_its_end_is_not_read() -> None:
    """No broker reads the records of a deleted partition again."""
    partition_dir(Path("data/t-0"), [run(0, 9)])
    partition_dir(Path("data/t-1.0123456789abcdef0123456789abcdef-delete"), [run(0, 9)])
    for folder in Path("data").iterdir():
        flip_byte(folder / "00000000000000000000.log", 90)
    assert ["t-0"] == [row["dir"] for row in checked("data")["findings"] if row["id"] == "KC141"]


def test_only_what_is_wanted_is_read() -> None:
    partition_dir(Path("data/t-0"), [run(0, 9)])
    partition_dir(Path("data/u-0"), [run(0, 9)])
    found = checked("data", wanted=PartitionFilter(topics=("u",)))
    assert (1, 1) == (found["checked"]["partitions"], found["checked"]["segments"])


def test_the_next_start_reads_from_the_recovery_point_on() -> None:
    """After an unclean stop; the segment of the recovery point and those behind it."""
    segments = [run(0, 99), run(100, 199), run(200, 299)]
    broker(Path("data"), [batch(0)], clean=False, recovery_point=150)
    partition_dir(Path("data/t-0"), segments)
    for name in ("00000000000000000000", "00000000000000000100", "00000000000000000200"):
        flip_byte(Path(f"data/t-0/{name}.log"), 90)
    effects = [row["effect"] for row in checked("data")["findings"] if row["id"] == "KC141"]
    assert [False, True, True] == ["because the shutdown was unclean" in effect for effect in effects]
    write(Path("data"), {".kafka_cleanshutdown": b""})
    effects = [row["effect"] for row in checked("data")["findings"] if row["id"] == "KC141"]
    assert [False, False, False] == ["because the shutdown was unclean" in effect for effect in effects]


def test_two_brokers_in_one_check() -> None:
    broker(Path("d1"), run(0, 9), broker_id=1)
    broker(Path("d2"), run(0, 9), broker_id=2)
    assert 2 == checked("1=d1", "2=d2")["checked"]["log_dirs"]


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
