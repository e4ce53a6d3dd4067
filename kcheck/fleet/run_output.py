"""A run of a fleet scan on disk: `run=<id>/<table>/part-*.parquet`, and a manifest when all of it is there.

On a disk it is written in the same folder as `.unfinished=<id>`, and gets its name when it is complete. So a process
that is killed leaves nothing that a query over `run=*` would read. In a store, which renames nothing, it has its name
at once.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

from kcheck import __version__
from kcheck.arrow import schema_of
from kcheck.disk.output import (
    create,
    discard,
    give_up,
    have_directory,
    let_go,
    make_directory,
    move,
    occupied,
    publish,
    put_in_place,
    settle,
)
from kcheck.disk.paths import is_url, join
from kcheck.disk.tree import tree_of
from kcheck.errors import KcheckError, UsageError
from kcheck.registry import discover
from kcheck.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

MANIFEST = "_manifest.json"
"""A directory without it is not a run."""
UNFINISHED = ".unfinished="
"""The beginning of the name of a directory in which a run is written."""
_GROUP_COUNT, _GROUP_SIZE = 100_000, 4 << 20
"""Rows, or bytes, of each table that are held before they are written."""
_HELD_COUNT = 64
"""Number of batches of a table in memory before they are joined, as small batches take much more memory."""
_PART_SIZE = 128 << 20
"""A file ends after the row group that reaches this many bytes."""


class WrittenFile(NamedTuple):
    """A file of a table, with its name or path, number of rows, and bytes."""

    file: str
    rows: int
    size: int


def run_tables() -> Mapping[str, Table]:
    """Return the tables of a run, by their names."""
    tables = (table for table in discover("kcheck.tables", "TABLE") if isinstance(table, Table))
    return {table.name: table for table in tables if table.in_run is not None}


def run_path(folder: str, run: str) -> str:
    """Return the directory of a run."""
    return join(folder, f"run={run}")


def is_run(path: str) -> bool:
    """Return whether a directory is a complete run."""
    return tree_of(path).exists(join(path, MANIFEST))


def unfinished(folder: str, run: str) -> str:
    """Return the directory in which a run is written."""
    return run_path(folder, run) if is_url(folder) else join(folder, f"{UNFINISHED}{run}")


def is_written(path: str) -> bool:
    """Return whether a process writes a run into this directory on a disk."""
    descriptor = occupied(path)
    if descriptor is not None:
        let_go(descriptor)
    return descriptor is None


class RunOutput:
    """The files of a run that is being written. As a context it removes files without a manifest again.

    `path` is the final directory, `working` the one for writing. KcheckError if the disk refuses.
    """

    def __init__(self, folder: str, run: str, about: Mapping[str, str]) -> None:
        """Make the directory of the run; `about` goes into the manifest and each file.

        UsageError if the run exists, or if another process writes it. What a dead one has left is removed.
        """
        self.path: str = run_path(folder, run)
        self.working: str = unfinished(folder, run)
        self._held: int | None = None
        if self.working != self.path:
            if tree_of(self.path).exists(self.path):
                raise UsageError(f"{self.path} already exists")
            if tree_of(self.working).exists(self.working):
                if is_written(self.working):
                    raise UsageError(f"{self.path} is being written by another process")
                discard(self.working)
        elif tree_of(self.path).is_directory(self.path) and not is_run(self.path):
            raise UsageError(
                f"{self.path} is incomplete: a scan writes it, or was killed; see fleet prune --unfinished"
            )
        make_directory(self.working)
        if self.working != self.path:
            self._held = occupied(self.working)
        self.about: dict[str, str] = {"run": run, "kcheck": __version__, **about}
        self._is_whole = False
        self._tables: dict[str, TableOutput] = {}

    def __enter__(self) -> Self:
        """Make a directory for each table, so that one without rows has a file too."""
        with ExitStack() as refused, writing(self.path):
            refused.push(self)
            self._tables = {name: TableOutput(self.working, table, self.about) for name, table in run_tables().items()}
            refused.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Remove what is not a run."""
        if not self._is_whole:
            for table in self._tables.values():
                table.give_up()
            discard(self.working)
        if self._held is not None:
            let_go(self._held)

    def write(self, name: str, batch: "pa.RecordBatch") -> None:
        """Add rows to a table."""
        with writing(self.path):
            self._tables[name].write(batch)

    def drop(self, name: str) -> None:
        """Remove a directory that is not a table."""
        discard(join(self.working, name))

    def folder(self, name: str) -> str:
        """Return the directory of the files of a table."""
        return join(self.working, name)

    def take_over(self, name: str, parts: Iterable[WrittenFile]) -> None:
        """Take over files of another writer as files of a table, in their order."""
        with writing(self.path):
            self._tables[name].take_over(parts)

    def written(self, name: str) -> Sequence[WrittenFile]:
        """Return the files of a table that gets no more rows."""
        with writing(self.path):
            return self._tables[name].parts()

    def rewrite(self, name: str, batch: "pa.RecordBatch") -> None:
        """Write a table again, with these rows alone."""
        with writing(self.path):
            discard(self.folder(name))
            self._tables[name] = TableOutput(self.working, run_tables()[name], self.about)
            self._tables[name].write(batch)

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each table."""
        return {name: table.count for name, table in self._tables.items()}

    def finish(self, about: Mapping[str, object]) -> None:
        """Write the rest, then the manifest, which makes it a run."""
        # A query over a store takes a run for complete if `runs` names it.
        in_order = sorted(self._tables, key=lambda name: (name == "runs", name))
        with writing(self.path):
            tables = {name: self._tables[name].finish() for name in in_order}
            manifest = {"schema": "kcheck.run/1", **self.about, **about, "tables": dict(sorted(tables.items()))}
            publish(join(self.working, MANIFEST), (json.dumps(manifest, indent=1) + "\n").encode())
            if self.working != self.path:
                put_in_place(self.working, self.path)
        self._is_whole = True


class TableOutput:
    """The files of one table, in a folder of its own."""

    def __init__(self, folder: str, table: Table, about: Mapping[str, str]) -> None:
        """Make the folder; `about` goes into each file."""
        self.count: int = 0
        self._name = table.name
        self._version = table.version
        self._folder = join(folder, table.name)
        self._schema = schema_of(table.run_columns, {**about, "table": f"{table.name}/{table.version}"})
        self._parts: list[WrittenFile] = []
        self._held: list[pa.RecordBatch] = []
        self._held_count = self._held_size = self._part_count = 0
        self._stream: BinaryIO | None = None
        self._writer: Any = None
        have_directory(self._folder)

    def write(self, batch: "pa.RecordBatch") -> None:
        """Hold rows until they are many."""
        import pyarrow as pa

        if batch.num_rows:
            self.count += batch.num_rows
            self._held.append(batch.replace_schema_metadata(self._schema.metadata))
            if len(self._held) == _HELD_COUNT:
                self._held = [pa.concat_batches(self._held)]
            self._held_count += batch.num_rows
            self._held_size += batch.get_total_buffer_size()
            if self._held_count >= _GROUP_COUNT or self._held_size >= _GROUP_SIZE:
                self._flush()
            if self._stream is not None and self._stream.tell() >= _PART_SIZE:
                self._close()

    def take_over(self, parts: Iterable[WrittenFile]) -> None:
        """Move files to the others."""
        for part in parts:
            name = _part(len(self._parts))
            move(part.file, join(self._folder, name))
            self.count += part.rows
            self._parts.append(part._replace(file=name))

    def parts(self) -> Sequence[WrittenFile]:
        """Write the rest, and return the files, each with its path."""
        self._finish()
        return [part._replace(file=join(self._folder, part.file)) for part in self._parts]

    def finish(self) -> dict[str, object]:
        """Write the rest, and return the content of the manifest."""
        self._finish()
        return {"version": self._version, "rows": self.count, "parts": [part._asdict() for part in self._parts]}

    def give_up(self) -> None:
        """Close the open file, which does not count."""
        if self._stream is not None:
            with suppress(OSError, ValueError):
                self._writer.close()
            give_up(self._stream)

    def _finish(self) -> None:
        if self._held or not self._parts:
            self._flush()
        if self._stream is not None:
            self._close()

    def _flush(self) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        if self._stream is None:
            self._stream = create(join(self._folder, _part(len(self._parts))))
            self._writer = parquet.ParquetWriter(
                self._stream, self._schema, compression="zstd", write_page_checksum=True
            )
        self._writer.write_table(pa.Table.from_batches(self._held, self._schema))
        self._part_count += self._held_count
        self._held, self._held_count, self._held_size = [], 0, 0

    def _close(self) -> None:
        assert self._stream is not None
        self._writer.close()
        size = self._stream.tell()
        settle(self._stream)
        self._parts.append(WrittenFile(_part(len(self._parts)), self._part_count, size))
        self._stream, self._part_count = None, 0


def _part(number: int) -> str:
    return f"part-{number:05}.parquet"


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Run what writes a run; a disk that refuses ends it with one line."""
    try:
        yield
    except OSError as error:
        raise KcheckError(f"cannot write {path}: {error.strerror or error}") from error
