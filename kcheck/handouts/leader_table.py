"""The leader of each partition by a plan, for recovery.md and plan.md."""

from collections.abc import Iterator

from kcheck.core.election.recovery_plan import Recovery
from kcheck.handouts.markdown_words import markdown_partition


def leaders(recovery: Recovery) -> Iterator[str]:
    """Yield the leader of every partition by the plan, as a table; nothing without metadata."""
    rows = [part for part in recovery.partitions if part.seats is not None]
    if rows:
        yield "## Leaders by this plan"
        lines = (
            f"| {markdown_partition(part.topic, part.partition)} | {'none' if part.planned is None else part.planned} |"
            for part in rows
        )
        yield "\n".join(("| Partition | Broker |", "|---|---|", *lines))
