"""Shared parts of repairs for the lines of a partition in the offset checkpoints of its log dir."""

from collections.abc import Callable, Iterator

from kcheck.formats import offset_checkpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.entries import OffsetEntry
from kcheck.model.names import LIVE, OFFSET_CHECKPOINTS
from kcheck.repairs._contract import EntryEdit, PartitionSite

EntryChange = Callable[[str, OffsetEntry], OffsetEntry | None]
"""Returns the new entry of a file, None to remove it."""


def serialized(entries: list[OffsetEntry]) -> bytes:
    """Return the file with these entries."""
    columns = ([e.topic for e in entries], [e.partition for e in entries], [e.offset for e in entries])
    return offset_checkpoint.serialize(OffsetCheckpoint(0, *columns))


def with_entries(partition: PartitionSite, change: EntryChange) -> Iterator[EntryEdit]:
    """Yield the lines of a partition that change; corrupt checkpoints stay unchanged."""
    topic, number = partition.view.topic, partition.view.partition
    for name in OFFSET_CHECKPOINTS:
        offset = partition.log_dir.entry(name, topic, number)
        if offset is None:
            continue
        entry = OffsetEntry(topic, number, offset)
        changed = change(name, entry)
        if changed != entry:
            yield EntryEdit(name, topic, number, None if changed is None else changed.offset)


def without_entries(partition: PartitionSite) -> Iterator[EntryEdit]:
    """Yield the checkpoints without the entries of a partition, unless another directory of it stays in the log dir."""
    key = (partition.view.topic, partition.view.partition)
    parts = [part for part in partition.log_dir.partitions if (part.view.topic, part.view.partition) == key]
    if any(part is not partition and part.view.state in LIVE for part in parts):
        return iter(())
    return with_entries(partition, lambda *_: None)
