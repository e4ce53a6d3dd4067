"""Restore leader epochs and log start of a log in remote storage from another replica.

It requires a proof (`--against`): a replica of another broker whose epochs begin earlier. From the first local segment
on both replicas must have the same epochs, by the batches here and by both files. The repair copies the epochs up to
the log end, and sets the entry in log-start-offset-checkpoint to the log start of the other replica.

Brokers find remote segments by these epochs. With them the replica serves the remote segments again, and deletes none
when it leads. The other replica must have the complete history: check it first.
"""

from collections.abc import Iterator

from kcheck.core.replication.leader_epochs import epoch_for_offset, truncate_from_end
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.finding import Finding
from kcheck.model.names import LEADER_EPOCHS, LOG_START
from kcheck.repairs._contract import (
    Edit,
    EntryEdit,
    Evidence,
    Impact,
    PartitionSite,
    Refused,
    Repair,
    RepairOutcome,
    RepairScope,
    RepairStep,
)
from kcheck.repairs._epochs import entries_of, write_epochs
from kcheck.words import epoch_words

_NO_OTHER_WAY = ("KC242", "KC411")
"""The rules that no other repair handles."""


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the epochs of a replica of `--against` that has the whole history."""
    holders = partition.holders()
    if not holders:
        for finding in findings:
            if finding.id in _NO_OTHER_WAY:
                yield Refused(finding, "only another replica shows the missing epochs (--against)")
        return
    finding, *others = findings
    own, end = entries_of(partition), partition.image().log_end_offset
    for other in holders:
        where = f"{other.view.where.log_dir}/{other.dir} of broker {other.view.where.broker_id}"
        theirs, start = truncate_from_end(entries_of(other), end), other.view.log_start_offset
        if start is None or not theirs or theirs[0].start_offset > start or (own and theirs[0] >= own[0]):
            yield from (Refused(row, f"{where} lacks the epochs too") for row in findings)
        elif not _agree(partition, own, theirs):
            yield from (Refused(row, f"{where} has other epochs than the batches here") for row in findings)
        else:
            path = f"{other.view.where.log_dir}/{other.dir}/{LEADER_EPOCHS}"
            proof = Evidence(path, None, None, f"{epoch_words(theirs)}; the log starts at {start}")
            edits: tuple[Edit, ...] = (write_epochs(partition, theirs), *_log_start(partition, start))
            reason = f"epochs and log start of {where}: {epoch_words(theirs)}"
            yield RepairStep(finding, edits, reason, (proof,), settles=tuple(others))
            return


def _agree(partition: PartitionSite, own: EpochEntries, theirs: EpochEntries) -> bool:
    """Return whether the local batches, and the file as far as it goes, have the epochs of the other replica."""
    starts = ((run.epoch, run.first_offset) for run in partition.epoch_runs())
    return all(epoch_for_offset(theirs, start) == epoch for epoch, start in (*own, *starts))


def _log_start(partition: PartitionSite, start: Offset) -> Iterator[EntryEdit]:
    topic, number = partition.view.topic, partition.view.partition
    if partition.log_dir.entry(LOG_START, topic, number) != start:
        yield EntryEdit(LOG_START, topic, number, start)


REPAIR = Repair(
    name="restore-remote-epochs",
    rank=79,
    scope=RepairScope.PARTITION,
    rules=("KC240", *_NO_OTHER_WAY),
    plan=plan,
    impact=Impact.CHECKPOINT,
    page=__doc__,
)
