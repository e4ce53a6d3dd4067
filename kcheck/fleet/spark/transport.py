"""Rows as they cross Spark.

Every row has a key, its place in the tables of the run: the numbers of its broker and log dir, of the part of the log
dir, of the piece of that part. What a step found stays Arrow as bytes, a column for each table, until the tables are
written: Spark moves it and looks into nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kcheck.model.report import Column
from kcheck.tables._arrow import batch_of, from_bytes, schema_of, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

KEY = tuple(
    Column(name, "int64", meaning)
    for name, meaning in (
        ("broker", "The number of the broker, -1 for what is of none."),
        ("at", "The number of the log dir, BEHIND for rows of the broker itself."),
        ("part", "The number of the part of the log dir."),
        ("piece", "The number of the piece of the part."),
    )
)
KEY_NAMES = tuple(column.name for column in KEY)
BEHIND = 1 << 40
"""Sorts the rows of a broker after those of its log dirs, and rows of several brokers last."""
_FINDINGS = Column("findings", "bytes", "Rows of findings.")
_TOLD = Column("told", "string", "A log dir as JSON; None where its row is not the first one.")

OF_CLUSTER = ("clusters", "cluster_brokers", "cluster_partitions")
"""The tables of the metadata of a cluster."""
NAMED = (KEY[1], _TOLD)
"""Log dirs as the inventory names them."""
IDENTIFIED = (KEY[1], _TOLD, _FINDINGS)
NUMBERED = (*KEY[:2], _TOLD)
COPIED = (KEY[1], Column("copy", "string", "The copy of the metadata in a log dir, as JSON."), _FINDINGS)
CLUSTERED = (
    *KEY,
    Column("facts", "string", "What the metadata of a cluster mean for its log dirs, as JSON."),
    *(Column(name, "bytes", "Its rows.") for name in OF_CLUSTER),
    _FINDINGS,
)
PLACED = (KEY[1], Column("place", "int64", "The number of directories and log dirs before it."))
LISTED = (
    *KEY[:3],
    _TOLD,
    Column("whole", "int64", "Directories of the log dir; None where its row is not the first one."),
    Column("before", "int64", "Its directories in parts before this one, and one for its first row."),
    Column("items", "bytes", "Items."),
    _FINDINGS,
)
"""The parts of log dirs, after a first row that has no part and describes the log dir."""
OF_SCANNED = ("partitions", "leader_epochs", "segments", "predictions", "replicas")
"""Tables with rows of one directory; then of a partition on several brokers, and of a broker."""
OF_COMPARED = ("replica_sets", "truncation_plans")
OF_BROKER = ("checkpoints", "log_dirs", "predictions")

SCANNED = (
    *KEY,
    _TOLD,
    Column("carried", "int64", "The number of unchanged directories."),
    *(Column(name, "bytes", "Its rows.") for name in ("light", "compared", *OF_SCANNED, "findings")),
)
BROKERS = (*KEY, *(Column(name, "bytes", "Its rows.") for name in (*OF_BROKER, "findings")))
COMPARED = (*KEY, *(Column(name, "bytes", "Its rows.") for name in (*OF_COMPARED, "findings")))

_HELD_SIZE = 8 << 20
"""Bytes that are passed on together."""


def as_bytes(batches: "Mapping[str, pa.RecordBatch]", columns: Sequence[Column]) -> tuple[bytes | None, ...]:
    """Return the columns of rows; None where nothing was found."""
    names = [column.name for column in columns if column.type == "bytes"]
    assert batches.keys() <= {*names}
    rows = (batches.get(name) for name in names)
    return tuple(None if batch is None else to_bytes(batch) for batch in rows)


def in_batches(rows: Iterable[tuple[Any, ...]], columns: Sequence[Column]) -> "Batches":
    """Yield rows in batches of bounded size."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes))
        if size >= _HELD_SIZE:
            yield batch_of(held, columns)
            held, size = [], 0
    if held:
        yield batch_of(held, columns)


def ddl(columns: Iterable[Column]) -> str:
    """Return columns as Spark declares them."""
    return ddl_of(schema_of(columns))


def ddl_of(schema: "Iterable[pa.Field]") -> str:
    """Return Arrow columns as Spark declares them."""
    return ", ".join(f"`{field.name}` {_declared(field.type)}" for field in schema)


def _declared(kind: "pa.DataType") -> str:
    import pyarrow as pa

    if pa.types.is_list(kind):
        return f"array<{_declared(kind.value_type)}>"
    if pa.types.is_struct(kind):
        return "struct<" + ", ".join(f"`{field.name}`: {_declared(field.type)}" for field in kind) + ">"
    names = {"int64": "bigint", "bool": "boolean", "timestamp[us, tz=UTC]": "timestamp"}
    return names.get(str(kind), str(kind))


def opened(batches: "Batches", names: Sequence[str] | None = None) -> "Batches":
    """Yield the rows that the last column holds as bytes: all of their columns, or some."""
    for outer in batches:
        for batch in opened_column(outer.column(outer.num_columns - 1)):
            yield batch if names is None else batch.select(names)


def opened_column(column: "pa.BinaryArray") -> "Batches":
    """Yield the rows that a column holds as bytes."""
    for data in column.drop_null():
        yield from from_bytes(data.as_buffer())
