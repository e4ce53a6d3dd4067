"""The last functions of executors, from the rows of tables, and from many files, to the files of a run."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kcheck.arrow import batch_of
from kcheck.disk.output import make_directory
from kcheck.disk.paths import join
from kcheck.disk.store import mounted
from kcheck.fleet.run import RunFile, part_batches
from kcheck.fleet.run_output import TableOutput, WrittenFile, run_tables
from kcheck.fleet.spark.executor_options import ExecutorOptions, TableTarget
from kcheck.fleet.spark.transport import IDENTIFIED, KEY, own_folder, rows_in, rows_of, task_number
from kcheck.model.report import Column

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

WRITTEN = (
    Column("number", "int64", "The number of the task that wrote the file."),
    Column("table", "string", "The table."),
    Column("file", "string", "Its path."),
    Column("rows", "int64", "Its rows."),
    Column("size", "int64", "Its bytes."),
    Column("id", "string", "The id of a rule."),
    Column("severity", "string", "Its severity there."),
    Column("count", "int64", "Number of these findings."),
)
"""The written output, with a row for each file, and one for each kind of finding."""


class TaskTables:
    """The files of tables of one attempt of a task, in a folder of its own, or in its `part`."""

    def __init__(self, target: TableTarget, part: int | None = None) -> None:
        own = own_folder(target.folder)
        self._folder, self._about = own if part is None else join(own, str(part)), target.about
        make_directory(self._folder)
        self._tables: dict[str, TableOutput] = {}

    def write(self, name: str, rows: "pa.RecordBatch") -> None:
        """Write rows of a table, below the earlier rows."""
        if rows.num_rows:
            if name not in self._tables:
                self._tables[name] = TableOutput(self._folder, run_tables()[name], self._about)
            self._tables[name].write(rows)

    def parts(self) -> list[tuple[str, WrittenFile]]:
        """Write the rest, and return the files, each with its table."""
        return [(name, part) for name, table in self._tables.items() for part in table.parts()]


def write_all(batches: "Batches", options: ExecutorOptions, shown: frozenset[tuple[str, str]]) -> "Batches":
    """Write the tables of the incoming rows; yield the files, and the number of findings of each kind.

    Only findings that are `shown` are written.
    """
    with mounted([options.target.folder], dict(options.options)):
        tables = TaskTables(options.target)
        kinds: Counter[tuple[str, str]] = Counter()
        for outer in batches:
            for name in outer.schema.names[len(KEY) :]:
                rows = rows_in(outer.column(name), name)
                tables.write(name, _counted(rows, kinds, shown) if name == "findings" else rows)
        files = [(task_number(), name, *part, None, None, None) for name, part in tables.parts()]
    finding_counts = [(None, None, None, None, None, *kind, count) for kind, count in kinds.items()]
    yield batch_of([*files, *finding_counts], WRITTEN)


def in_groups(parts: Iterable[WrittenFile], size: int) -> Iterator[list[WrittenFile]]:
    """Yield groups of files. A group ends once it has `size` bytes, and after the last file."""
    group: list[WrittenFile] = []
    held = 0
    for part in parts:
        group.append(part)
        held += part.size
        if held >= size:
            yield group
            group, held = [], 0
    if group:
        yield group


def join_all(batches: "Batches", options: ExecutorOptions) -> "Batches":
    """Write the files in each row, which belong to one table, again as few large files; yield these."""
    with mounted([options.target.folder], dict(options.options)):
        for row in rows_of(batches):
            name, *parts = json.loads(row["text"])
            tables = TaskTables(options.target, row["at"])
            columns = [column.name for column in run_tables()[name].run_columns]
            for part in parts:
                for rows in part_batches(RunFile(*part), name, columns, {}):
                    tables.write(name, rows)
            yield batch_of([(row["at"], json.dumps([part for _, part in tables.parts()]), None)], IDENTIFIED)


def _counted(
    batch: "pa.RecordBatch", kinds: "Counter[tuple[str, str]]", shown: frozenset[tuple[str, str]]
) -> "pa.RecordBatch":
    """Count findings by rule and severity, and return the shown ones."""
    import pyarrow as pa

    pairs = [*zip(batch.column("id").to_pylist(), batch.column("severity").to_pylist(), strict=True)]
    kinds.update(pairs)
    return batch.filter(pa.array([pair in shown for pair in pairs], pa.bool_()))
