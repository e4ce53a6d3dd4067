"""Which segments are rescanned, and where a log ends."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases import release
from kcheck.core.segments import floor_slot, log_start_offset, next_offset, unflushed_segments
from kcheck.model.entries import Batch


def _batch(base: int, last: int) -> Batch:
    return Batch(0, 70, 2, base, last, 0, last - base + 1, 0, 0, 0)


OLD, NEW = release("4.0"), release("4.1")


def test_unflushed_segments_reach_down_to_the_recovery_point() -> None:
    """The segment that holds the recovery point and all above; the last one in any case; all if none is below."""
    assert [100, 200] == list(unflushed_segments((0, 100, 200), 150))
    assert [200] == list(unflushed_segments((0, 100, 200), 2**63 - 1))
    assert [0, 100, 200] == list(unflushed_segments((0, 100, 200), -5))
    assert [] == list(unflushed_segments((), 0))


def test_log_start_is_the_larger_of_checkpoint_and_first_segment() -> None:
    """Nothing known: 0."""
    assert [5, 9, 0] == [log_start_offset(5, 3), log_start_offset(5, 9), log_start_offset(None, None)]


def test_next_offset_is_one_after_the_last_batch() -> None:
    """Whichever way the index entry is searched for."""
    batches = [_batch(0, 4), _batch(5, 9)]
    for of in (OLD, NEW):
        for entry in (0, 5, 9):
            assert next_offset(batches, base_offset=0, last_index_offset=entry, release=of) == 10


def test_an_index_entry_above_the_data_gives_the_base_offset() -> None:
    """The log end falls to the base of the segment: records would be written twice."""
    for of in (OLD, NEW):
        assert next_offset([_batch(7, 9)], base_offset=7, last_index_offset=50, release=of) == 7
        assert next_offset([], base_offset=7, last_index_offset=7, release=of) == 7


def test_from_4_1_base_offsets_are_compared() -> None:
    """A last batch whose base offset is too low is not found any more, unless its last offset reaches the entry."""
    batches = [_batch(0, 4), _batch(3, 9)]
    assert next_offset(batches, base_offset=0, last_index_offset=9, release=OLD) == 10
    assert next_offset(batches, base_offset=0, last_index_offset=9, release=NEW) == 10
    gap = [_batch(0, 4), _batch(8, 9)]
    assert next_offset(gap, base_offset=0, last_index_offset=4, release=NEW) == 10
    assert next_offset(gap, base_offset=0, last_index_offset=6, release=NEW) == 10


@given(keys=st.sets(st.integers(0, 80)), target=st.integers(-1, 81), entry_size=st.sampled_from((8, 12, 1024)))
def test_the_floor_slot_of_keys_that_rise(keys: set[int], target: int, entry_size: int) -> None:
    """The last slot whose key is not above the target, wherever the search begins."""
    ordered = sorted(keys)
    found = floor_slot(ordered.__getitem__, len(ordered), target, entry_size=entry_size)
    assert bisect_right(ordered, target) - 1 == found
