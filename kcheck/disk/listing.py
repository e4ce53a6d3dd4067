"""The names in a directory, as a tree gives them."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model import names
from kcheck.model.names import IsStranger, further_strangers, is_stranger


class Listing(NamedTuple):
    """The names in one directory, sorted."""

    files: tuple[str, ...]
    """Regular files."""
    directories: tuple[str, ...]
    """Directories, and links to a directory below this one."""
    others: tuple[str, ...]
    """Other links, devices, sockets and pipes, which kcheck does not open."""
    strangers: int = 0
    """Number of more files that were left out as strangers."""


class DirectoryContent(NamedTuple):
    """The content of a directory in a store or a bundle."""

    sizes: Mapping[str, int]
    """The sizes of its files in bytes, by name."""
    directories: tuple[str, ...]
    """The names of its directories, sorted."""
    stamps: Mapping[str, str] = {}
    """By file of a held log dir, a text that changes with the file; missing if the store has none."""
    others: tuple[str, ...] = ()
    """The names of links, devices, sockets and pipes, sorted; a store has none, a bundle may."""


def leave_out(files: set[str], strange: IsStranger | None) -> int:
    """Remove all but the first strangers from the names of files; return how many were removed."""
    if strange is None or len(files) <= names.STRANGERS_MAX:
        return 0
    more = further_strangers(files, strange)
    files.difference_update(more)
    return len(more)


def with_few_strangers(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the files without the further strangers."""
    more = further_strangers(sizes, is_stranger) if len(sizes) > names.STRANGERS_MAX else ()
    return {name: sizes[name] for name in sizes.keys() - more} if more else dict(sizes)
