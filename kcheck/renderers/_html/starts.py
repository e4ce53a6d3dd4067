"""The section of the page on records that the next start loses."""

from typing import Any

from kcheck.model.report import Row
from kcheck.renderers._html.parts import (
    Html,
    HtmlColumn,
    caption,
    command,
    counts,
    number,
    plain,
    query,
    sized,
    source,
    table,
)

_LOSSES = (
    "<p>Partition directories that lose records at the next start. Committed records are below the high watermark, so"
    " consumers may have read them.</p>\n"
)


def losses(body: Any, path: str) -> Html:
    """Return the partitions that lose records, worst first."""
    rows, losing = body["losses"], body["partitions_losing"]
    columns = [
        plain("Cluster", "cluster"), plain("Broker", "broker"), plain("Topic", "topic"),
        counts("Partition", "partition"), *([plain("Owner", "owner")] if body["owners"] else []),
        HtmlColumn("Offsets", _offsets, lambda row: row["from"], is_number=True),
        counts("Records", "records"), counts("Committed", "below_high_watermark"), sized("Size", "bytes"),
        plain("Why", "reason"), command(),
    ]  # fmt: skip
    if not body["broker_starts"]:
        return "<p>This run has no predictions.</p>\n"
    shown = _LOSSES + table("losses", caption(len(rows), losing, "partition"), columns, rows) if rows else (
        "<p>No partition loses records.</p>\n"
    )  # fmt: skip
    return shown + query(
        "All losses, in DuckDB",
        "SELECT cluster, broker, topic, partition, (lost->>'from')::BIGINT AS lost_from,\n"
        "    (lost->>'to')::BIGINT AS lost_to, (lost->>'records')::BIGINT AS records, reason\n"
        f"FROM {source(path, 'predictions')}\nWHERE lost IS NOT NULL ORDER BY records DESC;",
    )


def _offsets(row: Row) -> Html:
    start, last = row["from"], row["to"] and int(str(row["to"])) - 1
    return number(start) if start == last else f"{number(start)}-{number(last)}"
