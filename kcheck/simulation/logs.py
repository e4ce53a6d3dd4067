"""A replica's log for the rules of `kcheck.core`, after a shutdown, a power loss, and the next start."""

from kcheck.core.replication.dialogue import Leader, Replica
from kcheck.core.replication.leader_epochs import assign, latest_epoch, load
from kcheck.model.cluster import NO_LEADER
from kcheck.model.entries import Epoch, EpochEntries, Offset
from kcheck.model.release import Release
from kcheck.simulation.state import NO_EPOCH, EpochsFile, FetcherEpoch, LogBatch, Node, ReplicaMode


def as_replica(node: Node) -> Replica:
    """Return the log of a follower."""
    return Replica(
        cache=node.epochs,
        log_end_offset=Offset(node.log_end_offset),
        high_watermark=Offset(node.high_watermark),
        log_start_offset=Offset(node.log_start_offset),
        first_segment=Offset(first_segment(node)),
    )


def as_leader(node: Node) -> Leader:
    """Return the log of a leader."""
    start = Offset(node.log_start_offset)
    return Leader(node.epochs, Offset(node.log_end_offset), start, start)


def first_segment(node: Node) -> int:
    """Return the base offset of the first segment."""
    return min(node.log_start_offset, node.batches[0].base_offset) if node.batches else node.log_start_offset


def truncated(node: Node, replica: Replica) -> Node:
    """Return the replica after a truncation, which removes complete batches."""
    kept = _below(node.batches, int(replica.log_end_offset))
    batches = tuple(batch for batch in kept if batch.base_offset >= replica.first_segment)
    return node._replace(
        batches=batches,
        log_end_offset=int(replica.log_end_offset),
        log_start_offset=int(replica.log_start_offset),
        epochs=replica.cache,
        epochs_file=EpochsFile.WRITTEN if replica.cache != node.epochs else node.epochs_file,
        high_watermark=int(replica.high_watermark),
        flushed=min(node.flushed, int(replica.log_end_offset)),
    )


def appended(node: Node, batches: tuple[LogBatch, ...], release: Release) -> Node | None:
    """Return the log after an append; None where the broker refuses a batch that begins below its log end."""
    if not batches:
        return node
    if batches[0].base_offset < node.log_end_offset:
        return None
    epochs = node.epochs
    for batch in batches:
        if batch.epoch != NO_EPOCH and (not epochs or epochs[-1].epoch != batch.epoch):
            epochs = assign(epochs, Epoch(batch.epoch), Offset(batch.base_offset), how=release.assign)
    log = node.batches
    if log and log[-1].append == batches[0].append:  # The rest of old messages, each of which stands alone.
        log, batches = log[:-1], (log[-1]._replace(end_offset=batches[0].end_offset), *batches[1:])
    return with_epochs(node, epochs)._replace(batches=log + batches, log_end_offset=batches[-1].end_offset)


def with_epochs(node: Node, epochs: EpochEntries) -> Node:
    """Return the replica with other epochs, which a broker writes and syncs (LeaderEpochFileCache.assign)."""
    return node if epochs == node.epochs else node._replace(epochs=epochs, epochs_file=EpochsFile.SYNCED)


def _below(batches: tuple[LogBatch, ...], end: int) -> tuple[LogBatch, ...]:
    """Return the batches below an offset; of old messages, each of which is alone, also the first of an append."""
    kept = tuple(batch for batch in batches if batch.end_offset <= end)
    cut = batches[len(kept)] if len(kept) < len(batches) else None
    if cut is None or cut.epoch != NO_EPOCH or cut.base_offset >= end:
        return kept
    return (*kept, cut._replace(end_offset=end))


def sent_from(batches: tuple[LogBatch, ...], offset: int) -> tuple[LogBatch, ...]:
    """Return the records that a leader sends from an offset, in complete batches, but old messages one by one."""
    sent = tuple(batch for batch in batches if batch.end_offset > offset)
    if sent and sent[0].epoch == NO_EPOCH and sent[0].base_offset < offset:
        return (sent[0]._replace(base_offset=offset), *sent[1:])
    return sent


def stopped(node: Node) -> Node:
    """Return the replica after a controlled shutdown, with everything on disk, and the high watermark too."""
    return _without_process(node._replace(flushed=node.log_end_offset, checkpoint=node.high_watermark, clean=True))


def crashed(node: Node) -> Node:
    """Return the replica after its process was killed. The page cache survives."""
    return _without_process(node._replace(clean=False))


def powered_off(node: Node, lost_from: int | None, *, torn: bool) -> Node:
    """Return the replica after a power loss.

    Unsynced records can be lost from an offset, and leader-epoch-checkpoint can be filled with zeros.
    """
    end = max(node.flushed, node.flushed if lost_from is None else lost_from)
    batches = _below(node.batches, end)
    file = EpochsFile.TORN if torn or node.epochs_file is EpochsFile.TORN else EpochsFile.SYNCED
    left = node._replace(batches=batches, clean=False, epochs_file=file)
    return _without_process(left._replace(flushed=min(node.flushed, end)))


def _without_process(node: Node) -> Node:
    return node._replace(
        running=False,
        mode=ReplicaMode.NONE,
        leader=NO_LEADER,
        leader_epoch=NO_EPOCH,
        partition_epoch=-1,
        unheard=-1,
        in_session=False,
        lead=None,
        fetcher_epoch=FetcherEpoch.FIRST,
    )


def started(node: Node, release: Release) -> Node:
    """Return the replica after its broker has loaded the log (LogLoader.load, Partition.createLog)."""
    end = node.batches[-1].end_offset if node.batches else node.log_start_offset
    epochs = load(
        node.epochs,
        log_end_offset=Offset(end),
        log_start_checkpoint=Offset(node.log_start_offset),
        first_segment=Offset(first_segment(node)),
        release=release,
    )
    file = node.epochs_file if epochs == node.epochs else EpochsFile.WRITTEN
    if not node.clean and release.has_leader_epochs:
        for batch in node.batches:
            if batch.epoch > latest_epoch(epochs):
                epochs = assign(epochs, Epoch(batch.epoch), Offset(batch.base_offset), how=release.assign)
    floor = node.log_start_offset if release.high_watermark_floor_is_log_start else 0
    return node._replace(
        running=True,
        clean=False,
        incarnation=node.incarnation + 1,
        log_end_offset=end,
        epochs=epochs,
        epochs_file=file,
        flushed=end,
        high_watermark=max(floor, min(node.checkpoint, end)),
    )
