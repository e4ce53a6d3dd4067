"""Sums of counts that may not be known, and of several at once."""

from kcheck.core.sums import known_sum, plus


def test_an_unknown_count_makes_the_sum_unknown() -> None:
    """Of no counts the sum is 0."""
    assert [known_sum(counts) for counts in ((), (1, 2, 0), (1, None, 2), (None,))] == [0, 3, None, None]


def test_counts_are_added_place_by_place() -> None:
    assert plus((1, 2, 3), [4, 0, -3]) == (5, 2, 0)
