"""The clusters and brokers of the page, by risk; what needs no attention is folded."""

from collections.abc import Mapping, Sequence
from typing import Any

from kcheck.core.start.startup import NEXT_STARTS
from kcheck.model.report import Row
from kcheck.renderers._html.parts import (
    SEVERITIES,
    VERDICTS,
    Bar,
    Html,
    HtmlColumn,
    caption,
    chart,
    command,
    counts,
    fold,
    number,
    plain,
    query,
    ranked,
    rule_links,
    severity,
    sized,
    source,
    table,
    text,
)
from kcheck.words import counted

ROW_COUNT = 1000
"""Maximum number of rows in a table; the query below a table returns all rows."""
BAR_COUNT = 15
ORDER = "list_position(['fatal', 'error', 'warning', 'info'], severity)"
_QUIET = ("info", "clean")
"""Risks that need no attention."""
_COUNTS = [counts(name.capitalize(), name) for name in SEVERITIES]
_START = (
    counts("Losing", "losing_partitions"), counts("Records lost", "lost_records"),
    counts("Not served", "unserved_partitions"), sized("Log read at start", "scan_bytes"),
)  # fmt: skip
_SAID = (
    "<p>Next start: the outcome of a broker by its worst log dir. Losing: partition directories that lose records then;"
    " not served: directories that the broker renames to -stray or -delete. The log read"
    " at start is the bytes of segments that "
    "it reads before it serves"
    " clients. Not known: log recovery reads these logs; scan with --depth crc to predict it.</p>\n"
)


def clusters(rows: Sequence[Row]) -> Html:
    """Return the clusters, the one at the highest risk first."""
    loud = [row for row in rows if row["risk"] not in _QUIET]
    bars = [Bar(text(row["cluster"]), _of(row["risks"], VERDICTS)) for row in (loud or rows)[:BAR_COUNT]]
    what = "Brokers by risk" if len(bars) == len(rows) else f"Brokers by risk, in the first {len(bars)} clusters"
    columns = [
        plain("Cluster", "cluster"), ranked("Risk", "risk"), HtmlColumn("Next start", _outcomes), *_START[:3], *_COUNTS,
        counts("Brokers", "broker_count"), plain("Kafka", "kafka"),
    ]  # fmt: skip
    notes = "".join(
        f'<p class="note">{text(row["cluster"])}: {text(words)}</p>\n'
        for row in rows
        for words in filter(None, (row["kafka_differs"], row["decision_differs"]))
    )
    return chart(what, bars) + notes + _two_tables("clusters", "cluster", columns, rows)


def brokers(rows: Sequence[Row], path: str) -> Html:
    """Return the brokers, the one at the highest risk first."""
    columns = [
        plain("Cluster", "cluster"), plain("Broker", "broker"), ranked("Risk", "risk"),
        ranked("Next start", "next_start"), *_START, *_COUNTS, rule_links("Rules", "rule_ids"),
        counts("Partition dirs", "partitions"), *_why(rows), command(),
    ]  # fmt: skip
    order = ", ".join(f"'{outcome}'" for outcome in NEXT_STARTS)
    return (
        _SAID
        + _two_tables("brokers", "broker", columns, rows)
        + query(
            "All findings by broker, in DuckDB",
            f"SELECT cluster, broker, severity, count(*) AS findings\nFROM {source(path, 'findings')}\n"
            f"GROUP BY cluster, broker, severity ORDER BY {ORDER}, findings DESC;",
        )
        + query(
            "The next start of all log dirs, in DuckDB",
            f"SELECT cluster, broker, log_dir, reason AS next_start, scan_bytes\nFROM {source(path, 'predictions')}\n"
            f"WHERE dir IS NULL ORDER BY list_position([{order}], outcome), scan_bytes DESC;",
        )
    )


def _why(rows: Sequence[Row]) -> list[HtmlColumn]:
    """Return the column of the reasons, if there are any."""
    return [plain("Reason not to load", "why")] if any(row["why"] for row in rows) else []


def _two_tables(name: str, word: str, columns: Sequence[HtmlColumn], rows: Sequence[Row]) -> Html:
    """Return the rows that need attention, then the rest, folded."""
    loud = [row for row in rows if row["risk"] not in _QUIET]
    quiet = rows[len(loud) :]
    shown = loud[:ROW_COUNT]
    first = table(name, caption(len(shown), len(loud), word), columns, shown) if loud else ""
    if not quiet:
        return first
    some = quiet[:ROW_COUNT]
    said = f"{counted(len(quiet), word)} without an error or warning: {_starts_of(quiet, word)}"
    return first + fold(said, table(f"quiet-{name}", caption(len(some), len(quiet), word), columns, some))


def _starts_of(rows: Sequence[Row], word: str) -> Html:
    """Return how many rows have which next start; for clusters how many are clean."""
    if word == "cluster":
        return ", ".join(f"{number(sum(row['risk'] == risk for row in rows))} {severity(risk)}" for risk in _QUIET)
    counts = {outcome: sum(row["next_start"] == outcome for row in rows) for outcome in NEXT_STARTS}
    known = [f"{number(count)} {NEXT_STARTS[outcome]}" for outcome, count in counts.items() if count]
    return ", ".join(known) or "no start is predicted"


def _of(counts: Any, names: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, counts[name]) for name in names]


def _outcomes(row: Row) -> Html:
    counts: Mapping[str, int] = row["outcomes"] or {}  # type: ignore[assignment]  # of outcomes
    said = [f"{number(counts[outcome])} {words}" for outcome, words in NEXT_STARTS.items() if counts.get(outcome)]
    return ", ".join(said) or "?"
