"""The rows of an answer that is one table."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, repeat
from typing import Any, TypeAlias

from kcheck.documents.blocks import Made, is_constant
from kcheck.model.report import FINDINGS, Block, Report, finding_row

Cells: TypeAlias = tuple[Any, ...]

_PLAIN = {int, bool, float, type(None)}


def rows(report: Report, text: Callable[[str], str]) -> Iterator[Cells]:
    """Yield the rows of the table; a nested table (`files.batches`) repeats the path of the outer rows.

    Nested rows and lists become JSON. `text` converts a text.
    """
    assert report.table is not None
    names = tuple(column.name for column in report.columns)
    if report.table == FINDINGS:
        return Made(partial(_cells, names, {}, text)).of(map(finding_row, report.findings()))
    outer, *inner = report.table.split(".")
    outer_rows: Any = report.body[outer]
    if not inner:
        return Made(partial(_cells, names, {}, text)).of(iter(outer_rows))
    return chain.from_iterable(
        _within(part, inner, Made(partial(_cells, names, {"path": part["path"]}, text))) for part in outer_rows
    )


def _within(part: Any, inner: list[str], made: Made[Cells]) -> Iterator[Cells]:
    name, *deeper = inner
    if not deeper:
        return made.of(iter(part[name]))
    return chain.from_iterable(_within(inner_row, deeper, made) for inner_row in part[name])


def _cells(
    names: tuple[str, ...], around: Mapping[str, str], text: Callable[[str], str], block: Block
) -> Iterator[Cells]:
    """Yield the values of each row; `around` holds the values of the outer rows."""
    columns = block.columns
    return zip(
        *(
            _column(columns[name], text) if name in columns else repeat(_cell(text, around.get(name)), block.length)
            for name in names
        ),
        strict=True,
    )


def _column(column: Sequence[object], text: Callable[[str], str]) -> Iterable[object]:
    kinds = set(map(type, column))
    if kinds <= _PLAIN:
        return column
    if kinds == {str}:
        return map(text, column)  # type: ignore[arg-type]  # they are texts
    if is_constant(column):
        return repeat(_cell(text, column[0]), len(column))
    return map(partial(_cell, text), column)


def _cell(text: Callable[[str], str], value: object) -> object:
    if isinstance(value, (tuple, Mapping)):
        value = json.dumps(value)
    return text(value) if isinstance(value, str) else value
