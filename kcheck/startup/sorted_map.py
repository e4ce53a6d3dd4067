"""A map with ascending keys, as ConcurrentSkipListMap (segments by base offset, producer snapshots by offset)."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, MutableMapping
from itertools import chain
from typing import TypeVar

from kcheck.core.start.startup import offset_of

V = TypeVar("V")


class SortedMap(MutableMapping[int, V]):
    """Values by number. `order` has the numbers, ascending; callers do not change it."""

    def __init__(self) -> None:
        """Start empty."""
        self._values: dict[int, V] = {}
        self.order: list[int] = []

    def __getitem__(self, key: int) -> V:
        """Return the value of a number."""
        return self._values[key]

    def __setitem__(self, key: int, value: V) -> None:
        """Set or replace the value of a number."""
        if key not in self._values:
            insort(self.order, key)
        self._values[key] = value

    def __delitem__(self, key: int) -> None:
        """Remove a number and its value."""
        del self._values[key]
        del self.order[bisect_left(self.order, key)]

    def __contains__(self, key: object) -> bool:
        """Return whether the number has a value."""
        return key in self._values

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers, ascending."""
        return iter(self.order)

    def __len__(self) -> int:
        """Return the count of values."""
        return len(self.order)


class Snapshots:
    """File names by their leading offset; `unnumbered` are names without one.

    Of several names with one offset the last counts, and after its removal the next.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Take the names."""
        self._names: SortedMap[list[str]] = SortedMap()
        self.unnumbered: set[str] = set()
        for name in sorted(names, key=lambda name: (offset_of(name) or 0, name)):
            self.add(name)

    @property
    def names(self) -> Iterator[str]:
        """All names."""
        return chain(self.unnumbered, *self._names.values())

    @property
    def offsets(self) -> list[int]:
        """The offsets, ascending."""
        return self._names.order

    def __contains__(self, offset: int) -> bool:
        """Return whether there is a file for an offset."""
        return offset in self._names

    def __getitem__(self, offset: int) -> str:
        """Return the name of the file for an offset."""
        return max(self._names[offset])

    def add(self, name: str) -> None:
        """Add a name; a known name stays."""
        offset = offset_of(name)
        if offset is None:
            self.unnumbered.add(name)
        elif name not in (names := self._names.setdefault(offset, [])):
            names.append(name)

    def discard(self, name: str) -> None:
        """Remove a name if it is known."""
        offset = offset_of(name)
        names = self._names.get(offset, []) if offset is not None else []
        if name in names:
            names.remove(name)
            if not names:
                del self._names[offset or 0]
        self.unnumbered.discard(name)
