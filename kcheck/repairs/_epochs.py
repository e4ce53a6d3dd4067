"""What repairs share about leader-epoch-checkpoint."""

from collections.abc import Sequence
from itertools import islice

from kcheck.formats import leader_epoch_checkpoint
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.model.entries import EpochEntries
from kcheck.model.names import LEADER_EPOCHS
from kcheck.repairs._contract import PartitionSite, WriteEdit
from kcheck.repairs._files import path_of

LISTED_MAX = 100
"""A sentence lists at most this many epochs, and counts the others: a file may have a million lines."""


def entries_of(partition: PartitionSite) -> EpochEntries:
    """Return the lines of the file that can be read."""
    data = partition.read(LEADER_EPOCHS)
    return () if data is None else leader_epoch_checkpoint.parse(data).value.entries


def write_epochs(partition: PartitionSite, entries: EpochEntries) -> WriteEdit:
    """Return the file with these entries."""
    checkpoint = LeaderEpochCheckpoint(0, [e.epoch for e in entries], [e.start_offset for e in entries])
    return WriteEdit(path_of(partition, LEADER_EPOCHS), leader_epoch_checkpoint.serialize(checkpoint))


def in_words(entries: EpochEntries) -> str:
    """Return `3 @ 1500, 5 @ 2200`, of many the first, and the number of the others."""
    return joined([f"{entry.epoch} @ {entry.start_offset}" for entry in islice(entries, LISTED_MAX)], len(entries))


def joined(things: Sequence[object], count: int | None = None) -> str:
    """Return `a, b`, of many the first, and the number of the others; `count` is how many there are."""
    more = (len(things) if count is None else count) - LISTED_MAX
    return ", ".join(map(str, things[:LISTED_MAX])) + (f" and {more} more" if more > 0 else "")
