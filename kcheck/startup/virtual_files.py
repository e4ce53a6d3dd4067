"""The files of a partition directory during a simulated start. Every write stays in memory."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from kcheck.core.start.predictions import Changes, Content
from kcheck.core.start.startup import Outcome, failed_read
from kcheck.model.release import Release
from kcheck.model.source import Files, Source, small_size_max
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError, too_large
from kcheck.startup.sorted_map import Snapshots

_PIECE_SIZE = 1 << 20
SNAPSHOT = ".snapshot"


class StartError(Exception):
    """The broker does not start; where `offline` is set, only the log dir fails. The message gives the reason."""

    def __init__(self, reason: str, *, offline: bool = False) -> None:
        """Take the reason."""
        super().__init__(reason)
        self.offline = offline


class UnseenError(StartError):
    """kcheck cannot read a file, but perhaps the broker can. The outcome of the partition is not known."""

    def __init__(self, reason: str, cause: UnreadableCause = UnreadableCause.REFUSED) -> None:
        """Take the reason, and its cause."""
        super().__init__(reason)
        self.why: Unreadable = Unreadable(cause, reason)


class UnreadableFileError(StartError):
    """The broker cannot read a file; `fails_later`: its log dir goes offline as soon as the broker runs."""

    def __init__(self, reason: str, *, offline: bool, fails_later: bool) -> None:
        """Take the reason, and what follows from it."""
        super().__init__(reason, offline=offline)
        self.fails_later = fails_later


def failed(name: str, error: str, release: Release) -> UnreadableFileError:
    """Return the consequence of a file of a partition that the broker cannot read."""
    failure = failed_read(name, error, release)
    return UnreadableFileError(
        failure.reason, offline=failure.outcome is Outcome.OFFLINE, fails_later=failure.fails_later
    )


class DirectoryError(StartError):
    """The broker opens, writes or removes a file, but a directory has its name, which is an IOException in Java."""

    def __init__(self, name: str, what: str, *, offline: bool) -> None:
        """Take the name, and what has it."""
        super().__init__(f"{name} is {what}", offline=offline)


class Folder:
    """The regular files of one directory, by name.

    `directories` are the directories with the name of a file, each with whether it is empty. The broker lists files
    only, and fails when it opens one of these. In 0.11 and earlier that aborts the broker, see `fails_offline`. `loops`
    are links that lead to themselves. They are like empty directories, but File.exists is false for them.
    """

    fails_offline = True
    """True if an IOException takes the log dir offline; otherwise it aborts the broker."""

    def __init__(
        self, disk: Files, files: Mapping[str, Content], directories: Mapping[str, bool] | None = None,
        loops: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Take the initial files, and the files on disk, which hold their bytes."""
        self.disk = disk
        self.loops: frozenset[str] = frozenset(loops)
        self.directories: dict[str, bool] = {**(directories or {}), **dict.fromkeys(self.loops, True)}
        self.files: dict[str, Content] = dict(files)
        self._before = dict(files)
        self._origins = {name: name for name in files}
        self.snapshots: Snapshots = Snapshots(name for name in files if name.endswith(SNAPSHOT))
        """The producer snapshots, sorted, as a recovery needs them before each segment."""

    def __contains__(self, name: str) -> bool:
        """Return whether there is a file of this name."""
        return name in self.files

    def exists(self, name: str) -> bool:
        """Return whether there is a file or a directory of this name (File.exists)."""
        return name in self.files or (name in self.directories and name not in self.loops)

    def refuse_directory(self, name: str) -> None:
        """Raise DirectoryError if a directory has the name of a file that is opened."""
        if name in self.directories:
            what = "a link to itself" if name in self.loops else "a directory"
            raise DirectoryError(name, what, offline=self.fails_offline)

    def put(self, name: str, content: Content) -> None:
        """Write a file."""
        self.refuse_directory(name)
        self.files[name] = content
        if name.endswith(SNAPSHOT):
            self.snapshots.add(name)

    def remove(self, name: str) -> None:
        """Remove a file, or an empty directory, if it exists (Files.deleteIfExists)."""
        if not self.directories.get(name, True):
            self.refuse_directory(name)
        self.directories.pop(name, None)
        self.files.pop(name, None)
        self._origins.pop(name, None)
        self._forget(name)

    def rename(self, name: str, new: str) -> bool:
        """Rename a file, over another one or an empty directory if need be; return whether it existed."""
        if name in self.directories:
            self.remove(new)
            self.directories[new] = self.directories.pop(name)
            return True
        if name not in self.files:
            return False
        if new in self.directories:
            self.remove(new)
        self._forget(name)
        self.put(new, self.files.pop(name))
        origin = self._origins.pop(name, None)
        self._origins.pop(new, None)
        if origin is not None:
            self._origins[new] = origin
        return True

    def _forget(self, name: str) -> None:
        if name.endswith(SNAPSHOT):
            self.snapshots.discard(name)

    def read(self, name: str) -> tuple[bytes, int]:
        """Return the bytes of a file without the zeros at its end that kcheck does not keep, and its size."""
        return read_content(self.disk, name, self.files[name])

    def read_whole(self, name: str) -> bytes:
        """Return the bytes of a small file; UnseenError where it cannot be read."""
        data, size = self.read(name)
        return data.ljust(size, b"\0")

    def before_start(self, name: str) -> Content | None:
        """Return the initial file; None without one."""
        return self._before.get(name)

    def as_before(self) -> "Folder":
        """Return the files before any change."""
        return Folder(self.disk, self._before)

    def changes(self) -> Changes:
        """Return the changes of the files."""
        renamed = {name: origin for name, origin in self._origins.items() if name != origin}
        removed = self._before.keys() - self.files.keys() - set(renamed.values())
        created = self.files.keys() - self._before.keys() - renamed.keys()
        unknown = {
            name for name, content in self.files.items() if not content.certain and self._before.get(name) != content
        }
        kept = self.files.keys() & self._before.keys() - renamed.keys() - unknown
        changed = {name for name in kept if not self._is_same(self._before[name], self.files[name])}
        return Changes(
            created=tuple(sorted(created)),
            changed=tuple(sorted(changed)),
            removed=tuple(sorted(removed)),
            renamed=tuple(sorted((origin, name) for name, origin in renamed.items())),
            unknown=tuple(sorted(unknown & self._before.keys())),
        )

    def _is_same(self, before: Content, after: Content) -> bool:
        if before == after:
            return True
        if before.size != after.size or before.file is None:
            return False
        begin = 0 if after.file is None else after.filled
        pieces: Iterable[bytes] = (after.data,) if after.file is None else ()
        try:
            with self.disk.open(before.file) as source:
                return _holds(source, begin, pieces, before.size)
        except UnreadableError:
            return False


def _holds(source: Source, position: int, pieces: Iterable[bytes], size: int) -> bool:
    """Return whether a file has these bytes from a position on, and then only zeros."""
    for piece in pieces:
        if source.pread(len(piece), position) != piece:
            return False
        position += len(piece)
    while position < size:
        piece = source.pread(min(_PIECE_SIZE, size - position), position)
        if not piece or piece.count(0) != len(piece):
            return False
        position += len(piece)
    return True


def contents_of(sizes: Mapping[str, int]) -> dict[str, Content]:
    """Return the files of a directory as they are on disk, given their sizes."""
    return {name: Content(size, file=name, filled=size) for name, size in sizes.items()}


def read_content(disk: Files, name: str, content: Content) -> tuple[bytes, int]:
    """Return the bytes of a file as `Folder.read`; UnseenError where it cannot be read."""
    if content.file is None:
        return content.data, content.size
    with unreadable(name):
        if content.size > small_size_max(name):  # a caller may write out the zeros
            raise too_large(content.size)
        data, _ = disk.read_filled(content.file)
    return data[: content.filled], content.size


@contextmanager
def unreadable(name: str) -> Iterator[None]:
    """Raise UnseenError for a file that kcheck cannot read."""
    try:
        yield
    except UnreadableError as error:
        raise UnseenError(f"{name}: {error}", error.cause) from error
