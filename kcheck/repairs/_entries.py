"""What repairs share about the lines of a partition in the offset checkpoints of its log dir."""

from collections.abc import Callable, Iterator

from kcheck.formats import offset_checkpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.entries import OffsetEntry
from kcheck.model.names import LIVE, OFFSET_CHECKPOINTS
from kcheck.repairs._contract import LogDirSite, PartitionSite, WriteEdit

EntryChange = Callable[[str, OffsetEntry], OffsetEntry | None]
"""Returns the new entry of a file, None to drop it."""


def serialized(entries: list[OffsetEntry]) -> bytes:
    """Return the file with these entries."""
    columns = ([e.topic for e in entries], [e.partition for e in entries], [e.offset for e in entries])
    return offset_checkpoint.serialize(OffsetCheckpoint(0, *columns))


def with_entries(partition: PartitionSite, change: EntryChange) -> Iterator[WriteEdit]:
    """Yield the checkpoints whose entries of a partition change; damaged checkpoints stay unchanged."""
    key = (partition.view.topic, partition.view.partition)
    log_dir: LogDirSite = partition.log_dir
    for name in OFFSET_CHECKPOINTS:
        data = log_dir.read(name)
        if data is None or offset_checkpoint.broker_reads(data, partition.release).error is not None:
            continue
        entries = list(offset_checkpoint.parse(data).value)
        changed = [change(name, entry) if (entry.topic, entry.partition) == key else entry for entry in entries]
        kept = [entry for entry in changed if entry is not None]
        if kept != entries:
            yield WriteEdit(name, serialized(kept))


def without_entries(partition: PartitionSite) -> Iterator[WriteEdit]:
    """Yield the checkpoints without the entries of a partition, unless another directory of it stays in the log dir."""
    key = (partition.view.topic, partition.view.partition)
    parts = [part for part in partition.log_dir.partitions if (part.view.topic, part.view.partition) == key]
    if any(part is not partition and part.view.state in LIVE for part in parts):
        return iter(())
    return with_entries(partition, lambda *_: None)
