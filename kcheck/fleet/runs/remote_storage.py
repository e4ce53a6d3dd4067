"""Finds replicas with a part in remote storage that must not lead, or do not serve it (`tiered_partitions`)."""

import heapq
from collections.abc import Iterator
from typing import Any

from kcheck.fleet.run import FleetRun, name_order
from kcheck.model.report import Row

SHOWN_COUNT = 500
"""Replicas that are listed one by one."""
_SHOWN = (
    "cluster", "broker", "broker_id", "topic", "partition", "must_not_lead", "lost_if_leads", "deleted_if_leads",
    "not_readable", "gap_from", "gap_to", "metadata", "metadata_partition",
)  # fmt: skip


def remote_rows(run: FleetRun) -> tuple[int, tuple[Row, ...]]:
    """Return the number of replicas that may lose or hide remote records if they lead, and the worst of them."""
    count = 0

    def bad() -> Iterator[dict[str, Any]]:
        nonlocal count
        for batch in run.batches("tiered_partitions", _SHOWN):
            for row in batch.to_pylist():
                may_lead = row["must_not_lead"] is False
                if not may_lead or row["not_readable"] or row["gap_from"] is not None:
                    count += 1
                    yield row

    worst = heapq.nsmallest(SHOWN_COUNT, bad(), key=_order)
    return count, tuple(worst)


def _order(row: dict[str, Any]) -> tuple[object, ...]:
    place = name_order(row["cluster"]), name_order(row["broker"]), row["topic"], row["partition"]
    is_unknown = row["must_not_lead"] is None
    return -(row["lost_if_leads"] or 0), not is_unknown, -(row["not_readable"] or 0), *place
