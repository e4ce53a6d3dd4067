"""What the next start makes of the brokers, and what it loses: a section of the page."""

from collections.abc import Iterator
from typing import Any

from kcheck.core.startup import NEXT_STARTS, Outcome
from kcheck.model.report import Row
from kcheck.renderers._html.parts import (
    Bar,
    Html,
    HtmlColumn,
    caption,
    chart,
    counted,
    number,
    plain,
    query,
    ranked,
    sized,
    source,
    table,
    text,
)

_SAID = (
    "<p>What each broker does at its next start, by its worst log dir: one that goes offline takes its partitions with"
    " it. To rescan are the bytes of segments that it reads before it serves anybody. Where it is not known, the start"
    " reads logs through, which a scan does to the depth of crc.</p>\n"
)
_LOSSES = (
    "<p>Partition directories whose files hold records that the broker will not have any more: from the first of these"
    " offsets to below the second. Committed are those below the high watermark, which consumers may have read.</p>\n"
)


def starts(body: Any, path: str, row_count: int, bar_count: int) -> Iterator[Html]:
    """Yield the parts of the section: so many rows of a table, and bars of a chart, are shown at most."""
    clusters, brokers, losses, losing = (
        body[name] for name in ("cluster_starts", "broker_starts", "losses", "partitions_losing")
    )
    if not brokers:
        yield "<p>This run predicts no start.</p>\n"
        return
    bars = [Bar(text(row["cluster"]), _outcomes(row)) for row in clusters[:bar_count]]
    where = "" if len(bars) == len(clusters) else f", in the worst {len(bars)} clusters"
    yield _SAID + chart(f"Brokers by what their next start makes of them{where}", bars)
    for name, word, first, rows in (
        ("cluster-starts", "cluster", (plain("Cluster", "cluster"),), clusters),
        ("broker-starts", "broker", (plain("Cluster", "cluster"), plain("Broker", "broker")), brokers),
    ):
        outcomes = HtmlColumn("Brokers" if word == "cluster" else "Log dirs", _told)
        columns = [
            *first, ranked("Next start", "next_start"), outcomes, counted("Partitions that lose", "losing_partitions"),
            counted("Records lost", "lost_records"), sized("To rescan", "scan_bytes"),
        ]  # fmt: skip
        shown = rows[:row_count]
        yield table(name, caption(len(shown), len(rows), word), columns, shown)
    order = ", ".join(f"'{outcome}'" for outcome in NEXT_STARTS)
    yield query(
        "All log dirs, in DuckDB",
        f"SELECT cluster, broker, log_dir, reason AS next_start, scan_bytes\nFROM {source(path, 'predictions')}\n"
        f"WHERE dir IS NULL ORDER BY list_position([{order}], outcome), scan_bytes DESC;",
    )
    columns = [
        plain("Cluster", "cluster"), plain("Broker", "broker"), plain("Topic", "topic"),
        counted("Partition", "partition"),
        HtmlColumn("Offsets", _offsets, lambda row: row["from"], is_number=True),
        counted("Records", "records"), counted("Committed", "below_high_watermark"), sized("Size", "bytes"),
        plain("Why", "reason"),
    ]  # fmt: skip
    yield "<h3>Lost at the next start</h3>\n"
    yield (
        _LOSSES + table("losses", caption(len(losses), losing, "partition"), columns, losses)
        if losses
        else ("<p>No partition loses a record.</p>\n")
    )
    yield query(
        "All losses, in DuckDB",
        "SELECT cluster, broker, topic, partition, (lost->>'from')::BIGINT AS lost_from,\n"
        "    (lost->>'to')::BIGINT AS lost_to, (lost->>'records')::BIGINT AS records, reason\n"
        f"FROM {source(path, 'predictions')}\nWHERE lost IS NOT NULL ORDER BY records DESC;",
    )


def _outcomes(row: Row) -> list[tuple[Outcome, int]]:
    counts: Any = row["outcomes"]
    return [(outcome, counts[outcome]) for outcome in NEXT_STARTS]


def _told(row: Row) -> Html:
    return ", ".join(f"{number(count)} {NEXT_STARTS[outcome]}" for outcome, count in _outcomes(row) if count)


def _offsets(row: Row) -> Html:
    return f"{number(row['from'])} to {number(row['to'])}"
