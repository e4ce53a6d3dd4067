"""The result of decompression, common to all codecs."""

from typing import NamedTuple

Bytes = bytes | bytearray | memoryview


class Decompressed(NamedTuple):
    """The bytes that could be decompressed, and what stopped the rest."""

    data: Bytes
    """The decompressed bytes, up to the problem if there is one."""
    problem: str | None
    """Why the rest could not be decompressed; None if Kafka's reader finds the end of the stream."""


def too_large(size_max: int) -> str:
    """Return the problem of data that exceeds the size limit."""
    return f"more than {size_max} bytes after decompression"
