"""The owner and the mode of a file or directory, and the space of a log dir's file system."""

from typing import NamedTuple


class Rights(NamedTuple):
    """The owner and the mode of a file or directory."""

    path: str
    """Its path in its log dir; empty for the log dir."""
    user: int
    """The number of its user."""
    group: int
    """The number of its group."""
    mode: int
    """Its mode bits."""


PlainRights = tuple[str, int, int, int]
"""The same values: a log dir has too many files to give them names."""


PlainOwners = tuple[frozenset[tuple[int, int, int]], int]
"""The users, groups and modes of the files of a directory, and the number of its segments."""


class BrokerUser(NamedTuple):
    """The user that a broker runs as."""

    user: int
    """Its number."""
    group: int
    """The number of its group."""


class LogDirRights(NamedTuple):
    """The rights that a user lacks in one log dir."""

    user: BrokerUser
    """The user."""
    owner: int
    """The user that the log dir belongs to."""
    refused: tuple[Rights, ...] = ()
    """The first paths that it may not use, without the contents of a completely foreign directory."""
    refused_count: int = 0
    """Number of paths that it may not use."""
    item_count: int = 0
    """Number of them that `refused` would name if it named all."""
    whole: frozenset[str] = frozenset()
    """The directories in `refused` that contain no file of the user."""
    is_foreign: bool = False
    """True if nothing in the log dir belongs to the user."""
    doubtful: Rights | None = None
    """The first path that only members of its group may use; None without one."""
    segment_count: int = 0
    """Number of segments."""


class Volume(NamedTuple):
    """The mounted file system that contains a log dir."""

    mount_point: str
    """Its mount point."""
    is_read_only: bool
    """True if it is mounted read-only here."""
    is_seen_in_container: bool
    """True if kcheck runs in a container. Its mounts can differ from the broker's."""
    free: int
    """Number of bytes that a user other than root can still write."""
    free_for_root: int
    """Number of bytes that root can still write."""
    block_size: int
    """The fewest bytes that a file with content takes."""


class ProcessLimits(NamedTuple):
    """The limits of a process on the broker's machine, as far as they are known."""

    maps: int | None = None
    """Number of memory maps (vm.max_map_count)."""
    open_files: int | None = None
    """Number of open files, by the hard limit of the user's session."""
