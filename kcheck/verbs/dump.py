"""`kcheck dump`: the batch headers of a `.log`, or the entries of an index or producer snapshot, as rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from kcheck.core.releases.releases import NEWEST_TESTED
from kcheck.disk.refusals import unreadable
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import Answer
from kcheck.dumps.filter import DumpDetail, DumpRow, Filter
from kcheck.dumps.open_file import Damage, File
from kcheck.dumps.records import columns
from kcheck.dumps.rows import KINDS, DumpKind
from kcheck.errors import UsageError
from kcheck.model.finding import Finding, Location
from kcheck.model.report import Column, Report, Row, Rows
from kcheck.model.unreadable import UnreadableError
from kcheck.rules import kc001_unreadable
from kcheck.survey.survey import requested_format
from kcheck.tables import files

T = TypeVar("T")

_HEADERS = DumpDetail()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump(Answer):
    """The answer of `kcheck dump`."""

    files: Iterator[Row]
    """A row per file, with an iterator of its batches or entries; read once, in order."""
    table: str | None
    """The field that is one table, as in `Report`; None if the files have different kinds."""
    columns: tuple[Column, ...]
    """The columns of that table."""
    damage: list[Damage]
    """The corrupt places; complete after all files have been read."""
    collected: list[Finding]
    """Findings about unreadable files; complete after all files have been read."""
    checked: tuple[str, ...]
    """The paths that were read."""

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "dump",
            NEWEST_TESTED,
            body={"files": self.files},
            collected=self.collected,
            table=self.table,
            columns=self.columns,
            kinds={"files": "file", "batches": "batch", "records": "record", "entries": "entry", "damage": "damage"},
            checked=self.checked,
        )


def dump(paths: list[str], *, as_kind: str | None, wanted: Filter, shown: DumpDetail = _HEADERS) -> Dump:
    """Return a row per file, with an iterator of its batches or entries and one of its defects.

    With --records a batch row has an iterator of its records. Read everything in order. A file is open only until the
    next one is taken.
    """
    kinds = {path: _kind_of(path, as_kind, wanted, shown, alone=len(paths) == 1) for path in paths}
    collected = [
        kc001_unreadable.finding(Location(file=path), kind.why)
        for path, kind in kinds.items()
        if isinstance(kind, UnreadableError)
    ]
    damage: list[Damage] = []
    known = {kind.table.name: kind for kind in kinds.values() if isinstance(kind, DumpKind)}
    kind = next(iter(known.values())) if len(known) == 1 else None
    nothing = None if known else "files"
    rows = kind and (f"{kind.rows}.records" if shown.records else kind.rows)
    table = files.TABLE if kind is None else kind.table
    return Dump(
        files=_files(paths, kinds, wanted, shown, collected, damage),
        table=nothing if rows is None else f"files.{rows}",
        columns=columns(shown) if shown.records and kind is not None else table.columns,
        damage=damage,
        collected=collected,
        checked=tuple(paths),
    )


def _kind_of(
    path: str, as_kind: str | None, wanted: Filter, shown: DumpDetail, *, alone: bool
) -> DumpKind | UnreadableError:
    """Return the reader for a file, or why it cannot be opened; UsageError if its kind has none.

    A directory `alone` is a UsageError too; among other paths it must not hide them.
    """
    tree = tree_of(path)
    if not tree.exists(path):
        raise UsageError(f"{path}: no such file or directory")
    if alone and tree.is_directory(path):
        raise UsageError(f"{path} is a directory; dump reads files, kcheck inspect reads directories")
    try:
        with tree.open(path, follow=True):
            pass
    except UnreadableError as error:
        return error
    name = requested_format(tree, path, as_kind).kind
    kind = KINDS.get(name)
    if kind is None:
        raise UsageError(f"{path}: dump does not read {name} files; use kcheck inspect (dump reads {', '.join(KINDS)})")
    for option, given, fields in (
        ("--epoch", wanted.epoch, ("leader_epoch",)),
        ("--producer-id", wanted.producer_id, ("producer_id",)),
        ("--time", wanted.times, ("timestamp", "max_timestamp")),
    ):
        if given is not None and not set(fields) & set(kind.table.names):
            raise UsageError(f"{option}: {path} has no {fields[0].replace('_', ' ')} in its rows")
    if shown.records and kind.rows != "batches":
        raise UsageError(f"--records: {path} ({name}) has no records")
    return kind


def _files(
    paths: list[str],
    kinds: Mapping[str, DumpKind | UnreadableError],
    wanted: Filter,
    shown: DumpDetail,
    collected: list[Finding],
    damage: list[Damage],
) -> Iterator[Row]:
    for path in paths:
        kind = kinds[path]
        if isinstance(kind, UnreadableError):
            continue
        try:
            with tree_of(path).open(path, follow=True) as source:
                kind.accept(source.size)
                file = File(path, source)
                yield {
                    "kind": kind.format.kind,
                    "path": path,
                    "base_offset": file.base_offset,
                    "size": source.size,
                    **kind.head(file),
                    kind.rows: _rows(file, kind, wanted, shown, collected),
                    "damage": file.damage_rows(),
                }
                damage.extend(file.damage)
                if file.read_error is not None:
                    raise file.read_error
        except UnreadableError as error:
            collected.append(kc001_unreadable.finding(Location(file=path), error.why))


def _rows(file: File, kind: DumpKind, wanted: Filter, shown: DumpDetail, collected: list[Finding]) -> Iterator[Row]:
    if kind.read is not None:
        rows = (row for row in kind.read(file) if wanted.wants(DumpRow(row, not row["valid"]), kind.span))
        return _answered(rows, file, collected)
    from kcheck.dumps.batches import batch_blocks  # imports numpy: only for a log

    return Rows(_answered(batch_blocks(file, wanted, shown), file, collected))


def _answered(parts: Iterator[T], file: File, collected: list[Finding]) -> Iterator[T]:
    """Yield the rows up to the first read error."""
    try:
        yield from parts
    except OSError as error:
        # A read error; `opened` does not see it, because it waits in another generator.
        collected.append(kc001_unreadable.finding(Location(file=file.path), unreadable(error, file.path).why))
