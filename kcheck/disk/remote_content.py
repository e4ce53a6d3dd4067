"""The content of a directory that is not on this machine's disks: in an object store or in a bundle."""

from collections.abc import Mapping
from typing import NamedTuple


class RemoteContent(NamedTuple):
    """The content of a directory in a store."""

    sizes: Mapping[str, int]
    """The sizes of its files in bytes, by name."""
    directories: tuple[str, ...]
    """The names of its directories, sorted."""
    stamps: Mapping[str, str] = {}
    """For each file of a held log dir, a text that differs once the file changes; missing if the store has none."""
    others: tuple[str, ...] = ()
    """The names of links, devices, sockets and pipes, sorted; a store has none, a bundle may."""
