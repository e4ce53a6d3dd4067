"""What the rules on a partition directory share."""

from kcheck.core.leader_epochs import rise
from kcheck.core.segments import LOG_SIZE_MAX
from kcheck.model.entries import EpochEntries
from kcheck.model.names import LIVE
from kcheck.model.views import FileView, PartitionView
from kcheck.rules._checkpoints import LEADER_EPOCH_KIND
from kcheck.rules._words import counted


def served(view: PartitionView) -> bool:
    """Whether a broker loads the directory as a replica; -delete and -stray directories only wait for their end."""
    return view.state in LIVE


def is_plain_file(view: FileView) -> bool:
    """Whether epochs or a topic id stand in a file as brokers write them: no rule about it finds anything."""
    if view.parsed.defects or view.reads is None or view.reads.error is not None:
        return False
    if view.kind != LEADER_EPOCH_KIND:
        return True
    entries: EpochEntries = view.reads.value or ()
    return len(entries) > 0 and rise(entries)


def is_plain(view: PartitionView) -> bool:
    """Whether all that is known of a replica agrees, so that no rule about a partition finds anything in any release.

    No directory has the name of a file, no `.log` is too large, the stop before was not unclean, the checkpoints name
    no offset above the log end, and the epochs rise from the log start to the log end; one of them is that of the last
    batch.
    """
    start, end, last = view.log_start_offset, view.log_end_offset, view.last_batch
    entries = view.epochs.reads.value if view.epochs is not None and view.epochs.reads is not None else None
    if not entries or start is None or end is None or view.clean_shutdown is False or view.directories:
        return False
    if view.size > LOG_SIZE_MAX and any(segment.size > LOG_SIZE_MAX for segment in view.segments):
        return False
    told = (view.log_start_checkpoint or 0, view.recovery_point or 0, view.high_watermark or 0)
    inside = max(told) <= end and start <= entries[0].start_offset and entries[-1].start_offset <= end
    known = [entry.start_offset for entry in entries if last is None or entry.epoch == last.epoch]
    return inside and rise(entries) and bool(known) and (last is None or known[0] <= last.last_offset)


def has_data(view: PartitionView) -> bool:
    """Whether the log holds anything, as far as is known."""
    return view.size > 0 or any(segment.size > 0 for segment in view.segments)


def offset_range(start: int, end: int) -> str:
    """Return `offsets 20 to 29` for [20, 30)."""
    return f"offset {start}" if end == start + 1 else f"offsets {start} to {end - 1}"


def segments_in_words(view: PartitionView) -> str:
    """Return `3 segments, 1200 bytes`."""
    return f"{counted(len(view.segments), 'segment')}, {counted(view.size, 'byte')}"
