"""What the index files share: entries of one layout, nothing else (AbstractIndex, TransactionIndex)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise
from typing import NamedTuple, TypeVar, overload

from kcheck.formats._layout import Layout
from kcheck.model.mapped import Mapped, OnDemand
from kcheck.model.parsed import FOUND_SIZE_MAX, Defect

DEFECT_COUNT_MAX = 1000
"""So many defects of one file are told; one more says that there are others."""


Problem = Callable[[int, Sequence[int], Sequence[int]], str | None]
"""Tells what is wrong with an entry, given its number, and the one before it, which says nothing for the first."""


T_co = TypeVar("T_co", covariant=True)


class Unpacked(OnDemand[T_co]):
    """Entries of one layout that stand in `data`, from `begin` to before `end`: each is made when it is asked for.

    A file of millions is held as its bytes.
    """

    __slots__ = ("_begin", "_data", "_end", "_layout", "_make")

    def __init__(
        self, data: bytes, layout: Layout, make: Callable[[tuple[int, ...]], T_co], *, begin: int = 0, end: int
    ) -> None:
        """Take the bytes, and what makes an entry of its fields."""
        self._data, self._begin, self._end = data, begin, begin + (end - begin) // layout.size * layout.size
        self._layout, self._make = layout, make

    def __len__(self) -> int:
        """Return how many entries there are."""
        return (self._end - self._begin) // self._layout.size

    def __iter__(self) -> Iterator[T_co]:
        """Yield the entries."""
        return map(self._make, self._layout.iter_unpack(memoryview(self._data)[self._begin : self._end]))

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        """Return one entry, or some of them."""
        found = range(self._begin, self._end, self._layout.size)[index]
        if isinstance(found, int):
            return self._make(self._layout.unpack_from(self._data, found))
        return tuple(self._make(self._layout.unpack_from(self._data, at)) for at in found)


class Entries(NamedTuple):
    """The entries of a file as tuples in the order of its layout.

    `room` is the size in bytes of the zeros after them: a broker makes its mapped index files larger than they are, and
    cuts them when it closes the segment. `torn` is how many bytes stand after the last whole entry, zeros or not.
    """

    rows: Sequence[tuple[int, ...]]
    room: int
    torn: int


def read(data: bytes, layout: Layout, *, has_room: bool) -> Entries:
    """Return what stands in an index file; without `has_room` an entry of zeros is an entry."""
    torn = len(data) % layout.size
    whole = len(data) - torn
    used, last = whole, len(data)
    if has_room:
        last = len(data.rstrip(b"\0"))
        used = used_size(last, len(data), layout)
    room = len(data) - used if has_room and last <= whole else 0
    return Entries(Unpacked(data, layout, tuple, end=used), room, torn)


def used_size(last: int, size: int, layout: Layout) -> int:
    """Return the bytes of the whole entries of a file of `size` bytes, of which those from `last` on are zeros."""
    return min(-(-last // layout.size), size // layout.size) * layout.size


def used_part(data: bytes, size: int, layout: Layout) -> bytes:
    """Return the bytes of the entries before the zeros, of a file of `size` bytes: `data`, and zeros behind it."""
    end = used_size(len(data.rstrip(b"\0")), size, layout)
    return data[:end].ljust(end, b"\0")


def write(rows: Iterable[tuple[int, ...]], layout: Layout, room: int = 0) -> bytes:
    """Return the bytes of the entries, and the zeros after them."""
    return b"".join(layout.pack(*row) for row in rows) + bytes(room)


def as_json(rows: Sequence[tuple[int, ...]], layout: Layout) -> Sequence[dict[str, int]]:
    """Return the entries as JSON shows them."""
    return Mapped(lambda row: dict(zip(layout.names, row, strict=True)), rows)


def defects(data: bytes, layout: Layout, found: Entries, problem: Problem) -> tuple[Defect, ...]:
    """Return the defects: what is wrong with an entry, then what no entry holds."""
    told: list[Defect] = []
    for index, (before, row) in enumerate(pairwise(chain(islice(found.rows, 1), found.rows))):
        message, position = problem(index, before, row), index * layout.size
        if message is None:
            continue
        if len(told) == DEFECT_COUNT_MAX:
            told.append(Defect(message="more defects from here on", position=position))
            break
        told.append(Defect(message=message, position=position, found=data[position : position + layout.size]))
    if found.torn:
        position = len(data) - found.torn
        message = f"{found.torn} bytes after the last whole entry"
        told.append(Defect(message=message, position=position, found=data[position:][:FOUND_SIZE_MAX]))
    return tuple(told)
