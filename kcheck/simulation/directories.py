"""The files of simulated brokers, byte by byte as on disk after an event.

Records have no timestamps, so that retention goes by the age of the files and not by a date in the past.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterator

from kcheck.core.releases.releases import release as release_of
from kcheck.formats import (
    clean_shutdown,
    leader_epoch_checkpoint,
    meta_properties,
    offset_checkpoint,
    offset_index,
    partition_metadata,
)
from kcheck.formats.clean_shutdown import CleanShutdown
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.formats.meta_properties import MetaProperties
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.formats.offset_index import OffsetIndex
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    LOG_START,
    META_PROPERTIES,
    PARTITION_METADATA,
    RECOVERY_POINT,
    REPLICATION_OFFSET,
    log_name,
    segment_prefix,
)
from kcheck.records.new_entries import encoded
from kcheck.simulation.logs import first_segment
from kcheck.simulation.replay import Replay
from kcheck.simulation.state import ClusterState, EpochsFile, LogBatch, Node, Rules

TOPIC = "simulated"
PARTITION = f"{TOPIC}-0"
_INDEX_INTERVAL = 4096
"""log.index.interval.bytes."""


def _uuid(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


CLUSTER_ID = _uuid("kcheck-simulated")
TOPIC_ID = _uuid("simulated--topic")


def broker_id(number: int) -> int:
    """Return the id of a broker: 1 for the first."""
    return number + 1


def files_after(run: Replay, number: int) -> dict[str, bytes]:
    """Return every file of every broker after so many events of a history, by path."""
    state, magic = run.steps[number].state, magic_of(run)
    return {
        f"broker-{broker_id(broker)}/{name}": data
        for broker in range(len(state.nodes))
        for name, data in _log_dir(state, broker, run.rules, magic)
    }


def magic_of(run: Replay) -> int:
    """Return the version of the message format in which brokers store records."""
    if run.rules.batch_epochs:
        return 2
    wanted = run.script.topic.message_format
    writer = run.rules.release if wanted is None else release_of(wanted)
    return 1 if writer.stores_timestamps else 0


def _log_dir(state: ClusterState, number: int, rules: Rules, magic: int) -> Iterator[tuple[str, bytes]]:
    node, release = state.nodes[number], rules.release
    if release.reads_meta_properties:
        yield META_PROPERTIES, meta_properties.serialize(_identity(number, rules))
    hosts = number in state.controller.seats.replicas or bool(node.log_end_offset)
    yield RECOVERY_POINT, _offsets(node.flushed if hosts else None)
    yield REPLICATION_OFFSET, _offsets(node.checkpoint if hosts else None)
    base = first_segment(node)
    if release.has_log_start_checkpoint:
        yield LOG_START, _offsets(node.log_start_offset if hosts and node.log_start_offset > base else None)
    if node.clean and not node.running:
        epoch = state.controller.broker_epochs[number] if rules.election.kraft else -1
        marker = CleanShutdown(0, epoch) if release.writes_broker_epoch_at_stop else CleanShutdown()
        yield CLEAN_SHUTDOWN, clean_shutdown.serialize(marker)
    if hosts:
        for name, data in _partition(node, base, rules, magic):
            yield f"{PARTITION}/{name}", data


def _identity(number: int, rules: Rules) -> MetaProperties:
    kraft, release = rules.election.kraft, rules.release
    properties = {"version": "1" if kraft else "0", "node.id" if kraft else "broker.id": str(broker_id(number))}
    if kraft or release.compares_cluster_ids:
        properties["cluster.id"] = CLUSTER_ID
    if kraft and release.has_directory_ids:
        properties["directory.id"] = _uuid(f"kcheck-broker-{broker_id(number):02}")
    return MetaProperties(properties)


def _offsets(offset: int | None) -> bytes:
    if offset is None:
        return offset_checkpoint.serialize(OffsetCheckpoint(0, (), (), ()))
    return offset_checkpoint.serialize(OffsetCheckpoint(0, (TOPIC,), (0,), (offset,)))


def _partition(node: Node, base: int, rules: Rules, magic: int) -> Iterator[tuple[str, bytes]]:
    release = rules.release
    log, entries = _segment(node.batches, base, magic)
    yield log_name(base), log
    yield f"{segment_prefix(base)}.index", offset_index.serialize(OffsetIndex(entries))
    if release.has_time_indexes:
        yield f"{segment_prefix(base)}.timeindex", b""
    if release.has_leader_epochs:
        epochs = LeaderEpochCheckpoint(
            0, [entry.epoch for entry in node.epochs], [entry.start_offset for entry in node.epochs]
        )
        written = leader_epoch_checkpoint.serialize(epochs)
        yield LEADER_EPOCHS, bytes(len(written)) if node.epochs_file is EpochsFile.TORN else written
    if release.has_partition_metadata:
        yield PARTITION_METADATA, partition_metadata.serialize(PartitionMetadata(0, TOPIC_ID))


def _segment(batches: tuple[LogBatch, ...], base: int, magic: int) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a `.log`, and the entries of its offset index, one after each interval of bytes."""
    log, entries, indexed = bytearray(), list[tuple[int, int]](), 0
    for batch in batches:
        if len(log) - indexed > _INDEX_INTERVAL:
            entries.append((batch.end_offset - 1 - base, len(log)))
            indexed = len(log)
        values = [f"append {batch.append} offset {at}".encode() for at in range(batch.base_offset, batch.end_offset)]
        log += encoded(magic, batch.base_offset, batch.epoch, values)
    return bytes(log), entries
