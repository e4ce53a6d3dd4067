"""Questions about the findings in runs of fleet scans, their changes and times."""

import os
from dataclasses import dataclass

from kcheck.api.answers import Path, texts_of
from kcheck.documents.answer import Answer
from kcheck.model.finding import Chosen, Severity, parse_severity
from kcheck.model.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetAnswer(Answer):
    """Rows about runs. Read them once, by `to_dict()`, or by `to_arrow()` where the answer is one table."""

    rows: Report
    """The rows."""

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.rows


def fleet_report(run: Path, *, severity: str = "info") -> FleetAnswer:
    """Return the findings in a fleet, worst first: `kcheck fleet report`.

    `run` is a directory run=ID, or a directory with runs, for the newest one. Only findings from `severity` on count.
    """
    from kcheck.fleet.run import newest, open_runs
    from kcheck.fleet.runs.report import report

    runs = open_runs([os.fspath(run)])
    return FleetAnswer(rows=report(newest(runs), _from(severity), runs=runs))


def fleet_diff(before: Path, after: Path, *, severity: str = "info") -> FleetAnswer:
    """Return new, gone and changed findings between two runs: `kcheck fleet diff`."""
    from kcheck.fleet.run import open_run
    from kcheck.fleet.runs.diff import diff

    rows, _ = diff(open_run(os.fspath(before)), open_run(os.fspath(after)), _from(severity), _none)
    return FleetAnswer(rows=rows)


def fleet_trend(*runs: Path, severity: str = "info") -> FleetAnswer:
    """Return when findings appeared and when they were gone, over several runs: `kcheck fleet trend`."""
    from kcheck.fleet.run import open_runs
    from kcheck.fleet.runs.history import history

    rows, _ = history(open_runs(texts_of(runs)), _from(severity), _none)
    return FleetAnswer(rows=rows)


def _from(severity: str) -> Chosen:
    least = parse_severity(severity, "--severity")
    return lambda _, of_finding: of_finding.rank >= least.rank


def _none(rule: str, severity: Severity) -> bool:
    del rule, severity
    return False
