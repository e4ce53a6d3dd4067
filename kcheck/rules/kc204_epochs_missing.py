"""The log has records with a leader epoch, but the leader-epoch-checkpoint is missing or has no entries.

What is wrong: The broker writes each epoch into that file before the first record of the epoch. The file was removed,
emptied or lost.

What the broker does (0.11 and later):

- After a clean shutdown it rebuilds nothing. After an unclean shutdown it recovers only the epochs of the segments that
  it scans. The first of them starts too late.
- As a follower without epochs, the replica truncates its log to its high watermark before it fetches. It truncates the
  records above, even committed ones, and fetches them again from the leader. If the leader fails before that, the
  committed records are lost.
- As a leader it knows only its own epoch. It answers every follower that anything below the first offset of that epoch
  is right. So logs that differ stay different without any error.

What to do: If the finding says that the broker rebuilds the epochs, let it start. If KC402 names the same partition,
run `kcheck recover` first. Otherwise do not let this replica lead while another one is in sync. The best repair is
another copy. Stop the broker, move this partition directory outside every log dir, and let the broker re-replicate it.
If this is the only replica, rebuild the file from the batch headers of all segments. Never invent epochs. For a log in
remote storage see KC240.
"""

from collections.abc import Iterable

from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import (
    REFETCH_OR_REBUILD,
    RESTORE,
    knows_no_epoch,
    lacks_epochs,
    lacks_remote_epochs,
    truncates_to_log_start,
)
from kcheck.rules._words import kafka
from kcheck.words import offset_range


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a log that has lost its epochs; without a high watermark too it is KC216, which is worse."""
    if not lacks_epochs(view, release) or truncates_to_log_start(view, release):
        return
    assert view.last_batch is not None
    state = "leader-epoch-checkpoint is missing" if view.epochs is None else "leader-epoch-checkpoint has no entries"
    yield RULE.finding(
        view.where if view.epochs is None else view.epochs.where,
        f"{state}, but the batch at offset {view.last_batch.base_offset} carries epoch {view.last_batch.epoch}",
        effect=knows_no_epoch(
            view, f"{kafka(release)} rebuilds only the epochs of segments that it scans. {_dropped(view)}"
        ),
        advice=f"Do not let this replica lead while another one is in sync. {_advice(view, release)}",
        data={
            "last_batch_epoch": view.last_batch.epoch,
            "high_watermark": view.high_watermark,
            "log_end_offset": view.log_end_offset,
        },
    )


def _advice(view: PartitionView, release: Release) -> str:
    return RESTORE if lacks_remote_epochs(view, release) else REFETCH_OR_REBUILD


def _dropped(view: PartitionView) -> str:
    mark, end = view.high_watermark, view.log_end_offset
    if mark is None or end is None:
        return "As a follower the replica truncates to its high watermark."
    if mark >= end:
        return f"As a follower the replica truncates to its high watermark {mark}, and loses nothing now."
    return f"As a follower the replica truncates to its high watermark {mark}, and loses {offset_range(mark, end)}."


RULE = Rule(severity=Severity.ERROR, scope=Scope.PARTITION, check=check, depends_on_others=True)
