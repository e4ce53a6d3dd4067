"""The recovery of one segment, window by window (LogSegment.recover 0.10.2 to 4.3.1).

The broker reads batches until one is not valid. On the way it rebuilds both indexes, the transaction index, the epochs
and the producers. Then it truncates the file after the last valid batch.
"""

from bisect import bisect_right
from copy import copy
from typing import NamedTuple

import numpy as np

from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.entries import RELATIVE_OFFSET_MAX
from kcheck.model.release import Assign
from kcheck.segments.header_columns import Array, HeaderColumns
from kcheck.startup.leader_epochs import EpochCache
from kcheck.startup.producer_state import Producers, follow
from kcheck.startup.segment import Segment
from kcheck.startup.virtual_files import StartError

_NO_TIMESTAMP = -1


class OffsetOrderError(Exception):
    """InvalidOffsetException: an index cannot be built, because offsets do not increase. The message says where."""


class SegmentOverflowError(Exception):
    """LogSegmentOffsetOverflowException: an offset does not fit into the segment. The message says which."""

    def __init__(self, segment: Segment, message: str) -> None:
        """Take the segment; its indexes end at the batch before."""
        super().__init__(message)
        self.segment = segment


class Recovered(NamedTuple):
    """The effects of a recovery."""

    cut: int
    """Number of bytes removed from the end of the file."""
    why: str | None
    """The reason why the batches end there; None where nothing was removed."""


class _Indexes:
    """Both indexes while the recovery builds them."""

    def __init__(self, segment: Segment, interval: int) -> None:
        segment.offset_index.reset()
        segment.time_index.reset()
        self._segment = segment
        self._interval = interval
        self._offsets: list[Array] = []
        self._positions: list[Array] = []
        self._timestamps: list[Array] = []
        self._time_offsets: list[Array] = []
        self.count = self.timed = 0
        self._last_position = 0
        self._last_offset: int | None = None
        self._largest, self._largest_at = _NO_TIMESTAMP, segment.base
        self._last_time, self._last_time_offset = _NO_TIMESTAMP, segment.base

    def take(self, columns: HeaderColumns, stop: int) -> tuple[int, Exception | None]:
        """Add the batches before row `stop`; return the row where it ends, and what the broker throws there."""
        rows = self._rows(columns, stop)
        newest = columns.max_timestamp[:stop]
        raised = np.maximum.accumulate(np.concatenate(([self._largest], newest)))
        grew = newest > raised[:-1]
        place = np.maximum.accumulate(np.where(grew, np.arange(stop), -1)) if stop else np.zeros(0, np.int64)
        largest_at = place
        if stop:
            largest_at = np.where(place >= 0, columns.last_offset[np.maximum(place, 0)], self._largest_at)
        end, failure, half = self._check(columns, rows, raised[1:], largest_at)
        self._append(columns, rows[rows < (stop if failure is None else end)], raised[1:], largest_at)
        if half:
            self._append_offsets(columns, rows[rows == end])
        if stop:
            self._largest, self._largest_at = int(raised[-1]), int(largest_at[-1])
        return (stop, None) if failure is None else (end, failure)

    def _rows(self, columns: HeaderColumns, stop: int) -> Array:
        """Return the rows that get an index entry, which are more than index.interval.bytes after the entry before."""
        positions = columns.position[:stop].tolist()
        rows: list[int] = []
        at = bisect_right(positions, self._last_position + self._interval)
        while at < stop:
            rows.append(at)
            at = bisect_right(positions, positions[at] + self._interval, at + 1)
        return np.array(rows, np.int64)

    def _check(
        self, columns: HeaderColumns, rows: Array, largest: Array, largest_at: Array
    ) -> tuple[int, Exception | None, bool]:
        """Return the first row that an index refuses, the exception, and whether only the time index refuses it."""
        if not rows.size:
            return 0, None, False
        offsets = self._keys(columns, rows)
        before = offsets[0] - 1 if self._last_offset is None else self._last_offset
        falls = offsets <= np.concatenate(([before], offsets[:-1]))
        times, time_offsets = largest[rows], largest_at[rows]
        fresh = times > np.concatenate(([self._last_time], times[:-1]))
        timed_before = self.timed + np.concatenate(([0], np.cumsum(fresh)[:-1]))
        latest = np.maximum.accumulate(np.where(fresh, np.arange(len(rows)), -1))
        latest = np.concatenate(([-1], latest[:-1]))
        before_it = np.where(latest >= 0, time_offsets[latest], self._last_time_offset)
        back = (timed_before > 0) & (time_offsets < before_it)
        full = self.count + np.arange(len(rows)) >= self._segment.offset_index.room
        time_full = timed_before >= self._segment.time_index.room - 1
        bad = falls | back | full | time_full
        if not bad.any():
            return 0, None, False
        first = int(np.argmax(bad))
        row = int(rows[first])
        half = not (falls[first] or full[first])
        position = int(columns.position[row])
        if full[first] or (time_full[first] and not falls[first]):
            limit = self._segment.context.settings.segment_index_bytes
            failure: Exception = StartError(
                f"IllegalArgumentException: the indexes of {self._segment.log_name} need more than"
                f" segment.index.bytes, {limit} bytes"
            )
        else:
            edge = "ends" if self._segment.context.release.splits_segments else "begins"
            failure = OffsetOrderError(
                f"the batch at position {position} of {self._segment.log_name} {edge} at offset"
                f" {int(offsets[first])}, not above the index entry before"
            )
        return row, failure, half

    def _append(self, columns: HeaderColumns, rows: Array, largest: Array, largest_at: Array) -> None:
        if not rows.size:
            return
        self._append_offsets(columns, rows)
        times, time_offsets = largest[rows], largest_at[rows]
        fresh = times > np.concatenate(([self._last_time], times[:-1]))
        self._timestamps.append(times[fresh])
        self._time_offsets.append(time_offsets[fresh] - self._segment.base)
        self.timed += int(np.count_nonzero(fresh))
        if fresh.any():
            self._last_time, self._last_time_offset = int(times[fresh][-1]), int(time_offsets[fresh][-1])

    def _append_offsets(self, columns: HeaderColumns, rows: Array) -> None:
        offsets = self._keys(columns, rows)
        self._offsets.append(offsets - self._segment.base)
        self._positions.append(columns.position[rows])
        self.count += len(rows)
        self._last_position, self._last_offset = int(columns.position[rows[-1]]), int(offsets[-1])

    def _keys(self, columns: HeaderColumns, rows: Array) -> Array:
        """Return the offsets for the index, from the last records of batches (1.1 and earlier: the first records)."""
        by_last = self._segment.context.release.splits_segments
        return columns.last_offset[rows] if by_last else self._segment.first_offsets(columns, rows)

    def saved(self) -> "_Indexes":
        """Return a copy to restore."""
        duplicate = copy(self)
        for name in ("_offsets", "_positions", "_timestamps", "_time_offsets"):
            setattr(duplicate, name, list(getattr(self, name)))
        return duplicate

    def restore(self, before: "_Indexes") -> None:
        """Restore a copy."""
        self.__dict__.update(before.__dict__)

    def write(self) -> None:
        """Write the entries so far."""
        self._segment.offset_index.write(_joined(self._offsets), _joined(self._positions))
        self._segment.time_index.write(_joined(self._timestamps), _joined(self._time_offsets))

    def finish(self) -> None:
        """Write both indexes, with the largest timestamp as the last entry of the time index."""
        if self.timed and self._largest_at < self._last_time_offset:
            self.write()
            raise OffsetOrderError(
                f"the batch with the largest timestamp of {self._segment.log_name} ends at offset {self._largest_at},"
                f" below the last entry of the time index"
            )
        if self._largest > self._last_time:
            self._timestamps.append(np.array([self._largest]))
            self._time_offsets.append(np.array([self._largest_at - self._segment.base]))
        self.write()
        self._segment.offset_index.trim()
        self._segment.time_index.trim()


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def build_indexes(segment: Segment, interval: int) -> None:
    """Build both indexes of a segment without a check of its batches (LogSegment.appendFromFile)."""
    indexes = _Indexes(segment, interval)
    for columns, _ in segment.windows(0):
        failure = indexes.take(columns, len(columns.position))[1]
        if failure is not None:
            raise StartError(str(failure))
    try:
        indexes.finish()
    except OffsetOrderError as error:
        raise StartError(f"InvalidOffsetException: {error}") from error


def recover(segment: Segment, producers: Producers, epochs: EpochCache | None, *, interval: int) -> Recovered:
    """Rebuild the indexes of a segment, and truncate it after its last valid batch.

    `epochs` is None if the release does not update them. `interval` is index.interval.bytes. OffsetOrderError,
    SegmentOverflowError and StartError replace the broker's exceptions.
    """
    indexes = _Indexes(segment, interval)
    segment.write_transactions(())
    aborted: list[AbortedTxn] = []
    size, valid_size, why = segment.size, 0, None
    for columns, _ in segment.windows(0, verify=True):
        stop, failure, why = _stop(segment, columns)
        before = indexes.saved()
        ended, refused = indexes.take(columns, stop)
        if refused is not None:
            stop, failure, why = ended, refused, None
        modern = np.flatnonzero(columns.magic[:stop] >= 2)
        row, problem = follow(segment, columns, modern, producers.states, aborted)
        if problem is not None:
            # The batch itself still counts: it passed every check before the broker reads its records.
            indexes.restore(before)
            stop, failure, why = row + 1, None, problem
            indexes.take(columns, stop)
            modern = modern[modern < row]
        if modern.size:
            producers.map_end = int(columns.last_offset[modern[-1]]) + 1
        if epochs is not None:
            _take_epochs(segment, columns, stop, epochs)
        if failure is not None:
            indexes.write()
            segment.write_transactions(tuple(aborted))
            raise failure
        valid_size = int(columns.position[stop - 1] + columns.size[stop - 1]) if stop else int(columns.position[0])
        if why is not None:
            break
    if why is None and valid_size < size:
        why = f"an incomplete batch at position {valid_size} of {segment.log_name}"
    segment.write_transactions(tuple(aborted))
    segment.cut(valid_size)
    indexes.finish()
    return Recovered(size - valid_size, why if valid_size < size else None)


def _stop(segment: Segment, columns: HeaderColumns) -> tuple[int, Exception | None, str | None]:
    """Return the first invalid row, with the exception for an offset out of range, or else the reason."""
    assert columns.valid is not None
    relative = columns.last_offset - segment.base
    bad = ~columns.valid
    outside = ((relative < 0) | (relative > RELATIVE_OFFSET_MAX)) & segment.context.release.splits_segments
    wrong = bad | outside
    count = len(wrong)
    row = int(np.argmax(wrong)) if count else 0
    if not count or not wrong[row]:
        return count, None, None
    position = int(columns.position[row])
    if bad[row]:
        return row, None, f"the CRC of the batch at position {position} of {segment.log_name} does not match"
    offset = int(columns.last_offset[row])
    return (
        row,
        SegmentOverflowError(
            segment,
            f"the batch at position {position} of {segment.log_name} ends at offset {offset}, which"
            " does not fit into the segment",
        ),
        None,
    )


def _take_epochs(segment: Segment, columns: HeaderColumns, stop: int, epochs: EpochCache) -> None:
    """Add the epochs that begin in a window (LeaderEpochFileCache.assign)."""
    rows = np.flatnonzero(columns.magic[:stop] >= 2)
    batch_epochs = columns.epoch[rows]
    before = np.maximum.accumulate(np.concatenate(([-1], batch_epochs)))[:-1]
    # The next batch offers an ignored epoch again.
    repeats = segment.context.release.assign is Assign.IGNORE
    new = np.flatnonzero(batch_epochs > (epochs.latest if repeats else before))
    try:
        epochs.take(zip(batch_epochs[new].tolist(), columns.base_offset[rows[new]].tolist(), strict=True))
    except ValueError as error:
        raise StartError(f"IllegalArgumentException: {segment.log_name} has {error}") from error
