"""Runs of fleet scans, asked from Python: the answers are those of the commands."""

import json
from pathlib import Path

import pytest

import kcheck
from kcheck.errors import UsageError
from tests.cli.command import kcheck as command
from tests.fleets import finding, forged


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Write two runs that differ."""
    forged(tmp_path / "runs", "a", findings=[finding(), finding(id="KC213", severity="warning")])
    forged(tmp_path / "runs", "b", findings=[finding(id="KC202", severity="fatal")])
    return tmp_path / "runs"


def test_the_documents_are_those_of_the_commands(runs: Path) -> None:
    """Of a report, a difference and a trend; all that counts is from the severity on."""
    before, after, out = runs / "run=a", runs / "run=b", ("--severity", "error", "--format", "json")
    report = json.loads(command("fleet", "report", runs, *out).out)
    # Without --fail-on nothing fails.
    assert report | {"failing": 0} == kcheck.fleet_report(runs, severity="error").to_dict()
    assert json.loads(command("fleet", "diff", before, after, *out).out) == (
        kcheck.fleet_diff(before, after, severity="error").to_dict()
    )
    assert json.loads(command("fleet", "trend", runs, *out).out) == kcheck.fleet_trend(runs, severity="error").to_dict()
    assert kcheck.fleet_diff(before, after).to_arrow().num_rows == 3


def test_an_error_names_the_argument(runs: Path) -> None:
    """The command names the option."""
    with pytest.raises(UsageError, match=r"^severity bad: not one of info"):
        kcheck.fleet_report(runs, severity="bad")
    with pytest.raises(UsageError, match=r"no such file or directory"):
        kcheck.fleet_trend(runs / "none")
