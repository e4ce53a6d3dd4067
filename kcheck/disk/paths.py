"""Paths as text: nothing here asks a disk or a store."""

import os
import re

from kcheck.model.finding import Location

_NAME_SIZE_MAX = 255
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")


def is_url(path: str) -> bool:
    """Return whether a path is a URL such as s3://bucket, not a local path."""
    return _URL.match(path) is not None


def can_be_path(text: str) -> bool:
    """Return whether a file of any system can have this path.

    It is one line, with names of at most 255 bytes.
    """
    names = os.fsencode(text).split(b"/")
    return max(map(len, names)) <= _NAME_SIZE_MAX and not any(character in text for character in "\n\r\0")


def join(directory: str, *names: str) -> str:
    """Return the path of a name in a directory."""
    return os.path.join(directory, *names)


def folder_of(where: Location) -> str:
    """Return the path of the partition directory of a location."""
    return join(where.log_dir or "", where.dir or "")


def split(path: str) -> tuple[str, str]:
    """Return (directory, last name) of the user's path; `x/` has the last name x."""
    if is_url(path):
        folder, _, name = path.rstrip("/").rpartition("/")
        return folder, name
    head, tail = os.path.split(os.path.normpath(path))
    return head or ".", tail


def is_absolute(path: str) -> bool:
    """Return whether a path means the same in every working directory."""
    return is_url(path) or os.path.isabs(path)


def absolute(path: str) -> str:
    """Return a path that means the same in every working directory."""
    return path if is_url(path) else os.path.abspath(path)
