"""How much is read of what is named."""

from enum import StrEnum

from kcheck.errors import UsageError


class Depth(StrEnum):
    """How much is read; each depth does what those before it do."""

    CHECKPOINTS = "checkpoints"
    """The small files, and the tail of each log."""
    HEADERS = "headers"
    """Every batch header and every index entry."""
    CRC = "crc"
    """Every byte of every batch."""
    RECORDS = "records"
    """Every record, decompressed."""

    @property
    def reads_segments(self) -> bool:
        """Whether segments are read from their start."""
        return self is not Depth.CHECKPOINTS

    @property
    def verifies(self) -> bool:
        """Whether the CRC of every batch is compared."""
        return self in (Depth.CRC, Depth.RECORDS)


def parse_depth(text: str, option: str = "--depth") -> Depth:
    """Return the depth of that name; UsageError lists the known."""
    try:
        return Depth(text)
    except ValueError:
        raise UsageError(f"{option} {text} is not known; known are {', '.join(Depth)}") from None
