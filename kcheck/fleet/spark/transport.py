"""Rows on their way through Spark.

Every row has a key, its place in the tables of the run. The key has four numbers, of its broker, log dir, part of the
log dir, and piece of that part. The row also has the results of a step for that piece. Each table has a column with a
list of its rows, so that Spark reads only necessary columns. Items and `light` stay Arrow as bytes. One step makes them
and the next one reads them completely.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

from kcheck.arrow import array, schema_of
from kcheck.disk.paths import join
from kcheck.fleet.run_output import run_tables
from kcheck.fleet.scan.replicas import replicas_schema
from kcheck.model.report import Column
from kcheck.tables import ScanStep

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark import TaskContext

    Batches = Iterator[pa.RecordBatch]


class RowLists(NamedTuple):
    """A column with lists of rows, of a table, or of `replica_rows` in `compared`."""

    name: str


StagedColumns = Sequence["Column | RowLists"]

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
"""Sorts the rows of a broker after the rows of its log dirs, and rows of several brokers last."""
_FINDINGS = Column("findings", "bytes", "Rows of findings.")
_TEXT = Column("text", "string", "A log dir as JSON; None where its row is not the first one.")


def _of_step(step: ScanStep) -> list[RowLists]:
    """Return a column for each table that has rows of a step."""
    return [RowLists(name) for name, table in run_tables().items() if step in table.steps]


NAMED = (KEY[1], _TEXT)
"""Log dirs as the inventory names them."""
IDENTIFIED = (KEY[1], _TEXT, _FINDINGS)
NUMBERED = (*KEY[:2], _TEXT)
COPIED = (KEY[1], Column("copy", "string", "The copy of the metadata in a log dir, as JSON."), _FINDINGS)
CLUSTERED: StagedColumns = (
    *KEY,
    Column("facts", "string", "What the metadata of a cluster mean for its log dirs, as JSON."),
    *_of_step(ScanStep.CLUSTER),
)
PLACED = (KEY[1], Column("place", "int64", "The number of directories and log dirs before it."))
LISTED: StagedColumns = (
    *KEY,
    _TEXT,
    Column("whole", "int64", "Directories of the log dir; None where its row is not the first one."),
    Column("before", "int64", "Its directories in parts before this one, and one for its first row."),
    Column("items", "bytes", "Items."),
    RowLists("findings"),
)
"""The parts of log dirs, after a first row that has no part and describes the log dir."""
WRITTEN_AT_ONCE = tuple(name for name, table in run_tables().items() if table.steps == (ScanStep.DIRECTORY,))
"""Tables with rows of directories alone. The task of a directory writes them, and no later step sorts them."""

SCANNED: StagedColumns = (
    *KEY,
    _TEXT,
    Column("files", "json", "The files of WRITTEN_AT_ONCE that the task wrote: [table, file, rows, size] for each."),
    Column("carried", "int64", "The number of unchanged directories that it had."),
    Column("light", "bytes", "What the look at a log dir needs of its directories: all of it."),
    RowLists("compared"),
    *(column for column in _of_step(ScanStep.DIRECTORY) if column.name not in WRITTEN_AT_ONCE),
)
BROKERS: StagedColumns = (*KEY, *_of_step(ScanStep.BROKER))
COMPARED: StagedColumns = (*KEY, *_of_step(ScanStep.PARTITION))
FIRST_FINDINGS: StagedColumns = (*KEY, RowLists("findings"))

_HELD_SIZE = 8 << 20
"""Bytes that are passed on together."""


def of_tables(batches: "Mapping[str, pa.RecordBatch]", columns: StagedColumns) -> "tuple[pa.RecordBatch | None, ...]":
    """Return a value for each of the columns of RowLists; None where nothing was found."""
    names = [column.name for column in columns if isinstance(column, RowLists)]
    assert batches.keys() <= {*names}
    tables = (batches.get(name) for name in names)
    return tuple(None if rows is None or not rows.num_rows else rows for rows in tables)


def in_batches(rows: Iterable[tuple[Any, ...]], columns: StagedColumns) -> "Batches":
    """Yield rows in batches of bounded size."""
    held: list[tuple[Any, ...]] = []
    size = 0
    for row in rows:
        held.append(row)
        size += sum(map(_size, row))
        if size >= _HELD_SIZE:
            yield rows_batch(held, columns)
            held, size = [], 0
    if held:
        yield rows_batch(held, columns)


def _size(value: Any) -> int:
    """Return the bytes of a value that may be large."""
    return len(value) if isinstance(value, bytes) else getattr(value, "nbytes", 0)


def rows_batch(rows: Sequence[tuple[Any, ...]], columns: StagedColumns) -> "pa.RecordBatch":
    """Return rows, with the result of `of_tables`, as a batch."""
    import pyarrow as pa

    schema = _schema(columns)
    arrays = [
        _lists(values, field.type) if isinstance(column, RowLists) else array(values, column)
        for column, field, values in zip(columns, schema, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _lists(tables: "Sequence[pa.RecordBatch | None]", kind: "pa.ListType") -> "pa.ListArray":
    import pyarrow as pa

    *starts, end = accumulate((0 if rows is None else rows.num_rows for rows in tables), initial=0)
    offsets = [None if rows is None else start for rows, start in zip(tables, starts, strict=True)]
    flat = [pa.StructArray.from_arrays(rows.columns, fields=[*kind.value_type]) for rows in tables if rows is not None]
    inner = pa.concat_arrays(flat) if flat else pa.array([], kind.value_type)
    return pa.ListArray.from_arrays(pa.array([*offsets, end], pa.int32()), inner)


def rows_in(column: "pa.ListArray", name: str) -> "pa.RecordBatch":
    """Return the rows in a column of RowLists, list after list.

    They are copies, because a few rows of one table would keep the complete incoming batch in memory.
    """
    import pyarrow as pa

    rows = pa.RecordBatch.from_struct_array(column.flatten()).cast(_of_rows(name))
    return rows.take(pa.array(range(rows.num_rows), pa.int32()))


@cache
def _of_rows(name: str) -> "pa.Schema":
    return replicas_schema() if name == "compared" else schema_of(run_tables()[name].run_columns)


def _schema(columns: StagedColumns) -> "pa.Schema":
    import pyarrow as pa

    return pa.schema(
        [
            (column.name, pa.list_(pa.struct([*_of_rows(column.name)])))
            if isinstance(column, RowLists)
            else schema_of((column,)).field(0)
            for column in columns
        ]
    )


def ddl(columns: StagedColumns) -> str:
    """Return columns as Spark declares them."""
    return ddl_of(_schema(columns))


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


def rows_of(batches: "Batches") -> Iterator[dict[str, Any]]:
    """Yield the rows of batches."""
    for batch in batches:
        yield from batch.to_pylist()


def task_number() -> int:
    """Return the number of the task within its step."""
    return _context().partitionId()


def own_folder(folder: str) -> str:
    """Return a folder for this attempt of this task. Only the files of a successful attempt are reported."""
    return join(folder, f"{task_number()}-{_context().taskAttemptId()}")


def _context() -> "TaskContext":
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context
