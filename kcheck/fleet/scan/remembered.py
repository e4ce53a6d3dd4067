"""Remembers the answers about each directory of a run, so that a later run skips unchanged directories.

A directory is the same if its files have the same names, sizes and times. Its log dir must have the same facts about
it, and the options must be the same. Its signature covers all of these. Its findings and rows are kept in the form of
the steps, in a folder for each log dir. A corrupt or missing file remembers nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, lru_cache
from operator import attrgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self

from kcheck import __version__
from kcheck.disk.output import discard, have_directory, have_same, keep_aside, reading, replacing
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.documents.strays import ACCORDING_TO
from kcheck.errors import UsageError
from kcheck.fleet.run_output import MANIFEST, is_written, unfinished
from kcheck.fleet.scan.cluster_metadata import lasting
from kcheck.fleet.scan.rows import LOG_DIR, Item, items_batch, path_of, raw
from kcheck.model.unreadable import UnreadableError
from kcheck.survey.rule_runner import all_rules

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "_seen"
"""The subdirectory of a run."""
_ENDING = ".parquet"
_HELD_SIZE = 16 << 20
"""Bytes of a log dir that are held before they are written."""
_KNOWN = b"known"
"""Key in the schema of a batch of items, for the remembered rows of some of them, as a batch."""
_KEPT = b"kept"
"""Key in the schema of an unchanged log dir's remembered rows. The first batch names the file with all of them."""
_KEPT_COUNT = 1024
"""Number of remembered rows in a batch."""

_OF_DIRECTORY = ("name", "recovery_point", "log_start", "high_watermark", "cleaned", "of_topic")
_NOT_SIGNED = ("source", "kafka", "signature", "known")
_of_directory = attrgetter(*_OF_DIRECTORY)
_of_log_dir = attrgetter(*(name for name in Item._fields if name not in (*_OF_DIRECTORY, *_NOT_SIGNED)))


def signature(item: Item, how: str) -> str | None:
    """Return the signature of a directory, looked at as `how` says; None if it cannot be listed."""
    try:
        files = tree_of(join(item.log_dir, item.name)).states(join(item.log_dir, item.name))
    except UnreadableError:
        return None
    digest = _digest_of_log_dir(how, _of_log_dir(item), item.source).copy()
    digest.update(repr((_of_directory(item), files)).encode())
    return str(digest.hexdigest())


def how_text(*how: object) -> str:
    """Return in short what a signature says of the options, and of this kcheck."""
    return hashlib.sha256(repr((__version__, *how)).encode()).hexdigest()


@lru_cache(1)  # Directories come log dir by log dir.
def _digest_of_log_dir(how: str, fields: tuple[object, ...], source: str | None) -> Any:
    return hashlib.sha256(repr((how, fields, lasting(source))).encode())


def _folder(folder: str, log_dir: str) -> str:
    return join(folder, hashlib.sha256(raw(log_dir)).hexdigest())


def aside(out: str, run: str) -> str:
    """Return the folder, below the directory of runs, for the memory of an unfinished run."""
    return join(out, f".run={run}")


def kept_by(run: str) -> str:
    """Return the folder in which a run keeps what it remembers; UsageError if it keeps nothing."""
    folder = join(run, FOLDER)
    if not tree_of(folder).is_directory(folder):
        raise UsageError(f"{run} remembers no directory, because it was scanned without --remember")
    return folder


def left_by(out: str, run: str) -> str:
    """Return the folder with the memory of an unfinished run, and remove the rest of the run.

    UsageError if nothing is left of it, if it is complete, or if another process still writes it.
    """
    path, folder = unfinished(out, run), aside(out, run)
    complete = join(out, f"run={run}")
    if tree_of(join(complete, MANIFEST)).exists(join(complete, MANIFEST)):
        raise UsageError(f"--resume {run}: {complete} is complete")
    if path != complete and tree_of(path).is_directory(path) and is_written(path):
        raise UsageError(f"--resume {run}: another process writes it")
    keep_aside(join(path, FOLDER), folder)
    if not tree_of(folder).is_directory(folder):
        raise UsageError(f"--resume {run}: nothing is left of it in {out}; a run is kept with --remember")
    discard(path)
    return folder


class Memory:
    """The folder in which a run keeps what it remembers, None if it does not.

    A context manager: if it ends with an exception, the folder is moved to `aside`.
    """

    def __init__(self, run: str, aside: str, *, remembers: bool) -> None:
        """Make the folder in the directory of the run."""
        self.folder: str | None = join(run, FOLDER) if remembers else None
        self._aside = aside
        if self.folder is not None:
            have_directory(self.folder)

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Keep what was found before a run failed."""
        if error is not None and self.folder is not None:
            keep_aside(self.folder, self._aside)

    def end(self) -> None:
        """Remove the leftovers of an earlier attempt, as all of it is in this run."""
        discard(self._aside)


class Notes:
    """Writes what is remembered into the `folder` of a memory, log dir by log dir; nothing where that is None.

    `name` distinguishes the files of writers. A context manager: a file is complete or missing.
    `carried` counts the directories that were not looked at.
    """

    def __init__(self, folder: str | None, name: str = "0") -> None:
        self.carried: int = 0
        self._folder = folder
        self._name = name
        self._log_dir: str | None = None
        self._held: list[pa.RecordBatch] = []
        self._held_size = 0
        self._files = ExitStack()
        self._writer: Any = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the file; after a failure, remove the incomplete one."""
        if error is None:
            self.end()
        self._files.__exit__(kind, error, at)

    def add(self, log_dir: str, batch: "pa.RecordBatch") -> None:
        """Keep what was found in directories of a log dir, where all of it could be read."""
        from pyarrow import compute

        self.carried += compute.sum(batch.column("carried")).as_py() or 0
        if self._folder is None:
            return
        if log_dir != self._log_dir:
            self.end()
            self._log_dir = log_dir
        kept = kept_in(batch.schema)
        if kept is not None:
            self._keep(kept, _folder(self._folder, log_dir))
            return
        is_whole = compute.fill_null(compute.and_(batch.column("seen"), batch.column("complete")), False)
        is_known = compute.and_(is_whole, compute.is_valid(batch.column("signature")))
        rows = batch.filter(compute.and_(is_known, compute.invert(_cites_metadata(batch))))
        if rows.num_rows:
            self._held.append(rows)
            self._held_size += rows.nbytes
            if self._held_size >= _HELD_SIZE:
                self._flush(self._folder, log_dir)

    def _keep(self, file: str, folder: str) -> None:
        """Keep the file of an earlier run as it is; `file` is empty after the first batch of its rows."""
        if file:
            have_directory(folder)
            with suppress(UnreadableError):  # What is gone is looked at again by the next run.
                have_same(file, join(folder, f"{self._name}{_ENDING}"))

    def end(self) -> None:
        """Have the file of the log dir on the disk."""
        if self._held and self._folder is not None and self._log_dir is not None:
            self._flush(self._folder, self._log_dir)
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._files.close()

    def _flush(self, folder: str, log_dir: str) -> None:
        import pyarrow as pa

        rows = pa.Table.from_batches(self._held)
        self._held, self._held_size = [], 0
        at = rows.schema.get_field_index("carried")
        rows = rows.set_column(at, rows.schema.field(at), pa.array([True] * rows.num_rows))
        if self._writer is None:
            path = _folder(folder, log_dir)
            have_directory(path)
            stream = self._files.enter_context(replacing(join(path, f"{self._name}{_ENDING}")))
            self._writer = writer_of(stream, rows.schema)
        self._writer.write_table(rows)


def writer_of(stream: BinaryIO, schema: "pa.Schema") -> Any:
    """Return a writer for remembered rows; their corruption is noticed."""
    from pyarrow import parquet

    return parquet.ParquetWriter(
        stream,
        schema,
        compression="zstd",
        write_page_checksum=True,
        use_compliant_nested_type=False,
        write_statistics=False,
    )


@cache
def _citing_rules() -> tuple[str, ...]:
    return tuple(rule.id for rule in all_rules() if rule.cites_metadata)


def _cites_metadata(batch: "pa.RecordBatch") -> "pa.BooleanArray":
    """Return whether rows name the copy of the metadata, and its end, and so hold for this run alone."""
    import pyarrow as pa
    from pyarrow import compute

    lists = batch.column("of_findings")
    ids = compute.struct_field(lists.flatten(), "id")
    citing = compute.list_parent_indices(lists).filter(compute.is_in(ids, pa.array(_citing_rules())))
    cites = compute.is_in(pa.array(range(batch.num_rows), citing.type), citing)
    is_stray = compute.match_substring(batch.column("start_reason"), ACCORDING_TO)
    return compute.or_(cites, compute.fill_null(is_stray, False))


class Remembered(NamedTuple):
    """The remembered rows of a log dir, the row of each signature, and the file, if it is one."""

    rows: Any
    at: Mapping[str, int]
    file: str | None = None

    def if_same(self, log_dir: str, signatures: Sequence[str | None]) -> "Iterator[pa.RecordBatch]":
        """Yield all rows as they are if the signatures are theirs, in their order; else nothing."""
        if self.file is None or [*self.at] != signatures:
            return
        for first in range(0, self.rows.num_rows, _KEPT_COUNT):
            metadata = {_KEPT: b"" if first else raw(self.file), LOG_DIR: raw(log_dir)}
            yield self.rows.slice(first, _KEPT_COUNT).replace_schema_metadata(metadata)


def kept_in(schema: "pa.Schema") -> str | None:
    """Return the file with the rows of an unchanged log dir, empty after its first batch; None if it changed."""
    kept = (schema.metadata or {}).get(_KEPT)
    return None if kept is None else path_of(kept)


def are_known(data: bytes) -> bool:
    """Return whether these are remembered rows, not items to look at."""
    import pyarrow as pa

    with pa.ipc.open_stream(data) as reader:
        return kept_in(reader.schema) is not None


def remembered(folder: str | None, log_dir: str) -> Remembered:
    """Return the remembered rows of a log dir, without unreadable ones."""
    import pyarrow as pa

    if folder is None:
        return Remembered(None, {})
    path = _folder(folder, log_dir)
    names: tuple[str, ...] = ()
    with suppress(UnreadableError):
        names = tree_of(path).listing(path).files
    files = [join(path, name) for name in names if name.endswith(_ENDING)]
    notes = [table for file in files if (table := read_rows(file)) is not None]
    if not notes:
        return Remembered(None, {})
    (rows,) = pa.concat_tables(notes).combine_chunks().to_batches()
    signatures = rows.column("signature").to_pylist()
    return Remembered(rows, {text: at for at, text in enumerate(signatures)}, files[0] if len(files) == 1 else None)


def read_rows(path: str) -> "pa.Table | None":
    """Return remembered rows; None if the file is missing, corrupt or empty."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with reading(path) as (stream, _):
            table = parquet.ParquetFile(stream, page_checksum_verification=True).read()
        table.validate(full=True)
    except (UnreadableError, pa.ArrowException, OSError, ValueError):
        return None
    return table if table.num_rows else None


def with_known(items: Sequence[Item], known: Remembered) -> "pa.RecordBatch":
    """Return items as a batch, with the remembered rows of unchanged ones."""
    import pyarrow as pa

    from kcheck.arrow import to_bytes

    same = [known.at[item.signature] for item in items if item.signature is not None and item.signature in known.at]
    if not same:
        return items_batch(items)
    numbers = iter(range(len(same)))
    batch = items_batch(item._replace(known=next(numbers) if item.signature in known.at else None) for item in items)
    return batch.replace_schema_metadata({_KNOWN: to_bytes(known.rows.take(pa.array(same, pa.int64())))})


def known_of(items: "pa.RecordBatch") -> "pa.RecordBatch | None":
    """Return the remembered rows of some of the items; their field `known` is the row number."""
    from kcheck.arrow import from_bytes

    data = (items.schema.metadata or {}).get(_KNOWN)
    if data is None:
        return None
    (rows,) = from_bytes(data)
    return rows
