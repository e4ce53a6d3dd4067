"""Writes files that must not exist yet below a directory of the user's: never through a link, never into a log dir."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from kcheck.disk.backup import make_directories
from kcheck.disk.paths import is_url
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS

_OF_A_LOG_DIR = (META_PROPERTIES, *OFFSET_CHECKPOINTS)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_MODE, _DIRECTORY_MODE = 0o600, 0o700
"""The files are for this user alone, whoever can read the log dir."""


class NewFiles:
    """New files in one folder below `out`, one after the other; if the `with` block fails, they are removed again."""

    def __init__(self, out: str, names: Iterable[str], *, apart_from: Iterable[str]) -> None:
        """Check the place; `names` lead from `out` to the folder, which is created with its first file.

        UsageError if `out` is empty, in a log dir, in one of the directories `apart_from`, or in an object store.
        """
        self._out, self._names = os.path.realpath(out), tuple(names)
        assert all(name not in ("", ".", "..") and "/" not in name for name in self._names)
        if is_url(out):
            raise UsageError(f"{out}: kcheck saves records to this machine only")
        if not out:
            raise UsageError("the name of the directory to write is empty")
        around = log_dir_around(self._out)
        inside = [path for path in apart_from if f"{self._out}/".startswith(f"{os.path.realpath(path)}/")]
        if around is not None or inside:
            raise UsageError(f"{out} is inside of {around or inside[0]}: choose a directory outside of every log dir")
        self._path = os.path.join(out, *self._names)
        self._folder = self._file = -1
        self._made: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._settle()
        finally:
            self._close(failed=kind is not None)

    def begin(self, name: str) -> str:
        """Create a file, sync the one before, and return the path; UsageError if it exists or cannot be created."""
        path = os.path.join(self._path, name)
        try:
            self._settle()
            if self._folder < 0:
                self._folder = self._opened()
            self._file = os.open(name, _NEW, _FILE_MODE, dir_fd=self._folder)
        except FileExistsError:
            raise UsageError(f"{path} already exists") from None
        except OSError as error:
            raise UsageError(f"cannot create {path}: {word_for(error)}") from error
        self._made.append(name)
        return path

    def write(self, data: bytes) -> None:
        """Write to the file that was begun last; UsageError if that fails."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise UsageError(f"cannot write {os.path.join(self._path, self._made[-1])}: {word_for(error)}") from error

    def _opened(self) -> int:
        """Open the folder, after creating what is missing; never through a link below `out`."""
        make_directories(self._out)
        folder = os.open(self._out, _DIRECTORY)
        for name in self._names:
            try:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, _DIRECTORY_MODE, dir_fd=folder)
                    os.fsync(folder)
                below = os.open(name, _DIRECTORY, dir_fd=folder)
            finally:
                os.close(folder)
            folder = below
        return folder

    def _settle(self) -> None:
        if self._file >= 0:
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1
            os.fsync(self._folder)

    def _close(self, *, failed: bool) -> None:
        if self._file >= 0:
            os.close(self._file)
        if self._folder >= 0:
            for name in self._made if failed else ():
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=self._folder)
            os.close(self._folder)


def write_tree(out: str, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a directory that is empty or does not exist; all of them or none.

    UsageError if the directory holds anything, is in a log dir or in an object store, or cannot be written.
    """
    try:
        if os.path.lexists(out) and os.listdir(out):
            raise UsageError(f"{out} is not empty: choose a new directory")
    except OSError as error:
        raise UsageError(f"cannot read {out}: {word_for(error)}") from error
    folders: dict[str, dict[str, bytes]] = {}
    for path, data in files.items():
        folder, name = os.path.split(path)
        folders.setdefault(folder, {})[name] = data
    with contextlib.ExitStack() as stack:
        for folder, of_folder in folders.items():
            written = stack.enter_context(NewFiles(out, folder.split("/"), apart_from=()))
            for name, data in of_folder.items():
                written.begin(name)
                written.write(data)


def log_dir_around(path: str) -> str | None:
    """Return the log dir that a path is in, or is; None if it is in none."""
    while True:
        if any(os.path.lexists(os.path.join(path, name)) for name in _OF_A_LOG_DIR):
            return path
        above = os.path.dirname(path)
        if above == path:
            return None
        path = above
