"""The result of decompression, common to all codecs."""

from typing import NamedTuple, Self

Bytes = bytes | bytearray | memoryview


class TooLarge(str):
    """The problem of data that exceeds the size limit."""

    __slots__ = ()

    def __new__(cls, size_max: int) -> Self:
        """Say it in words."""
        return super().__new__(cls, f"more than {size_max} bytes after decompression")


class Decompressed(NamedTuple):
    """The bytes that could be decompressed, and what stopped the rest."""

    data: Bytes
    """The decompressed bytes, up to the problem if there is one."""
    problem: str | None
    """The reason why the rest could not be decompressed; None if Kafka's reader finds the end of the stream."""
