"""An offset index or a time index as a starting broker has it in memory: AbstractIndex, OffsetIndex, TimeIndex."""

from typing import Any

import numpy as np

from kcheck.core.predictions import Content
from kcheck.core.segments import floor_slot
from kcheck.core.startup import offset_of
from kcheck.formats._layout import Layout
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.time_index import TIME_INDEX_ENTRY
from kcheck.model.entries import Offset
from kcheck.model.names import segment_prefix
from kcheck.model.release import Release
from kcheck.segments.header_columns import Column, dtype_of
from kcheck.startup.virtual_files import Folder, StartError


class Index:
    """The entries of one file: (number, relative offset or position). Opening it makes it where it is missing."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int, layout: Layout) -> None:
        """Open the file; every whole slot of an existing one is an entry, zeros too."""
        self._folder, self.name, self._base, self._layout = folder, name, base, layout
        self._max_size = max_size
        folder.refuse_directory(name)
        if name not in folder:
            if max_size < layout.size:
                raise StartError(f"{name} cannot be made: segment.index.bytes is {max_size}")
            folder.put(name, Content(self._rounded(max_size)))
            self._data = b""
            self._rows: Any = np.zeros(0, dtype_of(layout))
            self.entries = 0
        else:
            data, size = folder.read(name)
            self._data = data
            whole = min(len(data), size) // layout.size
            self._rows = np.frombuffer(data, dtype_of(layout), whole)
            if len(data) % layout.size and size // layout.size > whole:
                padded = data[whole * layout.size :].ljust(layout.size, b"\0")
                self._rows = np.concatenate((self._rows, np.frombuffer(padded, dtype_of(layout), 1)))
            self.entries = size // layout.size
        self.length = folder.files[name].size

    def problem(self, _: Release) -> str | None:
        """Return why the index fails the check of a start up to 2.2, None where it does not (sanityCheck)."""
        if self.length % self._layout.size:
            return f"{self.name} has {self.length} bytes, which are no entries"
        return None

    @property
    def room(self) -> int:
        """How many entries the file has room for."""
        return self.length // self._layout.size

    def slot(self, number: int) -> tuple[int, int]:
        """Return an entry's two fields as they stand there."""
        if number >= len(self._rows):
            return 0, 0
        first, second = self._rows[number].tolist()
        return first, second

    def write(self, *columns: Column) -> None:
        """Replace every entry; the size of the file stays, and what stood behind them before."""
        rows = np.zeros(len(columns[0]), dtype_of(self._layout))
        for (name, _), column in zip(self._layout.fields, columns, strict=True):
            rows[name] = column
        self._rows = rows
        self.entries = len(rows)
        data = rows.tobytes()
        self._data = data + self._data[len(data) : self.length]
        self._folder.put(self.name, Content(self.length, filled=len(self._data), data=self._data))

    def truncate(self, entries: int) -> None:
        """Forget the entries behind so many; the file stays as it is until it is resized or written over."""
        self.entries = entries
        self._rows = self._rows[:entries]

    def resize(self, size: int) -> None:
        """Cut or extend the file (AbstractIndex.resize); StartError where its entries do not fit any more."""
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
        """Cut the file behind its last entry."""
        self.resize(self.entries * self._layout.size)

    def _rounded(self, size: int) -> int:
        return size // self._layout.size * self._layout.size

    def _floor(self, target: int, field: int) -> int:
        """Return the slot with the largest key not above the target, -1 without one."""
        shift = self._base if self._keys_are_offsets(field) else 0

        def key(number: int) -> int:
            return self.slot(number)[field] + shift

        return floor_slot(key, self.entries, target, entry_size=self._layout.size)

    def _keys_are_offsets(self, field: int) -> bool:
        return self._layout.names[field] == "relative_offset"


class LoadedOffsetIndex(Index):
    """Offsets and where to look for them; `last_offset` is that of the last slot, the base offset without one."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int) -> None:
        """Open the file."""
        super().__init__(folder, name, base, max_size, OFFSET_INDEX_ENTRY)
        self.last_offset = self._last()

    def _last(self) -> int:
        return self._base + (self.slot(self.entries - 1)[0] if self.entries else 0)

    def write(self, *columns: Column) -> None:
        """Replace every entry: relative offsets, positions."""
        super().write(*columns)
        self.last_offset = self._last()

    def truncate(self, entries: int) -> None:
        """Forget the entries behind so many."""
        super().truncate(entries)
        self.last_offset = self._last()

    def problem(self, release: Release) -> str | None:
        """As above: the last entry must not lie below the segment, nor, up to 1.1, at its begin."""
        if self.entries and self.last_offset < self._base + (not release.splits_segments):
            return f"the last entry of {self.name} lies below its segment"
        return super().problem(release)

    def lookup(self, target: int) -> int:
        """Return the position to look for an offset from on."""
        slot = self._floor(target, 0)
        return 0 if slot < 0 else self.slot(slot)[1]

    def truncate_to(self, offset: int) -> None:
        """Forget what stands for an offset and behind it."""
        slot = self._floor(offset, 0)
        self.truncate(slot if slot >= 0 and self.slot(slot)[0] == offset - self._base else slot + 1)


class LoadedTimeIndex(Index):
    """Timestamps and offsets."""

    def __init__(self, folder: Folder, name: str, base: int, max_size: int) -> None:
        """Open the file."""
        super().__init__(folder, name, base, max_size, TIME_INDEX_ENTRY)

    def problem(self, release: Release) -> str | None:
        """As above: the last entry must not lie below the segment, nor before the first one in time."""
        if self.entries:
            timestamp, offset = self.slot(self.entries - 1)
            if timestamp < self.slot(0)[0] or offset < 0:
                return f"the last entry of {self.name} lies before its first one, or below its segment"
        return super().problem(release)

    def truncate_to(self, offset: int) -> None:
        """Forget what stands for an offset and behind it."""
        slot = self._floor(offset, 1)
        self.truncate(slot if slot >= 0 and self.slot(slot)[1] == offset - self._base else slot + 1)


def made_with(folder: Folder) -> int | None:
    """Return the segment.index.bytes that the indexes of the last segment were made with, None where they do not tell.

    While a broker writes to a segment both are as large as that allows, with zeros behind their entries. A stop in
    order cuts them.
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
    asked = max(sizes)
    return asked if sizes == [asked // slot * slot for slot in layouts.values()] else None
