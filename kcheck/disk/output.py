"""What kcheck writes where it was told to: a new directory, files in it that are whole once they are there.

In a store there are no directories: one is there when a file is below it.
"""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import BinaryIO, cast

from kcheck.disk.read import LocalFile, opened, word_for
from kcheck.disk.remote import Upload, store_of
from kcheck.disk.walk import is_directory
from kcheck.errors import UsageError


def make_directory(path: str) -> None:
    """Make a directory that is not there yet, and those around it; UsageError: it is there, or cannot be made."""
    store = store_of(path)
    try:
        if store is not None:
            if is_directory(path):
                raise UsageError(f"{path} is there already")
            store.try_to_write(path)
            return
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        os.mkdir(path)
    except FileExistsError:
        raise UsageError(f"{path} is there already") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be made: {word_for(error)}") from error


def have_directory(path: str) -> None:
    """Make a directory in one that is there, unless somebody else has made it."""
    if store_of(path) is not None:
        return
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)


def create(path: str) -> BinaryIO:
    """Open a file that is not there yet; one of a store is there when it is settled."""
    store = store_of(path)
    return open(path, "xb") if store is None else cast("BinaryIO", store.create(path))


def read_again(path: str) -> BinaryIO:
    """Open a file that `create` made."""
    return open(path, "rb")


@contextlib.contextmanager
def reading(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file of a run, wherever that has been; gives it and its size. UnreadableError if it is no file."""
    store = store_of(path)
    if store is not None:
        found, size = store.open(path)
        with found:
            yield found, size
        return
    with opened(path) as file:
        assert isinstance(file, LocalFile)
        with open(file.fileno(), "rb", closefd=False) as stream:
            yield stream, file.size


def settle(stream: BinaryIO) -> None:
    """Have a file on its disk, or in its store, and close it."""
    stream.flush()
    if isinstance(stream, Upload):
        stream.settle()
        return
    os.fsync(stream.fileno())
    stream.close()


def publish(path: str, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, when all that was written beside it is on the disk."""
    store = store_of(path)
    if store is not None:
        store.write(path, data)
        return
    temporary = path + ".tmp"
    with create(temporary) as stream:
        stream.write(data)
        settle(stream)
    os.rename(temporary, path)
    folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextlib.contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """Give a file that takes the place of `path` when it is written; after a failure that is as it was."""
    if store_of(path) is not None:
        with create(path) as stream:
            yield stream
            settle(stream)
        return
    temporary = f"{path}.{os.urandom(8).hex()}.tmp"
    try:
        with create(temporary) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.rename(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def beside(path: str) -> Iterator[str]:
    """Give a directory for what is read again: this one, or one of this machine where it is in a store."""
    if store_of(path) is None:
        yield path
        return
    with scratch() as folder:
        yield folder


@contextlib.contextmanager
def scratch() -> Iterator[str]:
    """Give a directory where the system keeps what is temporary; it is gone afterwards."""
    import tempfile  # only where much is compared

    with tempfile.TemporaryDirectory(prefix="kcheck-") as path:
        yield path


def move(path: str, to: str) -> None:
    """Give a file that somebody else wrote, and has on the disk, its place in a directory of ours."""
    store = store_of(path)
    if store is not None:
        store.rename(path, to)
        return
    os.rename(path, to)


def discard(path: str) -> None:
    """Remove a directory that `make_directory` made, or a file."""
    store = store_of(path)
    if store is not None:
        with contextlib.suppress(OSError):
            store.remove(path)
        return
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def keep_aside(folder: str, aside: str) -> None:
    """Move the files below a directory that `make_directory` made below another one, over those of their names."""
    store = store_of(folder)
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
    """Write a file that is whole once it is there, over an older one; UsageError: it cannot be written."""
    try:
        publish(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
