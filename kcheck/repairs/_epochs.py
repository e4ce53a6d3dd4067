"""Shared parts of repairs for leader-epoch-checkpoint."""

from kcheck.formats import leader_epoch_checkpoint
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.model.entries import EpochEntries
from kcheck.model.names import LEADER_EPOCHS
from kcheck.repairs._contract import PartitionSite, WriteEdit
from kcheck.repairs._files import path_of


def entries_of(partition: PartitionSite) -> EpochEntries:
    """Return the lines of the file that can be read."""
    data = partition.read(LEADER_EPOCHS)
    return () if data is None else leader_epoch_checkpoint.parse(data).value.entries


def write_epochs(partition: PartitionSite, entries: EpochEntries) -> WriteEdit:
    """Return the file with these entries."""
    checkpoint = LeaderEpochCheckpoint(0, [e.epoch for e in entries], [e.start_offset for e in entries])
    return WriteEdit(path_of(partition, LEADER_EPOCHS), leader_epoch_checkpoint.serialize(checkpoint))
