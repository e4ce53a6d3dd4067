"""The section of the page on replicas that must not lead, because of records in remote storage."""

from collections.abc import Sequence

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
    source,
    table,
    text,
)

_MEANS = (
    "<p>Replicas that must not lead, or do not serve all remote records, or have unknown remote segments. Lost: offsets"
    " that no client can read again once the replica leads. Deleted: remote segments that Kafka deletes then.</p>\n"
)


def remote_storage(rows: Sequence[Row], count: int, path: str) -> Html:
    """Return the replicas that lose or hide remote records, worst first, of `count`."""
    columns = [
        plain("Cluster", "cluster"), plain("Broker", "broker"), plain("Topic", "topic"),
        counts("Partition", "partition"), HtmlColumn("If it leads", _verdict),
        counts("Lost", "lost_if_leads"), counts("Deleted", "deleted_if_leads"), counts("Not readable", "not_readable"),
        HtmlColumn("Gap", _gap, lambda row: row["gap_from"], is_number=True),
        plain("Metadata", "metadata"), command(),
    ]  # fmt: skip
    shown = table("remote", caption(len(rows), count, "replica"), columns, rows) if rows else (
        "<p>Every replica may lead, as far as remote storage goes.</p>\n"
    )  # fmt: skip
    return (
        _MEANS
        + shown
        + query(
            "All replicas with a part in remote storage, in DuckDB",
            f"SELECT *\nFROM {source(path, 'tiered_partitions')}\nORDER BY lost_if_leads DESC, not_readable DESC;",
        )
    )


def _verdict(row: Row) -> Html:
    return text(
        "not known" if row["must_not_lead"] is None else "must not lead" if row["must_not_lead"] else "serves less"
    )


def _gap(row: Row) -> Html:
    start, end = row["gap_from"], row["gap_to"]
    return "" if start is None or end is None else f"{number(start)}-{number(int(str(end)) - 1)}"
