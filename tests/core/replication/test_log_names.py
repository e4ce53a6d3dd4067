"""Logs under the name of another partition."""

import pytest

from kcheck.core.replication.log_names import NamedLog, OtherName, named_words, other_names
from kcheck.model.entries import Offset
from kcheck.model.names import TopicPartition

ONE, OTHER = TopicPartition("t", 1), TopicPartition("t", 2)


def log(broker_id: int, name: TopicPartition, crc: int | None, *, epoch: int = 0, is_served: bool = True) -> NamedLog:
    """Return a directory whose first batch has this CRC."""
    batches = () if crc is None else ((Offset(0), Offset(9), crc, epoch),)
    return NamedLog(broker_id, name, batches, is_served)


def test_equal_batches_under_equal_names() -> None:
    assert not dict(other_names([log(1, ONE, 7), log(2, ONE, 7), log(1, OTHER, 8), log(2, OTHER, None)]))


def test_most_directories_prove_a_name() -> None:
    wrong = log(3, ONE, 8)
    rows = [log(1, ONE, 7), log(2, ONE, 7), wrong, log(1, OTHER, 8), log(2, OTHER, 8)]
    assert dict(other_names(rows)) == {wrong: OtherName((OTHER,), ((1, OTHER), (2, OTHER)), (1, 2))}
    assert dict(other_names([log(1, ONE, 7), log(2, ONE, 7), wrong, log(1, OTHER, 8)]))[wrong].is_proven


def test_two_directories_prove_no_name() -> None:
    found = dict(other_names([log(1, ONE, 7), log(2, ONE, 8), log(1, OTHER, 8), log(2, OTHER, 7)]))
    assert len(found) == 4
    assert {row.holds for row in found.values()} == {(ONE, OTHER)}


@pytest.mark.parametrize("epoch", [0, 1])
def test_partitions_with_the_same_batches(epoch: int) -> None:
    """A producer that sets timestamps writes equal batches. Nor do logs of different epochs prove anything."""
    assert not dict(other_names([log(1, ONE, 7), log(2, ONE, 7), log(1, OTHER, 7), log(2, OTHER, 7)]))
    assert not dict(other_names([log(1, ONE, 7), log(2, OTHER, 7)]))
    found = dict(other_names([log(1, ONE, 7), log(2, ONE, 8, epoch=epoch), log(1, OTHER, 8, epoch=epoch)]))
    assert bool(found) is (epoch == 0)


def test_a_directory_that_is_not_served_proves_nothing() -> None:
    renamed = log(3, OTHER, 7, is_served=False)
    assert dict(other_names([log(1, ONE, 7), renamed])) == {renamed: OtherName((ONE,), ((1, ONE),), ())}


def test_a_partition_of_one_replica_is_exchanged() -> None:
    """No other broker has its name. The other name of the same broker shows the exchange."""
    alone, there = log(1, OTHER, 7), log(1, ONE, 8, is_served=False)
    rows = [alone, there, log(2, ONE, 7), log(3, ONE, 7)]
    found = dict(other_names(rows))
    assert found == {
        alone: OtherName((ONE,), ((2, ONE), (3, ONE)), ()),
        there: OtherName((OTHER,), (), (2, 3)),
    }
    assert named_words(ONE, found[there]) == (
        "t-1 has other records than on brokers 2 and 3; after an exchange, the right name is t-2"
    )
    unproven = dict(other_names(rows[:3]))
    assert {row.holds for row in unproven.values()} == {(ONE, OTHER)}
    assert named_words(ONE, unproven[there]).endswith("the right name is t-1 or t-2")
    assert not dict(other_names([alone, log(1, ONE, 7), log(2, ONE, 7), log(3, ONE, 7)]))
    assert not dict(other_names([alone, log(2, ONE, 7), log(3, ONE, 7)]))
