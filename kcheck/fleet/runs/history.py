"""`kcheck fleet trend`, which shows over several runs when a finding appeared and was last there.

Findings are the same as in `fleet diff`, by rule, log dir, directory and file.
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from kcheck.errors import UsageError
from kcheck.fleet.lost import Identities, identities_of
from kcheck.fleet.run import FleetRun, name_order
from kcheck.fleet.runs.diff import RunCoverage
from kcheck.fleet.runs.trend import loss_of
from kcheck.model.finding import Chosen, Severity
from kcheck.model.report import Report, Row
from kcheck.tables import finding_history

_HELD_COUNT = 250_000
"""Findings whose history is held at once, about; more are read in several passes."""
_COLUMNS = (
    "cluster", "broker", "log_dir", "dir", "topic", "partition", "file", "id", "severity", "message",
)  # fmt: skip
_ID = _COLUMNS.index("id")
_NEW = "new"
_STATES = (_NEW, "open", "unknown", "gone")
"""The states, present findings first."""


@dataclass(slots=True)
class _FindingHistory:
    """The history of one thing in runs; the fields of the last run that has it."""

    row: tuple[Any, ...]
    first: FleetRun
    last: FleetRun
    severity: Severity
    findings: int = 0
    runs: int = 0


def history(runs: Sequence[FleetRun], shown: Chosen, fails: Chosen) -> tuple[Report, Callable[[], bool]]:
    """Return when the `shown` findings appeared, present ones first, then worst first.

    Also return a function that tells, after the answer was read, whether a finding that `fails` is new. UsageError for
    less than two runs. KcheckError if a table is corrupt.
    """
    if len(runs) < 2:
        raise UsageError("a trend needs at least two runs; name more, or an --output-dir directory with several")
    in_order = sorted(runs, key=lambda run: (run.ended or 0, run.path))
    identities = [identities_of(run) for run in in_order]
    last = in_order[-1]
    total = sum(run.rows("findings") for run in in_order)
    shares = 1 + total // (_HELD_COUNT * len(runs))
    counts = dict.fromkeys(_STATES, 0)
    failing: list[bool] = []

    def rows() -> Iterator[Row]:
        coverages: dict[str, RunCoverage] = {}
        for share in range(shares):
            seen = _seen(in_order, identities, shown, share, shares)
            states = [(_state(key, thing, last, identities[-1], coverages), thing) for key, thing in seen.items()]
            for state, thing in sorted(states, key=_order):
                counts[state] += 1
                failing.extend([True] * (state == _NEW and fails(thing.row[_ID], thing.severity)))
                yield _row(state, thing)

    state_counts = ({"state": name, "findings": count} for name, count in counts.items())
    body = {
        "runs": tuple(
            {"run": run.name, "path": run.path, "ended": run.ended, "depth": run.depth, **loss_of(run)}
            for run in in_order
        ),
        "history": rows(),
        "counts": state_counts,
    }
    report = Report(
        verb="fleet-history", kafka=last.kafka, body=body, table="history", columns=finding_history.TABLE.columns,
        kinds={"runs": "run", "history": "finding", "counts": "count"},
    )  # fmt: skip
    return report, lambda: bool(failing)


def _seen(
    runs: Sequence[FleetRun], identities: Sequence[Identities], shown: Chosen, share: int, shares: int
) -> dict[tuple[Any, ...], _FindingHistory]:
    """Return the history of the things of a share."""
    seen: dict[tuple[Any, ...], _FindingHistory] = {}
    for run, of_run in zip(runs, identities, strict=True):
        for row in run.values("findings", _COLUMNS):
            cluster, broker, log_dir, directory, _, _, file, rule, severity, _ = row
            if not shown(rule, Severity(severity)):
                continue
            key = (cluster, broker, of_run.get((cluster, broker, log_dir), log_dir), directory, file, rule)
            if shares > 1 and zlib.crc32(repr(key).encode(errors="surrogateescape")) % shares != share:
                continue
            thing = seen.setdefault(key, _FindingHistory(row, run, run, Severity(severity)))
            if thing.last is not run or not thing.runs:
                thing.row, thing.last, thing.severity, thing.findings = row, run, Severity(severity), 0
                thing.runs += 1
            thing.findings += 1
            thing.severity = max(thing.severity, Severity(severity), key=attrgetter("rank"))
    return seen


def _state(
    key: tuple[Any, ...],
    thing: _FindingHistory,
    last: FleetRun,
    identities: Identities,
    coverages: dict[str, RunCoverage],
) -> str:
    if thing.last is last:
        return _NEW if thing.first is last else "open"
    coverage = coverages.get(thing.last.path)
    if coverage is None:
        coverage = coverages[thing.last.path] = RunCoverage(last, identities, thing.last)
    cluster, broker, identity, directory, _, rule = key
    is_covered = coverage.holds(cluster, broker, None if thing.row[2] is None else identity, directory, rule)
    return "gone" if is_covered else "unknown"


def _order(state_of: tuple[str, _FindingHistory]) -> tuple[Any, ...]:
    state, thing = state_of
    cluster, broker, log_dir, directory, _, _, file, rule, *_ = thing.row
    place = (log_dir or "", directory or "", file or "", rule)
    return (_STATES.index(state), -thing.severity.rank, name_order(cluster), name_order(broker), place)


def _row(state: str, thing: _FindingHistory) -> Row:
    known = dict(zip(_COLUMNS, thing.row, strict=True))
    return {
        "state": state,
        **{name: known[name] for name in ("cluster", "broker", "log_dir", "dir", "topic", "partition", "file", "id")},
        "severity": str(thing.severity),
        "findings": thing.findings,
        "message": known["message"],
        "first_run": thing.first.name,
        "first_seen": thing.first.ended,
        "last_run": thing.last.name,
        "last_seen": thing.last.ended,
        "runs": thing.runs,
    }
