"""Followers that `kcheck truncation` plans to begin anew: behind a log start, a remote log, a snapshot of KRaft."""

from pathlib import Path

import pytest

from kcheck.model.names import LOG_START
from kcheck.model.report import PartitionFilter
from tests.builders import broker, log_dir, offsets, partition_dir, run, write
from tests.reports import follower_of

pytestmark = pytest.mark.usefixtures("in_folder")

METADATA = "__cluster_metadata-0"
TIERED = Path(__file__).parents[2] / "fixtures/brokers/4.3.1/tiered/broker-1/data1"


def test_a_log_that_is_emptied_begins_with_the_batch_of_the_log_start() -> None:
    """Nothing stays of it that could differ from the leader, whose log start lies inside of a batch."""
    broker(Path("d1"), run(0, 99), broker_id=1, epoch_entries=[(0, 75)])
    write(Path("d1"), {LOG_START: offsets({"t-0": 75})})
    broker(Path("d2"), run(0, 49), broker_id=2)
    follower = follower_of("d1", "d2", leader="1")
    assert [75, 70] == [step["truncate_to"] for step in follower["steps"] if step["truncate_to"]]
    assert (70, 70, "ok", None) == tuple(
        follower[key] for key in ("truncate_to", "log_end_offset_after", "status", "diverges_silently_at")
    )
    assert {"from": 0, "to": 50} == follower["expired"]


@pytest.mark.parametrize(
    ("topic", "end", "cuts", "lost", "expired"),
    [
        ("whole", 10, [30], None, None), ("whole", 15, [10, 30], (10, 15, True), None),
        ("whole", 35, [10, 30], (10, 35, True), None),
        ("tiered", 10, [15, 30], None, (0, 10)), ("tiered", 20, [10, 15, 30], (15, 20, True), (0, 15)),
    ],
)  # fmt: skip
def test_what_is_in_remote_storage_alone_is_not_fetched(
    topic: str, end: int, cuts: list[int], lost: tuple[int, int, bool] | None, expired: tuple[int, int] | None
) -> None:
    """The log begins anew where that of the leader begins locally; what diverged before is told by the epochs."""
    batches = [*run(0, 9), *run(10, end - 1, epoch=1)]
    log_dir(Path("d2"), broker_id=2, recovery_point={f"{topic}-0": end}, high_watermark={f"{topic}-0": 10})
    Path("d2/meta.properties").unlink()
    partition_dir(Path("d2") / f"{topic}-0", [batches], epoch_entries=[(0, 0), (1, 10)][: 1 + (end > 10)])
    follower = follower_of(f"1={TIERED}", "2=d2", leader="1", wanted=PartitionFilter((topic,)))
    assert cuts == [step["truncate_to"] for step in follower["steps"] if step["truncate_to"] is not None]
    assert cuts[-1] == follower["log_end_offset_after"]
    told = follower["lost"]
    assert lost == (told and (told["from"], told["to"], told["certain"]))
    assert expired == (follower["expired"] and tuple(follower["expired"].values()))
    assert (30, 40, 10) == tuple(follower["refetch"][key] for key in ("from", "to", "records"))


def test_lost_records_in_remote_storage_are_not_counted() -> None:
    """Of a log that is cut below its first segment."""
    partition_dir(Path("d2/whole-0"), [[*run(0, 9), *run(10, 14, epoch=1)]], epoch_entries=[(0, 0), (1, 10)])
    follower = follower_of("2=d2", f"1={TIERED}", leader="2", wanted=PartitionFilter(("whole",)))
    assert (1, 10, (10, 40, None, None, 30)) == (
        follower["broker_id"],
        follower["log_end_offset_after"],
        tuple(follower["lost"][key] for key in ("from", "to", "records", "bytes", "below_high_watermark")),
    )


@pytest.mark.parametrize(
    ("snapshots", "begin", "anew_at"),
    [
        ((), 0, None),
        (((8, 1),), 0, None),
        (((8, 1), (60, 3)), 0, None),
        (((8, 2), (60, 3)), 0, 60),
        (((55, 2),), 55, 55),
    ],
)
def test_the_log_of_kraft_where_it_is_named_itself(
    snapshots: tuple[tuple[int, int], ...], begin: int, anew_at: int | None
) -> None:
    """A controller and a broker share the offsets below 50, all of epoch 1; who is behind a snapshot is sent one."""
    ours = [batch for batch in (*run(0, 49, epoch=1), *run(50, 89, epoch=3)) if batch.base_offset >= begin]
    entries = [(1, 0), (3, 50)] if begin == 0 else [(3, begin)]
    partition_dir(Path("100") / METADATA, [ours], epoch_entries=entries, base_offset=begin)
    write(Path("100") / METADATA, {f"{end:020d}-{epoch:010d}.checkpoint": b"" for end, epoch in snapshots})
    write(Path("100") / METADATA, {f"{99:020d}-{9:010d}.checkpoint.deleted": b""})
    partition_dir(Path("1") / METADATA, [run(0, 53, epoch=1)], epoch_entries=[(1, 0)])
    follower = follower_of(f"100=100/{METADATA}", f"1=1/{METADATA}", leader="100", live=True)
    if anew_at is None:
        assert (50, None) == (follower["truncate_to"], follower["problem"])
    else:
        assert f"the leader sends a snapshot, so the follower's log restarts at offset {anew_at}" == follower["problem"]
