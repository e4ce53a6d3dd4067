"""The rows of a run that its decisions and actions are about. A filter of a display does not change them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kcheck.fleet.lost import LostPlace, lost_places
from kcheck.fleet.owners import TopicOwners, owners_of
from kcheck.fleet.risk import Kind, partitions_at_risk
from kcheck.fleet.run import FleetRun
from kcheck.fleet.runs.broker_starts import Starts, starts_of
from kcheck.fleet.runs.commands import RunCommands
from kcheck.fleet.runs.places import Counted, broker_rows, cluster_rows, count, decisions_of
from kcheck.fleet.runs.premises import refuted_rows
from kcheck.fleet.went_back import RULE as WENT_BACK
from kcheck.model.finding import Severity
from kcheck.model.report import Row
from kcheck.tables import findings

_HELD_COUNT = 50
"""Logs of a cluster that went back and are kept. The first one decides."""


class Told(NamedTuple):
    """The rows that decide, each kind worst first."""

    clusters: tuple[Row, ...]
    brokers: tuple[Row, ...]
    starts: tuple[Row, ...]
    partitions: tuple[Row, ...]
    premises: tuple[Row, ...]
    lost: tuple[LostPlace, ...]
    went_back: tuple[Row, ...]


class RunRows:
    """The parts of a run for its decisions and lists, with its partitions at risk and its refuted premises."""

    def __init__(self, run: FleetRun) -> None:
        """Read the tables once. KcheckError if a table is corrupt."""
        self.commands: RunCommands = RunCommands(run)
        self.every: Counted = count(run)
        self.starts: Starts = starts_of(run)
        self.owners: TopicOwners = owners_of(run)
        self.decided: Mapping[object, Row] = decisions_of(run)
        at_risk, partitions, deciding = partitions_at_risk(run, kinds_of(self.every), self.owners)
        self.at_risk: Counter[tuple[str | None, str | None]] = at_risk
        self.partitions: tuple[Row, ...] = partitions
        count_of_all, shown, premises = refuted_rows(run)
        self.refuted_count: int = count_of_all
        self.refuted: tuple[Row, ...] = shown
        brokers = broker_rows(self.every, self.every, self.starts.brokers, self.commands)
        clusters = cluster_rows(self.every, self.every, self.starts.clusters, brokers, self.decided)
        of_starts, lost, older = self.starts.brokers, lost_places(run), _went_back(run)
        self.told: Told = Told(clusters, brokers, of_starts, deciding, premises, lost, older)


def kinds_of(counted: Counted) -> Counter[Kind]:
    """Return how many findings there are of each rule and severity."""
    kinds = Counter[Kind]()
    for (_, _, rule, severity), number in counted.findings.items():
        kinds[rule, severity] += number
    return kinds


def _went_back(run: FleetRun) -> tuple[Row, ...]:
    """Return the first logs of each cluster that went back, which are errors."""
    from pyarrow import compute

    held, rows = Counter[str | None](), list[dict[str, Any]]()
    names = [column.name for column in findings.TABLE.run_columns]
    for batch in run.batches("findings", names):
        chosen = compute.equal(batch.column("id"), WENT_BACK)
        for row in batch.filter(chosen).to_pylist():
            if row["severity"] == Severity.ERROR and held[row["cluster"]] < _HELD_COUNT:
                held[row["cluster"]] += 1
                rows.append(row)
    return tuple(rows)
