"""The leader-epoch-checkpoint of a log in remote storage lacks the epochs of its remote segments.

What is wrong: The log start is below the first segment on disk. The older records are in remote storage. The file has
an entry for each epoch from the log start on. It has none, or its first entry starts above the log start. The file was
emptied, truncated, or rebuilt from the batches on disk.

What the broker does (3.6 and later), when this replica leads: It compares remote segments with its first epoch. It
DELETES every remote segment whose epochs are all lower, from remote storage too, and raises the log start. An emptied
file gets the new leader epoch as its first one, so every older segment goes. The log says "due to leader-epoch-cache
truncation". This happens within minutes of the election (`remote.log.manager.task.interval.ms`), and no replica has
these records.

A file with a later first entry deletes fewer segments, because every epoch of a segment must be lower. The others stay,
and consumers cannot read them while this replica leads (KC242). A restart hides an emptied file, and does not heal it.
The broker writes the epoch of the next batch. With __remote_log_metadata in the given log dirs kcheck names the
segments. Without it kcheck reports a first entry above the log start only after a clean shutdown.

What to do: Keep the broker stopped, or do not let this replica lead, until the file is right. If another replica is in
sync, move this partition directory outside every log dir and let the broker re-replicate it. A follower fetches the
epochs from the leader's remote storage. Otherwise `kcheck repair PATH --store STORE` restores the file from the epoch
index of the last remote segment. Never rebuild it from the batches on disk.
"""

from collections.abc import Iterable

from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import RESTORE, entry_words, lacks_remote_epochs, loaded_lines
from kcheck.rules._partition import served
from kcheck.rules._remote import remote_replica, report_of, spans_words
from kcheck.rules._words import kafka
from kcheck.words import offset_span

_HIDES = " A restart hides this and does not heal it."


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Compare the first epoch with the log start."""
    is_known = view.remote is not None and view.remote.is_known
    if not (_deletes(view, release) if is_known else lacks_remote_epochs(view, release)):
        return
    log_start, first_segment = _log_start(view), view.segments[0].base_offset
    assert log_start is not None
    entries = loaded_lines(view, release)
    kept_from = min(first_segment, entries[0].start_offset) if entries else first_segment
    lost: str = offset_span(log_start, kept_from)
    if is_known:
        deleted = report_of(view, release).deleted_offsets
        lost, kept_from = f"at most {spans_words(deleted)}", deleted[-1][1]
    state = f"begins with {entry_words(entries[0])}" if entries else "has no entries" if view.epochs else "is missing"
    yield RULE.finding(
        view.where if view.epochs is None else view.epochs.where,
        f"leader-epoch-checkpoint {state}, but the log starts at offset {log_start}, in remote storage",
        effect=f"If this replica leads, {kafka(release)} deletes the remote segments with lower epochs, in remote "
        f"storage too: {lost}.{_HIDES if not entries else ''}",
        advice=f"Do not let this replica lead. {RESTORE}",
        data={
            "log_start_offset": log_start,
            "first_segment": first_segment,
            "first_epoch": entries[0].epoch if entries else None,
            "lost_to": kept_from,
        },
    )


def _deletes(view: PartitionView, release: Release) -> bool:
    """Return whether remote segments are certainly deleted if the replica leads.

    Its epochs then begin above its log start.
    """
    replica = remote_replica(view, release)
    if replica is None or not served(view):
        return False
    is_late = not replica.epochs or replica.epochs[0].start_offset > replica.log_start
    return is_late and bool(report_of(view, release).deleted)


def _log_start(view: PartitionView) -> Offset | None:
    """Return the log start; 3.7 and earlier write no entry for one below the first segment."""
    return view.log_start_checkpoint if view.remote is None else view.log_start_offset


def is_below_segments(view: PartitionView) -> bool:
    """Return whether the log start is below the first segment."""
    start = _log_start(view)
    return start is not None and bool(view.segments) and start < view.segments[0].base_offset


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, when=is_below_segments)
