"""Writes kcheck's results, as new directories, and as files that are complete as soon as they exist.

A store has no directories of its own. A directory exists as long as a file is below it.
"""

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import BinaryIO, cast

from kcheck.disk.local import LOCAL, LocalFile
from kcheck.disk.refusals import word_for
from kcheck.disk.store import StoreTree, Upload
from kcheck.disk.tree import tree_of
from kcheck.errors import ScratchFailedError, UsageError
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS

_OF_SYSTEM = ("/dev/", "/proc/")
"""A link there is an open file of this process, such as /dev/stdout."""


def _store(path: str) -> StoreTree | None:
    """Return the tree of a path that is not on a disk; a bundle refuses to be written to."""
    tree = tree_of(path)
    return cast("StoreTree", tree) if tree.is_remote else None


def keep_outside(checked: Iterable[str], file: str, done: str = "was checked", *, option: str = "-o") -> None:
    """Raise UsageError if a file would be written inside a checked path.

    `done` tells how the path is used, and `option` names the file.
    """
    target = os.path.realpath(file)
    for path in chain.from_iterable(map(_checked_paths, checked)):
        if target == os.path.realpath(path) or target.startswith(os.path.realpath(path) + os.sep):
            raise UsageError(f"{option} {file} is inside {path}, which {done}; choose a file outside")


def _checked_paths(path: str) -> Iterator[str]:
    """Yield the paths that were read for a path.

    They are a bare file without its options, and the log dir of a partition.
    """
    yield path
    while not os.path.lexists(path) and "," in path:
        path = path.rpartition(",")[0]
        yield path
    around = os.path.dirname(os.path.realpath(path))
    if is_log_dir(around):
        yield around


def is_log_dir(path: str) -> bool:
    """Return whether a directory on disk has a file that only log dirs have."""
    return any(os.path.lexists(os.path.join(path, name)) for name in (*OFFSET_CHECKPOINTS, META_PROPERTIES))


def make_directory(path: str) -> None:
    """Create a directory and its parents; UsageError if it exists or cannot be created."""
    store = _store(path)
    try:
        if store is not None:
            if store.is_directory(path):
                raise UsageError(f"{path} already exists")
            store.try_to_write(path)
            return
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        os.mkdir(path)
    except (OSError, ValueError) as error:
        if os.path.lexists(path):
            raise UsageError(f"{path} already exists") from None
        raise UsageError(f"cannot create {path}: {word_for(error)}") from error


def occupied(path: str) -> int | None:
    """Hold a directory for this process and return the descriptor that holds it; None if another process does.

    The system lets it go when the process ends, however that is.
    """
    import fcntl  # not on every system

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def let_go(descriptor: int) -> None:
    """Let a directory go that is `occupied`."""
    os.close(descriptor)


def put_in_place(path: str, to: str) -> None:
    """Give a file or a directory its name, durably; OSError if a directory of that name is not empty."""
    os.rename(path, to)
    folder = os.open(os.path.dirname(to) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def have_directory(path: str) -> None:
    """Create a directory if it does not exist; its parent exists."""
    if _store(path) is not None:
        return
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)


def size_below(path: str) -> int:
    """Return the bytes of the files that were written below a directory on a disk."""
    return sum(os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(path) for name in names)


def create(path: str) -> BinaryIO:
    """Create a file and open it; a file in a store exists once it is settled."""
    store = _store(path)
    return open(path, "xb") if store is None else cast("BinaryIO", store.create(path))


def read_again(path: str) -> BinaryIO:
    """Open a file that `create` has written."""
    return open(path, "rb")


@contextlib.contextmanager
def reading(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file of a run, on disk or in a store; gives it and its size in bytes. UnreadableError if it is no file."""
    store = _store(path)
    if store is not None:
        remote, size = store.stream(path)
        with remote:
            yield remote, size
        return
    with LOCAL.open(path) as file:
        assert isinstance(file, LocalFile)
        with open(file.fileno(), "rb", closefd=False) as stream:
            yield stream, file.size


def settle(stream: BinaryIO) -> None:
    """Sync a file to disk, or upload it to its store, and close it."""
    stream.flush()
    if isinstance(stream, Upload):
        stream.settle()
        return
    os.fsync(stream.fileno())
    stream.close()


def give_up(stream: BinaryIO) -> None:
    """Close a file that counts for nothing, whatever its disk says."""
    if not isinstance(stream, Upload):
        with contextlib.suppress(OSError):
            stream.close()


def publish(path: str, data: bytes) -> None:
    """Write a file that is either complete or missing, and sync its directory."""
    store = _store(path)
    if store is not None:
        store.write(path, data)
        return
    temporary = path + ".tmp"
    with create(temporary) as stream:
        stream.write(data)
        settle(stream)
    put_in_place(temporary, path)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Give a new file that replaces `path` when the block ends; after a failure `path` stays unchanged.

    A link keeps leading to the new file. Devices, pipes and sockets are opened, because root could replace /dev/null.
    """
    if _store(path) is not None:
        with create(path) as stream:
            yield stream
            settle(stream)
        return
    if os.path.exists(path) and (path.startswith(_OF_SYSTEM) or not stat.S_ISREG(os.stat(path).st_mode)):
        with open(path, "wb", opener=_open_special) as stream:
            yield stream
        return
    path = os.path.realpath(path)
    if os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        with create(temporary) as stream:
            if os.path.lexists(path):
                os.fchmod(stream.fileno(), stat.S_IMODE(os.lstat(path).st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _open_special(path: str, flags: int) -> int:
    """Open a device, pipe or socket. OSError for a pipe without a reader, because waiting can take forever."""
    try:
        descriptor = os.open(path, flags | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "no process reads this pipe", path) from error
        raise
    os.set_blocking(descriptor, True)
    return descriptor


@contextlib.contextmanager
def beside(path: str) -> Iterator[str]:
    """Give a directory for files that are read again, which is a temporary local one for a store."""
    if _store(path) is None:
        yield path
        return
    with scratch() as folder:
        yield folder


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """Give a temporary directory; it is removed afterwards. ScratchFailedError if the disk refuses."""
    import tempfile  # only for large comparisons

    try:
        with tempfile.TemporaryDirectory(prefix="kcheck-") as path:
            yield path
    except OSError as error:
        raise ScratchFailedError(error.errno, error.strerror, error.filename) from error


def move(path: str, to: str) -> None:
    """Move a file that another process has written and synced."""
    store = _store(path)
    if store is not None:
        store.rename(path, to)
        return
    os.rename(path, to)


def discard(path: str) -> None:
    """Remove a file, or a directory that `make_directory` has created; errors are ignored."""
    store = _store(path)
    if store is not None:
        with contextlib.suppress(OSError):
            store.remove(path)
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def have_same(path: str, to: str) -> None:
    """Put a file of a run, which never changes, at another path too, on one disk as a link.

    UnreadableError if it cannot be read.
    """
    if _store(path) is None and _store(to) is None:
        with contextlib.suppress(OSError):  # Another disk, one without links, or there is a file: it is replaced.
            os.link(path, to)
            return
    with reading(path) as (source, _), replacing(to) as target:
        shutil.copyfileobj(source, target)


def keep_aside(folder: str, aside: str) -> None:
    """Move the files below one directory to another, over files of the same names; errors are ignored."""
    store = _store(folder)
    with contextlib.suppress(OSError):
        if store is not None:
            store.move(folder, aside)
            return
        for path, _, names in os.walk(folder):
            target = os.path.normpath(os.path.join(aside, os.path.relpath(path, folder)))
            for name in names:
                os.makedirs(target, exist_ok=True)
                os.replace(os.path.join(path, name), os.path.join(target, name))


def replace_file(path: str, data: bytes) -> None:
    """Replace a file atomically; UsageError if it cannot be written."""
    try:
        with replacing(path) as stream:
            stream.write(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
