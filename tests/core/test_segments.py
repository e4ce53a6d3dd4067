"""Where a log starts, and where an index is searched."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.segments import floor_slot, log_start_offset


def test_log_start_is_the_larger_of_checkpoint_and_first_segment() -> None:
    """Nothing known: 0."""
    assert [5, 9, 0] == [log_start_offset(5, 3), log_start_offset(5, 9), log_start_offset(None, None)]


@given(keys=st.sets(st.integers(0, 80)), target=st.integers(-1, 81), entry_size=st.sampled_from((8, 12, 1024)))
def test_the_floor_slot_of_keys_that_rise(keys: set[int], target: int, entry_size: int) -> None:
    """The last slot whose key is not above the target, wherever the search begins."""
    ordered = sorted(keys)
    found = floor_slot(ordered.__getitem__, len(ordered), target, entry_size=entry_size)
    assert bisect_right(ordered, target) - 1 == found
