"""The attributes of a file besides its bytes (mode, owner, times, and extended attributes with its ACL)."""

import errno
import os
import stat
import sys
from collections.abc import Mapping
from typing import NamedTuple

_UNKNOWN = (errno.ENOTSUP, errno.ENOSYS)
"""The errors of a file system without extended attributes."""
_OF_THE_BYTES = ("security.ima", "security.evm")
"""Attributes that the kernel makes from the bytes of a file; attributes of other bytes would lock the file."""


class Attributes(NamedTuple):
    """The attributes of a file."""

    mode: int
    """Its mode bits."""
    owner: tuple[int, int]
    """The ids of its user and group."""
    times: tuple[int, int] | None = None
    """Its access and modification time, in nanoseconds since 1970; None for the time of writing."""
    xattrs: Mapping[str, bytes] | None = None
    """Its extended attributes by name, ACLs among them; None for the attributes of a new file."""


def attributes_of(descriptor: int) -> Attributes:
    """Return the attributes of an open file or directory."""
    status = os.fstat(descriptor)
    return Attributes(
        mode=stat.S_IMODE(status.st_mode),
        owner=(status.st_uid, status.st_gid),
        times=(status.st_atime_ns, status.st_mtime_ns),
        xattrs=_xattrs(descriptor),
    )


def set_attributes(descriptor: int, attributes: Attributes) -> None:
    """Give an open file its attributes, the times last, because everything else may change them."""
    wanted = attributes.xattrs
    if wanted is not None:
        present = _xattrs(descriptor)
        for name in present.keys() - wanted.keys():
            os.removexattr(descriptor, name)  # An ACL that the directory gives to new files, and this file never had.
    status = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != attributes.owner:
        os.fchown(descriptor, *attributes.owner)
    os.fchmod(descriptor, attributes.mode)
    if wanted is not None:
        present = _xattrs(descriptor)
        for name, value in wanted.items():
            if present.get(name) != value:
                os.setxattr(descriptor, name, value)
    if attributes.times is not None:
        os.utime(descriptor, ns=attributes.times)


def _xattrs(descriptor: int) -> dict[str, bytes]:
    """Return the extended attributes; none if the file system or this system has none."""
    if sys.platform != "linux":
        return {}
    try:
        names = os.listxattr(descriptor)
        return {name: os.getxattr(descriptor, name) for name in names if name not in _OF_THE_BYTES}
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        return {}
