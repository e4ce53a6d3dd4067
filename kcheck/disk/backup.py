"""The backup of a plan, with the replaced files, their attributes, and the progress of the plan.

    plan.json       the plan file
    N.before        the bytes of operation N's file, or the directory that it moved here
    journal.json    written last, as without it nothing is changed yet

A rename replaces the journal, so it is always complete.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple, Self

from kcheck.disk.attributes import Attributes
from kcheck.disk.places import PathAt, chunks_at, write_new
from kcheck.errors import PlanError
from kcheck.model.java import LONG_MAX
from kcheck.model.plan import is_path
from kcheck.model.source import SMALL_FILE_SIZE_MAX

PLAN, JOURNAL = "plan.json", "journal.json"
SCHEMA = "kcheck.journal/1"
APPLYING, APPLIED, UNDONE = "applying", "applied", "undone"
_OURS = re.compile(r"plan\.json|journal\.json(\.tmp)?|[0-9]+\.before")
_FILE_MODE = 0o600
_MODE_MAX = 0o7777
_ID_MAX = (1 << 32) - 2
"""The system takes the next id for none."""
_TIME_MAX = LONG_MAX * 1_000_000_000
"""The seconds of a time are a 64-bit number."""
_XATTR_NAME_MAX = 255


class Journal(NamedTuple):
    """The progress of a plan."""

    plan: str
    """The SHA-256 of the plan file."""
    state: str
    """APPLYING, APPLIED or UNDONE."""
    entries: Mapping[int, Attributes | None]
    """The operations that were pending, by number, with the attributes of their files; None if a file did not exist."""
    directories: Mapping[str, tuple[int, int]]
    """The access and modification times of the log dirs and changed directories, in nanoseconds since 1970.

    An older kcheck wrote the times of a directory for each changed path in it.
    """


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
        """Return the journal; None without one. PlanError if it is corrupt."""
        if self._descriptor < 0:
            return None
        try:
            return _parsed(self.read(JOURNAL))
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise PlanError(f"{os.path.join(self.path, JOURNAL)} is corrupt: {error}") from error

    def read(self, name: str) -> bytes:
        """Return a small file of the backup; PlanError if it is larger than any that kcheck writes."""
        data = bytearray()
        for chunk in chunks_at(PathAt(self._descriptor, name)):
            data += chunk
            if len(data) > SMALL_FILE_SIZE_MAX:
                raise PlanError(f"{os.path.join(self.path, name)} is larger than {SMALL_FILE_SIZE_MAX} bytes")
        return bytes(data)

    def make(self) -> None:
        """Create the folder, or use an empty one, or one of an interrupted run; PlanError for any other."""
        if self._descriptor < 0:
            make_directories(os.path.abspath(self.path))
            self._open()
        foreign = sorted(name for name in os.listdir(self._descriptor) if not _OURS.fullmatch(name))
        if foreign:
            raise PlanError(f"the backup {self.path} must be empty, but contains {foreign[0]}")

    def place(self, number: int) -> PathAt:
        """Return the backup place of an operation."""
        return PathAt(self._descriptor, f"{number}.before")

    def write(self, name: str, data: bytes) -> None:
        """Write a small file."""
        write_new(PathAt(self._descriptor, name), [data], own_attributes())

    def publish(self, journal: Journal) -> None:
        """Replace the journal, after syncing the files that it describes."""
        entries = {str(number): saved and _row(saved) for number, saved in journal.entries.items()}
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


def own_attributes() -> Attributes:
    """Return the attributes of a backup file. Only this user can read the file, even if others read the original."""
    return Attributes(_FILE_MODE, (os.geteuid(), os.getegid()))


def make_directories(path: str) -> None:
    """Create a directory and its missing parents, and sync each name, so that none is lost when power is."""
    missing = []
    while not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    for below in reversed(missing):
        os.mkdir(below, 0o700)
        around = os.open(os.path.dirname(below), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(around)
        finally:
            os.close(around)


def _row(saved: Attributes) -> dict[str, object]:
    xattrs = {name: value.hex() for name, value in (saved.xattrs or {}).items()}
    return {**saved._asdict(), "xattrs": xattrs}


def _parsed(data: bytes) -> Journal:
    """Return a journal; one of the exceptions that `Backup.journal` catches if the bytes are not one."""
    row = json.loads(data)
    if row["schema"] != SCHEMA or row["state"] not in (APPLYING, APPLIED, UNDONE):
        raise ValueError("another version of kcheck wrote it")
    entries = {int(number): None if saved is None else _saved(saved) for number, saved in row["entries"].items()}
    directories = {str(path): _times(times) for path, times in row["directories"].items()}
    return Journal(plan=str(row["plan"]), state=row["state"], entries=entries, directories=directories)


def _saved(row: Mapping[str, object]) -> Attributes:
    user, group = _pair(row["owner"], 0, _ID_MAX)
    return Attributes(
        mode=_number(row["mode"], 0, _MODE_MAX),
        owner=(user, group),
        times=_times(row["times"]),
        xattrs=_xattrs(row["xattrs"]) if "xattrs" in row else None,
    )


def _xattrs(value: object) -> dict[str, bytes]:
    if not isinstance(value, dict):
        raise ValueError("xattrs must be an object")  # noqa: TRY004 - the content of a file, not a wrong argument
    for name in value:
        if not is_path(name) or not 0 < len(os.fsencode(name)) <= _XATTR_NAME_MAX or "\0" in name:
            raise ValueError(f"{name!r} is not the name of an attribute")
    return {name: bytes.fromhex(data) for name, data in value.items()}


def _times(value: object) -> tuple[int, int]:
    return _pair(value, -_TIME_MAX, _TIME_MAX)


def _pair(value: object, least: int, most: int) -> tuple[int, int]:
    if not isinstance(value, list):
        raise ValueError(f"{value!r} is not a pair")  # noqa: TRY004 - the content of a file, not a wrong argument
    first, second = value
    return _number(first, least, most), _number(second, least, most)


def _number(value: object, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{value!r} is not a number from {least} to {most}")
    return value
