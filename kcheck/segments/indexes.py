"""Checks whether the offset index and the time index of a segment agree with its batches.

The batches come window by window. An entry names an offset. It also has either a position from which to search for it,
or the largest timestamp so far. Which batch of an append gets the entry differs by release, and between leader and
follower. So kcheck checks only this. A batch begins at the position, and the batch with the offset is there or later.
Its largest timestamp is the entry's (OffsetIndex, TimeIndex, LogSegment.append 0.8 to 4.3.1).
"""

from collections import Counter

import numpy as np

from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.java import LONG_MIN
from kcheck.model.segments import FAULT_COUNT_MAX, EntryFault, FaultyEntry, IndexView
from kcheck.model.source import Filled
from kcheck.records import entry_file
from kcheck.records.layout import Layout
from kcheck.segments.header_columns import Array, HeaderColumns, Mask, dtype_of, highest_before, newest


class OffsetIndexCheck:
    """Checks an offset index: `take` every window of the segment, then `view`. `position` has its positions."""

    def __init__(self, data: Filled, where: Location, base: Offset) -> None:
        """Take the content of the file."""
        self._entries = _IndexEntries(data, OFFSET_INDEX_ENTRY, where, base)
        self.position: Array = self._entries.values("position")
        offset, position = self._entries.offset, self.position
        self._entries.report(
            EntryFault.ORDER,
            (_steps(offset) <= 0) | (_steps(position) <= 0) | (position < 0) | (offset < base),
            position,
        )
        self._checked = 0

    def take(self, columns: HeaderColumns) -> None:
        """Check the entries whose position or offset is in this window."""
        entries = self._entries
        reached, batch = entries.reached(columns, self.position)
        entries.report(EntryFault.SKIPS, columns.position[batch] < self.position[reached], self.position, reached.start)
        if entries.sound:
            end = int(self.position.searchsorted(columns.position[-1] + columns.size[-1]))
            stated = self.position[self._checked : end]
            at = columns.position.searchsorted(stated, "right") - 1
            missed = (at < 0) | (columns.position[at] != stated)
            entries.report(EntryFault.NO_BATCH, missed, self.position, self._checked)
            self._checked = end

    def view(self) -> IndexView:
        """Return the result, after the last window."""
        entries = self._entries
        return entries.view(self._checked, self.position, None)


class TimeIndexCheck:
    """Checks a time index: `take` every window of the segment, then `view`."""

    def __init__(self, data: Filled, where: Location, base: Offset) -> None:
        """Take the content of the file."""
        self._entries = _IndexEntries(data, TIME_INDEX_ENTRY, where, base)
        self._timestamp = self._entries.values("timestamp")
        offset, timestamp = self._entries.offset, self._timestamp
        self._entries.report(
            EntryFault.ORDER,
            (_steps(timestamp) <= 0) | (_steps(offset) < 0) | (timestamp < 0) | (offset < base),
            timestamp,
        )
        self._largest = -1

    def take(self, columns: HeaderColumns) -> None:
        """Check the entries whose offset is in this window."""
        largest = highest_before(self._largest, newest(columns))
        reached, batch = self._entries.reached(columns, self._timestamp)
        stated = self._timestamp[reached]
        # A message of magic 0 has no timestamp; up to 0.10.2 a leader indexed the one that it removed from the message.
        wrong = (columns.magic[batch] != 0) & ((columns.max_timestamp[batch] != stated) | (largest[batch] >= stated))
        self._entries.report(EntryFault.TIMESTAMP, wrong, self._timestamp, reached.start)
        self._largest = int(largest[-1])

    def view(self) -> IndexView:
        """Return the result, after the last window."""
        last = int(self._timestamp[-1]) if self._timestamp.size else None
        return self._entries.view(len(self._timestamp), self._timestamp, last)


class _IndexEntries:
    """The entries of an index, which of them the windows have reached, and the faults."""

    def __init__(self, file: Filled, layout: Layout, where: Location, base: Offset) -> None:
        data, size = file
        used = entry_file.used_part(data, size, layout)
        self._torn = size % layout.size
        self._rows = np.frombuffer(used, dtype_of(layout))
        self.offset: Array = self.values("relative_offset") + base
        self._where = where
        self._size = size
        self._room = size - self._torn - len(used)
        self._faults: list[FaultyEntry] = []
        self._counts: Counter[EntryFault] = Counter()
        self._next = 0
        self._last = LONG_MIN

    @property
    def sound(self) -> bool:
        """True if the entries ascend; otherwise they cannot be searched."""
        return not self._counts[EntryFault.ORDER]

    def values(self, name: str) -> Array:
        """Return a column of the entries."""
        return self._rows[name].astype(np.int64)

    def reached(self, columns: HeaderColumns, values: Array) -> tuple[slice, Array]:
        """Return the entries whose offset is in a window, and for each the batch that has it."""
        last = highest_before(self._last, columns.last_offset)
        begin, self._last = self._next, int(last[-1])
        if self.sound:
            self._next = int(self.offset.searchsorted(last[-1], "right"))
        reached = slice(begin, self._next)
        offset = self.offset[reached]
        batch = last[1:].searchsorted(offset)
        base = columns.base_offset[batch]
        if columns.magic.min() < 2:
            base = np.where(columns.magic[batch] < 2, last[batch] + 1, base)
        self.report(EntryFault.GAP, offset < base, values, begin)
        return reached, batch

    def report(self, fault: EntryFault, mask: Mask, values: Array, begin: int = 0) -> None:
        """Keep the first corrupt entries and count all; the mask starts at entry number `begin`."""
        count = int(np.count_nonzero(mask))
        if not count:
            return
        room = max(FAULT_COUNT_MAX - self._counts[fault], 0)
        self._counts[fault] += count
        for number in (mask.nonzero()[0][:room] + begin).tolist():
            offset = Offset(int(self.offset[number]))
            self._faults.append(FaultyEntry(fault, number, offset, int(values[number])))

    def view(self, checked: int, values: Array, last_timestamp: int | None) -> IndexView:
        """Return the result; entries from number `checked` on, or above the last offset, point past the last batch."""
        if self.sound:
            begin = min(checked, self._next)
            self.report(EntryFault.BEYOND, np.ones(len(self.offset) - begin, np.bool_), values, begin)
        return IndexView(
            where=self._where,
            size=self._size,
            entries=len(self.offset),
            room=self._room,
            torn=self._torn,
            faults=tuple(sorted(self._faults, key=lambda entry: (entry.number, entry.fault))),
            counts={fault: count for fault, count in self._counts.items() if count},
            last_timestamp=last_timestamp,
        )


def _steps(column: Array) -> Array:
    """Return the difference of each value to the one before it; 1 for the first."""
    steps = np.ones_like(column)
    steps[1:] = column[1:] - column[:-1]
    return steps
