"""The layout of a dump: the rows of each file as they are read, in tables of bounded length, then what is wrong."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._page import Page, cell

_TABLE_LENGTH = 1000
"""After so many rows a new table begins: its columns are as wide as its widest cells, and memory is bounded."""

_BATCH = ("position", "size", "offsets", "count", "epoch", "producer", "seq", "timestamp", "flags")


def dump(report: Report, page: Page) -> None:
    """Write each file."""
    files: Any = report.body["files"]
    for number, file in enumerate(files):
        if number:
            page.line()
        facts = [f"{name.replace('_', ' ')} {cell(file[name])}" for name in _FACTS if name in file]
        page.wrapped(f"{file['path']}   {' · '.join([str(file['kind']), *facts])}", hanging="    ", style="bold")
        if "batches" in file:
            _tables(file["batches"], page, _BATCH, _batch_cells)
        else:
            _tables(file["entries"], page, (), _entry_cells)
        for found in file["damage"]:
            page.wrapped(f"position {found['position']}: {found['message']}", hanging="  ", style="red")


_FACTS = ("base_offset", "size", "count", "room", "version", "crc")


def _tables(
    rows: Iterator[Row], page: Page, header: tuple[str, ...], cells: Callable[[Row], tuple[object, ...]]
) -> None:
    while some := list(itertools.islice(rows, _TABLE_LENGTH)):
        named = header or (*(name.replace("_", " ") for name in some[0] if name != "valid"), "")
        page.table(named, [cells(row) for row in some])


def _batch_cells(row: Row) -> tuple[object, ...]:
    old = row["producer_id"] is None
    none = row["producer_id"] == -1 or old
    return (
        row["position"],
        row["size"],
        _span(row["base_offset"], row["last_offset"]),
        row["count"],
        "-" if old else row["leader_epoch"],
        "-" if none else f"{row['producer_id']}/{row['producer_epoch']}",
        "-" if none or row["base_sequence"] == -1 else _span(row["base_sequence"], row["last_sequence"]),
        "-" if row["max_timestamp"] is None else row["max_timestamp"],
        " ".join(_flags(row)),
    )


def _span(first: object, last: object) -> str:
    return f"?–{last}" if first is None else str(last) if first == last else f"{first}–{last}"


def _flags(row: Row) -> Iterator[str]:
    """Yield what most batches do not have."""
    if not row["valid"]:
        yield "CRC!"
    if row["magic"] != 2:
        yield f"magic-{row['magic']}"
    if row["compression"] != "none":
        yield str(row["compression"])
    if row["transactional"] or row["control"]:
        yield "txn" if not row["control"] else "marker" if row["transactional"] else "control"
    if row["timestamp_type"] == "LogAppendTime":
        yield "append-time"
    if row["delete_horizon_ms"] is not None:
        yield f"delete-horizon-{row['delete_horizon_ms']}"


def _entry_cells(row: Row) -> tuple[object, ...]:
    values = tuple(value for name, value in row.items() if name != "valid")
    return (*values, "" if row["valid"] else "!")
