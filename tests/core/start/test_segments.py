"""Where a log starts, how an index is searched, and how large a log a broker opens."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LoadedLog
from kcheck.core.start.segments import (
    LOG_SIZE_MAX,
    floor_slot,
    is_tiered,
    log_start_offset,
    lost_head,
    lost_head_of,
    lost_head_of_log,
    seen_log_size,
)
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.finding import Location
from kcheck.model.names import DirectoryState
from kcheck.model.views import PartitionView, SegmentSummary


def test_log_start_is_the_larger_of_checkpoint_and_first_segment() -> None:
    """LogLoader.load; without either it is 0."""
    assert [5, 9, 0] == [log_start_offset(5, 3), log_start_offset(5, 9), log_start_offset(None, None)]


def test_a_log_in_remote_storage_starts_at_its_checkpoint() -> None:
    assert [5, 0] == [log_start_offset(5, 9, tiered=True), log_start_offset(None, 9, tiered=True)]


def tiered(
    kafka: str,
    checkpoint: int | None,
    *,
    epoch_from: int | None = 5,
    snapshot: bool = False,
    setting: bool | None = None,
    of_topic: bool = False,
) -> bool:
    """Return whether a log is tiered whose first segment starts at 9, and its epochs at `epoch_from`."""
    epochs = () if epoch_from is None else (EpochEntry(Epoch(0), Offset(epoch_from)),)
    files = {"remote_log_snapshot"} if snapshot else set()
    start = None if checkpoint is None else Offset(checkpoint)
    return is_tiered(start, Offset(9), epochs, files, release(kafka), remote_storage=setting, of_topic=of_topic)


def test_a_log_in_remote_storage_is_known_by_what_it_keeps_below_its_segments() -> None:
    """In 3.6 and 3.7 a remote log snapshot shows it too. The broker's settings can rule it out."""
    assert [True, False, False] == [tiered("4.3", checkpoint) for checkpoint in (5, 9, None)]
    assert [False, False] == [tiered("4.3", 5, epoch_from=None), tiered("4.3", 5, epoch_from=9)]
    assert tiered("4.3", 5, epoch_from=9, setting=True)
    assert not tiered("4.3", 5, setting=False)
    assert [True, False] == [tiered("4.3", None, setting=True, of_topic=of_topic) for of_topic in (True, False)]
    assert [False, True, True, False] == [tiered(kafka, None, snapshot=True) for kafka in ("3.5", "3.6", "3.7", "3.8")]
    assert not tiered("3.5", 5)


def test_a_log_that_starts_above_its_epochs_has_lost_its_head() -> None:
    """LeaderEpochFileCache.truncateFromStart: a broker that moves the log start moves the first epoch first.

    Only remote storage explains the gap, so a log start in a checkpoint that is above the epochs is no broker's.
    """
    epochs = (EpochEntry(Epoch(0), Offset(0)),)

    def head(
        checkpoint: int | None = None, first: int | None = 9, *, clean: bool | None = True, tiered: bool = False
    ) -> tuple[int, int] | None:
        start, base = (None if offset is None else Offset(offset) for offset in (checkpoint, first))
        return lost_head(start, base, epochs, clean=clean, tiered=tiered)

    assert head() == head(clean=False) == head(9) == head(0) == head(5) == (0, 9)
    assert head(15) == (0, 15)
    explained = (head(first=0), head(first=None), head(clean=None), head(tiered=True))
    assert explained == (None,) * 4
    assert lost_head(None, Offset(9), (), clean=True, tiered=False) is None
    log = LoadedLog(Offset(9), Offset(20), Offset(20), epochs, unstable=False, bases=(9, 15))
    raised = log._replace(leader_epochs=())
    assert lost_head_of_log(log, None, None, clean=True) == lost_head_of_log(raised, None, epochs, clean=True) == (0, 9)
    assert lost_head_of_log(log._replace(log_start_offset=Offset(4)), None, None, clean=True) is None
    begun_anew = log._replace(bases=(30,), log_start_offset=Offset(30), log_end_offset=Offset(30))
    assert lost_head_of_log(begun_anew, Offset(30), epochs, clean=True) is None
    view = PartitionView(Location(), "t", 0, DirectoryState.CURRENT)
    assert lost_head_of(view, release("4.3")) is None
    above = view._replace(log_start_checkpoint=Offset(30), log_end_offset=Offset(20))
    assert lost_head_of(above, release("4.3")) is None


def test_an_index_without_epochs_shows_the_head() -> None:
    """2.8.2 led with a log of an old message format, whose first `.log` was removed, and the others deleted theirs."""
    log = LoadedLog(Offset(20), Offset(66), Offset(66), (), unstable=False, bases=(20, 25))
    kept = frozenset(f"{base:020}{end}" for base in (20, 25) for end in (".log", ".index", ".timeindex"))
    alone = kept | {f"{0:020}.index", f"{0:020}.timeindex", f"{10:020}.index"}
    assert lost_head_of_log(log, None, None, alone, clean=False) == (0, 20)
    assert lost_head_of_log(log, None, None, kept, clean=False) is None
    assert lost_head_of_log(log, None, None, alone, clean=None) is None
    deleting = kept | {f"{0:020}.index", f"{0:020}.log.deleted", f"{30:020}.index"}
    assert lost_head_of_log(log, None, None, deleting, clean=False) is None
    segments = tuple(SegmentSummary(Offset(base), 100) for base in (20, 25))
    view = PartitionView(Location(), "t", 0, DirectoryState.CURRENT, files=alone, clean_shutdown=False)
    assert lost_head_of(view._replace(segments=segments), release("2.8")) == (0, 20)
    assert lost_head_of(view, release("2.8")) is None


@given(keys=st.sets(st.integers(0, 80)), target=st.integers(-1, 81), entry_size=st.sampled_from((8, 12, 1024)))
def test_the_floor_slot_of_keys_that_rise(keys: set[int], target: int, entry_size: int) -> None:
    """AbstractIndex.indexSlotRangeFor: the last slot whose key is not above the target."""
    ordered = sorted(keys)
    slot = floor_slot(ordered.__getitem__, len(ordered), target, entry_size=entry_size)
    assert bisect_right(ordered, target) - 1 == slot


def test_up_to_2_0_the_size_of_a_log_overflows_an_int() -> None:
    """FileRecords: from 2.1 it does not open a larger file."""
    sizes = (LOG_SIZE_MAX, LOG_SIZE_MAX + 1, 1 << 32, (1 << 32) + 5)
    assert [LOG_SIZE_MAX, None, 0, 5] == [seen_log_size(size, release("2.0")) for size in sizes]
    assert [LOG_SIZE_MAX, None, None, None] == [seen_log_size(size, release("2.1")) for size in sizes]
