"""The offset index and the time index of a segment that is loaded: AbstractIndex, OffsetIndex, TimeIndex."""

from typing import Any

import numpy as np

from kcheck.core.start.predictions import Content
from kcheck.core.start.segments import floor_slot
from kcheck.core.start.startup import Settings, offset_of
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import log_name, segment_bases, segment_prefix
from kcheck.model.release import Release
from kcheck.records.layout import Layout
from kcheck.segments.header_columns import Array, dtype_of
from kcheck.startup.virtual_files import Folder, StartError


class Index:
    """The entries of one index file. Opening it creates a missing file at its full size, filled with zeros."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int, layout: Layout) -> None:
        """Open the file; every complete slot of an existing file is an entry, even one of zeros."""
        self._folder = folder
        self.name: str = name
        self._base = base
        self._layout = layout
        self._max_size = max_size
        folder.refuse_directory(name)
        if name not in folder:
            if max_size < layout.size:
                raise StartError(f"the broker cannot create {name}: segment.index.bytes is {max_size}")
            folder.put(name, Content(self._rounded(max_size)))
            self._data = b""
            self._rows: Any = np.zeros(0, dtype_of(layout))
            self.entries: int = 0
        else:
            data, size = folder.read(name)
            self._data = data
            entry_count = min(len(data), size) // layout.size
            self._rows = np.frombuffer(data, dtype_of(layout), entry_count)
            if len(data) % layout.size and size // layout.size > entry_count:
                padded = data[entry_count * layout.size :].ljust(layout.size, b"\0")
                self._rows = np.concatenate((self._rows, np.frombuffer(padded, dtype_of(layout), 1)))
            self.entries = size // layout.size
        self.length: int = folder.files[name].size

    def problem(self, _: Release) -> str | None:
        """Return why the index fails the sanity check of 2.2 and earlier; None if it passes (sanityCheck)."""
        if self.length % self._layout.size:
            return f"{self.name} has {self.length} bytes, which is not a multiple of its entry size"
        return None

    @property
    def room(self) -> int:
        """Number of entries that fit into the file."""
        return self.length // self._layout.size

    def slot(self, number: int) -> tuple[int, int]:
        """Return the two fields of an entry; zeros beyond the bytes that are kept."""
        if number >= len(self._rows):
            return 0, 0
        first, second = self._rows[number].tolist()
        return first, second

    def write(self, *columns: Array) -> None:
        """Replace every entry; the size of the file and the bytes after the entries stay."""
        rows = np.zeros(len(columns[0]), dtype_of(self._layout))
        for (name, _), column in zip(self._layout.fields, columns, strict=True):
            rows[name] = column
        self._rows = rows
        self.entries = len(rows)
        data = rows.tobytes()
        self._data = data + self._data[len(data) : self.length]
        self._folder.put(self.name, Content(self.length, filled=len(self._data), data=self._data))

    def truncate(self, entries: int) -> None:
        """Keep this many entries; the file changes only when it is resized or written."""
        self.entries = entries
        self._rows = self._rows[:entries]

    def resize(self, size: int) -> None:
        """Truncate or extend the file (AbstractIndex.resize); StartError where the entries no longer fit."""
        rounded = self._rounded(size)
        if rounded == self.length:
            return
        self.length = rounded
        self._data = self._data[:rounded]
        self._folder.put(self.name, self._folder.files[self.name].resized(rounded))
        if self.entries * self._layout.size > rounded:
            raise StartError(
                f"IllegalArgumentException: {self.name}: {self.entries} entries need more than {size} bytes"
            )

    def reset(self) -> None:
        """Empty the index and give it its full size."""
        self.truncate(0)
        self.resize(self._max_size)

    def resize_to_full(self) -> None:
        """Give the index its full size."""
        self.resize(self._max_size)

    def trim(self) -> None:
        """Truncate the file after its last entry (trimToValidSize)."""
        self.resize(self.entries * self._layout.size)

    def _rounded(self, size: int) -> int:
        return size // self._layout.size * self._layout.size

    def _floor(self, target: int, field: int) -> int:
        """Return the slot with the largest key not above the target, -1 without one (largestLowerBoundSlotFor)."""
        shift = self._base if self._keys_are_offsets(field) else 0

        def key(number: int) -> int:
            return self.slot(number)[field] + shift

        return floor_slot(key, self.entries, target, entry_size=self._layout.size)

    def _keys_are_offsets(self, field: int) -> bool:
        return self._layout.names[field] == "relative_offset"


class LoadedOffsetIndex(Index):
    """Offsets and positions. `last_offset` belongs to the last slot; without a slot it is the base offset."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int) -> None:
        """Open the file."""
        super().__init__(folder, name, base, max_size, OFFSET_INDEX_ENTRY)
        self.last_offset: int = self._last()

    def _last(self) -> int:
        return self._base + (self.slot(self.entries - 1)[0] if self.entries else 0)

    def write(self, *columns: Array) -> None:
        """Replace every entry: relative offsets, positions."""
        super().write(*columns)
        self.last_offset = self._last()

    def truncate(self, entries: int) -> None:
        """Keep this many entries."""
        super().truncate(entries)
        self.last_offset = self._last()

    def problem(self, release: Release) -> str | None:
        """Return why the size or the last entry fails. It must reach the base offset (1.1 and earlier: exceed it)."""
        if self.entries and self.last_offset < self._base + (not release.splits_segments):
            return f"the last entry of {self.name} is below its segment"
        return super().problem(release)

    def lookup(self, target: int) -> int:
        """Return the position where a search for an offset starts (OffsetIndex.lookup)."""
        slot = self._floor(target, 0)
        return 0 if slot < 0 else self.slot(slot)[1]

    def truncate_to(self, offset: int) -> None:
        """Remove the entries at or above an offset (truncateTo)."""
        slot = self._floor(offset, 0)
        self.truncate(slot if slot >= 0 and self.slot(slot)[0] == offset - self._base else slot + 1)


class LoadedTimeIndex(Index):
    """Timestamps and offsets."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int) -> None:
        """Open the file."""
        super().__init__(folder, name, base, max_size, TIME_INDEX_ENTRY)

    def problem(self, release: Release) -> str | None:
        """As above; the last entry must not be below the base offset, nor before the first one in time."""
        if self.entries:
            timestamp, offset = self.slot(self.entries - 1)
            if timestamp < self.slot(0)[0] or offset < 0:
                return f"the last entry of {self.name} is before the first one, or below its segment"
        return super().problem(release)

    def truncate_to(self, offset: int) -> None:
        """Remove the entries at or above an offset (truncateTo)."""
        slot = self._floor(offset, 1)
        self.truncate(slot if slot >= 0 and self.slot(slot)[1] == offset - self._base else slot + 1)


def made_with(folder: Folder) -> int | None:
    """Return the segment.index.bytes that the indexes of the last segment were created with, None if not known.

    While a broker appends to a segment, both have that size, with zeros after their entries. A clean shutdown truncates
    them.
    """
    base = max((offset_of(name) or Offset(0) for name in folder.files if name.endswith(".log")), default=None)
    layouts = {".index": OFFSET_INDEX_ENTRY.size, ".timeindex": TIME_INDEX_ENTRY.size}
    sizes = []
    for ending, slot in layouts.items():
        name = segment_prefix(base or Offset(0)) + ending
        data, size = folder.read(name) if name in folder else (b"", 0)
        if size < slot or any(data[size - slot :]):
            return None
        sizes.append(size)
    size_max = max(sizes)
    return size_max if sizes == [size_max // slot * slot for slot in layouts.values()] else None


def index_interval(folder: Folder, settings: Settings) -> int:
    """Return index.interval.bytes; if not given, the default, or less if entries of the log are closer.

    A broker adds an entry once more bytes than that have followed the entry before it (LogSegment.append, recover).
    """
    below = None if settings.index_interval_said else _entries_apart(folder)
    return settings.index_interval_bytes if below is None else min(below - 1, settings.index_interval_bytes)


def _entries_apart(folder: Folder) -> int | None:
    """Return how many bytes of the `.log` two entries are apart at least; None if no index shows it.

    The newest index with entries counts, if its entries increase and are in the `.log`.
    """
    for base in reversed(segment_bases(folder.files)):
        name = segment_prefix(base) + ".index"
        data = folder.read(name)[0] if name in folder else b""
        rows = np.frombuffer(data, dtype_of(OFFSET_INDEX_ENTRY), len(data) // OFFSET_INDEX_ENTRY.size)
        offsets, positions = (rows[field].astype(np.int64) for field in OFFSET_INDEX_ENTRY.names)
        count = int(np.count_nonzero(positions))
        if count:
            gaps = np.diff(positions[:count], prepend=0)
            rises = bool((gaps > 0).all() and (np.diff(offsets[:count]) > 0).all())
            in_log = int(positions[count - 1]) < folder.files[log_name(base)].size
            return int(gaps.min()) if rises and in_log else None
    return None
