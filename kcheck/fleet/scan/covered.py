"""The coverage of a fleet by a scan. Without enough of it there is no run.

A log dir is expected if it was named or matches the layout. It is reached if it could be listed. Corrupt files in it
cost no coverage.
"""

from typing import NamedTuple

from kcheck.arrow import text
from kcheck.errors import KcheckError
from kcheck.fleet.run import written_run
from kcheck.fleet.run_output import RunOutput
from kcheck.fleet.scan.inventory import Inventory
from kcheck.words import some_reasons

_NAMED_MAX = 3


class FleetCoverage(NamedTuple):
    """The log dirs of a scan (how many were expected and reached, and the others in words)."""

    expected: int
    reached: int
    missing: tuple[str, ...]


def coverage_of(output: RunOutput, inventoried: Inventory) -> FleetCoverage:
    """Return the reached log dirs, by the table `log_dirs` of a run that is being written."""
    problems = dict(written_run(output, ("log_dirs",)).values("log_dirs", ("log_dir", "problem")))
    paths = [text(log_dir.path) for log_dir in inventoried.log_dirs]
    missing = [
        f"{path} ({problems.get(path, 'it could not be looked at')})"
        for path in paths
        if path not in problems or problems[path] is not None
    ]
    reached = len(paths) - len(missing)
    missing.extend(f"{text(finding.where.log_dir or '')} ({finding.message})" for finding in inventoried.findings)
    return FleetCoverage(reached + len(missing), reached, tuple(missing))


def require(coverage: FleetCoverage, percent: float) -> None:
    """Raise KcheckError if less than `percent` of the expected log dirs were reached."""
    if coverage.reached * 100 >= percent * coverage.expected:
        return
    raise KcheckError(
        f"the scan reached {coverage.reached} of {coverage.expected} log dirs, and --min-coverage is {percent:g} %: no "
        f"run is written. Not reached: {some_reasons(coverage.missing, _NAMED_MAX)}"
    )
