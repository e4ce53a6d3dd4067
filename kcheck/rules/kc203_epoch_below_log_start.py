"""The first leader epoch starts below the log start offset.

What is wrong: The first segments were removed, or the log start in log-start-offset-checkpoint was raised. Where Kafka
moves the log start, it moves the first epoch there first. Nothing is wrong with a follower of a log in remote storage,
because it has copied all epochs of that log.

Kafka itself leaves this when a topic leaves remote storage. The log start of all replicas becomes the first local
offset of the leader. A follower that had deleted more on its disk fetches nothing again, and lacks these records.

What the broker does: 2.8 and earlier raise the first epoch to the log start when they load the log. 3.0 and later raise
it only to the value in log-start-offset-checkpoint. They keep an epoch below the first segment until they next remove
records. If the replica leads a log without its first segments, the other replicas delete what is below its log start.
As leader before a restart the replica keeps its log start. Consumers then get OFFSET_OUT_OF_RANGE below its segments.

What to do: If another replica has the records below, do not let this one lead. Move its directory aside, and it fetches
all of them again. Where the segments are there, remove the line of the partition from log-start-offset-checkpoint.
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
from kcheck.words import offset_range


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
    removed = "" if head is None else f": the segments with {offset_range(*head)} were removed"
    if head is not None and view.log_start_checkpoint == head[1]:
        removed = ": no broker has put this log start into log-start-offset-checkpoint"
    yield RULE.finding(
        view.epochs.where,
        f"{entry_words(entries[0])}, below the log start {start}{removed}",
        effect=f"{kafka(release)} {does}.",
        advice="Nothing." if head is None else "Do not let this replica lead while another one has these segments.",
        severity=Severity.INFO if head is None else Severity.ERROR,
        data={"log_start_offset": start, "epoch": entries[0].epoch, "start_offset": entries[0].start_offset},
    )


RULE = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check, depends_on_others=True)
