"""Restore leader epochs and log start of a log in remote storage.

The proof is another replica with older epochs (`--against`), or the epoch index of the last remote segment (`--store`).
Both must agree with the file and the batches here. An index counts if the local log begins in its last epoch, or
without any other index. The repair writes the epochs, and the entry in log-start-offset-checkpoint. From a store, the
log start only falls. An encrypted index gives nothing back. kcheck refuses a log that starts within an epoch:
DeleteRecords or retention raised this offset. If the log starts where an epoch begins, they may have raised the offset
too. Then the plan has the condition that they did not.

Brokers find remote segments by these epochs. With them the replica serves the remote segments again, and deletes
nothing when it leads. Another replica must have the complete history, so check that one first.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from kcheck.core.replication.leader_epochs import epoch_for_offset, truncate_from_end
from kcheck.core.tiered.histories import restored_history, restored_log_start
from kcheck.formats import leader_epoch_checkpoint
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.finding import Finding
from kcheck.model.names import LEADER_EPOCHS, LOG_START
from kcheck.model.remote_log import RemoteLog
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


class _Restored(NamedTuple):
    """Leader epochs and log start with their proof."""

    epochs: EpochEntries
    start: Offset
    path: str
    source: str
    condition: str = ""


def plan(partition: PartitionSite, findings: tuple[Finding, ...]) -> Iterator[RepairOutcome]:
    """Yield the complete history, from a replica of `--against` or from the store."""
    reasons: list[str] = []
    for history in (*map(partial(_of_replica, partition), partition.holders()), *_of_store(partition)):
        if isinstance(history, str):
            reasons.append(history)
            continue
        epochs, start, path, source, condition = history
        proof = Evidence(path, None, None, f"{epoch_words(epochs)}; the log starts at {start}")
        edits: tuple[Edit, ...] = (write_epochs(partition, epochs), *_log_start(partition, start))
        reason = f"epochs and log start of {source} ({epoch_words(epochs)}), the log starts at {start}{condition}"
        yield RepairStep(findings[0], edits, reason, (proof,), settles=findings[1:])
        return
    for reason in reasons:
        yield from (Refused(row, reason) for row in findings)
    if not reasons:
        why = "only another replica (--against) or the store (--store) shows the missing epochs"
        yield from (Refused(row, why) for row in findings if row.id in _NO_OTHER_WAY)


def _of_replica(partition: PartitionSite, other: PartitionSite) -> _Restored | str:
    """Return the history by another broker's replica, or the reason against it."""
    own, end = entries_of(partition), partition.image().log_end_offset
    where = f"{other.view.where.log_dir}/{other.dir} of broker {other.view.where.broker_id}"
    theirs, start = truncate_from_end(entries_of(other), end), other.view.log_start_offset
    if start is None or not theirs or theirs[0].start_offset > start or (own and theirs[0] >= own[0]):
        return f"{where} lacks the epochs too"
    if not _agree(partition, own, theirs):
        return f"{where} has other epochs than the batches here"
    if raised := _raised(partition, own, theirs):
        return raised
    path = f"{other.view.where.log_dir}/{other.dir}/{LEADER_EPOCHS}"
    return _Restored(theirs, start, path, where, _condition(partition, own))


def _of_store(partition: PartitionSite) -> Iterator[_Restored | str]:
    """Yield the history by the store, or the reason against it; nothing without a store."""
    remote, stored = partition.view.remote, partition.stored_epochs
    if stored is None or remote is None:
        return
    own, local_start = entries_of(partition), partition.view.segments[0].base_offset
    if not stored:
        without = f"the store has no epoch index of a segment with offset {local_start - 1}"
        yield without if remote.is_known else "the remote segments are unknown without __remote_log_metadata"
        return
    indexes = [leader_epoch_checkpoint.parse(row.data) for row in stored if row.data is not None]
    if not indexes:
        yield f"{stored[0].key} is encrypted"
        return
    whole = [index.value.entries for index in indexes if not index.defects]
    epochs = restored_history(whole, local_start, stated=own, batches=partition.image().leader_epochs)
    if epochs is None:
        yield "the epoch indexes in the store and the batches here have no single history"
    elif own and epochs[0] >= own[0]:
        yield "the store lacks the epochs too"
    elif raised := _raised(partition, own, epochs):
        yield raised
    else:
        key = next(row.key for row in stored if row.data is not None)
        start = _start_in_store(partition, remote, epochs)
        yield _Restored(epochs, start, key, key, _condition(partition, own))


def _starts_at(partition: PartitionSite, own: EpochEntries) -> Offset | None:
    """Return the log start if the epochs begin there, as an old leader and DeleteRecords leave them; else None."""
    start = partition.view.log_start_offset
    return start if own and start is not None and own[0].start_offset == start > 0 else None


def _raised(partition: PartitionSite, own: EpochEntries, history: EpochEntries) -> str | None:
    """Return why the log start was raised on purpose; None if that is not certain.

    A follower truncates to the end of an epoch of its leader (LeaderEndPoint.fetchEpochEndOffsets 3.6 to 4.3.1).
    DeleteRecords and retention raise a log start within an epoch too.
    """
    start = _starts_at(partition, own)
    if start is None or start in {entry.start_offset for entry in history}:
        return None
    return f"the log starts at {start} within an epoch: DeleteRecords or retention raised this offset"


def _condition(partition: PartitionSite, own: EpochEntries) -> str:
    """Return the condition of a plan that lowers the log start; empty if the plan does not."""
    start = _starts_at(partition, own)
    return "" if start is None else f". Only if neither DeleteRecords nor retention raised the log start to {start}"


def _start_in_store(partition: PartitionSite, remote: RemoteLog, epochs: EpochEntries) -> Offset:
    """Return the first offset in remote storage, or the present log start if that is lower."""
    start = restored_log_start(remote, epochs, partition.view.segments[0].base_offset)
    own = partition.view.log_start_offset
    return start if own is None else min(own, start)


def _agree(partition: PartitionSite, own: EpochEntries, theirs: EpochEntries) -> bool:
    """Return True if the local batches, and the lines of the file, have the epochs of the other replica."""
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
