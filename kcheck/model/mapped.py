"""Sequences that make an item each time it is read."""

from collections.abc import Callable, Iterator, Sequence
from operator import eq
from typing import ClassVar, Generic, Protocol, TypeVar, overload

S_co = TypeVar("S_co", covariant=True)
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class OnDemand(Sequence[T_co]):
    """A sequence that makes an item each time it is read. It equals any sequence of the same items."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Return whether the other is a sequence of the same items."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # equal to lists, which have no hash


class Items(Protocol[S_co]):
    """The source of a `Mapped`: it has a length, and can be read by index and several times."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[S_co]: ...
    def __getitem__(self, index: int, /) -> S_co: ...


class Mapped(OnDemand[T], Generic[S, T]):
    """The items of another sequence, converted when they are read; millions of rows are never in memory together."""

    __slots__ = ("_make", "_source")

    def __init__(self, make: Callable[[S], T], source: Items[S]) -> None:
        """Convert the items of `source` with `make`."""
        self._make, self._source = make, source

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._source)

    def __iter__(self) -> Iterator[T]:
        """Yield the items."""
        return map(self._make, self._source)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """Return one item, or a tuple of several."""
        if isinstance(index, int):
            return self._make(self._source[index])
        return tuple(self[number] for number in range(*index.indices(len(self))))
