"""The assumptions about the next starts of a run's brokers, from the table `premises`, which older runs lack."""

import json
from collections.abc import Iterator
from typing import Any

from kcheck.errors import KcheckError
from kcheck.fleet.run import FleetRun
from kcheck.model.premises import JudgedPremise, PremiseEvidence, PremiseStatus
from kcheck.model.report import Row

_JUDGED = ("cluster", "id", "status", "sentence", "broker_id", "log_dir", "dir", "evidence", "provide")
_SHOWN = ("cluster", "broker", "broker_id", "log_dir", "dir", "id", "sentence")
SHOWN_COUNT = 500
"""Refuted premises that are listed one by one."""


def open_premises(run: FleetRun, cluster: str | None) -> tuple[JudgedPremise, ...]:
    """Return the refuted and unseen premises of a cluster; KcheckError if the table is corrupt."""
    return tuple(
        JudgedPremise(
            row["id"], PremiseStatus(row["status"]), row["sentence"], row["broker_id"], row["log_dir"], row["dir"],
            _evidence(run, row["evidence"]), row["provide"],
        )
        for row in _rows(run, _JUDGED, {PremiseStatus.REFUTED, PremiseStatus.NOT_SEEN}, cluster)
        if row["cluster"] == cluster
    )  # fmt: skip


def refuted_rows(run: FleetRun) -> tuple[int, tuple[Row, ...], tuple[Row, ...]]:
    """Return how many premises are refuted, the first of them, and the deciding rows.

    The last rows have the first of each id in each cluster too.
    """
    count, shown, more = 0, list[Row](), dict[tuple[object, object], Row]()
    for row in _rows(run, (*_SHOWN, "status"), {PremiseStatus.REFUTED}):
        count += 1
        chosen = {name: row[name] for name in _SHOWN}
        if len(shown) < SHOWN_COUNT:
            shown.append(chosen)
        else:
            more.setdefault((row["cluster"], row["id"]), chosen)
    return count, tuple(shown), (*shown, *more.values())


def _rows(
    run: FleetRun, columns: tuple[str, ...], wanted: set[PremiseStatus], cluster: str | None = None
) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    from pyarrow import compute

    statuses = pa.array(sorted(map(str, wanted)))
    for batch in run.batches("premises", columns, cluster):
        yield from batch.filter(compute.is_in(batch.column("status"), statuses)).to_pylist()


def _evidence(run: FleetRun, text: str) -> tuple[PremiseEvidence, ...]:
    try:
        return tuple(PremiseEvidence(row["path"], row["says"]) for row in json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise KcheckError(f"{run.path}: invalid evidence of a premise: {str(text)[:80]!r}") from error
