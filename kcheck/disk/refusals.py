"""Remembers what the file system refused while a command ran, so that no answer hides it."""

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Self, TypeVar

T = TypeVar("T")

MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""The errors that say that a path leads to nothing: kcheck asks for files that need not exist."""


class _Collecting(local):
    """The dictionaries that this thread fills."""

    def __init__(self) -> None:
        self.open: list[Refusals] = []


class Refusals(dict[str, str]):
    """The paths that are refused, each with the reason; a `with` block fills it with what its thread asks for."""

    __slots__ = ()

    def __enter__(self) -> Self:
        """Begin."""
        _COLLECTING.open.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        """End. Blocks of generators end in any order."""
        _COLLECTING.open = [other for other in _COLLECTING.open if other is not self]


_COLLECTING = _Collecting()


@contextmanager
def unnoticed() -> Iterator[None]:
    """Remember no refusal during a `with` block: it looks at what the user did not name."""
    kept, _COLLECTING.open = _COLLECTING.open, []
    try:
        yield
    finally:
        _COLLECTING.open = kept


def note_refusal(path: str, error: OSError | ValueError) -> None:
    """Remember that a path was refused; a path that does not exist, or cannot, was not refused."""
    if isinstance(error, OSError) and error.errno not in MISSING:
        note_again([(path, error.strerror or str(error))])


def note_again(refusals: Iterable[tuple[str, str]]) -> None:
    """Remember what was refused before this answer was begun, and bears on it."""
    for refused in _COLLECTING.open:
        for path, words in refusals:
            refused.setdefault(path, words)


def asked_twice(ask: Callable[[], T]) -> T:
    """Return an answer, the second one if something was refused during the first: a network disk fails for a moment."""
    with Refusals() as refused:
        answer = ask()
    return ask() if refused else answer
