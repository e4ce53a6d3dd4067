"""What waits to be copied to remote storage, and what is in both places."""

from kcheck.core.tiered.copy_lag import CopyLag, copy_lag
from kcheck.core.tiered.reading import remote_log
from kcheck.model.entries import EpochEntry
from kcheck.model.remote_log import MetadataState, RemoteSegment, SegmentState
from kcheck.model.views import SegmentSummary

EPOCHS = (EpochEntry(0, 0),)
LOCAL = tuple(SegmentSummary(offset, 100 + offset, max_timestamp=offset * 1000) for offset in (0, 10, 20, 30))


def segment(start: int, end: int, epoch: int = 0) -> RemoteSegment:
    """Return a finished segment."""
    epochs = (EpochEntry(epoch, start),)
    return RemoteSegment(f"{start}", SegmentState.COPY_FINISHED, start, end, 1, epochs, was_finished=True)


def test_closed_segments_above_the_remote_end() -> None:
    log = remote_log(MetadataState.READ, (segment(0, 10),))
    assert copy_lag(log, LOCAL, EPOCHS) == CopyLag(2, 230, 10_000, 100)
    assert copy_lag(log, LOCAL[-1:], EPOCHS) == CopyLag()


def test_segments_of_another_lineage() -> None:
    """A leader of other epochs copies its own records."""
    log = remote_log(MetadataState.READ, (segment(0, 30, 7),))
    assert copy_lag(log, LOCAL, EPOCHS) == CopyLag(3, 330, 0, 0)


def test_a_gap_below_the_remote_end() -> None:
    """A broker does not go back, and the segment is in one place alone."""
    log = remote_log(MetadataState.READ, (segment(0, 10), segment(20, 30)))
    assert copy_lag(log, LOCAL, EPOCHS) == CopyLag(0, 0, None, 220)


def test_unknown_remote_segments() -> None:
    assert copy_lag(remote_log(MetadataState.NOT_GIVEN), LOCAL, EPOCHS) is None
