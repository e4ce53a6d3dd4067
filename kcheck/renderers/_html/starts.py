"""The section of the page on the next start: outcomes by broker, and lost records."""

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
    "<p>The outcome of each broker's next start, by its worst log dir. A log dir that goes offline takes its partitions"
    " offline. To rescan: bytes of segments that the broker reads before it serves clients. Unknown: log recovery reads"
    " these logs; scan with --depth crc to predict it.</p>\n"
)
_LOSSES = (
    "<p>Partition directories that lose records at the next start: from the first offset up to, not including, the"
    " second. Committed records are below the high watermark, so consumers may have read them.</p>\n"
)


def starts(body: Any, path: str, row_count: int, bar_count: int) -> Iterator[Html]:
    """Yield the parts of the section, with limits on the bars of the chart and the rows of a table."""
    clusters, brokers, losses, losing = (
        body[name] for name in ("cluster_starts", "broker_starts", "losses", "partitions_losing")
    )
    if not brokers:
        yield "<p>This run has no predictions.</p>\n"
        return
    bars = [Bar(text(row["cluster"]), _outcomes(row)) for row in clusters[:bar_count]]
    where = "" if len(bars) == len(clusters) else f", in the worst {len(bars)} clusters"
    yield _SAID + chart(f"Brokers by the outcome of their next start{where}", bars)
    for name, word, first, rows in (
        ("cluster-starts", "cluster", (plain("Cluster", "cluster"),), clusters),
        ("broker-starts", "broker", (plain("Cluster", "cluster"), plain("Broker", "broker")), brokers),
    ):
        outcomes = HtmlColumn("Brokers" if word == "cluster" else "Log dirs", _told)
        columns = [
            *first, ranked("Next start", "next_start"), outcomes, counted("Partitions with loss", "losing_partitions"),
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
        else ("<p>No partition loses records.</p>\n")
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
