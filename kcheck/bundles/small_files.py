"""The small files of a bundle as a reader sees them."""

import errno

from kcheck.model.source import CopyingSource


class BadBundleError(ValueError):
    """The bytes are not as kcheck writes them."""


class BadMemberError(OSError, ValueError):
    """A member is not as the list of members, or the manifest, says."""

    def __init__(self, words: str) -> None:
        super().__init__(errno.EBADMSG, words)


class ZeroEndedSource(CopyingSource):
    """A small file; the zeros that were only reserved at its end are not in the bundle."""

    __slots__ = ("_data", "size")

    def __init__(self, data: bytes, size: int) -> None:
        self._data = data
        self.size: int = size

    def pread(self, count: int, position: int) -> bytes:
        """Return bytes as `Source.pread`."""
        count = min(count, self.size - position)
        return self._data[position : position + count].ljust(count, b"\0") if count > 0 else b""

    def next_data(self, position: int) -> int | None:
        """Return the next data as `Source.next_data`."""
        return position if position < len(self._data) else None

    def filled_size(self) -> int:
        """Return the offset of the zeros that were only reserved."""
        return len(self._data)
