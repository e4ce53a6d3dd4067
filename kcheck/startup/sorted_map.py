"""A map whose keys ascend, as ConcurrentSkipListMap: segments by base offset, snapshots of producers by offset."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, MutableMapping
from itertools import chain
from typing import TypeVar

from kcheck.core.startup import offset_of

V = TypeVar("V")


class SortedMap(MutableMapping[int, V]):
    """Values by numbers; `order` are these, ascending, and is not to be changed."""

    def __init__(self) -> None:
        """Begin with none."""
        self._values: dict[int, V] = {}
        self.order: list[int] = []

    def __getitem__(self, key: int) -> V:
        """Return the value of a number."""
        return self._values[key]

    def __setitem__(self, key: int, value: V) -> None:
        """Put a value in the place of another one, or among the others."""
        if key not in self._values:
            insort(self.order, key)
        self._values[key] = value

    def __delitem__(self, key: int) -> None:
        """Forget a number and its value."""
        del self._values[key]
        del self.order[bisect_left(self.order, key)]

    def __contains__(self, key: object) -> bool:
        """Whether there is a value."""
        return key in self._values

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers, ascending."""
        return iter(self.order)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.order)


class Snapshots:
    """The names of files by the offsets that they begin with; `unnumbered` are those that begin with none.

    Of several names with one offset the last one counts, and the others when that is gone.
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
        """Whether there is a file for an offset."""
        return offset in self._names

    def __getitem__(self, offset: int) -> str:
        """Return the name of the file for an offset."""
        return max(self._names[offset])

    def add(self, name: str) -> None:
        """Take a name, which may be known."""
        offset = offset_of(name)
        if offset is None:
            self.unnumbered.add(name)
        elif name not in (names := self._names.setdefault(offset, [])):
            names.append(name)

    def discard(self, name: str) -> None:
        """Forget a name, if it is known."""
        offset = offset_of(name)
        names = self._names.get(offset, []) if offset is not None else []
        if name in names:
            names.remove(name)
            if not names:
                del self._names[offset or 0]
        self.unnumbered.discard(name)
