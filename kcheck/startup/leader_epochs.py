"""The leader epochs of a log that is loaded: LeaderEpochFileCache and its file."""

from collections.abc import Iterable

from kcheck.core.replication.leader_epochs import (
    assign_to,
    latest_epoch,
    read_lines,
    truncate_from_end,
    truncate_from_start,
    unsorted,
)
from kcheck.core.start.predictions import Content, new_content
from kcheck.core.start.startup import IO_ERROR
from kcheck.formats import leader_epoch_checkpoint
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.names import LEADER_EPOCHS, TEMPORARY
from kcheck.model.release import Assign, Release
from kcheck.startup.virtual_files import Folder, StartError, failed


class EpochCache:
    """The entries and their file, which is written when they change, or later by `write` after `take`."""

    def __init__(self, folder: Folder, release: Release) -> None:
        """Read the file, or create it; a release without a cache deletes it."""
        self._folder, self._release = folder, release
        self._hold(())
        self._unwritten: Content | None = None
        if not release.epoch_cache:
            if release.drops_epochs_of_old_formats:
                folder.remove(LEADER_EPOCHS)
            return
        if LEADER_EPOCHS in folder.directories:
            raise failed(LEADER_EPOCHS, IO_ERROR, release)
        if LEADER_EPOCHS not in folder:
            folder.put(LEADER_EPOCHS, Content(0))
            return
        reads = leader_epoch_checkpoint.broker_reads(folder.read_whole(LEADER_EPOCHS), release)
        if reads.value is None:
            raise failed(LEADER_EPOCHS, reads.error or "", release)
        try:
            self._hold(read_lines(reads.value, release))
        except ValueError as error:
            raise StartError(f"IllegalArgumentException: {LEADER_EPOCHS} has {error}") from error

    @property
    def entries(self) -> EpochEntries:
        """The entries."""
        return tuple(self._entries)

    @property
    def latest(self) -> Epoch:
        """The epoch of the last entry (`latestEpoch`)."""
        return latest_epoch(self._entries)

    def _hold(self, entries: EpochEntries) -> None:
        self._entries = list(entries)
        self._unsorted = unsorted(entries, self._release.assign)
        self._taken = False

    def take(self, epochs: Iterable[tuple[int, int]]) -> None:
        """Add epochs of batches, each with its start offset; ValueError where the broker throws it (assign).

        The broker writes the file after each; only the last of these files matters, and `write` makes it.
        """
        for epoch, start_offset in epochs if self._release.epoch_cache else ():
            if epoch > self.latest and (epoch or not self._release.recovery_skips_epoch_zero):
                new, how = EpochEntry(Epoch(epoch), Offset(start_offset)), self._release.assign
                self._unsorted = assign_to(self._entries, new, how=how, unsorted=self._unsorted)
                self._taken = True

    def write(self) -> None:
        """Write the file if `take` added epochs."""
        if self._taken:
            self._become(self.entries)

    def truncate(self, *, end: int, start: int) -> None:
        """Remove epochs that begin at or above the log end, or that end at or below the log start."""
        if not self._release.epoch_cache:
            return
        self.write()
        kept = truncate_from_end(self.entries, Offset(end))
        remaining = truncate_from_start(kept, Offset(start), how=self._release.assign)
        rewritten = self._release.assign is not Assign.IGNORE and any(entry.start_offset <= start for entry in kept)
        if kept != self.entries or remaining != kept or rewritten:
            self._unwritten = self._folder.files[LEADER_EPOCHS]
            self._become(remaining, truncated=True)

    def set_aside(self) -> None:
        """Remove every entry, as in a log that the broker renames to -stray.

        In 3.8 and later (KAFKA-16541) the broker renames the directory first, and writes the file in the background. So
        the file keeps its bytes.
        """
        self._hold(())
        if self._unwritten is not None and self._release.writes_epochs_in_background:
            self._folder.put(LEADER_EPOCHS, self._unwritten)

    def clear(self) -> None:
        """Remove every entry, and write the file."""
        if self._release.epoch_cache:
            self._become(())

    def _become(self, entries: EpochEntries, *, truncated: bool = False) -> None:
        """Write the file, by renaming a temporary one.

        3.8 and later (KAFKA-16541) write the result of a truncation in the background. They skip a file that they
        cannot create.
        """
        self._hold(entries)
        if LEADER_EPOCHS + TEMPORARY in self._folder.directories:
            if truncated and self._release.writes_epochs_in_background:
                return
            raise failed(LEADER_EPOCHS + TEMPORARY, IO_ERROR, self._release)
        epochs = [entry.epoch for entry in entries]
        offsets = [entry.start_offset for entry in entries]
        data = leader_epoch_checkpoint.serialize(LeaderEpochCheckpoint(0, epochs, offsets))
        self._folder.put(LEADER_EPOCHS, new_content(data))
        self._folder.remove(LEADER_EPOCHS + TEMPORARY)
