"""Shared parts of the rules on leader epochs."""

from kcheck.core.replication.leader_epochs import read_lines, rise
from kcheck.model.entries import EpochEntries, EpochEntry
from kcheck.model.finding import Claim, Claimed, Effect
from kcheck.model.names import LEADER_EPOCHS, FileKind
from kcheck.model.release import Release
from kcheck.model.views import FileView, PartitionView
from kcheck.rules._checkpoints import LEADER_EPOCH_KIND
from kcheck.rules._entries import readable
from kcheck.rules._partition import served
from kcheck.rules._words import DATA_MAX

REFETCH_OR_REBUILD = (
    "If another replica is in sync, stop the broker and move this partition directory outside every log dir. The "
    "broker then re-replicates it. Otherwise rebuild the file from the batch headers of all segments."
)


RESTORE = (
    "If another replica is in sync, stop the broker and move this partition directory outside every log dir. The "
    "broker then re-replicates it. Otherwise kcheck repair PATH --store STORE restores the epochs. Local "
    "batches lack the epochs of remote segments."
)
"""The advice if the log has a part in remote storage."""


def lines_of_file(view: FileView | None, release: Release) -> EpochEntries:
    """Return the lines that a broker of `release` reads; empty if it does not read the file."""
    if view is None or view.kind != LEADER_EPOCH_KIND or view.reads is None or not release.epoch_cache:
        return ()
    return tuple(view.reads.value or ())


def has_negative(entries: EpochEntries) -> bool:
    """Return whether an entry is negative, which no broker writes, and which ends the load in 2.7 and later."""
    return not rise(entries) and any(entry.epoch < 0 or entry.start_offset < 0 for entry in entries)


def loaded_lines(view: PartitionView, release: Release) -> EpochEntries:
    """Return the lines that the cache's constructor keeps; empty if it fails (other rules say so)."""
    entries = lines_of_file(view.epochs, release)
    if rise(entries):
        return entries  # Nearly every file: read once, not twice.
    return () if has_negative(entries) else read_lines(entries, release)


def lacks_epochs(view: PartitionView, release: Release) -> bool:
    """Return whether a replica has batches with an epoch, and the broker's reader finds no epoch at all.

    A metadata log gets them back from its batches.
    """
    batch = view.last_batch
    if view.is_metadata_log or not served(view) or not release.epoch_cache:
        return False
    if batch is None or batch.epoch is None or batch.epoch < 0 or LEADER_EPOCHS in view.directories:
        return False
    return view.epochs is None or (readable(view.epochs) and not view.leader_epochs)


def truncates_to_log_start(view: PartitionView, release: Release) -> bool:
    """Return whether a follower would truncate its complete log; False for a directory alone, where it is unknown."""
    stands_alone = view.clean_shutdown is None
    return not stands_alone and view.high_watermark is None and lacks_epochs(view, release)


def lacks_remote_epochs(view: PartitionView, release: Release) -> bool:
    """Return whether a tiered log has no epochs, or only epochs that begin above its log start.

    Its log start must be below its first local segment. Only a clean shutdown proves a late first epoch. A killed
    broker may not have written a higher log start yet. In 3.7 and earlier every tiered log has a snapshot of its remote
    segments.
    """
    log_start = view.log_start_checkpoint
    if log_start is None or not release.has_remote_storage or not served(view) or view.is_metadata_log:
        return False
    if not view.segments or log_start >= view.segments[0].base_offset or LEADER_EPOCHS in view.directories:
        return False
    if release.keeps_snapshot_of_remote_segments and FileKind.REMOTE_SNAPSHOT not in view.files:
        return False
    if view.epochs is not None and (not readable(view.epochs) or has_negative(lines_of_file(view.epochs, release))):
        return False
    entries = loaded_lines(view, release)
    return not entries or (bool(view.clean_shutdown) and entries[0].start_offset > log_start)


def knows_no_epoch(view: PartitionView, words: str) -> str | Effect:
    """Return an effect that says that the next start finds no epoch; of a directory alone no start is known."""
    if view.clean_shutdown is None or view.log_end_offset is None:
        return words
    return Effect(words, (Claim(Claimed.EPOCHS, -1), Claim(Claimed.ENDS, view.log_end_offset)))


def entry_words(entry: EpochEntry) -> str:
    """Return `epoch 5 from offset 200`."""
    return f"epoch {entry.epoch} from offset {entry.start_offset}"


def entry_rows(entries: EpochEntries) -> tuple[dict[str, object], ...]:
    """Return entries as values for a script, at most `DATA_MAX`."""
    return tuple({"epoch": entry.epoch, "start_offset": entry.start_offset} for entry in entries[:DATA_MAX])
