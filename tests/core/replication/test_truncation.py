"""Every recorded truncation: the dialogue, the log afterwards, and what it loses."""

from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import FetchAnswer, Leader, Replica, Status
from kcheck.core.replication.lineage import Fork, contradict, fork, lineage_of_cache, ranges
from kcheck.core.replication.truncation import (
    ROUND_COUNT_MAX,
    elected,
    fetch_check,
    plan_truncation,
    truncate_to,
)
from kcheck.model.entries import Epoch, EpochEndOffset, EpochEntry, Offset
from tests.core.replication.vectors import RELEASES, VECTORS, as_row, cache, every, follower, leader, name, pairs


def _elected(vector: dict[str, Any], profile: str) -> Leader:
    state = vector["leader"]
    silent = state.get("suppress_assign") or not state.get("epoch_cache_enabled", True) or state["new_epoch"] is None
    return leader(vector) if silent else elected(leader(vector), state["new_epoch"], release=RELEASES[profile])


@pytest.mark.parametrize(("vector", "profile"), every("truncation"), ids=name)
def test_dialogue_and_log_afterwards(vector: dict[str, Any], profile: str) -> None:
    """Requests, answers and the follower's log equal the recorded ones; a loop ends after one round."""
    expected = vector["expect"][profile]
    truncation = plan_truncation(follower(vector), _elected(vector, profile), release=RELEASES[profile])
    steps = [as_row(step) for step in truncation.steps]
    recorded = expected["steps"]
    if expected["status"] == "never_completes":
        recorded = recorded[: len(steps)]
        assert steps
    after = truncation.after
    final = {"leo": after.log_end_offset, "log_start": after.log_start_offset, "cache": pairs(after.cache)}
    assert recorded == steps
    assert expected["final"] == final
    assert expected["status"] == truncation.status
    assert ("status_if_unclean_disabled" in expected) == truncation.exits_without_unclean_election


@pytest.mark.parametrize("vector", VECTORS["truncation"], ids=name)
def test_caches_tell_the_fork(vector: dict[str, Any]) -> None:
    """The first offset that the logs do not share, or None if the caches leave it open."""
    a, b = leader(vector), follower(vector)
    lineages = [
        lineage_of_cache(log.cache, log_start_offset=log.log_start_offset, log_end_offset=log.log_end_offset)
        for log in (a, b)
    ]
    parted = fork(*lineages, a_end=a.log_end_offset, b_end=b.log_end_offset)
    assert vector["common_prefix"] == parted.common_prefix


@pytest.mark.parametrize(
    ("vector", "profile"), [pair for pair in every("truncation") if "lost" in pair[0]["expect"][pair[1]]], ids=name
)
def test_what_a_truncation_costs(vector: dict[str, Any], profile: str) -> None:
    """Offsets that stay and differ, that are lost, and that the follower fetches again."""
    expected = vector["expect"][profile]
    state = follower(vector)
    cost = ranges(
        Fork(vector["common_prefix"], None),
        log_start_offset=state.log_start_offset,
        before=state.log_end_offset,
        after=expected["final"]["leo"],
    )
    assert cost.certain
    for key, value in (("kept_divergent", cost.kept_divergent), ("lost", cost.lost), ("refetched", cost.refetched)):
        assert expected[key] == (None if value is None else list(value)), key


@pytest.mark.parametrize(("vector", "group"), every("fetch_check"), ids=name)
def test_leader_checks_a_fetch(vector: dict[str, Any], group: str) -> None:
    """Partition.readRecords: records, out of range, or the diverging epoch."""
    log = Leader(cache=cache(vector["cache"]), log_end_offset=vector["leo"], log_start_offset=vector["log_start"])
    of = release("4.3" if group == "ge_2.8.1" else "2.8.0")
    answer = fetch_check(log, vector["fetch_offset"], vector["last_fetched_epoch"], release=of)
    row = {"diverging": [answer.epoch, answer.end_offset]} if isinstance(answer, EpochEndOffset) else str(answer)
    assert vector["expect"][group] == row


@pytest.mark.parametrize("vector", VECTORS["truncate_to"], ids=name)
def test_truncate_to(vector: dict[str, Any]) -> None:
    """Log.truncateTo: end, start, high watermark and epochs."""
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
        truncated = truncate_to(log, vector["truncate_to"], release=of)
        epochs = expected["cache"][group] if isinstance(expected["cache"], dict) else expected["cache"]
        assert epochs == pairs(truncated.cache)
        assert (expected["leo"], expected["log_start"]) == (truncated.log_end_offset, truncated.log_start_offset)
        assert expected["hw"] == truncated.high_watermark
        assert expected["segments"][0] == truncated.first_segment


def test_high_watermark_stays_up_to_2_3() -> None:
    """Up to 2.3 a truncation does not lower the high watermark; the next fetch does."""
    log = Replica(cache=(), log_end_offset=10, high_watermark=8)
    assert truncate_to(log, 5, release=release("2.3")).high_watermark == 8
    assert truncate_to(log, 5, release=release("2.4")).high_watermark == 5


@pytest.mark.parametrize(
    ("kafka", "status"),
    [("1.1.1", Status.FETCH_FAILS), ("2.0.1", Status.FETCH_FAILS), ("2.2.1", Status.NEVER_COMPLETES)],
)
def test_a_leader_whose_log_starts_above_its_end(kafka: str, status: Status) -> None:
    """Up to 2.2.0 such a leader sends a log start that the follower refuses (Log.maybeIncrementLogStartOffset)."""
    entries = (EpochEntry(Epoch(4), Offset(20)),)
    leads = Leader(cache=entries, log_end_offset=Offset(29), log_start_offset=Offset(34))
    follows = Replica(cache=entries, log_end_offset=Offset(29), high_watermark=Offset(29))
    assert status == plan_truncation(follows, leads, release=release(kafka)).status


@pytest.mark.parametrize(
    ("kafka", "first_unstable", "high_watermark", "fails"),
    [
        ("2.4.1", 41, 40, True), ("2.7.0", 41, 40, True), ("2.4.1", 40, 40, False), ("2.4.1", 41, 39, False),
        ("2.4.1", None, 40, False), ("2.3.1", 41, 40, False), ("2.7.1", 41, 40, False),
    ],
)  # fmt: skip
def test_a_follower_looks_up_a_transaction_that_it_has_cut(
    kafka: str, first_unstable: int | None, high_watermark: int, *, fails: bool
) -> None:
    """2.4.0 to 2.7.0 fail if the high watermark falls and all open transactions are gone; the epochs stay then."""
    unstable = None if first_unstable is None else Offset(first_unstable)
    known = (EpochEntry(Epoch(0), Offset(0)), EpochEntry(Epoch(1), Offset(40)))
    follower = Replica(known, Offset(60), Offset(high_watermark), first_unstable=unstable)
    dialogue = plan_truncation(
        follower, Leader((known[0], EpochEntry(Epoch(2), Offset(40))), Offset(70)), release=release(kafka)
    )
    assert (dialogue.after.log_end_offset, dialogue.after.cache) == (40, known if fails else known[:1])
    assert dialogue.status is (Status.TRUNCATION_FAILS if fails else Status.OK)


def test_a_follower_without_epochs_looks_it_up_too() -> None:
    """It truncates to its high watermark."""
    follower = Replica((), Offset(60), Offset(40), first_unstable=Offset(41))
    dialogue = plan_truncation(follower, Leader((), Offset(70)), release=release("2.4.1"))
    assert (dialogue.status, dialogue.after.log_end_offset) == (Status.TRUNCATION_FAILS, 40)


def test_a_dialogue_is_given_up_after_many_rounds() -> None:
    """A cache with more epochs than ROUND_COUNT_MAX ends as UNFINISHED."""
    count = 2 * ROUND_COUNT_MAX
    ours = tuple(EpochEntry(2 * n + 1, 10 * n) for n in range(count))
    theirs = (*(EpochEntry(2 * n, 10 * n) for n in range(count)), EpochEntry(2 * count, 10 * count))
    end = 10 * count
    for kafka in ("2.7", "4.3"):
        log = Replica(cache=ours, log_end_offset=end, high_watermark=0)
        truncation = plan_truncation(log, Leader(cache=theirs, log_end_offset=end), release=release(kafka))
        assert truncation.status is Status.UNFINISHED
        assert len(truncation.steps) == ROUND_COUNT_MAX


def test_a_log_begins_behind_what_is_in_remote_storage() -> None:
    """TierStateMachine.buildRemoteLogAuxState: it takes the leader's log start and epochs, and fetches from there."""
    leader = Leader(
        cache=(EpochEntry(1, 0), EpochEntry(2, 8), EpochEntry(4, 20)), log_end_offset=30, log_start_offset=5,
        local_log_start_offset=20,
    )  # fmt: skip
    log = Replica(cache=(EpochEntry(1, 0),), log_end_offset=8, high_watermark=8)
    truncation = plan_truncation(log, leader, release=release("4.3"))
    assert [FetchAnswer.OFFSET_MOVED_TO_TIERED_STORAGE, FetchAnswer.RECORDS] == [
        getattr(step, "reply", None) for step in truncation.steps
    ]
    expected = Replica(
        cache=(EpochEntry(1, 0), EpochEntry(2, 8)), log_end_offset=20, high_watermark=20, log_start_offset=5,
        first_segment=20,
    )  # fmt: skip
    assert expected == truncation.after


def test_a_diverging_answer_raises_the_log_start() -> None:
    """Up to 3.4.0 the follower drops epochs below the leader's log start, and truncates no lower (KAFKA-14704)."""
    log = Replica(cache=(EpochEntry(1, 0), EpochEntry(3, 6), EpochEntry(8, 9)), log_end_offset=18, high_watermark=18)
    leader = Leader(cache=(EpochEntry(6, 12), EpochEntry(9, 15)), log_end_offset=15, log_start_offset=12)
    ends = {kafka: plan_truncation(log, leader, release=release(kafka)).after for kafka in ("3.4.0", "3.4.1")}
    assert [(12, 12), (12, 12)] == [(log.log_start_offset, log.log_end_offset) for log in ends.values()]
    assert [0, 12] == [log.first_segment for log in ends.values()]


def test_a_diverging_answer_never_lowers_the_log_start() -> None:
    """Log.maybeIncrementLogStartOffset."""
    epochs = (EpochEntry(Epoch(1), Offset(0)), EpochEntry(Epoch(3), Offset(12)))
    log = Replica(cache=epochs, log_end_offset=Offset(18), high_watermark=Offset(12), log_start_offset=Offset(5))
    leader = Leader(cache=(epochs[0], EpochEntry(Epoch(4), Offset(12))), log_end_offset=Offset(15))
    after = plan_truncation(log, leader, release=release("3.4.0")).after
    assert (5, 12) == (after.log_start_offset, after.log_end_offset)


def test_a_release_without_election_entry_leaves_the_leader_alone() -> None:
    """2.0.0 writes no entry at an election, and neither does a log without epochs (Partition.makeLeader)."""
    log = Leader(cache=(EpochEntry(1, 0),), log_end_offset=9)
    assert elected(log, 4, release=release("2.0.0")) == log
    assert elected(log, 4, release=release("2.4", message_format="0.10.2")) == log
    assert pairs(elected(log, 4, release=release("2.0.1")).cache) == [[1, 0], [4, 9]]


def test_fetch_without_epoch_is_checked_by_offset_alone() -> None:
    """Without a last fetched epoch the leader only checks the offset."""
    log = Leader(cache=(EpochEntry(9, 0),), log_end_offset=9)
    assert fetch_check(log, 9, None, release=release("4.3")) is FetchAnswer.RECORDS
    above = log._replace(log_start_offset=5)
    assert fetch_check(above, 4, None, release=release("4.3")) is FetchAnswer.OFFSET_OUT_OF_RANGE


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
    """The first pair is from two brokers of 4.3.1 with one history: each learned an epoch when it fetched it."""
    assert not contradict(one, other, a_end=ends[0], b_end=ends[1])
    assert not contradict(other, one, a_end=ends[1], b_end=ends[0])


@pytest.mark.parametrize(
    ("other", "end"),
    [(((0, 0), (2, 90)), 95), (((0, 0), (2, 50)), 60), (((0, 0), (1, 40), (2, 60)), 70), (((1, 0),), 9)],
)
def test_caches_of_two_histories(other: tuple[tuple[int, int], ...], end: int) -> None:
    """A record of a later epoch comes before one of an earlier epoch, or has its offset."""
    one = ((0, 0), (1, 50))
    assert contradict(one, other, a_end=100, b_end=end)
    assert contradict(other, one, a_end=end, b_end=100)
