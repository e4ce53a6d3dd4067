"""The page of `fleet trend`: when findings appeared, and how long they were there."""

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

from kcheck.model.finding import Severity
from kcheck.model.report import Report, Row
from kcheck.renderers._html.head import foot, head
from kcheck.renderers._html.parts import Html, HtmlColumn, caption, counts, number, plain, ranked, table, text
from kcheck.renderers._html.script import SCRIPT
from kcheck.renderers._html.style import STYLE
from kcheck.renderers._text_fleet import place_of
from kcheck.words import counted, moment

_ROW_COUNT = 1000
"""Maximum number of rows of a table."""
_STATES = {
    "new": "New in the last run",
    "open": "Open: in the last run, and before",
    "unknown": "Unknown: the last run has not looked",
    "gone": "Gone",
}


def page(report: Report) -> Iterator[Html]:
    """Yield the page: a section for each state, the worst findings first."""
    body: Any = report.body
    runs: Sequence[Row] = body["runs"]
    of_state: dict[str, list[Row]] = {name: [] for name in _STATES}
    for row in body["history"]:
        rows = of_state[str(row["state"])]
        rows.append(row)
        if len(rows) >= 2 * _ROW_COUNT:
            of_state[str(row["state"])] = _worst(rows)
    counts = {row["state"]: row["findings"] for row in body["counts"]}
    tiles = "".join(f'<li><span class="soft">{name}</span><b>{number(counts[name])}</b></li>' for name in _STATES)
    links = "".join(f'<li><a href="#{name}-h">{name}</a></li>' for name in _STATES)
    title = f"Findings over {counted(len(runs), 'run')}"
    yield head(title, STYLE, SCRIPT)
    yield (
        f'<a class="skip" href="#main">Skip to the findings</a>\n<header><h1>{title}</h1>\n'
        f'<p class="facts">From run {text(runs[0]["run"])}, ended {text(moment(runs[0]["ended"]))}, to run'
        f" {text(runs[-1]['run'])}, ended {text(moment(runs[-1]['ended']))}.</p>\n"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main id="main" tabindex="-1">\n'
        f'<ul class="tiles" aria-label="Counts">{tiles}</ul>\n'
    )
    for name, words in _STATES.items():
        yield _section(name, words, _worst(of_state[name]), counts[name], runs)
    yield foot("", SCRIPT)


def _worst(rows: Sequence[Row]) -> list[Row]:
    return heapq.nsmallest(_ROW_COUNT, rows, key=lambda row: -Severity(str(row["severity"])).rank)


def _section(name: str, words: str, rows: Sequence[Row], count: int, runs: Sequence[Row]) -> Html:
    at = {(run["run"], run["ended"]): number for number, run in enumerate(runs)}

    def there(row: Row) -> Html:
        """Return from which run to which the finding was there, as a bar."""
        first, last = (at[row[f"{end}_run"], row[f"{end}_seen"]] for end in ("first", "last"))
        width = 100 / len(runs)
        said = f"runs {first + 1} to {last + 1} of {len(runs)}"
        return (
            f'<svg class="trend" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label="{said}">'
            f'<rect class="{text(row["severity"])}" x="{first * width:.2f}" y="6"'
            f' width="{(last - first + 1) * width:.2f}" height="12"/></svg>'
        )

    columns = [
        ranked("Severity", "severity"), plain("Rule", "id"), plain("Cluster", "cluster"), plain("Broker", "broker"),
        HtmlColumn("Where", lambda row: text(place_of({**row, "line": None, "position": None}))),
        plain("What", "message"), counts("Findings", "findings"),
        HtmlColumn("First seen", lambda row: text(moment(row["first_seen"])), lambda row: row["first_seen"]),
        HtmlColumn("Last seen", lambda row: text(moment(row["last_seen"])), lambda row: row["last_seen"]),
        counts("Runs", "runs"), HtmlColumn("There", there),
    ]  # fmt: skip
    shown = table(f"{name}-findings", caption(len(rows), count, "finding"), columns, rows) if rows else "<p>None.</p>\n"
    return f'<section aria-labelledby="{name}-h"><h2 id="{name}-h">{words}</h2>\n{shown}</section>\n'
