"""The layout of `kcheck dump`: the rows of each file, in tables of bounded length, then its damage."""

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from kcheck.documents.blocks import Made, blocks_of
from kcheck.model.report import Block, Report, Row
from kcheck.renderers._json_writer import jackson, printable_json
from kcheck.renderers._page import Page, cell, known

_TABLE_LENGTH = 1000
"""Number of rows per table: a table is held in memory to find its column widths."""

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
            _entries(file["entries"], page)
        for damage in file["damage"]:
            page.wrapped(f"position {damage['position']}: {damage['message']}", hanging="  ", style="red")


def _entries(entries: Iterator[Row], page: Page) -> None:
    """Write the entries as tables, and mark damaged ones."""
    first = next(entries, None)
    if first is not None:
        names = [name for name in first if name != "valid"]
        rows = itertools.chain((first,), entries)
        cells = ((*(row[name] for name in names), "" if row["valid"] else "!") for row in rows)
        _tables((*(name.replace("_", " ") for name in names), ""), cells, page)


def _batches(batches: Iterator[Row], page: Page) -> None:
    """Write the batches as tables; with records, write each batch as a line and its records as a table."""
    blocks = blocks_of(batches)
    first = next(blocks, None)
    if first is None:
        return
    blocks = itertools.chain((first,), blocks)
    if "records" not in first.columns:
        rows = (zip(*_batch_columns(block), strict=True) for block in blocks)
        _tables(_BATCH, itertools.chain.from_iterable(rows), page)
        return
    made = Made(_shown_records)
    for block in blocks:
        parts: Any = block.columns["records"]
        for facts, part in zip(_batch_facts(block), parts, strict=True):
            page.wrapped(" · ".join(filter(None, facts)), hanging="    ")
            _records(made.of(part), page)


def _records(records: Iterator[Any], page: Page) -> None:
    """Write rows of sizes as tables, and texts one by one, because each may be large."""
    first = next(records, None)
    if isinstance(first, str):
        for text in itertools.chain((first,), records):
            page.wrapped(text, indent="  ", hanging="      ")
    elif first is not None:
        _tables(_RECORD, itertools.chain((first,), records), page, indent="  ")


def _tables(header: tuple[str, ...], rows: Iterator[tuple[object, ...]], page: Page, indent: str = "") -> None:
    while some := list(itertools.islice(rows, _TABLE_LENGTH)):
        page.table(header, some, indent=indent)


_RECORD = ("offset", "timestamp", "key", "value", "headers", "")


def _shown_records(block: Block) -> Iterator[Any]:
    """Return records as texts with their data, or as rows of sizes (`null` for a null key or value)."""
    columns: Any = block.columns
    if {"key", "decoded_key"} & columns.keys() or columns["control"][0] is not None:
        return map("   ".join, map(_record_facts, block.rows()))
    return zip(
        columns["offset"],
        map(known, columns["timestamp"]),
        map(_shown, columns["key_size"]),
        map(_shown, columns["value_size"]),
        map(_names, columns["header_keys"]),
        ("CRC!" if valid is False else "" for valid in columns["valid"]),
        strict=True,
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
    """Return a field of a control record; for a list of voters, their number."""
    return f"{len(value)}" if isinstance(value, tuple) else cell(value)


def _record_facts(row: Row) -> Iterator[str]:
    """Yield the lines of a record with its data."""
    yield f"{row['offset']}"
    yield f"{known(row['timestamp'])}"
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
    """Yield the decoded key and value of a record of an internal topic; metadata records have no key."""
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


def _batch_facts(block: Block) -> Iterator[tuple[str, ...]]:
    """Return the table cells of each batch, empty for a value it does not have."""
    *named, flags = _batch_columns(block)
    facts = [_facts(name, column) for name, column in zip(_BATCH[:-1], named, strict=True)]
    return zip(*facts, flags, strict=True)


def _facts(name: str, column: Iterable[Any]) -> list[str]:
    """Return the values of a column, which are numbers and what this module makes of them, with their name."""
    return ["" if value == "-" else f"{name} {'?' if value is None else value}" for value in column]


def _batch_columns(block: Block) -> tuple[Iterable[Any], ...]:
    """Return the columns of the table of batches."""
    columns: Any = block.columns
    producers = columns["producer_id"]
    return (
        columns["position"],
        columns["size"],
        map(_span, columns["base_offset"], columns["last_offset"]),
        columns["count"],
        map(known, columns["leader_epoch"]),
        map(_producer, producers, columns["producer_epoch"]),
        map(_sequences, producers, columns["base_sequence"], columns["last_sequence"]),
        map(known, columns["max_timestamp"]),
        map(_flags, *(columns[name] for name in _FLAGS)),
    )


def _producer(producer: object, epoch: object) -> str:
    return "-" if producer in (None, -1) else f"{producer}/{epoch}"


def _sequences(producer: object, first: object, last: object) -> str:
    return "-" if producer in (None, -1) or first == -1 else _span(first, last)


def _span(first: object, last: object) -> str:
    return f"?–{last}" if first is None else str(last) if first == last else f"{first}–{last}"


_FLAGS = ("valid", "magic", "compression", "transactional", "control", "timestamp_type", "delete_horizon_ms")


@lru_cache
def _flags(
    valid: object,
    magic: object,
    compression: str,
    transactional: object,
    control: object,
    stamped: object,
    horizon: object,
) -> str:
    """Return the attributes that most batches do not have."""
    flags = []
    if not valid:
        flags.append("CRC!")
    if magic != 2:
        flags.append(f"magic-{magic}")
    if compression != "none":
        flags.append(compression)
    if transactional or control:
        flags.append("txn" if not control else "marker" if transactional else "control")
    if stamped == "LogAppendTime":
        flags.append("append-time")
    if horizon is not None:
        flags.append(f"delete-horizon-{horizon}")
    return " ".join(flags)
