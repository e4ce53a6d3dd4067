"""The first leader epoch starts below the start of the log.

What is wrong: after a kill, nothing that does harm. Retention or DeleteRecords removed the records at that offset, and
the broker was killed before it wrote the leader-epoch-checkpoint. Or the replica follows a log in remote storage, and
copied all of its epochs. After a clean stop, with no line in log-start-offset-checkpoint, it is an error: somebody
removed the first segments.

What the broker does: up to 2.8 it raises the first epoch to the log start when it loads the log. From 3.0 on it
raises it only to the value in log-start-offset-checkpoint, and keeps an epoch below the first segment until it next
removes records. If it leads a log without its first segments, the other replicas delete what is below its log start.

What to do: nothing after a kill. Where the first segments are missing, do not let the replica lead while another one
has them: set its directory aside, and it fetches all of them again.
"""

from collections.abc import Iterable

from kcheck.core.start.segments import lost_head_of
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import EpochLoad, Release
from kcheck.model.views import PartitionView
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._epochs import entry_words, loaded_lines
from kcheck.rules._partition import served
from kcheck.rules._words import kafka
from kcheck.words import offset_span


def check(view: PartitionView, release: Release) -> Iterable[Finding]:
    """Find a first epoch below the log start."""
    start, end = view.log_start_offset, view.log_end_offset
    entries = loaded_lines(view, release)
    if start is None or not entries or entries[0].start_offset >= start or not served(view):
        return
    if end is not None and start > end:
        return  # KC211
    raised_to = start if release.epoch_load in (EpochLoad.E1, EpochLoad.E2) else view.log_start_checkpoint or 0
    does = f"raises it to {raised_to} when it loads the log" if raised_to > entries[0].start_offset else "keeps it"
    assert view.epochs is not None
    head = lost_head_of(view, release)
    if head is not None:
        does += "; as leader it makes the other replicas delete what is below it"
    yield RULE.finding(
        view.epochs.where,
        f"{entry_words(entries[0])}, below the log start {start}"
        + ("" if head is None else f": the segments with {offset_span(*head)} were removed"),
        effect=f"{kafka(release)} {does}.",
        advice="Nothing." if head is None else "Do not let this replica lead while another one has these segments.",
        severity=Severity.INFO if head is None else Severity.ERROR,
        data={"log_start_offset": start, "epoch": entries[0].epoch, "start_offset": entries[0].start_offset},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check)
