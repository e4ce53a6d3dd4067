"""`kcheck dump`: every batch header of a `.log`, every entry of an index or a producer snapshot, as rows."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.core.releases import NEWEST_TESTED
from kcheck.disk.read import UnreadableError, opened
from kcheck.disk.walk import exists
from kcheck.errors import UsageError
from kcheck.model.finding import Finding, Location
from kcheck.model.report import Report, Row
from kcheck.rules import kc001_unreadable
from kcheck.scan.dump_rows import KINDS, Damage, File, Kind, unknown
from kcheck.scan.look import format_of

_OFFSETS = re.compile(r"(-?[0-9]{1,19})?(\.\.)?(-?[0-9]{1,19})?")


class Filter(NamedTuple):
    """Which rows are wanted; None is all. `offsets` are the first and the last, both wanted, None without a bound."""

    offsets: tuple[int | None, int | None] | None = None
    epoch: int | None = None
    producer_id: int | None = None
    only_damaged: bool = False

    def wants(self, row: Row, span: tuple[str, str]) -> bool:
        """Whether a row is wanted; `span` names the fields that hold its first and last offset."""
        if self.only_damaged and row["valid"] and unknown(row) is None:
            return False
        if self.epoch is not None and row["leader_epoch"] != self.epoch:
            return False
        if self.producer_id is not None and row["producer_id"] != self.producer_id:
            return False
        if self.offsets is None:
            return True
        (least, most), last = self.offsets, row[span[1]]
        first = last if row[span[0]] is None else row[span[0]]
        assert isinstance(first, int)
        assert isinstance(last, int)
        return (least is None or last >= least) and (most is None or first <= most)


class Dump(NamedTuple):
    """A report, and the damage that is found while its body is read."""

    report: Report
    damage: list[Damage]


def parse_offsets(text: str) -> tuple[int | None, int | None]:
    """Return the bounds of `FROM..TO`, `FROM..`, `..TO` or one offset."""
    match = _OFFSETS.fullmatch(text)
    if match is None or not (match[1] or match[3]) or (match[2] is None and match[3]):
        raise UsageError(f"--offset {text} is no range of offsets: FROM..TO, FROM.., ..TO or one offset")
    first, last = (None if number is None else int(number) for number in (match[1], match[3]))
    return first, first if match[2] is None else last


def dump(paths: list[str], *, as_kind: str | None, wanted: Filter) -> Dump:
    """Return a report with a row for each file, which holds an iterator of its batches or entries and one of damage.

    Read them in this order: each file is open only until the next one is asked for.
    """
    kinds = {path: _kind_of(path, as_kind, wanted) for path in paths}
    collected: list[Finding] = []
    damage: list[Damage] = []
    known = {kind for kind in kinds.values() if kind is not None}
    table = next(iter(known)) if len(known) == 1 else None
    nothing = None if known else "files"
    report = Report(
        verb="dump",
        kafka=NEWEST_TESTED,
        body={"files": _files(paths, kinds, wanted, collected, damage)},
        collected=collected,
        table=nothing if table is None else f"files.{table.rows}",
        columns=("path", *(() if table is None else table.columns)),
        kinds={"files": "file", "batches": "batch", "entries": "entry", "damage": "damage"},
        checked=tuple(paths),
    )
    return Dump(report, damage)


def _kind_of(path: str, as_kind: str | None, wanted: Filter) -> Kind | None:
    """Return how a file is dumped, None where it cannot be opened; UsageError where it can never be."""
    if not exists(path):
        raise UsageError(f"{path}: no such file or directory")
    try:
        with opened(path, follow=True):
            pass
    except UnreadableError:
        return None
    name = format_of(path, as_kind).kind
    kind = KINDS.get(name)
    if kind is None:
        raise UsageError(f"{path}: a {name} is not dumped: kcheck inspect shows it; dumped are {', '.join(KINDS)}")
    for option, given in (("leader_epoch", wanted.epoch), ("producer_id", wanted.producer_id)):
        if given is not None and option not in kind.columns:
            names = {"leader_epoch": "--epoch", "producer_id": "--producer-id"}
            raise UsageError(f"{names[option]}: the rows of {path} have no {option.replace('_', ' ')}")
    return kind


def _files(
    paths: list[str],
    kinds: Mapping[str, Kind | None],
    wanted: Filter,
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
                        kind.rows: _rows(file, kind, wanted, collected),
                        "damage": file.damage_rows(),
                    }
                    damage.extend(file.damage)
        except UnreadableError as error:
            collected.append(kc001_unreadable.finding(Location(file=path), str(error)))


def _rows(file: File, kind: Kind, wanted: Filter, collected: list[Finding]) -> Iterator[Row]:
    try:
        for row in kind.read(file):
            if wanted.wants(row, kind.span):
                yield row
    except OSError as error:
        # The disk does not answer; `opened` is not told, because it waits in another generator.
        why = error.strerror or str(error)
        collected.append(kc001_unreadable.finding(Location(file=file.path), why))
