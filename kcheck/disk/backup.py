"""The backup of a plan: the replaced files, their owners, modes and times, and how far the plan is applied.

    plan.json       the plan file
    N.before        the bytes of operation N's file, or the directory that it moved here
    journal.json    written last: without it nothing is changed yet

A rename replaces the journal, so it is always complete.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from kcheck.disk.places import PathAt, chunks_at, write_new
from kcheck.errors import PlanError

PLAN, JOURNAL = "plan.json", "journal.json"
SCHEMA = "kcheck.journal/1"
APPLYING, APPLIED, UNDONE = "applying", "applied", "undone"
_OURS = re.compile(r"plan\.json|journal\.json(\.tmp)?|[0-9]+\.before")
_FILE_MODE = 0o600


class SavedAttributes(NamedTuple):
    """The attributes of a replaced file."""

    mode: int
    """Its mode bits."""
    owner: tuple[int, int]
    """The ids of its user and group."""
    times: tuple[int, int]
    """Its access and modification time, in nanoseconds since 1970."""


class Journal(NamedTuple):
    """How far a plan is applied."""

    plan: str
    """The SHA-256 of the plan file."""
    state: str
    """APPLYING, APPLIED or UNDONE."""
    entries: Mapping[int, SavedAttributes | None]
    """The operations that were pending, by number, with the attributes of their files; None if a file did not exist."""
    directories: Mapping[str, tuple[int, int]]
    """The access and modification times of their directories, in nanoseconds since 1970, by path of the file."""


class Backup:
    """A backup folder, open during a `with` block."""

    def __init__(self, path: str) -> None:
        """Remember the path; `make` creates the folder."""
        self.path = path
        self._descriptor = -1

    def __enter__(self) -> Self:
        if os.path.isdir(self.path):
            self._open()
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def check_apart(self, log_dirs: Iterable[str]) -> None:
        """Raise PlanError if the folder is in a log dir, where a broker would not start, or contains one."""
        here = os.path.realpath(self.path) + os.sep
        for log_dir in log_dirs:
            there = os.path.realpath(log_dir) + os.sep
            if here.startswith(there) or there.startswith(here):
                raise PlanError(f"the backup {self.path} must not be inside of {log_dir}, nor contain it")

    def journal(self) -> Journal | None:
        """Return the journal; None if there is none. PlanError if it is damaged."""
        if self._descriptor < 0:
            return None
        try:
            return _parsed(self.read(JOURNAL))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PlanError(f"{os.path.join(self.path, JOURNAL)} is damaged: {error}") from error

    def read(self, name: str) -> bytes:
        """Return a small file of the backup."""
        return b"".join(chunks_at(PathAt(self._descriptor, name)))

    def make(self) -> None:
        """Create the folder, or use one that is empty or left by an interrupted run; PlanError for any other."""
        if self._descriptor < 0:
            os.makedirs(self.path, 0o700)
            self._open()
            around = os.open(os.path.dirname(os.path.realpath(self.path)), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(around)
            finally:
                os.close(around)
        foreign = sorted(name for name in os.listdir(self._descriptor) if not _OURS.fullmatch(name))
        if foreign:
            raise PlanError(f"the backup {self.path} must be empty, but contains {foreign[0]}")

    def place(self, number: int) -> PathAt:
        """Return the place of what an operation replaces."""
        return PathAt(self._descriptor, f"{number}.before")

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        write_new(PathAt(self._descriptor, name), [data], mode=_FILE_MODE, owner=(os.geteuid(), os.getegid()))

    def publish(self, journal: Journal) -> None:
        """Replace the journal, after syncing the files that it describes."""
        entries = {str(number): saved and saved._asdict() for number, saved in journal.entries.items()}
        row = {**journal._asdict(), "schema": SCHEMA, "entries": entries}
        self.write(f"{JOURNAL}.tmp", json.dumps(row, indent=1).encode())
        self.settle()
        os.rename(f"{JOURNAL}.tmp", JOURNAL, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        self.settle()

    def settle(self) -> None:
        """Sync the folder, so that its names survive a crash."""
        os.fsync(self._descriptor)

    def device(self) -> int:
        """Return the device number of the folder, or of the nearest directory above it that exists."""
        path = os.path.realpath(self.path)
        while not os.path.isdir(path):
            path = os.path.dirname(path)
        return os.stat(path).st_dev

    def _open(self) -> None:
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _parsed(data: bytes) -> Journal:
    """Return a journal; one of the exceptions that `Backup.journal` catches if the bytes are not one."""
    row = json.loads(data)
    if row["schema"] != SCHEMA or row["state"] not in (APPLYING, APPLIED, UNDONE):
        raise ValueError("another version of kcheck wrote it")
    entries = {int(number): None if saved is None else _saved(saved) for number, saved in row["entries"].items()}
    directories = {str(path): _pair(times) for path, times in row["directories"].items()}
    return Journal(plan=str(row["plan"]), state=row["state"], entries=entries, directories=directories)


def _saved(row: Mapping[str, object]) -> SavedAttributes:
    return SavedAttributes(mode=_number(row["mode"]), owner=_pair(row["owner"]), times=_pair(row["times"]))


def _pair(value: object) -> tuple[int, int]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a pair")  # noqa: TRY004 - the content of a file, not a wrong argument
    first, second = value
    return _number(first), _number(second)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is not a number")  # noqa: TRY004 - the content of a file, not a wrong argument
    return value
