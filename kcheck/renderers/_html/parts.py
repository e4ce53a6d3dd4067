"""Text, tables and bars of a page. Names and file contents are escaped here, and only here."""

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from kcheck.core.start.startup import NEXT_STARTS
from kcheck.fleet.runs.sql_text import duckdb_files
from kcheck.model.report import Row
from kcheck.screen.page import size
from kcheck.screen.printable import printable
from kcheck.words import counted

SEVERITIES = ("fatal", "error", "warning", "info")
VERDICTS = (*SEVERITIES, "clean")
_WORDS = {**{name: name for name in VERDICTS}, **{str(outcome): words for outcome, words in NEXT_STARTS.items()}}
"""The words for severities, verdicts and outcomes, which have a color; the worst of each kind first."""
_RANKS = {name: -at for at, name in enumerate(_WORDS)}
Html = str
"""Markup, in which foreign text was escaped by `text`."""


def text(value: object) -> Html:
    """Return a value as escaped text without control or bidirectional characters; `?` if it is unknown."""
    return "?" if value is None else html.escape(printable(value), quote=True)


def number(value: object) -> Html:
    """Return a number in groups of three digits."""
    return f"{value:,}" if isinstance(value, int) else text(value)


def severity(value: object) -> Html:
    """Return a severity or verdict in its color."""
    name = str(value)
    return f'<span class="s {name}">{_WORDS[name]}</span>' if name in _WORDS else text(value)


class HtmlColumn(NamedTuple):
    """A column of a table, with its title, cell, and sort key (the text by default)."""

    title: str
    cell: Callable[[Row], Html]
    key: Callable[[Row], object] | None = None
    is_number: bool = False


def plain(title: str, name: str) -> HtmlColumn:
    """Return a column of text."""
    return HtmlColumn(title, lambda row: text(row[name]))


def counts(title: str, name: str) -> HtmlColumn:
    """Return a column of numbers."""
    return HtmlColumn(title, lambda row: number(row[name]), lambda row: row[name], is_number=True)


def sized(title: str, name: str) -> HtmlColumn:
    """Return a column of bytes."""
    return HtmlColumn(title, lambda row: text(size(row[name])), lambda row: row[name], is_number=True)


def ranked(title: str, name: str) -> HtmlColumn:
    """Return a column of severities or verdicts, of which the worst sorts highest."""
    return HtmlColumn(title, lambda row: severity(row[name]), lambda row: _RANKS.get(str(row[name]), -len(_RANKS)))


def table(name: str, caption: str, columns: Sequence[HtmlColumn], rows: Iterable[Row]) -> Html:
    """Return a table, worst first, in a region that scrolls; JavaScript adds search and sorting."""
    head = "".join(f'<th scope="col"{_kind(column)}>{text(column.title)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(_cell(column, row) for column in columns)}</tr>\n" for row in rows)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-labelledby="{name}-c">'
        f'<table class="data static" id="{name}"><caption id="{name}-c">{text(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def fold(summary: Html, content: Html, *, is_open: bool = False) -> Html:
    """Return content that is shown on demand, and in print."""
    return f'<details class="fold"{" open" if is_open else ""}><summary>{summary}</summary>\n{content}</details>\n'


def command() -> HtmlColumn:
    """Return the column of the command that looks closer, folded."""
    return HtmlColumn("Command", lambda row: command_of(row) if row["command"] else "")


def command_of(row: Row) -> Html:
    """Return the command of a row, folded, with its verb visible."""
    shown = text(row["command"])
    verb = " ".join(shown.split(" ", 2)[:2])
    return f'<details class="look"><summary>{verb}</summary><code>{shown}</code></details>'


def rule_link(rule: object) -> Html:
    """Return a link to the page of a rule."""
    return f'<a href="#rule-{text(rule)}">{text(rule)}</a>'


def rule_links(title: str, name: str) -> HtmlColumn:
    """Return a column of rules."""
    return HtmlColumn(title, lambda row: ", ".join(map(rule_link, listed(row[name]))))


def listed(values: Any, most: int = 8) -> Sequence[Any]:
    """Return the first items of a list, as many as fit in a cell."""
    return values if len(values) <= most else (*values[:most], "…")


def caption(shown: int, count: int, word: str) -> str:
    """Return the caption of a table that shows `shown` of `count` rows."""
    said = counted(count, word)
    return f"{said}, worst first" if shown == count else f"The worst {shown} of {said}"


def query(title: str, lines: str) -> Html:
    """Return a query for the reader to copy."""
    shown = "\n".join(map(text, lines.split("\n")))
    return f"<details><summary>{text(title)}</summary><pre><code>{shown}</code></pre></details>\n"


def source(path: str, name: str) -> str:
    """Return the files of a run's table, as a query names them."""
    files = duckdb_files(path, name)
    return files if path.isprintable() else f"read_parquet({files})"


def _kind(column: HtmlColumn) -> str:
    return ' class="n"' if column.is_number else ""


def _cell(column: HtmlColumn, row: Row) -> Html:
    key = "" if column.key is None else f' data-key="{text(column.key(row))}"'
    return f'<td data-label="{text(column.title)}"{_kind(column)}{key}><div>{column.cell(row)}</div></td>'


class Bar(NamedTuple):
    """A line of a chart: `counts` by severity or verdict, worst first; `label` is markup."""

    label: Html
    counts: Sequence[tuple[str, int]]


def chart(title: str, bars: Sequence[Bar]) -> Html:
    """Return bars with their numbers in words, so that no reader depends on color."""
    longest = max((sum(count for _, count in bar.counts) for bar in bars), default=0) or 1
    lines = "".join(_bar(bar, longest) for bar in bars)
    return f'<figure class="chart"><figcaption>{text(title)}</figcaption>\n<ul>\n{lines}</ul></figure>\n'


def _bar(bar: Bar, longest: int) -> Html:
    shown = [(name, count) for name, count in bar.counts if count]
    said = ", ".join(f"{number(count)} {_WORDS[name]}" for name, count in shown) or "none"
    pieces, at = [], 0.0
    for name, count in shown:
        width = max(100 * count / longest, 0.6)
        pieces.append(f'<rect class="{name}" x="{at:.2f}" y="0" width="{width:.2f}" height="10"/>')
        at += width
    return (
        f'<li><span class="label">{bar.label}</span>'
        f'<svg viewBox="0 0 {max(at, 100):.2f} 10" preserveAspectRatio="none" role="img" aria-label="{said}">'
        f'{"".join(pieces)}</svg><span class="said">{said}</span></li>\n'
    )


def prose(page: str) -> Html:
    """Return the page of a rule as markup (paragraphs, lists and `code`)."""
    parts = []
    for paragraph in page.split("\n\n"):
        first, *items = [" ".join(item.split()) for item in f"\n{paragraph}".split("\n- ")]
        if first:
            parts.append(f"<p>{_code(first)}</p>")
        if items:
            parts.append(f"<ul>{''.join(f'<li>{_code(item)}</li>' for item in items)}</ul>")
    return "\n".join(parts)


def _code(words: str) -> Html:
    pieces = text(words).split("`")
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(f"<code>{piece}</code>" if at % 2 else piece for at, piece in enumerate(pieces))
