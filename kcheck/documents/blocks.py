"""Rows as JSON text, a block at a time, which makes large answers fast."""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice, repeat
from json.encoder import encode_basestring_ascii
from typing import Any, Generic, TypeVar

from kcheck.model.mapped import Mapped
from kcheck.model.report import Block, Row, Rows, RowSlice

T = TypeVar("T")

_PIECE_COUNT = 1000
"""Rows per text."""


def blocks_of(rows: Iterator[Row]) -> Iterator[Block]:
    """Yield the blocks of rows; single rows are blocks of one."""
    if isinstance(rows, Rows):
        return rows.blocks
    return (Block({name: (value,) for name, value in row.items()}) for row in rows)


class Made(Generic[T]):
    """Items made from rows, one per row; slices of the same block are made together."""

    def __init__(self, make: Callable[[Block], Iterator[T]]) -> None:
        """Take the function that makes the items of a block."""
        self._make = make
        self._source: Rows | None = None
        self._items: Iterator[T] = iter(())

    def of(self, rows: Iterator[Row]) -> Iterator[T]:
        """Yield the items of some rows; read them to the end before the next rows."""
        if not isinstance(rows, RowSlice):
            return self._all(rows)
        if rows.source is not self._source:
            self._source, self._items = rows.source, self._all(rows.source)
        return islice(self._items, rows.count)

    def _all(self, rows: Iterator[Row]) -> Iterator[T]:
        return chain.from_iterable(map(self._make, blocks_of(rows)))


def objects(block: Block) -> Iterator[str]:
    """Yield each row as a JSON object, without nested rows."""
    fields, columns = [], list[Any]()
    for name, column in block.columns.items():
        if isinstance(column[0], Iterator):
            continue
        if is_constant(column):
            text = json.dumps(column[0]).replace("%", "%%")
        else:
            text = "%s"
            columns.append(map(_value, column))
        fields.append(f"{json.dumps(name)}: {text}")
    template = f"{{{', '.join(fields)}}}"
    return filled(template, tuple(columns)) if columns else repeat(template % (), block.length)


def pieces(value: object) -> Iterator[str]:
    """Yield a value as `json.dumps` writes it, many rows piece by piece."""
    if isinstance(value, Mapped):
        rows, separator = iter(value), "["
        while some := list(islice(rows, _PIECE_COUNT)):
            yield separator + json.dumps(some)[1:-1]
            separator = ", "
        yield "]" if value else "[]"
    elif isinstance(value, dict) and any(isinstance(part, (Mapped, dict)) for part in value.values()):
        separator = "{"
        for name, part in value.items():
            yield f"{separator}{json.dumps(name)}: "
            yield from pieces(part)
            separator = ", "
        yield "}"
    else:
        yield json.dumps(value)


def nested(block: Block) -> dict[str, Sequence[Any]]:
    """Return the columns whose values are iterators of rows."""
    return {name: column for name, column in block.columns.items() if isinstance(column[0], Iterator)}


def is_constant(column: Sequence[object]) -> bool:
    """Return whether all rows have the same value; True and 1 differ."""
    kinds = set(map(type, column))
    return len(kinds) == 1 and dict not in kinds and column.count(column[0]) == len(column)


def _value(value: object) -> object:
    """Return the value whose `str` is its JSON text."""
    if value is None:
        return "null"
    if type(value) is int:
        return value
    return encode_basestring_ascii(value) if isinstance(value, str) else json.dumps(value)


def filled(template: str, columns: tuple[Any, ...]) -> Iterator[str]:
    """Yield a text per row, with a `%s` for each column."""
    return map(template.__mod__, zip(*columns, strict=True))
