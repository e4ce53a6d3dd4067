"""The segments that brokers have yet to copy to remote storage, and the segments in both places."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from kcheck.core.tiered.reading import readable
from kcheck.core.tiered.spans import within
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.remote_log import RemoteLog
from kcheck.model.views import SegmentSummary


class CopyLag(NamedTuple):
    """The closed segments of a replica compared with remote storage. The last segment is active, never copied."""

    segments: int = 0
    """Number of them that wait to be copied."""
    size: int = 0
    """The size of their `.log` files in bytes."""
    oldest_ms: int | None = None
    """The largest timestamp in the first of them, in ms since 1970; None without one, or if not read."""
    duplicated: int = 0
    """The bytes that are in remote storage too. A lower local.retention.* frees them."""


def copy_lag(log: RemoteLog, segments: Sequence[SegmentSummary], epochs: EpochEntries) -> CopyLag | None:
    """Return how far a leader with these segments has copied them; None if the remote segments are not known.

    It continues above the highest remote offset of its epochs (RemoteLogManager.RLMCopyTask 3.6 to 4.3.1).
    """
    if not log.is_known:
        return None
    served = readable(log.runs, epochs)
    copied = served[-1][1] if served else Offset(0)
    lag = CopyLag()
    for row, end in _closed(segments):
        if end > copied:
            lag = CopyLag(
                lag.segments + 1, lag.size + row.size, lag.oldest_ms if lag.segments else row.max_timestamp,
                lag.duplicated,
            )  # fmt: skip
        elif within(served, row.base_offset, end) == ((row.base_offset, end),):
            lag = lag._replace(duplicated=lag.duplicated + row.size)
    return lag


def _closed(segments: Sequence[SegmentSummary]) -> Iterator[tuple[SegmentSummary, Offset]]:
    """Yield the closed segments, each with the offset after it."""
    for row, following in pairwise(segments):
        yield row, following.base_offset
