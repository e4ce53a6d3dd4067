"""Shared by the index parsers, for files with entries of one layout (AbstractIndex, TransactionIndex)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeVar, overload

from kcheck.model.mapped import Mapped, OnDemand
from kcheck.model.parsed import FOUND_SIZE_MAX, Defect
from kcheck.records.layout import Layout
from kcheck.words import counted

DEFECT_COUNT_MAX = 1000
"""Number of defects reported per file. A last one says that more follow."""


EntryProblem = Callable[[int, Sequence[int], Sequence[int]], str | None]
"""Returns what is wrong with an entry, None if nothing. Takes its number, the entry before it, and the entry.

For the first entry, which has none before it, the second argument is the entry itself.
"""


T_co = TypeVar("T_co", covariant=True)


class Unpacked(OnDemand[T_co]):
    """The entries in `data` from `begin` up to `end`; each is decoded when it is accessed.

    So a file of a million entries takes no more memory than its bytes.
    """

    __slots__ = ("_begin", "_data", "_end", "_layout", "_make")

    def __init__(
        self, data: bytes, layout: Layout, make: Callable[[tuple[int, ...]], T_co], *, begin: int = 0, end: int
    ) -> None:
        """Take the bytes, and the function that makes an entry from its fields."""
        self._data, self._begin, self._end = data, begin, begin + (end - begin) // layout.size * layout.size
        self._layout, self._make = layout, make

    def __len__(self) -> int:
        """Return the number of entries."""
        return (self._end - self._begin) // self._layout.size

    def __iter__(self) -> Iterator[T_co]:
        """Yield the entries."""
        return map(self._make, self._layout.iter_unpack(memoryview(self._data)[self._begin : self._end]))

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        """Return one entry, or a slice of them."""
        positions = range(self._begin, self._end, self._layout.size)[index]
        if isinstance(positions, int):
            return self._make(self._layout.unpack_from(self._data, positions))
        return tuple(self._make(self._layout.unpack_from(self._data, position)) for position in positions)


class Entries(NamedTuple):
    """The contents of an index file."""

    rows: Sequence[tuple[int, ...]]
    """The entries: tuples of the fields in the order of the layout."""
    room: int
    """Bytes of zeros after the entries. A broker preallocates its memory-mapped index files and trims them when it
    closes the segment."""
    torn: int
    """Bytes after the last complete entry, zeros or not."""


def read(data: bytes, layout: Layout, *, has_room: bool) -> Entries:
    """Return the contents of an index file; without `has_room` zeros at the end are entries too."""
    torn = len(data) % layout.size
    entries_end = len(data) - torn
    used, last = entries_end, len(data)
    if has_room:
        last = len(data.rstrip(b"\0"))
        used = used_size(last, len(data), layout)
    room = len(data) - used if has_room and last <= entries_end else 0
    return Entries(Unpacked(data, layout, tuple, end=used), room, torn)


def used_size(last: int, size: int, layout: Layout) -> int:
    """Return the size of the complete entries of a file of `size` bytes with only zeros from byte `last`."""
    return min(-(-last // layout.size), size // layout.size) * layout.size


def used_part(data: bytes, size: int, layout: Layout) -> bytes:
    """Return the bytes of the entries before the zeros; the file has `size` bytes: `data`, then only zeros."""
    end = used_size(len(data.rstrip(b"\0")), size, layout)
    return data[:end].ljust(end, b"\0")


def write(rows: Iterable[tuple[int, ...]], layout: Layout, room: int = 0) -> bytes:
    """Return the bytes of the entries, followed by `room` zeros."""
    return b"".join(layout.pack(*row) for row in rows) + bytes(room)


def as_json(rows: Sequence[tuple[int, ...]], layout: Layout) -> Sequence[dict[str, int]]:
    """Return the entries as JSON objects."""
    return Mapped(lambda row: dict(zip(layout.names, row, strict=True)), rows)


def defects(data: bytes, layout: Layout, entries: Entries, problem: EntryProblem) -> tuple[Defect, ...]:
    """Return the defects of the entries, then the defect of an incomplete entry at the end."""
    defects: list[Defect] = []
    for index, (before, row) in enumerate(pairwise(chain(islice(entries.rows, 1), entries.rows))):
        message, position = problem(index, before, row), index * layout.size
        if message is None:
            continue
        if len(defects) == DEFECT_COUNT_MAX:
            defects.append(Defect(message="more defects follow", position=position))
            break
        defects.append(Defect(message=message, position=position, found=data[position : position + layout.size]))
    if entries.torn:
        position = len(data) - entries.torn
        message = f"{counted(entries.torn, 'byte')} after the last complete entry"
        defects.append(Defect(message=message, position=position, found=data[position:][:FOUND_SIZE_MAX]))
    return tuple(defects)
