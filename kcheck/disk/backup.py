"""The backup of a plan: what stood there before, what it belonged to, and how far the plan has come.

    plan.json       the plan as it was given
    N.before        the bytes of operation N's file, or the directory that it set aside
    journal.json    comes last: without it nothing is changed yet

The journal is whole whenever it is there: each new one takes the place of the old.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from kcheck.disk.places import Place, chunks_at, write_new
from kcheck.errors import PlanError

PLAN, JOURNAL = "plan.json", "journal.json"
SCHEMA = "kcheck.journal/1"
APPLYING, APPLIED, UNDONE = "applying", "applied", "undone"
_OURS = re.compile(r"plan\.json|journal\.json(\.tmp)?|[0-9]+\.before")
_SMALL = 0o600


class Kept(NamedTuple):
    """What a file has beside its bytes: mode bits, (user, group), and its times in nanoseconds since 1970."""

    mode: int
    owner: tuple[int, int]
    times: tuple[int, int]


class Journal(NamedTuple):
    """How far a plan has come.

    `plan` is the SHA-256 of its bytes. `entries` are the operations that were still to be done, by number, with what
    their files had; None for a file that was not there. `directories` are the times of the directories around them.
    """

    plan: str
    state: str
    entries: Mapping[int, Kept | None]
    directories: Mapping[str, tuple[int, int]]


class Backup:
    """A backup folder, open as long as the `with` block lasts."""

    def __init__(self, path: str) -> None:
        """Take a path; nothing is made or opened yet."""
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
        """Raise PlanError if the folder stands inside of a log dir, where it ends a broker's start, or around one."""
        here = os.path.realpath(self.path) + os.sep
        for log_dir in log_dirs:
            there = os.path.realpath(log_dir) + os.sep
            if here.startswith(there) or there.startswith(here):
                raise PlanError(f"the backup {self.path} must not stand inside of {log_dir}, nor around it")

    def journal(self) -> Journal | None:
        """Return the journal, None if there is none; PlanError if somebody wrote into it."""
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
        return b"".join(chunks_at(Place(self._descriptor, name)))

    def make(self) -> None:
        """Have the folder there, empty but for what an interrupted run left; PlanError if others use it."""
        if self._descriptor < 0:
            os.makedirs(self.path, 0o700)
            self._open()
            around = os.open(os.path.dirname(os.path.realpath(self.path)), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(around)
            finally:
                os.close(around)
        strange = sorted(name for name in os.listdir(self._descriptor) if not _OURS.fullmatch(name))
        if strange:
            raise PlanError(f"the backup {self.path} must be empty: {strange[0]} is in it")

    def place(self, number: int) -> Place:
        """Return where what an operation replaces is kept."""
        return Place(self._descriptor, f"{number}.before")

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        write_new(Place(self._descriptor, name), [data], mode=_SMALL, owner=(os.geteuid(), os.getegid()))

    def publish(self, journal: Journal) -> None:
        """Put the journal in the place of the one before; what it speaks of is on the disk by then."""
        entries = {str(number): kept and kept._asdict() for number, kept in journal.entries.items()}
        row = {**journal._asdict(), "schema": SCHEMA, "entries": entries}
        self.write(f"{JOURNAL}.tmp", json.dumps(row, indent=1).encode())
        self.settle()
        os.rename(f"{JOURNAL}.tmp", JOURNAL, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)
        self.settle()

    def settle(self) -> None:
        """Have the names in the folder on its disk."""
        os.fsync(self._descriptor)

    def device(self) -> int:
        """Return the file system that the folder, or what is to be around it, is on."""
        path = os.path.realpath(self.path)
        while not os.path.isdir(path):
            path = os.path.dirname(path)
        return os.stat(path).st_dev

    def _open(self) -> None:
        self._descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _parsed(data: bytes) -> Journal:
    """Return a journal; any of the exceptions of `Backup.journal` if it is none."""
    found = json.loads(data)
    if found["schema"] != SCHEMA or found["state"] not in (APPLYING, APPLIED, UNDONE):
        raise ValueError("it is of another kcheck")
    entries = {int(number): None if kept is None else _kept(kept) for number, kept in found["entries"].items()}
    directories = {str(path): _pair(times) for path, times in found["directories"].items()}
    return Journal(str(found["plan"]), found["state"], entries, directories)


def _kept(row: Mapping[str, object]) -> Kept:
    return Kept(_number(row["mode"]), _pair(row["owner"]), _pair(row["times"]))


def _pair(value: object) -> tuple[int, int]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is no pair")  # noqa: TRY004 - what a file holds is a value
    first, second = value
    return _number(first), _number(second)


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no number")  # noqa: TRY004 - what a file holds is a value
    return value
