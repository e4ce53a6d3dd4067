"""The values that `kcheck inspect` returns."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.replication.lost_transactions import OpenTransaction
from kcheck.formats import Format
from kcheck.model.entries import Batch, Offset
from kcheck.model.views import FileView, LogDirView, PartitionView


class InspectDetail(NamedTuple):
    """The part to show in addition to the summary of a partition."""

    segments: bool = False
    """Show every segment, read completely."""
    epochs: bool = False
    """Show every leader epoch."""
    batches: bool = False
    """Show every batch header."""
    files: bool = False
    """Show every file with its size."""

    @property
    def walk_all(self) -> bool:
        """True if every segment is to be read completely."""
        return self.segments or self.batches


class InspectedPartition(NamedTuple):
    """A partition directory."""

    path: str
    """The directory."""
    view: PartitionView
    """The content of its files."""
    files: tuple[tuple[str, int], ...] | None = None
    """Names of its files, and sizes in bytes; None if not shown."""
    batches: tuple[Batch, ...] | None = None
    """The headers of all batches; None if not shown."""
    open: tuple[OpenTransaction, ...] | None = None
    """The transactions that are open at its end, by offset; None if they are not known."""

    @property
    def last_stable_offset(self) -> Offset | None:
        """The offset where consumers that read committed records stop; None if not known.

        UnifiedLog.fetchLastStableOffsetMetadata 0.11 to 4.3.1. Transactions that ended above the high watermark do not
        count.
        """
        ends = (self.view.high_watermark, *(transaction.first_offset for transaction in (self.open or ())[:1]))
        known = [end for end in ends if end is not None]
        return min(known) if known and self.open is not None else None


class InspectedLogDir(NamedTuple):
    """A log dir."""

    view: LogDirView
    """The content of the files at its top."""
    partitions: Iterator[InspectedPartition]
    """Its partitions; read once."""
    cordoned: bool | None = None
    """True if it gets no new replicas; None if that is not known."""


class InspectedFile(NamedTuple):
    """A small file given as an argument."""

    path: str
    """The file."""
    view: FileView
    """Its content."""
    format: Format
    """Its format."""


class InspectedSegment(NamedTuple):
    """A `.log` given as an argument."""

    path: str
    """The file."""
    base_offset: Offset | None
    """The offset in its name; None without one."""
    end_offset: Offset | None
    """The offset after its last valid batch."""
    size: int
    """Its size in bytes."""
    valid_size: int
    """The end of valid batches, in bytes."""
    stopped_by: str | None
    """The reason why the batch at that position is invalid; None at the end of the file."""
    batch_count: int
    """The number of valid batches."""
    max_timestamp: int | None
    """Their largest timestamp, in ms since 1970; None without batches."""
    batches: tuple[Batch, ...] | None = None
    """Their headers; None if not shown."""


InspectedItem = InspectedLogDir | InspectedPartition | InspectedFile | InspectedSegment
"""The item of one argument."""
