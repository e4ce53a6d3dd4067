"""The layout of `kcheck dump` (the rows of each file, in tables of bounded length, then its defects)."""

import itertools
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import repeat
from typing import Any

from kcheck.documents.blocks import Made, blocks_of, filled, is_constant
from kcheck.model.report import Block, Report, Row, Rows, RowSlice
from kcheck.renderers._json_writer import PrintableJson, jackson, printable_json
from kcheck.screen.page import Page, TableLayout, cell, known

_TABLE_LENGTH = 1000
"""Number of rows per table. A table is in memory to find its column widths."""

_BATCH = ("position", "size", "offsets", "count", "epoch", "producer", "seq", "timestamp", "flags")
_RECORD = TableLayout(("offset", "timestamp", "key", "value", "headers", ""), "  ", _TABLE_LENGTH)
_HANGING = "    "
_TEXT_INDENT, _TEXT_HANGING = "  ", "      "


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
    """Write the entries as tables, and mark corrupt ones."""
    first = next(entries, None)
    if first is not None:
        names = [name for name in first if name != "valid"]
        rows = itertools.chain((first,), entries)
        cells = ((*(row[name] for name in names), "" if row["valid"] else "!") for row in rows)
        _tables(TableLayout((*(name.replace("_", " ") for name in names), ""), "", _TABLE_LENGTH), cells, page)


def _batches(batches: Iterator[Row], page: Page) -> None:
    """Write the batches as tables; with records, write each batch as a line and its records as a table."""
    blocks = blocks_of(batches)
    first = next(blocks, None)
    if first is None:
        return
    blocks = itertools.chain((first,), blocks)
    if "records" not in first.columns:
        rows = (zip(*_batch_columns(block), strict=True) for block in blocks)
        _tables(TableLayout(_BATCH, "", _TABLE_LENGTH), itertools.chain.from_iterable(rows), page)
        return
    for block in blocks:
        _with_records(block, page)


def _with_records(block: Block, page: Page) -> None:
    """Write each batch as a line and its records below it, many at once if they come as columns."""
    from kcheck.renderers._text_records import batch_lines  # imports numpy: only for records

    lines = batch_lines(block, _batch_flags(block), page, _HANGING)
    parts: Any = block.columns["records"]
    slices = [part for part in parts if isinstance(part, RowSlice)]
    source, texts = _texts_of(slices, page) if slices else (None, None)
    if lines is not None and texts is not None and len(slices) == len(parts):
        page.write("".join(itertools.chain.from_iterable(zip(lines, texts, strict=True))))
        return
    made, remaining = Made(_shown_records), iter(texts or ())
    for number, (facts, part) in enumerate(zip(_batch_facts(block), parts, strict=True)):
        if lines is None:
            page.wrapped(" · ".join(filter(None, facts)), hanging=_HANGING)
        else:
            page.write(lines[number])
        if source is None or not isinstance(part, RowSlice):
            _records(made.of(part), page)
        elif texts is None:
            _records(made.of(RowSlice(source, part.count)), page)
        else:
            page.write(next(remaining))


def _texts_of(slices: list[RowSlice], page: Page) -> tuple[Rows, list[str] | None]:
    """Return the rows of these slices, which have one source, and the lines of each slice.

    There are no lines, but all rows, if the lines may be large or do not fit as columns.
    """
    from kcheck.renderers._text_records import record_tables, wrapped_texts  # imports numpy: only for records

    counts, source = [part.count for part in slices], slices[0].source
    first = next(source.blocks, None)
    if first is None:
        return source, [""] * len(counts)
    remaining = itertools.chain((first,), source.blocks)
    if "key" in first.columns:
        return Rows(remaining), None
    blocks = list(remaining)
    if "decoded_key" in first.columns:
        texts = itertools.chain.from_iterable(map(_record_texts, blocks))
        return source, wrapped_texts(texts, counts, page, _TEXT_INDENT, _TEXT_HANGING)
    return Rows(iter(blocks)), record_tables(blocks, counts, page, _RECORD)


def _records(records: Iterator[Any], page: Page) -> None:
    """Write rows of sizes as tables, and texts one by one, because each may be large."""
    first = next(records, None)
    if isinstance(first, str):
        for text in itertools.chain((first,), records):
            page.wrapped(text, indent=_TEXT_INDENT, hanging=_TEXT_HANGING)
    elif first is not None:
        _tables(_RECORD, itertools.chain((first,), records), page)


def _tables(layout: TableLayout, rows: Iterator[tuple[object, ...]], page: Page) -> None:
    while some := list(itertools.islice(rows, layout.length)):
        page.table(layout.titles, some, indent=layout.indent)


def _shown_records(block: Block) -> Iterator[Any]:
    """Return records as texts with their data, or as rows of sizes (`null` for a null key or value)."""
    columns = block.columns
    if {"key", "decoded_key"} & columns.keys() or columns["control"][0] is not None:
        return _record_texts(block)
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


def _record_texts(block: Block) -> Iterator[str]:
    """Return the text of each record with its data; the records are of one kind of batch."""
    columns = block.columns
    template, parts = "%s   %s", [columns["offset"], map(known, columns["timestamp"])]
    if False in columns["valid"] or columns["control"][0] is not None:
        template += "%s"
        parts.append(map(_record_flags, columns["valid"], columns["control"]))
    if columns["control"][0] is None and "key" in columns:
        template += "   key: %s   value: %s"
        parts += [map(_shown, columns["key"]), map(_shown, columns["value"])]
    if "decoded_key" in columns:
        template += "%s"
        parts.append(map(_decoded_text, columns["decoded_key"], columns["decoded_value"], repeat(PrintableJson())))
    if any(columns.get("headers", ())):
        template += "%s"
        parts.append(map(_header_text, columns["headers"]))
    return filled(template, tuple(parts))


def _record_flags(valid: object, control: Any) -> str:
    flags = "   CRC!" if valid is False else ""
    if control is None:
        return flags
    facts = (f"{name.replace('_', ' ')} {_short(value)}" for name, value in control.items() if name != "name")
    return f"{flags}   {control['name']} ({', '.join(facts)})"


def _header_text(headers: Any) -> str:
    return "   headers: " + ", ".join(f"{one['key']}={_shown(one['value'])}" for one in headers) if headers else ""


def _short(value: object) -> str:
    """Return a field of a control record; for a list of voters, their number."""
    return f"{len(value)}" if isinstance(value, tuple) else cell(value)


def _decoded_text(key: Any, value: Any, json: PrintableJson) -> str:
    """Return the decoded key and value of a record of an internal topic; metadata records have no key."""
    shown = "" if key is None else f"   {key.get('name', 'key').removesuffix('Key')} {_said(key, json)}"
    if value is None:
        return f"{shown}   = null"
    version = f" v{value['version']}" if "version" in value else ""
    return f"{shown}   {value.get('name', 'value') if key is None else '='}{version} {_said(value, None)}"


def _said(row: Any, json: PrintableJson | None) -> str:
    if "problem" in row:
        return f"! {row['problem']}"
    return printable_json(jackson(row["data"])) if json is None else json.of(row["data"])


_FACTS = ("base_offset", "end_offset", "epoch", "size", "count", "room", "version", "crc")


def _batch_facts(block: Block) -> Iterator[tuple[str, ...]]:
    """Return the table cells of each batch, empty for a value it does not have."""
    *named, flags = _batch_columns(block)
    facts = [_facts(name, column) for name, column in zip(_BATCH[:-1], named, strict=True)]
    return zip(*facts, flags, strict=True)


def _facts(name: str, column: Iterable[object]) -> list[str]:
    """Return the values of a column, which are numbers and what this module makes of them, with their name."""
    return ["" if value == "-" else f"{name} {'?' if value is None else value}" for value in column]


def _batch_columns(block: Block) -> tuple[Iterable[object], ...]:
    """Return the columns of the table of batches."""
    columns = block.columns
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
        _batch_flags(block),
    )


def _batch_flags(block: Block) -> list[str]:
    columns = [block.columns[name] for name in _FLAGS]
    if all(map(is_constant, columns)):
        return [_flags(*(column[0] for column in columns))] * block.length
    return list(map(_flags, *columns))


def _producer(producer: object, epoch: object) -> str:
    return "-" if producer in (None, -1) else f"{producer}/{epoch}"


def _sequences(producer: object, first: object, last: object) -> str:
    return "-" if producer in (None, -1) or first == -1 else _span(first, last)


def _span(first: object, last: object) -> str:
    return f"?-{last}" if first is None else str(last) if first == last else f"{first}-{last}"


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
