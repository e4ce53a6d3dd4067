"""`kcheck dump`: every batch header of a `.log`, every entry of an index or a producer snapshot, as rows."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeVar

from kcheck.core.releases import NEWEST_TESTED
from kcheck.disk.read import UnreadableError, opened, unreadable
from kcheck.disk.walk import exists, split
from kcheck.dumps.filter import DumpDetail, DumpRow, Filter
from kcheck.dumps.open_file import Damage, File
from kcheck.dumps.records import columns
from kcheck.dumps.rows import KINDS, DumpKind
from kcheck.errors import UsageError
from kcheck.formats import _metadata_snapshot
from kcheck.model.finding import Finding, Location
from kcheck.model.report import Report, Row, Rows
from kcheck.rules import kc001_unreadable
from kcheck.tables import files
from kcheck.views.survey import format_of

T = TypeVar("T")

_HEADERS = DumpDetail()


class Dump(NamedTuple):
    """A report, and the damage that is found while its body is read."""

    report: Report
    damage: list[Damage]


def dump(paths: list[str], *, as_kind: str | None, wanted: Filter, shown: DumpDetail = _HEADERS) -> Dump:
    """Return a report with a row for each file, which holds an iterator of its batches or entries and one of damage.

    A row of a batch holds an iterator of its records, where they are shown. Read all in this order: each file is open
    only until the next one is asked for.
    """
    kinds = {path: _kind_of(path, as_kind, wanted, shown) for path in paths}
    collected: list[Finding] = []
    damage: list[Damage] = []
    known = {kind.table.name: kind for kind in kinds.values() if kind is not None}
    kind = next(iter(known.values())) if len(known) == 1 else None
    nothing = None if known else "files"
    rows = kind and (f"{kind.rows}.records" if shown.records else kind.rows)
    table = files.TABLE if kind is None else kind.table
    report = Report(
        verb="dump",
        kafka=NEWEST_TESTED,
        body={"files": _files(paths, kinds, wanted, shown, collected, damage)},
        collected=collected,
        table=nothing if rows is None else f"files.{rows}",
        columns=columns(shown) if shown.records and kind is not None else table.columns,
        kinds={"files": "file", "batches": "batch", "records": "record", "entries": "entry", "damage": "damage"},
        checked=tuple(paths),
    )
    return Dump(report, damage)


def _kind_of(path: str, as_kind: str | None, wanted: Filter, shown: DumpDetail) -> DumpKind | None:
    """Return how a file is dumped, None where it cannot be opened; UsageError where it can never be."""
    if not exists(path):
        raise UsageError(f"{path}: no such file or directory")
    try:
        with opened(path, follow=True):
            pass
    except UnreadableError:
        return None
    snapshot = _metadata_snapshot.FORMAT
    own = snapshot.matches(split(path)[1]) if as_kind is None else as_kind == snapshot.kind
    name = (snapshot if own else format_of(path, as_kind)).kind
    kind = KINDS.get(name)
    if kind is None:
        raise UsageError(f"{path}: a {name} is not dumped: kcheck inspect shows it; dumped are {', '.join(KINDS)}")
    for option, given, fields in (
        ("--epoch", wanted.epoch, ("leader_epoch",)),
        ("--producer-id", wanted.producer_id, ("producer_id",)),
        ("--time", wanted.times, ("timestamp", "max_timestamp")),
    ):
        if given is not None and not set(fields) & set(kind.table.names):
            raise UsageError(f"{option}: the rows of {path} have no {fields[0].replace('_', ' ')}")
    if shown.records and kind.rows != "batches":
        raise UsageError(f"--records: {path} is a {name}, which has none")
    return kind


def _files(
    paths: list[str],
    kinds: Mapping[str, DumpKind | None],
    wanted: Filter,
    shown: DumpDetail,
    collected: list[Finding],
    damage: list[Damage],
) -> Iterator[Row]:
    for path in paths:
        try:
            with opened(path, follow=True) as (descriptor, size):
                kind = kinds[path]
                if kind is not None:
                    kind.accept(size)
                    file = File(path, descriptor, size)
                    yield {
                        "kind": kind.format.kind,
                        "path": path,
                        "base_offset": file.base_offset,
                        "size": size,
                        **kind.head(file),
                        kind.rows: _rows(file, kind, wanted, shown, collected),
                        "damage": file.damage_rows(),
                    }
                    damage.extend(file.damage)
        except UnreadableError as error:
            collected.append(kc001_unreadable.finding(Location(file=path), error.why))


def _rows(file: File, kind: DumpKind, wanted: Filter, shown: DumpDetail, collected: list[Finding]) -> Iterator[Row]:
    if kind.read is not None:
        rows = (row for row in kind.read(file) if wanted.wants(DumpRow(row, not row["valid"]), kind.span))
        return _answered(rows, file, collected)
    from kcheck.dumps.batches import batch_blocks  # numpy: only where a log is read

    return Rows(_answered(batch_blocks(file, wanted, shown), file, collected))


def _answered(parts: Iterator[T], file: File, collected: list[Finding]) -> Iterator[T]:
    """Yield the same, up to where the disk does not answer."""
    try:
        yield from parts
    except OSError as error:
        # The disk does not answer; `opened` is not told, because it waits in another generator.
        collected.append(kc001_unreadable.finding(Location(file=file.path), unreadable(error).why))
