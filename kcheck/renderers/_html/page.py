"""The page of `fleet report`, one self-contained file with the first steps, readable without JavaScript."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from kcheck.model.evidence import rules_of
from kcheck.model.report import Report, Row
from kcheck.renderers._html.head import foot, head
from kcheck.renderers._html.parts import (
    SEVERITIES,
    Bar,
    Html,
    HtmlColumn,
    caption,
    chart,
    command,
    command_of,
    counts,
    listed,
    number,
    plain,
    prose,
    query,
    ranked,
    rule_link,
    rule_links,
    severity,
    sized,
    source,
    table,
    text,
)
from kcheck.renderers._html.places import BAR_COUNT, ORDER, ROW_COUNT, brokers, clusters
from kcheck.renderers._html.remote_storage import remote_storage
from kcheck.renderers._html.script import SCRIPT
from kcheck.renderers._html.starts import losses
from kcheck.renderers._html.style import STYLE
from kcheck.renderers._html.trend import tiles
from kcheck.renderers._text_fleet import WHENS, carried_words, idle_words, incomplete_words, nodes_of, place_of
from kcheck.words import counted, moment

_MEANINGS = {
    "fatal": "The broker does not start, or takes a log dir offline.",
    "error": "The broker serves or replicates wrong data, or loses records.",
    "warning": "The broker repairs it at startup.",
    "info": "The broker does not notice.",
    "clean": "No findings.",
}
_SECTIONS = {
    "actions": "Decisions by cluster",
    "counts": "Counts",
    "clusters": "Clusters by risk",
    "brokers": "Brokers",
    "partitions": "Partitions at risk",
    "losses": "Lost by the next start",
    "remote": "Remote storage",
    "findings": "Findings",
    "rules": "Rules",
}


def page(report: Report) -> Iterator[Html]:
    """Yield the page, section by section."""
    body: Any = report.body
    path = str(body["path"])
    yield head(f"Fleet report of run {text(body['run'])}", STYLE, SCRIPT)
    yield _summary(report)
    yield _decisions(body["decisions"], str(body["depth"]))
    yield _section("counts", tiles(body, report.summary()), _severities())
    yield _section("clusters", clusters(body["clusters"]))
    yield _section("brokers", brokers(nodes_of(body["brokers"]), path))
    yield _partitions(body["partitions_at_risk"], body["partitions"], path, body["owners"])
    yield _section("losses", losses(body, path))
    if body["rows"].get("tiered_partitions"):
        yield _section("remote", remote_storage(body["remote"], body["remote_count"], path))
    losing = {(row["cluster"], row["broker"], row["log_dir"], row["dir"]) for row in body["losses"]}
    yield _findings(body["worst"], sum(report.summary().values()), path, losing)
    yield _rules(body["rules"], {row["id"]: row for row in body.get("pages", ())}, path)
    yield foot(f" from the tables in <code>{text(path)}</code>", SCRIPT)


def _summary(report: Report) -> Html:
    body: Any = report.body
    rows: Any = body["rows"]
    things = (
        (len(body["clusters"]), "cluster"),
        (len(nodes_of(body["brokers"])), "node"),
        (rows["log_dirs"], "log dir"),
    )
    said = ", ".join(counted(*thing) for thing in (*things, (rows["partitions"], "partition directory")))
    named = (item for item in _SECTIONS.items() if item[0] != "remote" or rows.get("tiered_partitions"))
    links = "".join(f'<li><a href="#{name}-h">{title}</a></li>' for name, title in named)
    coverage = body["log_dirs_reached"], body["log_dirs_expected"], body["not_reached"]
    lacks = incomplete_words(*coverage, finished=body["finished"], failing=body["failing"])
    carried = carried_words(body["carried_over"], rows["partitions"], body["since"])
    notes = (*lacks, *body["not_known"], *carried)
    left = "".join(f'<p class="note">{text(words)}</p>\n' for words in notes)
    return (
        f'<a class="skip" href="#main">Skip to the list</a>\n<header><h1>Fleet report of run'
        f' {text(body["run"])}</h1>\n<p class="facts">{text(said)}, depth {text(body["depth"])},'
        f" {text(rules_of(report.kafka))};"
        f" scanned {text(moment(body['started']))} to {text(moment(body['ended']))}.</p>\n{left}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main id="main" tabindex="-1">\n'
    )


def _severities() -> Html:
    words = "".join(f"<dt>{severity(name)}</dt><dd>{meaning}</dd>" for name, meaning in _MEANINGS.items())
    return f'<details><summary>Severities</summary><dl class="words">{words}</dl></details>\n'


def _section(name: str, *parts: Html) -> Html:
    return f'<section aria-labelledby="{name}-h"><h2 id="{name}-h">{_SECTIONS[name]}</h2>\n{"".join(parts)}</section>\n'


def _decisions(decisions: Sequence[Row], depth: str) -> Html:
    idle = [row["cluster"] for row in decisions if row["command"] is None]
    rows = "".join(_decision(row) for row in decisions if row["command"] is not None)
    told = f'<ol class="actions">{rows}</ol>\n<p class="soft">{text(WHENS)}</p>\n' if rows else ""
    left = f"<p>{text(idle_words(depth))}: {', '.join(map(text, idle))}.</p>\n" if idle else ""
    return _section("actions", told, left)


def _decision(row: Row) -> Html:
    also = "".join(f"<p>Also: {text(words)}</p>" for words in listed(row["also"]))
    name = str(row["when"]).replace(" ", "-")
    return (
        f'<li class="{name}"><p><strong>{text(row["cluster"])}, {row["when"]}:</strong> {text(row["what"])}</p>{also}'
        f"<pre><code>{text(row['command'])}</code></pre></li>\n"
    )


def _partitions(count: int, rows: Sequence[Row], path: str, owners: Sequence[Row]) -> Html:
    columns = [
        plain("Cluster", "cluster"), plain("Topic", "topic"), counts("Partition", "partition"),
        *([plain("Owner", "owner")] if owners else []),
        ranked("Worst", "verdict"), counts("Fatal", "fatal"), counts("Error", "error"),
        HtmlColumn("Damaged", lambda row: f"{number(row['damaged'])} of {number(row['replicas'])}",
               lambda row: row["damaged"], is_number=True),
        HtmlColumn("On brokers", lambda row: ", ".join(map(text, listed(row["damaged_on"])))),
        rule_links("Rules", "rule_ids"),
        plain("Best leader", "best_leader"), _lost("Lost", "lost"), _lost("One copy only", "at_risk"),
        sized("Size", "size"), command(),
    ]  # fmt: skip
    lines = (
        f"SELECT cluster, topic, partition, count(DISTINCT broker) AS damaged, count(*) AS findings\n"
        f"FROM {source(path, 'findings')}\n"
        "WHERE severity IN ('fatal', 'error') AND topic IS NOT NULL AND partition IS NOT NULL\n"
        "GROUP BY cluster, topic, partition ORDER BY damaged DESC, findings DESC;"
    )
    said = (
        "<p>Partitions with an error or a fatal finding on a replica, and partitions that can lose committed "
        "records. Lost:"
        " offsets that the other replicas truncate if the best leader is elected. One copy only: offsets that only the"
        " best leader has. In brackets: how many of these are below a high watermark.</p>\n"
    )
    shown = table("partitions", caption(len(rows), count, "partition"), columns, rows) if rows else "<p>None.</p>\n"
    of_owners = [
        plain("Cluster", "cluster"), plain("Owner", "owner"), counts("Topics", "topics"),
        counts("Partitions at risk", "partitions_at_risk"),
    ]  # fmt: skip
    some = owners[:ROW_COUNT]
    if owners:
        shown += table("owners", caption(len(some), len(owners), "owner"), of_owners, some)
    return _section("partitions", said, shown, query("All partitions, in DuckDB", lines))


def _lost(title: str, name: str) -> HtmlColumn:
    def shown(row: Row) -> Html:
        below = row[f"{name}_below_high_watermark"]
        return f"{number(row[name])} ({number(below)})" if row[name] else number(row[name])

    return HtmlColumn(title, shown, lambda row: row[name], is_number=True)


def _rules(rules: Sequence[Row], pages: Mapping[str, Row], path: str) -> Html:
    bars = [
        Bar(f"{rule_link(row['id'])} {text(row['name'])}", [(name, int(str(row[name]))) for name in SEVERITIES])
        for row in rules[:BAR_COUNT]
    ]
    what = "Findings by rule" if len(bars) == len(rules) else f"Findings of the worst {len(bars)} rules"
    columns = [
        HtmlColumn("Rule", lambda row: rule_link(row["id"])), plain("Name", "name"), ranked("Worst", "verdict"),
        counts("Findings", "findings"), *(counts(name.capitalize(), name) for name in SEVERITIES),
        counts("Brokers", "broker_count"),
    ]  # fmt: skip
    details = "".join(_rule(row, pages.get(str(row["id"]))) for row in rules)
    lines = (
        f"SELECT id, name, severity, count(*) AS findings\nFROM {source(path, 'findings')}\n"
        f"GROUP BY id, name, severity ORDER BY {ORDER}, findings DESC;"
    )
    if not rules:
        return _section("rules", "<p>No findings.</p>\n")
    return _section(
        "rules", chart(what, bars),
        table("rules", caption(len(rules), len(rules), "rule"), columns, rules),
        "<p>The meaning of each rule, the behavior of the broker, and the advice:</p>\n", details,
        query("All rules, in DuckDB", lines),
    )  # fmt: skip


def _rule(row: Row, about: Row | None) -> Html:
    count = counted(int(str(row["findings"])), "finding")
    said = prose(str(about["page"])) if about is not None else "<p>This version of kcheck does not know the rule.</p>"
    return (
        f'<details class="rule" id="rule-{text(row["id"])}"><summary>{severity(row["verdict"])}'
        f" <strong>{text(row['id'])}</strong> {text(row['name'])}: {count}</summary><div>{said}</div></details>\n"
    )


def _findings(rows: Sequence[Row], count: int, path: str, losing: Container[object]) -> Html:
    """Return the worst findings; effect and advice are open for fatal ones, and for directories with losses."""

    def what(row: Row) -> Html:
        place = row["cluster"], row["broker"], row["log_dir"], row["dir"]
        is_open = row["severity"] == "fatal" or (row["severity"] != "info" and place in losing)
        more = "".join(f"<p>{text(row[name])}</p>" for name in ("effect", "advice") if row[name])
        opened = " open" if is_open else ""
        shown = f"<details{opened}><summary>Effect and advice</summary>{more}</details>" if more else ""
        return f"{text(row['message'])}{shown}{command_of(row)}"

    columns = [
        ranked("Severity", "severity"), HtmlColumn("Rule", lambda row: rule_link(row["id"])),
        plain("Cluster", "cluster"), plain("Broker", "broker"),
        HtmlColumn("Where", lambda row: text(place_of(row))), HtmlColumn("What", what),
    ]  # fmt: skip
    lines = (
        f"SELECT cluster, broker, id, severity, log_dir, dir, file, line, position, message, advice\n"
        f"FROM {source(path, 'findings')}\nORDER BY {ORDER}, cluster, broker, log_dir, dir, file;"
    )
    shown = rows[:ROW_COUNT]
    said = "" if len(shown) == count else (
        "<p>The first findings of each rule and severity; the query below returns all.</p>\n"
    )  # fmt: skip
    return _section(
        "findings", said, table("findings", caption(len(shown), count, "finding"), columns, shown) if rows else (
            "<p>None.</p>\n"
        ), query("All findings, in DuckDB", lines),
    )  # fmt: skip
