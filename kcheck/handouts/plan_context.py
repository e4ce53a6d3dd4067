"""The inputs for the words of the steps of a recovery."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.core.election.recovery_plan import Recovery
from kcheck.handouts.group_resets import GroupReset


class PlanContext(NamedTuple):
    """The inputs for the words of the steps (the recommendation, and the paths of the user's own files)."""

    recovery: Recovery
    resets: tuple[GroupReset, ...]
    """The runs that put consumer groups back."""
    settings: Mapping[int, str]
    """The server.properties of each broker, as far as it is known."""
    log_dirs: Mapping[int, tuple[str, ...]]
    """The log dirs of each broker that are not given up, as far as they are known."""
    places: Mapping[tuple[int, str], str]
    """The directories of partitions that the steps move, by broker and name."""
    backup: str
    """The directory that takes what is moved aside."""
    homes: Mapping[tuple[int, str | None], str] = {}
    """The log dirs, by broker and directory.id."""
    controllers: tuple[str, ...] = ()
    """The server.properties of controllers that are no brokers, as far as they are known."""
    metadata: tuple[str, ...] = ()
    """The paths that the user named for their metadata."""
    saved: str | None = None
    """The directory with the records that brokers remove; None if they are not saved yet."""
    old_copies: Mapping[int, str] = {}
    """The final loss of each broker with an old copy of a disk, in words."""
    at_start: Mapping[int, tuple[str, ...]] = {}
    """The records that brokers remove for good when they start, in words, with the commands that save some."""
    session: str | None = None
    """The session timeout by the settings, such as `3 s`; None without one."""
    sought: Mapping[int, str] = {}
    """The first step for each broker with a disk that is not here."""
    save: str = "kcheck recover --output-dir DIR"
    """The command that saves the records."""
    addresses: Mapping[int, str] = {}
    """The address of each broker for clients by its settings, as far as they name a host."""
    save_step: int = 0
    """The number of the step that does."""
