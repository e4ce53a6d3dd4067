"""How much of a fleet a scan has reached: without enough of it there is no run.

A log dir is expected if it was named, matches the layout, or is registered by its broker in the metadata of its
cluster. It is reached if it could be listed. Damage inside a log dir costs no coverage.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.errors import KcheckError
from kcheck.fleet.inventory import Inventory
from kcheck.fleet.run import FleetRun, RunFile
from kcheck.fleet.run_output import RunOutput
from kcheck.tables._arrow import text

_NAMED_MAX = 3

BrokerId = tuple[str | None, int]
"""Cluster and broker id."""


class FleetCoverage(NamedTuple):
    """The log dirs of a scan: how many were expected and reached, and what the others are, in words."""

    expected: int
    reached: int
    missing: tuple[str, ...]


def coverage_of(output: RunOutput, inventoried: Inventory) -> FleetCoverage:
    """Return what was reached, by the tables `log_dirs` and `cluster_brokers` of a run that is being written."""
    parts = {name: [RunFile(*file) for file in output.written(name)] for name in ("log_dirs", "cluster_brokers")}
    run = FleetRun(output.path, "", "", "", "", None, None, finished=False, parts=parts)
    problems = dict(run.values("log_dirs", ("log_dir", "problem")))
    paths = [text(log_dir.path) for log_dir in inventoried.log_dirs]
    missing = [
        f"{path} ({problems.get(path, 'it could not be looked at')})"
        for path in paths
        if path not in problems or problems[path] is not None
    ]
    reached = len(paths) - len(missing)
    missing.extend(f"{text(finding.where.log_dir or '')} ({finding.message})" for finding in inventoried.findings)
    unseen = [*_unseen(run)]
    expected = reached + len(missing) + sum(count for _, count in unseen)
    missing.extend(
        f"{count} of the log dirs that broker {broker_id} of cluster {cluster} has registered"
        for (cluster, broker_id), count in unseen
    )
    return FleetCoverage(expected, reached, tuple(missing))


def _unseen(run: FleetRun) -> Iterator[tuple[BrokerId, int]]:
    """Yield the brokers that have registered more log dirs than are accounted for, and how many more."""
    accounted = _accounted(run)
    for cluster, broker_id, log_dirs in run.values("cluster_brokers", ("cluster", "broker_id", "log_dirs")):
        registered = max(1, len(json.loads(log_dirs)))
        lacking = registered - accounted.get((cluster, broker_id), 0)
        if lacking > 0:
            yield (cluster, broker_id), lacking


def _accounted(run: FleetRun) -> Mapping[BrokerId, int]:
    """Return how many log dirs of each broker were named. Without an empty directory: its disk may be missing."""
    names = ("cluster", "broker_id", "problem", "cluster_id", "directory_id", "directories")
    counts: Counter[BrokerId] = Counter()
    for cluster, broker_id, problem, cluster_id, directory_id, directories in run.values("log_dirs", names):
        if broker_id is not None and (problem or cluster_id or directory_id or directories):
            counts[cluster, broker_id] += 1
    return counts


def require(coverage: FleetCoverage, percent: float) -> None:
    """Raise KcheckError if less than `percent` of the expected log dirs were reached."""
    if coverage.reached * 100 >= percent * coverage.expected:
        return
    named = "; ".join(coverage.missing[:_NAMED_MAX])
    more = len(coverage.missing) - _NAMED_MAX
    others = f"; and {more} more" if more > 0 else ""
    raise KcheckError(
        f"the scan reached {coverage.reached} of {coverage.expected} log dirs, and --min-coverage is {percent:g} %: no "
        f"run is written. Not reached: {named}{others}"
    )
