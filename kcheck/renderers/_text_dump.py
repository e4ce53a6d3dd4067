"""The layout of a dump: the rows of each file as they are read, in tables of bounded length, then what is wrong."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from kcheck.model.report import Report, Row
from kcheck.renderers._jackson import jackson, printable_json
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
            _batches(file["batches"], page)
        else:
            _tables(file["entries"], page, (), _entry_cells)
        for found in file["damage"]:
            page.wrapped(f"position {found['position']}: {found['message']}", hanging="  ", style="red")


def _batches(batches: Iterator[Row], page: Page) -> None:
    """Write the batches as tables; with records each as a line, and a table of its records below it."""
    first = next(batches, None)
    if first is None:
        return
    rows = itertools.chain((first,), batches)
    if "records" not in first:
        _tables(rows, page, _BATCH, _batch_cells)
        return
    for batch in rows:
        cells = dict(zip(_BATCH, map(cell, _batch_cells(batch)), strict=True))
        facts = [f"{name} {cells[name]}" for name in _BATCH[:-1] if cells[name] != "-"]
        page.wrapped(" · ".join([*facts, *filter(None, [cells["flags"]])]), hanging="    ")
        records: Any = batch["records"]
        while some := list(itertools.islice(records, _TABLE_LENGTH)):
            if {"key", "decoded_key"} & some[0].keys() or some[0]["control"] is not None:
                for record in some:
                    page.wrapped("   ".join(_record_facts(record)), indent="  ", hanging="      ")
            else:
                page.table(_RECORD, [_record_cells(record) for record in some], indent="  ")


_RECORD = ("offset", "timestamp", "key", "value", "headers", "")


def _record_cells(row: Row) -> tuple[object, ...]:
    """Return a row of sizes: of a null key or value `null`."""
    return (
        row["offset"],
        "-" if row["timestamp"] is None else row["timestamp"],
        _shown(row["key_size"]),
        _shown(row["value_size"]),
        _names(row["header_keys"]),
        " ".join(_record_flags(row)),
    )


def _shown(value: object) -> object:
    return "null" if value is None else value


def _names(names: Any) -> str:
    return ",".join(names) if names else "-"


def _record_flags(row: Row) -> Iterator[str]:
    if row["valid"] is False:
        yield "CRC!"
    control: Any = row["control"]
    if control is not None:
        facts = (f"{name.replace('_', ' ')} {_short(value)}" for name, value in control.items() if name != "name")
        yield f"{control['name']} ({', '.join(facts)})"


def _short(value: Any) -> str:
    """Return a field of a control record: of a list of voters how many there are."""
    return f"{len(value)}" if isinstance(value, tuple) else cell(value)


def _record_facts(row: Row) -> Iterator[str]:
    """Yield a record with what it holds."""
    yield f"{row['offset']}"
    yield "-" if row["timestamp"] is None else f"{row['timestamp']}"
    yield from _record_flags(row)
    if row["control"] is None and "key" in row:
        yield f"key: {_shown(row['key'])}"
        yield f"value: {_shown(row['value'])}"
    if "decoded_key" in row:
        yield from _decoded_facts(row)
    headers: Any = row.get("headers")
    if headers:
        yield "headers: " + ", ".join(f"{one['key']}={_shown(one['value'])}" for one in headers)


def _decoded_facts(row: Row) -> Iterator[str]:
    """Yield what a record of an internal topic says: the key, then the value; a record of the cluster has no key."""
    key: Any = row["decoded_key"]
    value: Any = row["decoded_value"]
    if key is not None:
        yield f"{key.get('name', 'key').removesuffix('Key')} {_said(key)}"
    if value is None:
        yield "= null"
    else:
        version = f" v{value['version']}" if "version" in value else ""
        yield f"{value.get('name', 'value') if key is None else '='}{version} {_said(value)}"


def _said(row: Any) -> str:
    return f"! {row['problem']}" if "problem" in row else printable_json(jackson(row["data"]))


_FACTS = ("base_offset", "end_offset", "epoch", "size", "count", "room", "version", "crc")


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
