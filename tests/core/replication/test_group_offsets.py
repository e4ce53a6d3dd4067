"""What a group coordinator makes of the records about committed offsets."""

import pytest

from kcheck.core.replication.group_offsets import Commit, OffsetReplay, ReplayedReplica, last_commits
from kcheck.model.entries import Offset

KEY, OTHER, THIRD = (("readers", "t", partition) for partition in range(3))


def commit(log_offset: int, committed: int | None) -> Commit:
    """Return a record; None is a tombstone."""
    return Commit(Offset(log_offset), None if committed is None else Offset(committed))


def replica(
    *commits: tuple[tuple[str, str, int], int, int | None], end: int, start: int = 0, is_whole: bool = True
) -> ReplayedReplica:
    """Return a replica with these commits outside of transactions, as (key, offset in the log, committed offset)."""
    replay = OffsetReplay()
    for key, log_offset, committed in commits:
        replay.take(key, commit(log_offset, committed), producer_id=None)
    return replay.replayed(Offset(start), Offset(end), is_whole=is_whole)


def test_the_last_record_of_a_key_counts() -> None:
    """A later commit replaces an earlier one, and a tombstone deletes it."""
    rows = [(KEY, 0, 5), (OTHER, 1, 6), (KEY, 2, 7), (OTHER, 3, None)]
    assert (
        [(KEY, 7)] == list(last_commits([replica(*rows, end=4)])) == list(last_commits([replica(*rows[::-1], end=4)]))
    )


@pytest.mark.parametrize(("commits", "expected"), [(True, 9), (False, 5), (None, 5)])
def test_a_transaction_counts_once_it_has_committed(commits: bool | None, expected: int) -> None:
    """None: it is still open."""
    replay = OffsetReplay()
    replay.take(KEY, commit(0, 5), producer_id=None)
    replay.take(KEY, commit(1, 9), producer_id=7)
    replay.take(OTHER, commit(2, 1), producer_id=7)
    replay.take(THIRD, commit(3, 1), producer_id=7)
    if commits is not None:
        replay.end(7, commits=commits)
    replay.end(8, commits=True)  # Of a producer without commits.
    expected_commits = {KEY: expected, OTHER: 1, THIRD: 1} if commits else {KEY: expected}
    assert expected_commits == dict(last_commits([replay.replayed(Offset(0), Offset(4), is_whole=True)]))
    assert (4 if commits is None else len(expected_commits)) == replay.count


@pytest.mark.parametrize(("later", "expected"), [(8, {KEY: 8}), (None, {})])
def test_a_later_record_outside_of_the_transaction_stays(later: int | None, expected: dict[object, int]) -> None:
    """The coordinator compares the offsets of the records, not of the marker."""
    replay = OffsetReplay()
    replay.take(KEY, commit(1, 9), producer_id=7)
    replay.take(KEY, commit(2, later), producer_id=None)
    replay.end(7, commits=True)
    assert expected == dict(last_commits([replay.replayed(Offset(0), Offset(4), is_whole=True)]))


def test_a_tombstone_in_a_transaction_deletes_at_once() -> None:
    """OffsetMetadataManager.replay looks at the producer of a commit only."""
    replay = OffsetReplay()
    replay.take(KEY, commit(1, 9), producer_id=None)
    replay.take(KEY, commit(2, None), producer_id=7)
    assert [] == list(last_commits([replay.replayed(Offset(0), Offset(4), is_whole=True)]))


def test_more_commits_than_are_held() -> None:
    """New keys are passed over, those that are held go on."""
    replay = OffsetReplay(count_max=1)
    replay.take(KEY, commit(0, 5), producer_id=None)
    replay.take(OTHER, commit(1, 5), producer_id=None)
    replay.take(KEY, commit(2, 6), producer_id=None)
    assert {KEY: commit(2, 6)} == replay.commits
    assert not replay.replayed(Offset(0), Offset(4), is_whole=True).is_whole


def test_the_record_at_the_higher_offset_counts() -> None:
    """Whichever replica has it."""
    one, other = replica((KEY, 4, 50), (OTHER, 1, 10), end=5), replica((KEY, 2, 20), (OTHER, 3, None), end=4)
    assert [(KEY, 50)] == list(last_commits([one, other])) == list(last_commits([other, one]))


@pytest.mark.parametrize(
    ("newer", "expected"),
    [
        (replica(end=9), []),
        (replica(end=3), [(KEY, 50)]),
        (replica(start=5, end=9), [(KEY, 50)]),
        (replica(end=9, is_whole=False), [(KEY, 50)]),
        (replica((KEY, 6, 60), end=9), [(KEY, 60)]),
    ],
)
def test_a_group_that_only_an_old_replica_has(newer: ReplayedReplica, expected: list[object]) -> None:
    """The log cleaner has removed commit and tombstone from a replica that was read beyond the commit."""
    assert expected == list(last_commits([replica((KEY, 4, 50), end=5), newer]))


def test_an_open_transaction_is_known() -> None:
    """The newer replica ends between the commit and the marker, which the other one has."""
    replay = OffsetReplay()
    replay.take(KEY, commit(4, 50), producer_id=7)
    newer = replay.replayed(Offset(0), Offset(9), is_whole=True)
    assert [(KEY, 50)] == list(last_commits([replica((KEY, 4, 50), end=5), newer]))
