"""What `kcheck inspect` finds, as values."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.formats._contract import Format
from kcheck.model.entries import Batch, Offset
from kcheck.model.views import FileView, LogDirView, PartitionView


class InspectDetail(NamedTuple):
    """What is shown beside the summary of a partition."""

    segments: bool = False
    """Every segment, walked from its start."""
    epochs: bool = False
    """Every leader epoch."""
    batches: bool = False
    """Every batch header."""
    files: bool = False
    """Every file with its size."""

    @property
    def walk_all(self) -> bool:
        """Whether every segment is walked from its start."""
        return self.segments or self.batches


class InspectedPartition(NamedTuple):
    """A partition directory."""

    path: str
    """The directory."""
    view: PartitionView
    """What its files say."""
    files: tuple[tuple[str, int], ...] | None = None
    """Names and sizes in bytes of its files; None if they are not shown."""
    batches: tuple[Batch, ...] | None = None
    """The headers of all batches; None if they are not shown."""


class InspectedLogDir(NamedTuple):
    """A log dir."""

    view: LogDirView
    """What the files at its top say."""
    partitions: Iterator[InspectedPartition]
    """Its partitions, one by one; read once."""


class InspectedFile(NamedTuple):
    """A small file that was named by itself."""

    path: str
    """The file."""
    view: FileView
    """What it says."""
    format: Format
    """How it was read."""


class InspectedSegment(NamedTuple):
    """A `.log` that was named by itself."""

    path: str
    """The file."""
    base_offset: Offset | None
    """The offset in its name; None if it has none."""
    end_offset: Offset | None
    """The offset after its last valid batch."""
    size: int
    """Its size in bytes."""
    valid_size: int
    """Where valid batches end, in bytes."""
    stopped_by: str | None
    """Why the batch there is not valid; None if the file ends there."""
    batch_count: int
    """The number of valid batches."""
    max_timestamp: int | None
    """Their largest timestamp, in ms since 1970; None without batches."""
    batches: tuple[Batch, ...] | None = None
    """Their headers; None if they are not shown."""


InspectedItem = InspectedLogDir | InspectedPartition | InspectedFile | InspectedSegment
"""What one argument names."""
