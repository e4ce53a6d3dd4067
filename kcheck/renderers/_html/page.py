"""The page of `fleet report`: one self-contained file, worst first, readable without JavaScript."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kcheck.model.evidence import rules_of
from kcheck.model.report import Report, Row
from kcheck.renderers._html.head import foot, head
from kcheck.renderers._html.parts import (
    SEVERITIES,
    VERDICTS,
    Bar,
    Html,
    HtmlColumn,
    caption,
    chart,
    counted,
    number,
    plain,
    prose,
    query,
    ranked,
    severity,
    sized,
    source,
    table,
    text,
)
from kcheck.renderers._html.script import SCRIPT
from kcheck.renderers._html.starts import starts
from kcheck.renderers._html.style import STYLE
from kcheck.renderers._page import moment, plural
from kcheck.renderers._text_fleet import place_of

_BAR_COUNT = 15
_ROW_COUNT = 1000
"""Maximum number of bars in a chart, and of rows in a table; the query below a table returns all rows."""
_MEANINGS = {
    "fatal": "The broker does not start, or takes a log dir offline.",
    "error": "The broker serves or replicates wrong data, or drops records.",
    "warning": "The broker repairs it at startup.",
    "info": "The broker does not notice.",
    "clean": "No findings.",
}
_SECTIONS = {
    "actions": "What to do",
    "brokers": "Brokers",
    "starts": "Next start",
    "partitions": "Partitions at risk",
    "rules": "Rules",
    "findings": "Findings",
}
_ORDER = "list_position(['fatal', 'error', 'warning', 'info'], severity)"


def page(report: Report) -> Iterator[Html]:
    """Yield the page, section by section."""
    body: Any = report.body
    path = str(body["path"])
    yield head(f"Fleet report of run {text(report.body['run'])}", STYLE, SCRIPT)
    yield _summary(report)
    yield _actions(body["actions"])
    yield _brokers(body["clusters"], body["brokers"], path)
    yield _section("starts", *starts(body, path, _ROW_COUNT, _BAR_COUNT))
    yield _partitions(body["partitions_at_risk"], body["partitions"], path)
    yield _rules(body["rules"], {row["id"]: row for row in body.get("pages", ())}, path)
    yield _findings(body["worst"], sum(report.summary().values()), path)
    yield foot(f" from the tables in <code>{text(path)}</code>", SCRIPT)


def _summary(report: Report) -> Html:
    body: Any = report.body
    summary = report.summary()
    tiles = "".join(f"<li>{severity(name)}<b>{number(summary[name])}</b></li>" for name in SEVERITIES)
    rows: Any = body["rows"]
    things = ((len(body["clusters"]), "cluster"), (len(body["brokers"]), "broker"), (rows["log_dirs"], "log dir"))
    said = ", ".join(plural(*thing) for thing in (*things, (rows["partitions"], "partition directory")))
    words = "".join(f"<dt>{severity(name)}</dt><dd>{meaning}</dd>" for name, meaning in _MEANINGS.items())
    links = "".join(f'<li><a href="#{name}-h">{title}</a></li>' for name, title in _SECTIONS.items())
    left = "" if body["finished"] else (
        '<p class="note">Incomplete: findings KC000 and KC001 list what could not be read.</p>\n'
    )  # fmt: skip
    return (
        f"<header><h1>Fleet report of run {text(body['run'])}</h1>\n"
        f'<p class="facts">{text(said)}, depth {text(body["depth"])}, {text(rules_of(report.kafka))};'
        f" scanned {text(moment(body['started']))} to {text(moment(body['ended']))}.</p>\n{left}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>\n'
        f'<ul class="tiles" aria-label="Findings by severity">{tiles}</ul>\n'
        f'<details><summary>Severities</summary><dl class="words">{words}</dl></details></header>\n<main>\n'
    )


def _section(name: str, *parts: Html) -> Html:
    return f'<section aria-labelledby="{name}-h"><h2 id="{name}-h">{_SECTIONS[name]}</h2>\n{"".join(parts)}</section>\n'


def _actions(actions: Sequence[Row]) -> Html:
    rows = "".join(f"<li>{text(row['what'])}<pre><code>{text(row['command'])}</code></pre></li>" for row in actions)
    return _section("actions", f'<ol class="actions">{rows}</ol>\n' if rows else "<p>Nothing.</p>\n")


def _cut(rows: Sequence[Row]) -> Sequence[Row]:
    return rows[:_ROW_COUNT]


_COUNTS = [counted(name.capitalize(), name) for name in SEVERITIES]


def _brokers(clusters: Sequence[Row], brokers: Sequence[Row], path: str) -> Html:
    bars = [Bar(text(row["cluster"]), _of(row["verdicts"], VERDICTS)) for row in clusters[:_BAR_COUNT]]
    what = "Brokers by their worst finding" if len(bars) == len(clusters) else (
        f"Brokers by their worst finding, in the worst {len(bars)} clusters"
    )  # fmt: skip
    by_cluster = [
        plain("Cluster", "cluster"), ranked("Worst", "verdict"), *_COUNTS, counted("Brokers", "broker_count"),
        *(_verdicts(name) for name in VERDICTS),
    ]  # fmt: skip
    columns = [
        plain("Cluster", "cluster"), plain("Broker", "broker"), ranked("Worst", "verdict"), *_COUNTS,
        counted("Log dirs", "log_dirs"), counted("Partition dirs", "partitions"),
    ]  # fmt: skip
    lines = (
        f"SELECT cluster, broker, severity, count(*) AS findings\nFROM {source(path, 'findings')}\n"
        f"GROUP BY cluster, broker, severity ORDER BY {_ORDER}, findings DESC;"
    )
    return _section(
        "brokers", chart(what, bars),
        table("clusters", caption(len(_cut(clusters)), len(clusters), "cluster"), by_cluster, _cut(clusters)),
        table("brokers", caption(len(_cut(brokers)), len(brokers), "broker"), columns, _cut(brokers)),
        query("All brokers, in DuckDB", lines),
    )  # fmt: skip


def _of(counts: Any, names: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, counts[name]) for name in names]


def _verdicts(name: str) -> HtmlColumn:
    def counts(row: Row) -> Any:
        verdicts: Any = row["verdicts"]
        return verdicts[name]

    return HtmlColumn(f"Brokers {name}", lambda row: number(counts(row)), counts, is_number=True)


def _partitions(count: int, rows: Sequence[Row], path: str) -> Html:
    columns = [
        plain("Cluster", "cluster"), plain("Topic", "topic"), counted("Partition", "partition"),
        ranked("Worst", "verdict"), counted("Fatal", "fatal"), counted("Error", "error"),
        HtmlColumn("Damaged", lambda row: f"{number(row['damaged'])} of {number(row['replicas'])}",
               lambda row: row["damaged"], is_number=True),
        HtmlColumn("On brokers", lambda row: ", ".join(map(text, _listed(row["damaged_on"])))),
        HtmlColumn("Rules", lambda row: ", ".join(map(_rule_link, _listed(row["rule_ids"])))),
        plain("Best leader", "best_leader"), _lost("Lost", "lost"), _lost("On one disk", "at_risk"),
        sized("Size", "size"),
    ]  # fmt: skip
    lines = (
        f"SELECT cluster, topic, partition, count(DISTINCT broker) AS damaged, count(*) AS findings\n"
        f"FROM {source(path, 'findings')}\n"
        "WHERE severity IN ('fatal', 'error') AND topic IS NOT NULL AND partition IS NOT NULL\n"
        "GROUP BY cluster, topic, partition ORDER BY damaged DESC, findings DESC;"
    )
    said = (
        "<p>Partitions with an error or a fatal finding on a replica, and those that can lose committed records. Lost:"
        " offsets that the other replicas truncate if the best leader is elected. On one disk: offsets that only the"
        " best leader has. In brackets: how many of these are below a high watermark.</p>\n"
    )
    shown = table("partitions", caption(len(rows), count, "partition"), columns, rows) if rows else "<p>None.</p>\n"
    return _section("partitions", said, shown, query("All partitions, in DuckDB", lines))


def _lost(title: str, name: str) -> HtmlColumn:
    def shown(row: Row) -> Html:
        below = row[f"{name}_below_high_watermark"]
        return f"{number(row[name])} ({number(below)})" if row[name] else number(row[name])

    return HtmlColumn(title, shown, lambda row: row[name], is_number=True)


def _listed(values: Any) -> Sequence[Any]:
    """Return the first items of a list, as many as fit in a cell."""
    return values if len(values) <= 12 else (*values[:12], "…")


def _rule_link(rule: object) -> Html:
    return f'<a href="#rule-{text(rule)}">{text(rule)}</a>'


def _rules(rules: Sequence[Row], pages: Mapping[str, Row], path: str) -> Html:
    bars = [
        Bar(f"{_rule_link(row['id'])} {text(row['name'])}", _of(row, SEVERITIES)) for row in rules[:_BAR_COUNT]
    ]  # fmt: skip
    what = "Findings by rule" if len(bars) == len(rules) else f"Findings of the worst {len(bars)} rules"
    columns = [
        HtmlColumn("Rule", lambda row: _rule_link(row["id"])), plain("Name", "name"), ranked("Worst", "verdict"),
        counted("Findings", "findings"), *_COUNTS, counted("Brokers", "broker_count"),
    ]  # fmt: skip
    details = "".join(_rule(row, pages.get(str(row["id"]))) for row in rules)
    lines = (
        f"SELECT id, name, severity, count(*) AS findings\nFROM {source(path, 'findings')}\n"
        f"GROUP BY id, name, severity ORDER BY {_ORDER}, findings DESC;"
    )
    if not rules:
        return _section("rules", "<p>No findings.</p>\n")
    return _section(
        "rules", chart(what, bars),
        table("rules", caption(len(rules), len(rules), "rule"), columns, rules),
        "<p>What each rule means, what the broker does, and what to do:</p>\n", details,
        query("All rules, in DuckDB", lines),
    )  # fmt: skip


def _rule(row: Row, about: Row | None) -> Html:
    count = plural(int(str(row["findings"])), "finding")
    said = prose(str(about["page"])) if about is not None else "<p>This version of kcheck does not know the rule.</p>"
    return (
        f'<details class="rule" id="rule-{text(row["id"])}"><summary>{severity(row["verdict"])}'
        f" <strong>{text(row['id'])}</strong> {text(row['name'])}: {count}</summary><div>{said}</div></details>\n"
    )


def _findings(rows: Sequence[Row], count: int, path: str) -> Html:
    columns = [
        ranked("Severity", "severity"), HtmlColumn("Rule", lambda row: _rule_link(row["id"])),
        plain("Cluster", "cluster"), plain("Broker", "broker"),
        HtmlColumn("Where", lambda row: text(place_of(row))), HtmlColumn("What", _what),
    ]  # fmt: skip
    lines = (
        f"SELECT cluster, broker, id, severity, log_dir, dir, file, line, position, message, advice\n"
        f"FROM {source(path, 'findings')}\nORDER BY {_ORDER}, cluster, broker, log_dir, dir, file;"
    )
    shown = table("findings", caption(len(_cut(rows)), count, "finding"), columns, _cut(rows))
    said = "" if len(_cut(rows)) == count else (
        "<p>The first findings of each rule and severity; the query below returns all.</p>\n"
    )  # fmt: skip
    return _section(
        "findings", said, shown if rows else "<p>None.</p>\n", query("All findings, in DuckDB", lines)
    )  # fmt: skip


def _what(row: Row) -> Html:
    more = "".join(f"<p>{text(row[name])}</p>" for name in ("effect", "advice") if row[name])
    return text(row["message"]) + (f"<details><summary>Effect and advice</summary>{more}</details>" if more else "")
