"""What kcheck writes where it was told to: a new directory, files in it that are whole once they are there."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import BinaryIO

from kcheck.disk.read import UnreadableError, opened
from kcheck.errors import UsageError


def make_directory(path: str) -> None:
    """Make a directory that is not there yet, and those around it; UsageError: it is there, or cannot be made."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        os.mkdir(path)
    except FileExistsError:
        raise UsageError(f"{path} is there already") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be made: {getattr(error, 'strerror', None) or error}") from error


def have_directory(path: str) -> None:
    """Make a directory in one that is there, unless somebody else has made it."""
    with contextlib.suppress(FileExistsError):
        os.mkdir(path)


def create(path: str) -> BinaryIO:
    """Open a file that is not there yet."""
    return open(path, "xb")


def read_again(path: str) -> BinaryIO:
    """Open a file that `create` made."""
    return open(path, "rb")


@contextlib.contextmanager
def reading(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """Open a file of a run, wherever that has been; gives it and its size. UnreadableError if it is no file here."""
    with opened(path) as (descriptor, size):
        if not isinstance(descriptor, int):
            raise UnreadableError("it is in a store, and runs are on this machine")
        with open(descriptor, "rb", closefd=False) as stream:
            yield stream, size


def settle(stream: BinaryIO) -> None:
    """Have a file on its disk, and close it."""
    stream.flush()
    os.fsync(stream.fileno())
    stream.close()


def publish(path: str, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, when all that was written beside it is on the disk."""
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
def scratch() -> Iterator[str]:
    """Give a directory where the system keeps what is temporary; it is gone afterwards."""
    import tempfile  # only where much is compared

    with tempfile.TemporaryDirectory(prefix="kcheck-") as path:
        yield path


def move(path: str, to: str) -> None:
    """Give a file that somebody else wrote, and has on the disk, its place in a directory of ours."""
    os.rename(path, to)


def discard(path: str) -> None:
    """Remove a directory that `make_directory` made, or a file."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def keep_aside(folder: str, aside: str) -> None:
    """Move the files below a directory that `make_directory` made below another one, over those of their names."""
    with contextlib.suppress(OSError):
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
