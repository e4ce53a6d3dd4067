"""Remembers what the file system refused while a command ran, so that no answer hides it."""

import errno
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import local
from typing import Concatenate, ParamSpec, Self, TypeVar

from kcheck.model.unreadable import UnreadableCause, UnreadableError

P = ParamSpec("P")
T = TypeVar("T")
TreeT = TypeVar("TreeT")

MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)
"""Errors that mean a missing path, as kcheck asks for files that need not exist."""


_NUL = "embedded null byte"


class _Collecting(local):
    """The dictionaries that this thread fills."""

    def __init__(self) -> None:
        self.open: list[Refusals] = []


class Refusals(dict[str, str]):
    """The refused paths, each with the reason; a `with` block collects what the system refuses to its thread."""

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


def unreadable(error: OSError | ValueError, path: str) -> UnreadableError:
    """Return the UnreadableError for an error of the operating system about a path; the command remembers it."""
    note_refusal(path, error)
    missing = isinstance(error, OSError) and error.errno == errno.ENOENT
    return UnreadableError(word_for(error), UnreadableCause.MISSING if missing else UnreadableCause.REFUSED)


def word_for(error: OSError | ValueError) -> str:
    """Return the operating system's message for an error.

    For a name with a NUL the message is kcheck's own. Python refuses that name itself, with other words in each
    release.
    """
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return _NUL if "embedded null" in str(error) else str(error)


def readable(ask: Callable[Concatenate[TreeT, str, P], T]) -> Callable[Concatenate[TreeT, str, P], T]:
    """Make a tree's method raise UnreadableError where the system, or a store, refuses the path."""

    def wrapped(tree: TreeT, path: str, /, *more: P.args, **options: P.kwargs) -> T:
        try:
            return ask(tree, path, *more, **options)
        except (OSError, ValueError) as error:
            raise unreadable(error, path) from error

    return wrapped


def asked_twice(ask: Callable[[], T]) -> T:
    """Return an answer, the second one if something was refused during the first, as network disks fail briefly."""
    with Refusals() as refused:
        answer = ask()
    return ask() if refused else answer
