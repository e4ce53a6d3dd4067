"""Sequences whose items are made when they are asked for."""

from collections.abc import Callable, Iterator, Sequence
from operator import eq
from typing import Generic, Protocol, TypeVar, overload

S_co = TypeVar("S_co", covariant=True)
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class OnDemand(Sequence[T_co]):
    """Items that are made when they are asked for, each time. Equal to any sequence of the same items."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Whether a sequence has the same items."""
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # what is equal to lists and tuples has no hash


class Items(Protocol[S_co]):
    """What has a length and can be read by place and as often as one likes."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[S_co]: ...
    def __getitem__(self, index: int, /) -> S_co: ...


class Mapped(OnDemand[T], Generic[S, T]):
    """What is made of the items of another sequence: rows of a file of millions are never held together."""

    __slots__ = ("_make", "_source")

    def __init__(self, make: Callable[[S], T], source: Items[S]) -> None:
        """Take what makes an item of one of the source."""
        self._make, self._source = make, source

    def __len__(self) -> int:
        """Return how many items there are."""
        return len(self._source)

    def __iter__(self) -> Iterator[T]:
        """Yield the items."""
        return map(self._make, self._source)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """Return one item, or some of them."""
        if isinstance(index, int):
            return self._make(self._source[index])
        return tuple(self[at] for at in range(*index.indices(len(self))))
