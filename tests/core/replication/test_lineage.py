"""Which epoch wrote which offsets, by batch headers and by the epoch cache."""

from kcheck.core.replication.lineage import EpochRange, Fork, Ranges, fork, lineage_of_batches, lineage_of_cache, ranges
from kcheck.model.entries import Batch, Epoch, EpochEntry, Offset


def batch(first: int, last: int, epoch: int | None) -> Batch:
    """Return the header of a batch; lineages use only its offsets and epoch."""
    return Batch(
        position=0, size=70, magic=2, base_offset=Offset(first), last_offset=Offset(last),
        epoch=None if epoch is None else Epoch(epoch), record_count=1, max_timestamp=0, attributes=0, crc=0,
    )  # fmt: skip


def test_batches_of_one_epoch_are_one_range() -> None:
    """A compacted log has gaps between batches; the offsets in a gap count as the epoch around them."""
    batches = [batch(0, 4, 1), batch(7, 9, 1), batch(10, 10, None), batch(11, 19, 3)]
    expected = (EpochRange(0, 10, 1), EpochRange(10, 11, None), EpochRange(11, 20, 3))
    assert expected == lineage_of_batches(batches)
    assert () == lineage_of_batches([])


def test_a_cache_says_nothing_below_its_first_entry() -> None:
    """LeaderEpochFileCache has no entry for records that were written before it existed."""
    cache = (EpochEntry(Epoch(2), Offset(5)), EpochEntry(Epoch(4), Offset(8)))
    lineage = lineage_of_cache(cache, log_start_offset=Offset(3), log_end_offset=Offset(10))
    assert (EpochRange(3, 5, None), EpochRange(5, 8, 2), EpochRange(8, 10, 4)) == lineage


def test_an_unknown_epoch_leaves_the_fork_open() -> None:
    """The first difference is known, the shared prefix is not; what is lost is then an upper bound."""
    one = (EpochRange(0, 5, None), EpochRange(5, 10, 2))
    other = (EpochRange(0, 5, 1), EpochRange(5, 10, 3))
    parted = fork(one, other, a_end=Offset(10), b_end=Offset(10))
    assert Fork(common_prefix=None, first_difference=Offset(5)) == parted
    expected = Ranges(kept_divergent=(5, 7), lost=(7, 10), refetched=None, certain=False)
    assert expected == ranges(parted, log_start_offset=Offset(0), before=Offset(10), after=Offset(7))


def test_offsets_below_the_fork_come_back_from_the_leader() -> None:
    """A follower that truncates to 4 although the logs part at 6 fetches 4 and 5 again."""
    cost = ranges(Fork(Offset(6), Offset(6)), log_start_offset=Offset(0), before=Offset(9), after=Offset(4))
    assert Ranges(kept_divergent=None, lost=(6, 9), refetched=(4, 6), certain=True) == cost
