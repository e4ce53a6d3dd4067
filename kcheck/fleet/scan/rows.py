"""The data of a fleet scan between steps (partition directories to look at, and their results), as Arrow batches."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kcheck.arrow import arrays, batch_of, from_bytes, nested, schema_of
from kcheck.core.premises.facts import LogFacts
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.fleet.run import BrokerKey
from kcheck.fleet.scan.predictions import LIGHT, START, light_log, light_start, start_row
from kcheck.fleet.scan.replicas import EPOCHS, LISTS, OWN, own_row
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import PARTITION_METADATA, parse_directory
from kcheck.model.report import Column
from kcheck.model.views import PartitionView
from kcheck.replicas.replica import ReplicaState
from kcheck.tables import DIRECTORY, PLACE, findings, leader_epochs, partitions, predictions, replicas, segments

if TYPE_CHECKING:
    import pyarrow as pa


class Item(NamedTuple):
    """A partition directory to check, with its broker, and the facts about it from its log dir.

    `refused` is a JSON object of the checkpoints that the broker's reader refuses, with its errors. `mode` tells
    whether KRaft or ZooKeeper keeps the metadata. `kafka` is its release if it differs from the scan, `kafka_lowest`
    the other end of its range. `source` and `of_topic` come from `fleet/scan/cluster_metadata.py`, `signature` and
    `known` from `fleet/scan/remembered.py`.
    """

    cluster: str | None
    broker: str | None
    broker_id: int | None
    log_dir: str
    name: str
    clean_shutdown: bool
    recovery_point: Offset | None
    log_start: Offset | None
    high_watermark: Offset | None
    cleaned: bool | None
    refused: str | None = None
    mode: str | None = None
    source: str | None = None
    of_topic: str | None = None
    kafka: str | None = None
    kafka_lowest: str | None = None
    signature: str | None = None
    known: int | None = None

    @property
    def where(self) -> Location:
        """The place of the directory."""
        return Location(broker_id=self.broker_id, log_dir=self.log_dir, dir=self.name)


class Scanned(NamedTuple):
    """A scanned directory; `view` is None if that failed, and `complete` is true if nothing was unreadable.

    `state` is for the comparison with replicas on other brokers; None without a comparison. `start` is its prediction;
    None if the broker does not load it. `log` has the facts of a loaded log for premises. `differs` is the other end of
    a range of releases, if the prediction differs there.
    """

    item: Item
    view: PartitionView | None
    complete: bool
    findings: Sequence[Finding]
    state: ReplicaState | None = None
    start: PartitionPrediction | None = None
    log: LogFacts | None = None
    differs: str | None = None


ITEMS = (
    *PLACE,
    Column("broker_id", "int64", "The id of the broker."),
    Column("log_dir", "bytes", "The path of the log dir."),
    Column("name", "bytes", "The name of the directory."),
    Column("clean_shutdown", "bool", "True if the log dir has .kafka_cleanshutdown."),
    Column("recovery_point", "int64", "The entry of the checkpoint."),
    Column("log_start", "int64", "The entry of the checkpoint."),
    Column("high_watermark", "int64", "The entry of the checkpoint."),
    Column("cleaned", "bool", "True if cleaner-offset-checkpoint names it."),
    Column("refused", "json", "The checkpoints that the broker's reader refuses."),
    Column("mode", "string", "The keeper of its broker's metadata, KRaft or ZooKeeper."),
    Column("source", "json", "The consequences of its cluster's metadata for its log dir."),
    Column("of_topic", "json", "The metadata of its topic."),
    Column("kafka", "string", "The release of its broker."),
    Column("kafka_lowest", "string", "The lowest release that its broker can have."),
    Column("signature", "string", "Equal if the directory is unchanged."),
    Column("known", "int64", "The remembered row of it."),
)
"""The columns of items. Paths are bytes, as on the system."""

LOG_DIR = b"log_dir"
"""Key in the schema of remembered rows, for the log dir of all of them."""
_NAME = Column("name", "bytes", "The name of the directory.")
_SEEN = Column("seen", "bool", "True if there is more than findings.")
_SIGNATURE = Column("signature", "string", "Equal if the directory is unchanged.")
_HAS_METADATA = Column("has_metadata", "bool", "True if partition.metadata exists.")
_CARRIED = Column("carried", "bool", "True if the row comes from an earlier run.")
_REPLICAS = (
    _NAME,
    _SEEN,
    _HAS_METADATA,
    _SIGNATURE,
    _CARRIED,
    *PLACE,
    *partitions.TABLE.columns,
    *OWN,
    *EPOCHS,
    *START,
)
_NESTED = {"leader_epochs": leader_epochs, "segments": segments}
"""The tables whose rows are nested in the row of their directory, like findings."""
_LISTS = {
    **{f"of_{name}": table.OWN for name, table in _NESTED.items()},
    "of_findings": findings.IN_DIRECTORY,
    **{f"of_{name}": columns for name, columns in LISTS.items()},
}

_OF_REPLICA = {"outcome": "start_outcome", "lost": "start_lost", "held": "start_whole"}
"""The columns of the table `replicas` that have another name in the row of a directory."""
_ABSENT = (None,) * len(partitions.TABLE.columns)

DirectoryRow = tuple[tuple[object, ...], tuple[Sequence[tuple[object, ...]], ...]]
"""The values of a directory, and its lists."""


def items_batch(items: Iterable[Item]) -> "pa.RecordBatch":
    """Return items as a batch."""
    rows = [
        (cluster, broker, broker_id, raw(log_dir), raw(name), *offsets)
        for cluster, broker, broker_id, log_dir, name, *offsets in items
    ]
    return batch_of(rows, ITEMS)


def items_of(batch: "pa.RecordBatch") -> Iterator[Item]:
    """Yield the items of a batch."""
    columns = dict(zip(batch.schema.names, (column.to_pylist() for column in batch.columns), strict=True))
    columns |= {name: [*map(path_of, columns[name])] for name in ("log_dir", "name")}
    return map(Item, *columns.values())


def log_dir_of(items: bytes) -> str:
    """Return the log dir of items, or of remembered rows, that come from one part of it."""
    (batch,) = from_bytes(items)
    encoded = (batch.schema.metadata or {}).get(LOG_DIR)
    if encoded is not None:
        return path_of(encoded)
    return path_of(batch.column("log_dir")[0].as_py())


def directory_row(scanned: Scanned) -> DirectoryRow:
    """Return the results of a directory as a row, with its epochs, segments and findings."""
    item, view, complete, item_findings, state, start, log, differs = scanned
    own = _ABSENT if view is None else partitions.row(view, complete=complete)
    named = view is not None and PARTITION_METADATA in view.files
    place = (raw(item.name), view is not None, named, item.signature, False, item.cluster, item.broker)
    compared, lists = own_row(view, state)
    return (
        (*place, *own, *compared, *start_row(start, log, differs)),
        (
            *(() if view is None else tuple(table.rows(view)) for table in _NESTED.values()),
            tuple(map(findings.run_row, item_findings)),
            *lists,
        ),
    )


def replicas_batch(rows: Sequence[DirectoryRow]) -> "pa.RecordBatch":
    """Return the rows of directories as a batch."""
    import pyarrow as pa

    outer, lists = zip(*rows, strict=True)
    inner = [
        nested(lists_of_one, columns)
        for lists_of_one, columns in zip(zip(*lists, strict=True), _LISTS.values(), strict=True)
    ]
    names = [*schema_of(_REPLICAS).names, *_LISTS]
    return pa.RecordBatch.from_arrays([*arrays(outer, _REPLICAS), *inner], names=names)


def tables_of(batch: "pa.RecordBatch") -> "dict[str, pa.RecordBatch]":
    """Return the published tables of a batch of directories."""
    import pyarrow as pa
    from pyarrow import compute

    own = schema_of(partitions.TABLE.run_columns).names
    seen = batch.select([*own, *(f"of_{name}" for name in _NESTED)]).filter(batch.column("seen"))
    tables = {"partitions": seen.select(own)}
    keys = schema_of((*PLACE, *DIRECTORY)).names
    schema = schema_of(predictions.TABLE.run_columns)
    starts = batch.select([name if name in keys else f"start_{name}" for name in schema.names])
    loaded = starts.filter(compute.is_valid(batch.column("start_outcome")))
    tables["predictions"] = pa.RecordBatch.from_arrays(loaded.columns, schema=schema)
    known = batch.filter(compute.is_valid(batch.column("cached_epochs")))
    columns = [known.column(_OF_REPLICA.get(column.name, column.name)) for column in replicas.TABLE.run_columns]
    tables["replicas"] = pa.RecordBatch.from_arrays(columns, schema=schema_of(replicas.TABLE.run_columns))
    for name, table in (*_NESTED.items(), ("findings", findings)):
        outer = batch if name == "findings" else seen
        lists = outer.column(f"of_{name}")
        parents = compute.list_parent_indices(lists)
        outer = outer.select(schema_of(PLACE).names if name == "findings" else keys)
        columns = [*(column.take(parents) for column in outer.columns), *lists.flatten().flatten()]
        tables[name] = pa.RecordBatch.from_arrays(columns, schema=schema_of(table.TABLE.run_columns))
    return tables


def findings_batch(place: BrokerKey, rows_of: Iterable[Finding]) -> "pa.RecordBatch":
    """Return findings that belong to no row of a directory."""
    return batch_of([(*place, *findings.run_row(finding)) for finding in rows_of], findings.TABLE.run_columns)


def seen_of(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return the facts of the directories in a batch for rules of log dirs, and their signatures."""
    return batch.select([*_LIGHT, _SIGNATURE.name]).filter(batch.column("seen"))


_LIGHT = (
    "name", "complete", "clean_shutdown", "has_metadata",
    # Fields of the view, in their order.
    "topic_id", "log_start_checkpoint", "log_start_offset", "recovery_point", "high_watermark", "log_end_offset",
    "size", *LIGHT,
)  # fmt: skip


class Light(NamedTuple):
    """The facts of a directory for the rules of a log dir and its next start."""

    view: PartitionView
    complete: bool
    start: PartitionPrediction | None
    log: LogFacts | None


def light_of(batch: "pa.RecordBatch", where: Location) -> Iterator[Light]:
    """Yield what `seen_of` kept of the directories of the log dir that is at `where`."""
    columns = [batch.column(name).to_pylist() for name in _LIGHT]
    starts = zip(*columns[-len(LIGHT) :], strict=True)
    seen = zip(*columns[: -len(LIGHT)], strict=True)
    for (raw_name, complete, clean, named, *known), start in zip(seen, starts, strict=True):
        name = path_of(raw_name)
        directory = parse_directory(name)
        assert directory is not None
        topic, partition, state, _ = directory
        of_it = Location(where.broker_id, where.log_dir, name, None, None, None, topic, partition)
        files = frozenset((PARTITION_METADATA,) if named else ())
        view = PartitionView(of_it, topic, partition, state, *known, clean_shutdown=clean, files=files)  # type: ignore[misc]  # neither is in `known`
        log = light_log(where.log_dir or "", directory, view.topic_id, start)
        yield Light(view, complete, light_start(name, directory, start), log)


def raw(path: str) -> bytes:
    """Return a path as the system has it."""
    return path.encode(errors="surrogateescape")


def path_of(raw: bytes) -> str:
    """Return a path that the system has as these bytes."""
    return raw.decode(errors="surrogateescape")
