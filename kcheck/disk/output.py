"""What kcheck writes where it was told to: a new directory, files in it that are whole once they are there."""

import os
import shutil
from typing import BinaryIO

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


def create(path: str) -> BinaryIO:
    """Open a file that is not there yet."""
    return open(path, "xb")


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


def discard(path: str) -> None:
    """Remove a directory that `make_directory` made."""
    shutil.rmtree(path, ignore_errors=True)


def replace_file(path: str, data: bytes) -> None:
    """Write a file that is whole once it is there, over an older one; UsageError: it cannot be written."""
    try:
        publish(path, data)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
