"""What comes of compressed bytes, whatever the codec."""

from typing import NamedTuple

Bytes = bytes | bytearray | memoryview


class Decompressed(NamedTuple):
    """The bytes as far as they could be had, and why not all: None where the stream ends as Kafka's reader wants it."""

    data: Bytes
    problem: str | None


def too_large(size_max: int) -> str:
    """Return the problem of data that is not decompressed to its end."""
    return f"more than {size_max} bytes after decompression"
