"""The lines of many batches and the tables of their records, as columns, for a fast `dump --records`."""

from collections.abc import Iterator
from itertools import chain, islice
from operator import add
from typing import Any, NamedTuple

import numpy as np

from kcheck.model.report import Block
from kcheck.screen.characters import (
    END,
    Characters,
    Integers,
    joined,
    number,
    number_width,
    only,
    shown,
    spaces,
    text,
    texts,
    wrapped,
)
from kcheck.screen.page import Page, TableLayout, wrap
from kcheck.screen.printable import printable

_NAMES_LENGTH_MAX = 60
"""Maximum number of characters in the names of a record's headers."""


def batch_lines(block: Block, flags: list[str], page: Page, hanging: str) -> list[str] | None:
    """Return the lines of each batch; None for messages of magic 0 and 1."""
    columns = block.columns
    if columns["producer_id"][0] is None:
        return None
    values = {name: np.array(columns[name], np.int64) for name in _NUMBERS}
    has_producer = values["producer_id"] != -1
    parts = [
        text("position "), number(values["position"]),
        text(" · size "), number(values["size"]),
        text(" · offsets "), *_span(values["base_offset"], values["last_offset"]),
        text(" · count "), number(values["count"]),
        text(" · epoch "), number(values["leader_epoch"]),
    ]  # fmt: skip
    if has_producer.any():
        producer = [text(" · producer "), number(values["producer_id"]), text("/"), number(values["producer_epoch"])]
        sequences = [text(" · seq "), *_span(values["base_sequence"], values["last_sequence"])]
        parts += (only(part, has_producer) for part in producer)
        parts += (only(part, has_producer & (values["base_sequence"] != -1)) for part in sequences)
    parts += [text(" · timestamp "), number(values["max_timestamp"])]
    if any(flags):
        parts += [only(text(" · "), np.array(list(map(bool, flags)))), texts(flags)]
    return wrapped(joined([*parts, text("\n")], block.length), page.room, "", hanging)


_NUMBERS = (
    "position", "size", "base_offset", "last_offset", "count", "leader_epoch", "producer_id", "producer_epoch",
    "base_sequence", "last_sequence", "max_timestamp",
)  # fmt: skip


def _span(first: Integers, last: Integers) -> list[Characters]:
    """Return a first and a last number; one number where they are the same."""
    differs = first != last
    return [number(first), only(text("-"), differs), only(number(last), differs)] if differs.any() else [number(first)]


class _Cells(NamedTuple):
    """A column of tables, with the characters of each cell, and their number."""

    characters: Characters
    widths: Integers


def record_tables(blocks: list[Block], counts: list[int], page: Page, layout: TableLayout) -> list[str] | None:
    """Return the tables of the records of each batch; None if they have to be laid out one by one.

    `counts` are the numbers of records of the batches.
    """
    table_counts = -(-np.array(counts) // layout.length)
    sizes = _table_sizes(np.array(counts), table_counts, layout.length)
    if not sizes.size:
        return [""] * len(counts)
    rows: dict[str, list[Any]] = {
        name: list(chain.from_iterable(block.columns[name] for block in blocks)) for name in _SHOWN
    }
    names = _name_cells(rows.pop("header_keys"))
    if names is None:
        return None
    columns = [*map(_number_cells, rows.values()), names]
    ends = np.cumsum(sizes)
    widths = np.stack([np.maximum.reduceat(cells.widths, ends - sizes) for cells in columns])
    widths = np.maximum(widths, np.array([len(title) for title in layout.titles[:-1]])[:, None])
    if widths.sum(axis=0).max() + 2 * len(columns) > page.width - len(layout.indent):
        return None
    parts = [text(layout.indent)]
    for cells, width in zip(columns[:-1], widths, strict=False):
        parts += [cells.characters, spaces(np.repeat(width, sizes) - cells.widths + 2)]
    is_last = np.zeros(ends[-1], np.bool_)
    is_last[ends - 1] = True
    parts += [names.characters, text("\n"), only(text(END), is_last)]
    shapes = list(zip(*widths.tolist(), strict=True))
    heads = {shape: page.head(layout.titles, (*shape, 0), layout.indent) for shape in set(shapes)}
    tables = map(add, map(heads.__getitem__, shapes), shown(joined(parts, is_last.size)))
    if (table_counts == 1).all():
        return list(tables)
    return ["".join(islice(tables, count)) for count in table_counts.tolist()]


def _table_sizes(counts: Integers, table_counts: Integers, length: int) -> Integers:
    """Return the numbers of rows of all tables. Only the last table of a batch may have fewer."""
    sizes = np.full(int(table_counts.sum()), length)
    has_records = counts > 0
    sizes[np.cumsum(table_counts)[has_records] - 1] = (counts[has_records] - 1) % length + 1
    return sizes


def wrapped_texts(texts: Iterator[str], counts: list[int], page: Page, indent: str, hanging: str) -> list[str]:
    """Return the wrapped texts of the records of each batch; `counts` are their numbers."""
    lines = list(texts)
    joined_lines = "\n".join([*lines, ""])
    has_space_at_edge = joined_lines.startswith(" ") or " \n" in joined_lines or "\n " in joined_lines
    if joined_lines.isascii() and all(map(str.isprintable, lines)) and not has_space_at_edge:
        shown_lines = wrapped(joined_lines.encode(), page.room, indent, hanging)
    else:
        shown_lines = ["\n".join([*wrap(printable(line), page.room, indent, hanging), ""]) for line in lines]
    remaining = iter(shown_lines)
    return ["".join(islice(remaining, count)) for count in counts]


_SHOWN = ("offset", "timestamp", "key_size", "value_size", "header_keys")


def _number_cells(column: list[int | None]) -> _Cells:
    """Return the cells of numbers, `null` for None."""
    if None not in column:
        values = np.array(column, np.int64)
        return _Cells(number(values), number_width(values))
    is_null = np.array([value is None for value in column])
    values = np.array([value or 0 for value in column])
    characters = np.hstack([only(text("null"), is_null), only(number(values), ~is_null)])
    return _Cells(characters, np.where(is_null, len("null"), number_width(values)))


def _name_cells(column: list[tuple[str, ...]]) -> _Cells | None:
    """Return the cells of the names of headers; None if some are long, or are not shown as they are."""
    cells = {names: ",".join(names) if names else "-" for names in set(column)}
    for cell in cells.values():
        is_plain = cell.isascii() and cell.isprintable() and cell and not cell.endswith(" ")
        if not is_plain or len(cell) > _NAMES_LENGTH_MAX:
            return None
    if len(cells) == 1:
        (cell,) = cells.values()
        return _Cells(text(cell), np.full(len(column), len(cell)))
    of_lines = [cells[names] for names in column]
    return _Cells(texts(of_lines), np.array(list(map(len, of_lines))))
