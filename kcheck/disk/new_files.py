"""Writes new files below a directory of the user's, never through a link, never into a log dir."""

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

from kcheck.disk.backup import make_directories
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import is_url
from kcheck.disk.refusals import word_for
from kcheck.errors import UsageError
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS
from kcheck.model.unreadable import UnreadableError

_OF_A_LOG_DIR = (META_PROPERTIES, *OFFSET_CHECKPOINTS)
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = ".kcheck-new"
_NOTE, _NOTE_SIZE_MAX = ".kcheck-names", 16 << 20
_FILE_MODE, _DIRECTORY_MODE = 0o600, 0o700
"""Modes that let only this user read the files, even if others can read the log dir."""


class NewFiles:
    """New files below `out`, one after the other. All get their names at the end of the `with` block, or none does.

    They are written into a folder with a temporary name. One rename publishes a folder that did not exist. In an
    existing folder each file or folder is renamed. The next call removes the leftovers of a killed one.
    """

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
        _take_back(self._path)
        self._around = self._folder = self._file = -1
        self._final: str | None = None
        """The name that the temporary folder gets; None if its files move into the folder around it."""
        self._temporary = _TEMPORARY
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and self._folder >= 0:
                self._settle()
                self._publish()
        except FileExistsError as exists:
            raise UsageError(f"{self._path} already exists") from exists
        except OSError as failed:
            raise self._cannot_write(failed) from failed
        finally:
            self._close()

    def begin(self, name: str) -> str:
        """Create a file, sync the one before, and return its final path; a folder is created before it.

        UsageError if it exists or cannot be created.
        """
        path = os.path.join(self._path, name)
        for taken in (path, os.path.join(self._path, name.split("/", 1)[0])):
            if os.path.lexists(taken):
                raise UsageError(f"{taken} already exists")
        try:
            self._settle()
            if self._folder < 0:
                self._open()
            self._make_folders(name.split("/")[:-1])
            self._file = os.open(name, _NEW, _FILE_MODE, dir_fd=self._folder)
        except FileExistsError:
            raise UsageError(f"{path} already exists") from None
        except OSError as error:
            raise UsageError(f"cannot create {path}: {word_for(error)}") from error
        self._last = path
        return path

    def write(self, data: bytes) -> None:
        """Write to the file that was begun last; UsageError if that fails."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise self._cannot_write(error) from error

    def _cannot_write(self, error: OSError) -> UsageError:
        return UsageError(f"cannot write {self._last or self._path}: {word_for(error)}")

    def _open(self) -> None:
        """Create the temporary folder, and the folders above it; never through a link below `out`."""
        parts = (*self._names,) if os.path.isdir(self._out) else (os.path.basename(self._out), *self._names)
        around = self._out if len(parts) == len(self._names) else os.path.dirname(self._out)
        make_directories(around)
        self._around = os.open(around, _DIRECTORY)
        for name in parts[:-1]:
            self._enter(name)
        if parts and _is_there(parts[-1], self._around):
            self._enter(parts[-1])
        elif parts:
            self._final, self._temporary = parts[-1], parts[-1] + _TEMPORARY
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._temporary, dir_fd=self._around)
        os.mkdir(self._temporary, _DIRECTORY_MODE, dir_fd=self._around)
        self._folder = os.open(self._temporary, _DIRECTORY, dir_fd=self._around)

    def _enter(self, name: str) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, _DIRECTORY_MODE, dir_fd=self._around)
            os.fsync(self._around)
        below = os.open(name, _DIRECTORY, dir_fd=self._around)
        os.close(self._around)
        self._around = below

    def _make_folders(self, names: Sequence[str]) -> None:
        for count in range(1, len(names) + 1):
            with contextlib.suppress(FileExistsError):
                os.mkdir("/".join(names[:count]), _DIRECTORY_MODE, dir_fd=self._folder)

    def _settle(self) -> None:
        if self._file >= 0:
            file, self._file = self._file, -1
            try:
                os.fsync(file)
            finally:
                os.close(file)

    def _publish(self) -> None:
        for _, _, _, folder in os.fwalk(".", dir_fd=self._folder):
            os.fsync(folder)
        if self._final is not None:
            os.rename(self._temporary, self._final, src_dir_fd=self._around, dst_dir_fd=self._around)
        else:
            names = os.listdir(self._folder)
            for name in names:
                if _is_there(name, self._around):
                    raise UsageError(f"{os.path.join(self._path, name)} already exists")
            self._note(names)
            moved: list[str] = []
            try:
                for name in names:
                    os.rename(name, name, src_dir_fd=self._folder, dst_dir_fd=self._around)
                    moved.append(name)
            except OSError:
                for name in moved:
                    os.rename(name, name, src_dir_fd=self._around, dst_dir_fd=self._folder)
                raise
        os.fsync(self._around)

    def _note(self, names: Iterable[str]) -> None:
        """Write the names of the results into the temporary folder, for the call after a killed one."""
        note = json.dumps({name: _identity(name, self._folder) for name in names}).encode()
        self._file = os.open(_NOTE, _NEW, _FILE_MODE, dir_fd=self._folder)
        self.write(note)
        self._settle()
        os.fsync(self._folder)

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        if self._folder >= 0:
            os.close(self._folder)
        if self._around >= 0:
            with contextlib.suppress(OSError):
                shutil.rmtree(self._temporary, dir_fd=self._around)
            os.close(self._around)


def _take_back(path: str) -> None:
    """Remove the results that a killed call has published only in part; a file that changed since then stays."""
    with contextlib.suppress(OSError, ValueError, UnreadableError), contextlib.ExitStack() as opened:
        folder = os.open(path, _DIRECTORY)
        opened.callback(os.close, folder)
        note = json.loads(LOCAL.read_whole(os.path.join(path, _TEMPORARY, _NOTE), size_max=_NOTE_SIZE_MAX))
        if not any(_is_there(os.path.join(_TEMPORARY, name), folder) for name in note):
            return  # it was killed after the last one
        for name, identity in note.items():
            if "/" not in name and _is_there(name, folder) and identity == _identity(name, folder):
                os.rename(name, os.path.join(_TEMPORARY, name), src_dir_fd=folder, dst_dir_fd=folder)


def _identity(name: str, folder: int) -> list[int]:
    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    return [status.st_ino, status.st_mtime_ns, status.st_size]


def _is_there(name: str, folder: int) -> bool:
    """Return whether a directory has a name, of whatever type."""
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def write_tree(out: str, files: Mapping[str, bytes]) -> None:
    """Write files by their paths below a directory that is empty or does not exist; all of them or none.

    UsageError if the directory holds anything, is in a log dir or in an object store, or cannot be written.
    """
    _take_back(out)
    try:
        if os.path.lexists(out) and set(os.listdir(out)) - {_TEMPORARY}:
            raise UsageError(f"{out} is not empty; choose a new directory")
    except OSError as error:
        raise UsageError(f"cannot read {out}: {word_for(error)}") from error
    write_files(out, (), files, apart_from=())


def write_files(out: str, names: Iterable[str], files: Mapping[str, bytes], *, apart_from: Iterable[str]) -> None:
    """Write files by their paths below `out` and `names`; all of them or none. UsageError: as `NewFiles`."""
    with NewFiles(out, names, apart_from=apart_from) as written:
        for path, data in files.items():
            written.begin(path)
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
