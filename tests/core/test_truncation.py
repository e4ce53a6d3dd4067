"""Every recorded truncation: the dialogue, the log afterwards, and what it cost."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from kcheck.core.dialogue import FetchError, FetchRequest, Leader, Replica, Status, TruncateToHighWatermark
from kcheck.core.lineage import Fork, Run, contradict, fork, lineage_of_cache, ranges
from kcheck.core.releases import release
from kcheck.core.truncation import (
    ROUND_COUNT_MAX,
    elected,
    fetch_check,
    follow,
    plan_truncation,
    sends_snapshot,
    truncate_to,
)
from kcheck.model.entries import Epoch, EpochEndOffset, EpochEntry, Offset
from tests.core.vectors import RELEASES, VECTORS, as_row, cache, every, follower, leader, name, pairs


def _elected(vector: dict[str, Any], profile: str) -> Leader:
    state = vector["leader"]
    silent = state.get("suppress_assign") or not state.get("epoch_cache_enabled", True) or state["new_epoch"] is None
    return leader(vector) if silent else elected(leader(vector), state["new_epoch"], release=RELEASES[profile])


@pytest.mark.parametrize(("vector", "profile"), every("truncation"), ids=name)
def test_dialogue_and_log_afterwards(vector: dict[str, Any], profile: str) -> None:
    """The requests, the answers, and the follower's log are the recorded ones; a loop is told after one round."""
    expected = vector["expect"][profile]
    found = plan_truncation(follower(vector), _elected(vector, profile), release=RELEASES[profile])
    steps = [as_row(step) for step in found.steps]
    wanted = expected["steps"]
    if expected["status"] == "never_completes":
        wanted = wanted[: len(steps)]
        assert steps
    after = found.after
    final = {"leo": after.log_end_offset, "log_start": after.log_start_offset, "cache": pairs(after.cache)}
    assert wanted == steps
    assert expected["final"] == final
    assert expected["status"] == found.status
    assert ("status_if_unclean_disabled" in expected) == found.exits_without_unclean_election


@pytest.mark.parametrize("vector", VECTORS["truncation"], ids=name)
def test_caches_tell_the_fork(vector: dict[str, Any]) -> None:
    """The first offset that both logs do not share, or nothing where the caches leave it open."""
    a, b = leader(vector), follower(vector)
    lineages = [
        lineage_of_cache(log.cache, log_start_offset=log.log_start_offset, log_end_offset=log.log_end_offset)
        for log in (a, b)
    ]
    found = fork(*lineages, a_end=a.log_end_offset, b_end=b.log_end_offset)
    assert vector["common_prefix"] == found.common_prefix


@pytest.mark.parametrize(
    ("vector", "profile"), [pair for pair in every("truncation") if "lost" in pair[0]["expect"][pair[1]]], ids=name
)
def test_what_a_truncation_costs(vector: dict[str, Any], profile: str) -> None:
    """Kept though it differs, lost for good, and cut but to be fetched again."""
    expected = vector["expect"][profile]
    state = follower(vector)
    found = ranges(
        Fork(vector["common_prefix"], None),
        log_start_offset=state.log_start_offset,
        before=state.log_end_offset,
        after=expected["final"]["leo"],
    )
    assert found.certain
    for key, value in (("kept_divergent", found.kept_divergent), ("lost", found.lost), ("refetched", found.refetched)):
        assert expected[key] == (None if value is None else list(value)), key


@pytest.mark.parametrize(("vector", "group"), every("fetch_check"), ids=name)
def test_leader_checks_a_fetch(vector: dict[str, Any], group: str) -> None:
    """Records, out of range, or the diverging epoch."""
    log = Leader(cache=cache(vector["cache"]), log_end_offset=vector["leo"], log_start_offset=vector["log_start"])
    of = release("4.3" if group == "ge_2.8.1" else "2.8.0")
    found = fetch_check(log, vector["fetch_offset"], vector["last_fetched_epoch"], release=of)
    said = {"diverging": [found.epoch, found.end_offset]} if isinstance(found, EpochEndOffset) else str(found)
    assert vector["expect"][group] == said


@pytest.mark.parametrize("vector", VECTORS["truncate_to"], ids=name)
def test_truncate_to(vector: dict[str, Any]) -> None:
    """The log after truncateTo: its end, its start, its high watermark and its epochs."""
    state, expected = vector["log"], vector["expect"]
    log = Replica(
        cache=cache(state["cache"]),
        log_end_offset=state["leo"],
        high_watermark=state["hw"],
        log_start_offset=state["log_start"],
        first_segment=state["segments"][0],
    )
    for kafka, group in (("2.6.0", "le_2_6_0"), ("4.3", "ge_2_6_1")):
        of = release(kafka)
        if "error" in expected:
            with pytest.raises(ValueError, match="cannot truncate"):
                truncate_to(log, vector["truncate_to"], release=of)
            continue
        found = truncate_to(log, vector["truncate_to"], release=of)
        epochs = expected["cache"][group] if isinstance(expected["cache"], dict) else expected["cache"]
        assert epochs == pairs(found.cache)
        assert (expected["leo"], expected["log_start"]) == (found.log_end_offset, found.log_start_offset)
        assert expected["hw"] == found.high_watermark
        assert expected["segments"][0] == found.first_segment


def test_high_watermark_stays_up_to_2_3() -> None:
    """Up to 2.3 a truncation leaves the high watermark alone until the next fetch."""
    log = Replica(cache=(), log_end_offset=10, high_watermark=8)
    assert truncate_to(log, 5, release=release("2.3")).high_watermark == 8
    assert truncate_to(log, 5, release=release("2.4")).high_watermark == 5


@pytest.mark.parametrize(
    ("kafka", "status"),
    [("1.1.1", Status.FETCH_FAILS), ("2.0.1", Status.FETCH_FAILS), ("2.2.1", Status.NEVER_COMPLETES)],
)
def test_a_leader_whose_log_starts_above_its_end(kafka: str, status: Status) -> None:
    """Up to 2.2.0 it has no records for who is at its end, and tells a log start that this one cannot take."""
    entries = (EpochEntry(Epoch(4), Offset(20)),)
    leads = Leader(cache=entries, log_end_offset=Offset(29), log_start_offset=Offset(34))
    follows = Replica(cache=entries, log_end_offset=Offset(29), high_watermark=Offset(29))
    assert status == plan_truncation(follows, leads, release=release(kafka)).status


def test_a_dialogue_is_given_up_after_many_rounds() -> None:
    """A cache with more epochs than ROUND_COUNT_MAX can ask for longer than anybody wants to read."""
    count = 2 * ROUND_COUNT_MAX
    ours = tuple(EpochEntry(2 * n + 1, 10 * n) for n in range(count))
    theirs = (*(EpochEntry(2 * n, 10 * n) for n in range(count)), EpochEntry(2 * count, 10 * count))
    end = 10 * count
    for kafka in ("2.7", "4.3"):
        log = Replica(cache=ours, log_end_offset=end, high_watermark=0)
        found = plan_truncation(log, Leader(cache=theirs, log_end_offset=end), release=release(kafka))
        assert found.status is Status.UNFINISHED
        assert len(found.steps) == ROUND_COUNT_MAX


@pytest.mark.parametrize(
    ("kafka", "begins"), [("1.0.1", False), ("1.0.2", True), ("1.1.0", False), ("1.1.1", True), ("4.3", True)]
)
def test_the_first_batch_begins_below_the_log_end(kafka: str, begins: bool) -> None:
    """An empty log begins with it, where the release can do that; no other log takes it."""
    of = release(kafka)
    cut = plan_truncation(
        Replica(cache=(), log_end_offset=3, high_watermark=3),
        Leader(cache=(EpochEntry(1, 0),), log_end_offset=9, log_start_offset=5),
        release=of,
    )
    leader = Leader(cache=(EpochEntry(1, 0),), log_end_offset=9)
    batches = (Run(4, 6, Epoch(1)),), (Run(6, 9, Epoch(1)),)
    found = follow(cut, leader, (Run(0, 9, Epoch(1)),), lambda offset: batches[offset >= 6 :], release=of)
    assert (Status.OK if begins else Status.FETCH_FAILS, 4 if begins else 5) == (
        found.status, found.after.log_end_offset,
    )  # fmt: skip
    assert begins == (found.steps[-1] == FetchRequest(5, None, FetchError.RECORDS, truncate_to=4))
    kept = plan_truncation(
        Replica(cache=(), log_end_offset=8, high_watermark=7),
        Leader(cache=(EpochEntry(1, 0),), log_end_offset=9),
        release=of,
    )
    failed = follow(kept, leader, (Run(0, 9, Epoch(1)),), lambda _: [(Run(6, 9, Epoch(1)),)], release=of)
    assert (Status.FETCH_FAILS, 7) == (failed.status, failed.after.log_end_offset)


@pytest.mark.parametrize(
    ("size", "kafka", "status", "asked"),
    [(10, "4.3", Status.OK, [0]), (4, "4.3", Status.NEVER_COMPLETES, [0, 4, 0]), (4, "2.7", Status.OK, [])],
)
def test_what_a_fetch_brings_may_end_where_the_leader_knows_of_no_epoch(
    size: int, kafka: str, status: Status, asked: list[int]
) -> None:
    """From 2.8 the next fetch names that epoch, and the follower is cut; one that brings all of it does not."""
    lineage = Run(0, 5, Epoch(2)), Run(5, 10, Epoch(3))
    leader = Leader(cache=(EpochEntry(1, 0), EpochEntry(3, 0)), log_end_offset=10)
    empty = plan_truncation(Replica(cache=(), log_end_offset=0, high_watermark=0), leader, release=release(kafka))

    def sent(offset: Offset) -> Iterator[tuple[Run, ...]]:
        for start in range(offset, 10, size):
            parts = (Run(max(start, run.start), min(start + size, run.end), run.epoch) for run in lineage)
            yield tuple(run for run in parts if run.start < run.end)

    found = follow(empty, leader, lineage, sent, release=release(kafka))
    requests = [step.offset for step in found.steps if isinstance(step, FetchRequest)]
    assert (status, asked, 0) == (found.status, requests, found.after.log_end_offset)


@pytest.mark.parametrize(
    ("kafka", "epoch", "end", "status"),
    [
        ("4.3", -1, 2, Status.FETCH_FAILS), ("2.4", -1, 2, Status.FETCH_FAILS), ("1.1.1", -1, 2, Status.FETCH_FAILS),
        ("4.3", -1, 7, Status.OK), ("2.4", -1, 7, Status.OK), ("0.10.2", -1, 2, Status.OK),
        ("4.3", None, 2, Status.OK), ("2.4", None, 2, Status.OK),
    ],
)  # fmt: skip
def test_a_batch_without_an_epoch_is_refused(kafka: str, epoch: int | None, end: int, status: Status) -> None:
    """By every release that keeps epochs, wherever it comes; messages are not, and the epochs before them go."""
    lineage = Run(0, 4, Epoch(1)), Run(4, 6, epoch), Run(6, 9, Epoch(3))
    cache = (EpochEntry(1, 0), EpochEntry(3, 6))
    leader = Leader(cache=cache[1:], log_end_offset=9)
    replica = Replica(cache=cache[: 1 if end < 6 else 2], log_end_offset=end, high_watermark=end)
    found = plan_truncation(replica, leader, release=release(kafka))

    def sent(offset: Offset) -> Iterator[tuple[Run, ...]]:
        yield from ((run._replace(start=max(run.start, offset)),) for run in lineage if run.end > offset)

    assert status == follow(found, leader, lineage, sent, release=release(kafka)).status


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
    """Of two snapshots the earliest tells the oldest epoch, and the latest is sent; without one none is."""
    steps = (TruncateToHighWatermark(Offset(3)), FetchRequest(offset, epoch, FetchError.RECORDS))
    snapshots = ((Offset(50), Epoch(2)), (Offset(90), Epoch(3)))
    assert sent == sends_snapshot(steps, snapshots, log_start_offset=log_start)
    assert sends_snapshot(steps, (), log_start_offset=log_start) is None


def test_a_log_begins_behind_what_is_in_remote_storage() -> None:
    """With the leader's log start and epochs, and goes on from there."""
    leader = Leader(
        cache=(EpochEntry(1, 0), EpochEntry(2, 8), EpochEntry(4, 20)), log_end_offset=30, log_start_offset=5,
        local_log_start_offset=20,
    )  # fmt: skip
    log = Replica(cache=(EpochEntry(1, 0),), log_end_offset=8, high_watermark=8)
    found = plan_truncation(log, leader, release=release("4.3"))
    assert [FetchError.OFFSET_MOVED_TO_TIERED_STORAGE, FetchError.RECORDS] == [
        getattr(step, "reply", None) for step in found.steps
    ]
    expected = Replica(
        cache=(EpochEntry(1, 0), EpochEntry(2, 8)), log_end_offset=20, high_watermark=20, log_start_offset=5,
        first_segment=20,
    )  # fmt: skip
    assert expected == found.after


def test_a_diverging_answer_raises_the_log_start() -> None:
    """Up to 3.4.0 the follower forgets what began below the leader's log start, and then truncates there at most."""
    log = Replica(cache=(EpochEntry(1, 0), EpochEntry(3, 6), EpochEntry(8, 9)), log_end_offset=18, high_watermark=18)
    leader = Leader(cache=(EpochEntry(6, 12), EpochEntry(9, 15)), log_end_offset=15, log_start_offset=12)
    ends = {kafka: plan_truncation(log, leader, release=release(kafka)).after for kafka in ("3.4.0", "3.4.1")}
    assert [(12, 12), (12, 12)] == [(each.log_start_offset, each.log_end_offset) for each in ends.values()]
    assert [0, 12] == [each.first_segment for each in ends.values()]


def test_a_release_without_election_entry_leaves_the_leader_alone() -> None:
    """2.0.0 writes nothing at an election, nor does a log without epochs."""
    log = Leader(cache=(EpochEntry(1, 0),), log_end_offset=9)
    assert elected(log, 4, release=release("2.0.0")) == log
    assert elected(log, 4, release=release("2.4", message_format="0.10.2")) == log
    assert pairs(elected(log, 4, release=release("2.0.1")).cache) == [[1, 0], [4, 9]]


def test_fetch_without_epoch_is_checked_by_offset_alone() -> None:
    """Without a last fetched epoch a matching offset is trusted."""
    log = Leader(cache=(EpochEntry(9, 0),), log_end_offset=9)
    assert fetch_check(log, 9, None, release=release("4.3")) is FetchError.RECORDS
    above = replace(log, log_start_offset=5)
    assert fetch_check(above, 4, None, release=release("4.3")) is FetchError.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize(
    ("one", "other", "ends"),
    [
        (((0, 0), (1, 529), (2, 778), (3, 791)), ((0, 0), (1, 410), (2, 778), (3, 788)), (1229, 1229)),
        (((0, 0), (2, 50)), ((0, 0), (1, 20)), (100, 40)),
        ((), ((0, 0),), (0, 10)),
        (((0, 0), (1, 40)), ((0, 0), (2, 40)), (40, 30)),
    ],
)
def test_caches_of_one_compacted_log(
    one: tuple[tuple[int, int], ...], other: tuple[tuple[int, int], ...], ends: tuple[int, int]
) -> None:
    """The first are of two brokers of 4.3.1 that part nowhere: each learnt of an epoch when it fetched."""
    assert not contradict(one, other, a_end=ends[0], b_end=ends[1])
    assert not contradict(other, one, a_end=ends[1], b_end=ends[0])


@pytest.mark.parametrize(
    ("other", "end"),
    [(((0, 0), (2, 90)), 95), (((0, 0), (2, 50)), 60), (((0, 0), (1, 40), (2, 60)), 70), (((1, 0),), 9)],
)
def test_caches_of_two_histories(other: tuple[tuple[int, int], ...], end: int) -> None:
    """A record of a later epoch stands before one of an earlier, or in its place."""
    one = ((0, 0), (1, 50))
    assert contradict(one, other, a_end=100, b_end=end)
    assert contradict(other, one, a_end=end, b_end=100)
