"""What executors run last: a function from the rows of all tables to their files."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kcheck.disk.output import make_directory
from kcheck.disk.remote import mounted
from kcheck.disk.walk import join
from kcheck.fleet.run_output import TableOutput, run_tables
from kcheck.fleet.spark.transport import KEY, opened_column
from kcheck.model.report import Column
from kcheck.tables._arrow import batch_of

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

WRITTEN = (
    Column("number", "int64", "The number of who wrote the file."),
    Column("table", "string", "The table."),
    Column("file", "string", "Its path."),
    Column("rows", "int64", "Its rows."),
    Column("size", "int64", "Its bytes."),
    Column("id", "string", "The id of a rule."),
    Column("severity", "string", "What it is there."),
    Column("count", "int64", "How many such findings there were."),
)
"""What was written: a row for each file, and one for each kind of finding."""


def write_all(
    batches: "Batches",
    folder: str,
    about: Mapping[str, str],
    shown: frozenset[tuple[str, str]],
    options: tuple[tuple[str, object], ...],
) -> "Batches":
    """Write the tables whose rows come in; yield what files there are, and how many findings of each kind came.

    Every attempt writes into a folder of its own: only the files of a successful one are reported. Of the
    findings those that are `shown` are written. `options` are those of the file system that `folder` needs.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    own = join(folder, f"{context.partitionId()}-{context.taskAttemptId()}")
    with mounted([folder], dict(options)):
        make_directory(own)
        tables: dict[str, TableOutput] = {}
        kinds: Counter[tuple[str, str]] = Counter()
        for outer in batches:
            for name in outer.schema.names[len(KEY) :]:
                for batch in opened_column(outer.column(name)):
                    rows = _counted(batch, kinds, shown) if name == "findings" else batch
                    if rows.num_rows and name not in tables:
                        tables[name] = TableOutput(own, run_tables()[name], about)
                    if rows.num_rows:
                        tables[name].write(rows)
        files = [
            (context.partitionId(), name, *part, None, None, None) for name in tables for part in tables[name].parts()
        ]
    finding_counts = [(None, None, None, None, None, *kind, count) for kind, count in kinds.items()]
    yield batch_of([*files, *finding_counts], WRITTEN)


def _counted(
    batch: "pa.RecordBatch", kinds: "Counter[tuple[str, str]]", shown: frozenset[tuple[str, str]]
) -> "pa.RecordBatch":
    """Count findings by rule and severity, and return those that are shown."""
    import pyarrow as pa

    pairs = [*zip(batch.column("id").to_pylist(), batch.column("severity").to_pylist(), strict=True)]
    kinds.update(pairs)
    return batch.filter(pa.array([pair in shown for pair in pairs], pa.bool_()))
