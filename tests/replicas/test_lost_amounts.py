"""Records that are damaged, cut, or nowhere: each counts once, and what is not known has a bound."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import kcheck

OUTRUN = Path(__file__).parents[2] / "fixtures" / "clusters" / "4.3.1" / "outrun"
LOG = "00000000000000000000.log"


@pytest.fixture
def brokers(tmp_path: Path) -> Path:
    """Give three brokers that were killed the same log of orders-0, that of broker 1."""
    for number in (1, 2, 3):
        data = tmp_path / f"broker-{number}" / "data1"
        shutil.copytree(OUTRUN / f"broker-{number}" / "data1", data)
        if number > 1:
            shutil.rmtree(data / "orders-0")
            shutil.copytree(OUTRUN / "broker-1" / "data1" / "orders-0", data / "orders-0")
    return tmp_path


def log_of(brokers: Path, number: int) -> Path:
    """Return the log of orders-0 on a broker."""
    return brokers / f"broker-{number}" / "data1" / "orders-0" / LOG


def cut(path: Path, size: int) -> None:
    """Cut a log to a size."""
    path.write_bytes(path.read_bytes()[:size])


def set_mark(brokers: Path, offset: int) -> None:
    """Give orders-0 a high watermark in the checkpoint of every broker."""
    for number in (1, 2, 3):
        path = brokers / f"broker-{number}" / "data1" / "replication-offset-checkpoint"
        lines = path.read_text("utf-8").splitlines()
        lines = [f"orders 0 {offset}" if line.startswith("orders 0 ") else line for line in lines]
        path.write_text("\n".join(lines) + "\n", "utf-8")


def losses(brokers: Path, *numbers: int) -> list[dict[str, Any]]:
    """Return what orders-0 loses under each leader: elect and truncation say the same."""
    paths = [f"{number}={brokers / f'broker-{number}'}" for number in numbers or (1, 2, 3)]
    wanted = ("--partition", "orders-0", "--format", "json")
    plans = json.loads(kcheck("truncation", *paths, *wanted).out)["partitions"] if len(paths) > 1 else []
    (row,) = json.loads(kcheck("elect", *paths, *wanted, "--incomplete-ok").out)["partitions"]
    found = {candidate["broker_id"]: candidate["lost"] for candidate in row["candidates"]}
    assert not plans or {plan["leader"]: plan["lost"] for plan in plans} == found
    return [found[number] for number in sorted(found) if found[number] is not None]


def end_of(brokers: Path) -> int:
    """Return where the last batch of the whole log begins."""
    return log_of(brokers, 1).stat().st_size - 161


def test_the_same_offsets_torn_here_and_corrupt_there_count_once(brokers: Path) -> None:
    """Two brokers have the first bytes of the last batch, the third has it with another byte.

    Broker 3 stopped cleanly: it does not look, and keeps a batch that no consumer accepts. That it was committed,
    brokers 1 and 2 know.
    """
    begin = end_of(brokers)
    for number in (1, 2):
        cut(log_of(brokers, number), begin + 100)
    data = bytearray(log_of(brokers, 3).read_bytes())
    data[begin + 120] ^= 1
    log_of(brokers, 3).write_bytes(data)
    assert [(lost["records"], lost["committed"]) for lost in losses(brokers)] == [(5, 5), (5, 5), (None, None)]
    assert bounds(losses(brokers)[2]) == (None, 5, 5)
    (log_of(brokers, 3).parents[1] / ".kafka_cleanshutdown").unlink()
    assert [(lost["records"], lost["committed"]) for lost in losses(brokers)] == [(5, 5)] * 3


def bounds(lost: dict[str, Any]) -> tuple[int | None, int | None, int | None]:
    """Return the records, and what the bounds are."""
    return lost["records"], lost["at_most"], lost["committed_at_most"]


def test_offsets_above_every_log_below_a_high_watermark_are_lost(brokers: Path) -> None:
    """The log ends at 35 everywhere, and a disk knows that 40 was committed: 5 offsets are nowhere.

    They can be those of transaction markers: that is a bound.
    """
    begin = end_of(brokers)
    set_mark(brokers, 40)
    assert [bounds(lost) for lost in losses(brokers)] == [(None, 5, 5)] * 3
    for number in (1, 2, 3):
        cut(log_of(brokers, number), begin + 100)
    assert [bounds(lost) for lost in losses(brokers)] == [(None, 10, 10)] * 3


def test_a_header_that_is_not_whole_leaves_a_bound(brokers: Path) -> None:
    """What it names is not known: no more than the offsets up to the high watermark, all of them committed."""
    begin = end_of(brokers)
    for number in (1, 2, 3):
        cut(log_of(brokers, number), begin + 20)
    set_mark(brokers, 40)
    bound = {"records": None, "committed": None, "bytes": 20, "at_most": 10, "committed_at_most": 10}
    assert losses(brokers) == [bound] * 3
    said = kcheck("elect", *(f"{n}={brokers / f'broker-{n}'}" for n in (1, 2, 3)), "--partition", "orders-0")
    assert "at most 10 records are lost, all of them committed" in " ".join(said.out.split())
    (start,) = json.loads(
        kcheck("predict", f"1={brokers}/broker-1", "--partition", "orders-0", "--format", "json").out
    )["log_dirs"]
    (partition,) = start["partitions"]
    assert partition["lost"] == {
        "from": 30, "to": 40, "records": None, "bytes": 20, "below_high_watermark": 10, "at_least": 0, "at_most": 10,
    }  # fmt: skip
    said = kcheck("predict", f"1={brokers}/broker-1", "--partition", "orders-0")
    assert "LOST at most 10 records (offsets 30-39)" in " ".join(said.out.split())


SEGMENTS = OUTRUN.parents[2] / "brokers" / "4.3.1" / "stopped"


def test_under_a_log_without_its_head_the_others_delete_theirs(tmp_path: Path) -> None:
    """The first segment of broker 1 is gone. UnifiedLog.maybeIncrementLogStartOffset: followers take its log start."""
    for number in (1, 2):
        shutil.copytree(SEGMENTS / f"broker-{number}", tmp_path / f"broker-{number}")
    (first,) = (tmp_path / "broker-1").glob(f"*/segments-0/{LOG}")
    paths = [f"{number}={tmp_path / f'broker-{number}'}" for number in (1, 2)]
    wanted = ("--partition", "segments-0")
    for path in first.parent.glob(f"{first.stem}.*"):
        path.unlink()
    (row,) = json.loads(kcheck("elect", *paths, *wanted, "--format", "json").out)["partitions"]
    costs = {c["broker_id"]: (c["lost"]["records"], c["lost"]["committed"]) for c in row["candidates"]}
    assert (costs, row["best"]) == ({1: (20, 20), 2: (0, 0)}, 2)
    assert {c["broker_id"]: c["loses_no_more_than"] for c in row["candidates"]} == {1: [], 2: [1]}
    said = kcheck("truncation", *paths, *wanted, "--leader", "1")
    assert (1, True) == (said.code, "deleted: offsets 0-19, below the leader's log start" in said.out)
    said = kcheck("check", *paths, *wanted, "--severity", "error")
    assert (1, True) == (said.code, "error KC203" in said.out)
