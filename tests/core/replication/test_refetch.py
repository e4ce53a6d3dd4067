"""What a follower fetches after its truncation: batches that it refuses, epochs that its leader does not know."""

from collections.abc import Iterator

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import FetchAnswer, FetchRequest, Leader, Replica, Status, TruncateToHighWatermark
from kcheck.core.replication.lineage import EpochRange
from kcheck.core.replication.refetch import follow, sends_snapshot
from kcheck.core.replication.truncation import plan_truncation
from kcheck.model.entries import Epoch, EpochEntry, Offset


@pytest.mark.parametrize(
    ("kafka", "begins"), [("1.0.1", False), ("1.0.2", True), ("1.1.0", False), ("1.1.1", True), ("4.3", True)]
)
def test_the_first_batch_begins_below_the_log_end(kafka: str, begins: bool) -> None:
    """An empty log starts with it if the release allows that (KAFKA-6975); any other log refuses it."""
    of = release(kafka)
    cut = plan_truncation(
        Replica(cache=(), log_end_offset=3, high_watermark=3),
        Leader(cache=(EpochEntry(1, 0),), log_end_offset=9, log_start_offset=5),
        release=of,
    )
    leader = Leader(cache=(EpochEntry(1, 0),), log_end_offset=9)
    batches = (EpochRange(4, 6, Epoch(1)),), (EpochRange(6, 9, Epoch(1)),)
    truncation = follow(cut, leader, (EpochRange(0, 9, Epoch(1)),), lambda offset: batches[offset >= 6 :], release=of)
    assert (Status.OK if begins else Status.FETCH_FAILS, 4 if begins else 5) == (
        truncation.status, truncation.after.log_end_offset,
    )  # fmt: skip
    assert begins == (truncation.steps[-1] == FetchRequest(5, None, FetchAnswer.RECORDS, truncate_to=4))
    kept = plan_truncation(
        Replica(cache=(), log_end_offset=8, high_watermark=7),
        Leader(cache=(EpochEntry(1, 0),), log_end_offset=9),
        release=of,
    )
    failed = follow(kept, leader, (EpochRange(0, 9, Epoch(1)),), lambda _: [(EpochRange(6, 9, Epoch(1)),)], release=of)
    assert (Status.FETCH_FAILS, 7) == (failed.status, failed.after.log_end_offset)


@pytest.mark.parametrize(
    ("size", "kafka", "status", "asked"),
    [(10, "4.3", Status.OK, [0]), (4, "4.3", Status.NEVER_COMPLETES, [0, 4, 0]), (4, "2.7", Status.OK, [])],
)
def test_what_a_fetch_brings_may_end_where_the_leader_knows_of_no_epoch(
    size: int, kafka: str, status: Status, asked: list[int]
) -> None:
    """From 2.8 the next fetch names that epoch, and the follower truncates. A single fetch of everything does not."""
    lineage = EpochRange(0, 5, Epoch(2)), EpochRange(5, 10, Epoch(3))
    leader = Leader(cache=(EpochEntry(1, 0), EpochEntry(3, 0)), log_end_offset=10)
    empty = plan_truncation(Replica(cache=(), log_end_offset=0, high_watermark=0), leader, release=release(kafka))

    def sent(offset: Offset) -> Iterator[tuple[EpochRange, ...]]:
        for start in range(offset, 10, size):
            parts = (EpochRange(max(start, run.start), min(start + size, run.end), run.epoch) for run in lineage)
            yield tuple(run for run in parts if run.start < run.end)

    truncation = follow(empty, leader, lineage, sent, release=release(kafka))
    requests = [step.offset for step in truncation.steps if isinstance(step, FetchRequest)]
    assert (status, asked, 0) == (truncation.status, requests, truncation.after.log_end_offset)


@pytest.mark.parametrize(
    ("kafka", "epoch", "end", "status"),
    [
        ("4.3", -1, 2, Status.FETCH_FAILS), ("2.4", -1, 2, Status.FETCH_FAILS), ("1.1.1", -1, 2, Status.FETCH_FAILS),
        ("4.3", -1, 7, Status.OK), ("2.4", -1, 7, Status.OK), ("0.10.2", -1, 2, Status.OK),
        ("4.3", None, 2, Status.OK), ("2.4", None, 2, Status.OK),
    ],
)  # fmt: skip
def test_a_batch_without_an_epoch_is_refused(kafka: str, epoch: int | None, end: int, status: Status) -> None:
    """Every release with epochs refuses it (LeaderEpochFileCache.assign). Messages of magic 0 and 1 empty the cache."""
    lineage = EpochRange(0, 4, Epoch(1)), EpochRange(4, 6, epoch), EpochRange(6, 9, Epoch(3))
    cache = (EpochEntry(1, 0), EpochEntry(3, 6))
    leader = Leader(cache=cache[1:], log_end_offset=9)
    replica = Replica(cache=cache[: 1 if end < 6 else 2], log_end_offset=end, high_watermark=end)
    truncation = plan_truncation(replica, leader, release=release(kafka))

    def sent(offset: Offset) -> Iterator[tuple[EpochRange, ...]]:
        yield from ((run._replace(start=max(run.start, offset)),) for run in lineage if run.end > offset)

    assert status == follow(truncation, leader, lineage, sent, release=release(kafka)).status


@pytest.mark.parametrize(
    ("offset", "epoch", "log_start", "sent"),
    [
        (0, None, 0, None), (7, 2, 0, None), (7, 1, 0, 90), (7, None, 0, 90), (50, 2, 50, None), (50, 3, 50, 90),
        (49, 2, 50, 90), (51, 3, 50, None),
    ],
)  # fmt: skip
def test_a_snapshot_is_sent_to_who_is_behind_the_log_or_the_epochs(
    offset: Offset, epoch: Epoch | None, log_start: Offset, sent: int | None
) -> None:
    """The oldest snapshot sets the lowest epoch; the leader sends the newest (ReplicatedLog.validateOffsetAndEpoch)."""
    steps = (TruncateToHighWatermark(Offset(3)), FetchRequest(offset, epoch, FetchAnswer.RECORDS))
    snapshots = ((Offset(50), Epoch(2)), (Offset(90), Epoch(3)))
    assert sent == sends_snapshot(steps, snapshots, log_start_offset=log_start)
    assert sends_snapshot(steps, (), log_start_offset=log_start) is None
