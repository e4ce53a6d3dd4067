"""The part of a file that kcheck reads."""

from enum import StrEnum

from kcheck.errors import UsageError


class Depth(StrEnum):
    """The part of a file that kcheck reads; each depth includes the ones before it."""

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
        """True if kcheck reads segments from their start."""
        return self is not Depth.CHECKPOINTS

    @property
    def bound(self) -> str | None:
        """The words that bound a sentence about what was found; None if every byte was verified."""
        if self.verifies:
            return None
        unread = "batches are not verified" if self.reads_segments else "segments are not read"
        return f"as far as --depth {self} reads ({unread})"

    @property
    def verifies(self) -> bool:
        """True if kcheck verifies the CRC of every batch."""
        return self in (Depth.CRC, Depth.RECORDS)


def parse_depth(text: str, option: str = "--depth") -> Depth:
    """Return the depth of that name; UsageError lists the valid names."""
    try:
        return Depth(text)
    except ValueError:
        raise UsageError(f"{option} {text}: not one of {', '.join(Depth)}") from None
