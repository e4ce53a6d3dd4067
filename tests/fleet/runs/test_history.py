"""When findings appeared, over several runs: each thing once, with the first and the last run that has it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from kcheck.errors import UsageError
from kcheck.fleet.run import open_run, open_runs
from kcheck.fleet.runs import history as fleet_history
from kcheck.fleet.runs.history import history
from kcheck.fleet.runs.trend import loss_of
from kcheck.model.finding import Severity
from kcheck.tables.finding_history import TABLE
from tests.cli.command import kcheck
from tests.fleets import LOG_DIR, Rows, finding, forged
from tests.reports import document

DAY = 86_400_000


def every(rule: str, severity: Severity) -> bool:
    del rule, severity
    return True


def runs(out: Path, *findings: Rows, **last: Any) -> Path:
    """Write a run a day with these findings; `last` is what the last one has besides."""
    for number, rows in enumerate(findings):
        more = last if number == len(findings) - 1 else {}
        forged(out, f"r{number}", findings=rows, started=number * DAY, **more)
    return out


def shown(out: Path) -> list[tuple[Any, ...]]:
    """Return what is said of each thing."""
    names = ("state", "id", "dir", "first_run", "last_run", "runs", "findings", "severity", "message")
    return [
        tuple(row[name] for name in names)
        for row in document(history(open_runs([str(out)]), every, every)[0])["history"]
    ]


def test_a_finding_is_followed_over_runs(tmp_path: Path) -> None:
    """What is there comes first, the worst first; a line that moves is the same thing."""
    out = runs(
        tmp_path,
        [finding(dir="gone-0"), finding(dir="back-0")],
        [finding(), finding(dir="gone-0", message="last")],
        [finding(line=9, severity="warning"), finding(line=10), finding(dir="new-0", severity="fatal"),
         finding(dir="back-0", message="again")],
    )  # fmt: skip
    assert [
        ("new", "KC201", "new-0", "r2", "r2", 1, 1, "fatal", "it is wrong"),
        ("open", "KC201", "back-0", "r0", "r2", 2, 1, "error", "again"),
        ("open", "KC201", "t-0", "r1", "r2", 2, 2, "error", "it is wrong"),
        ("gone", "KC201", "gone-0", "r0", "r1", 2, 1, "error", "last"),
    ] == shown(out)


@pytest.mark.parametrize(
    ("last", "state"),
    [
        ({}, "gone"),
        ({"log_dirs": []}, "unknown"),
        ({"log_dirs": [{**LOG_DIR, "broker": "2"}]}, "unknown"),
        ({"depth": "checkpoints"}, "unknown"),
    ],
)
def test_what_the_last_run_has_not_looked_at_is_unknown(last: dict[str, Any], state: str, tmp_path: Path) -> None:
    """As `fleet diff` has it."""
    out = runs(tmp_path, [finding(id="KC141")], [], **last)
    assert [state] == [row[0] for row in shown(out)]


def test_many_passes_tell_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In each pass the same states, so that what is held is bounded."""
    out = runs(
        tmp_path, *([finding(dir=f"t-{number}") for number in range(start, start + 40)] for start in (0, 10, 20))
    )
    whole = shown(out)
    monkeypatch.setattr(fleet_history, "_HELD_COUNT", 10)
    assert sorted(whole) == sorted(shown(out))
    assert whole != shown(out)


def test_it_is_a_command(tmp_path: Path) -> None:
    """Its text says since when; one run has no history."""
    out = runs(tmp_path / "out", [finding()], [finding(), finding(dir="u-0")], [finding(dir="u-0")])
    done = kcheck("fleet", "trend", out)
    assert 0 == done.code
    assert "open: cluster c broker 1\n  since 1970-01-02T00:01:01Z: error KC201 it is wrong in" in done.out
    assert "gone: cluster c broker 1\n  1970-01-01T00:01:01Z to 1970-01-02T00:01:01Z: error KC201" in done.out
    assert "0 new, 1 open, 0 unknown, 1 gone\n\nNext:\n" in done.out
    assert 1 == kcheck("fleet", "trend", out / "run=r0", out / "run=r1").code
    assert 0 == kcheck("fleet", "trend", out / "run=r0", out / "run=r1", "--fail-on", "fatal").code
    kcheck("fleet", "trend", out, "--format", "parquet", "-o", tmp_path / "h.parquet")
    table = parquet.read_table(tmp_path / "h.parquet")
    assert list(TABLE.names) == table.schema.names
    assert ["open", "gone"] == table.column("state").to_pylist()
    assert "KC201,error" in kcheck("fleet", "trend", out, "--format", "csv").out
    assert "0 new, 0 open, 0 unknown, 0 gone" in kcheck("fleet", "trend", out, "--select", "KC101").out
    with pytest.raises(UsageError, match="at least two runs"):
        history(open_runs([str(out / "run=r0")]), every, every)
    assert 2 == kcheck("fleet", "trend", out / "run=r0").code


def test_a_trend_begins_with_the_committed_records_at_risk(tmp_path: Path) -> None:
    """A count is unknown without its table or without metadata; a topic with one replica is not at risk by that."""
    sets = [
        {"cluster": "c", "topic": "t", "partition": 0, "replicas_of_topic": 2, "lost_below_high_watermark": 3,
         "at_risk_below_high_watermark": 5},
        {"cluster": "c", "topic": "u", "partition": 0, "replicas_of_topic": 1, "at_risk_below_high_watermark": 70},
    ]  # fmt: skip
    forged(tmp_path, "a", replica_sets=sets, started=1)
    forged(tmp_path, "b", replica_sets=sets[:1], clusters=[{"cluster": "c", "start_all_committed": 8}], started=2)
    runs = json.loads(kcheck("fleet", "trend", tmp_path, "--format", "json").out)["runs"]
    names = ("run", "committed_lost", "committed_on_one_disk", "start_all_committed")
    assert [tuple(row[name] for name in names) for row in runs] == [("a", 3, 5, None), ("b", 3, 5, 8)]
    shown = kcheck("fleet", "trend", tmp_path).out
    assert re.search(r"lost anyway +only one copy +lost if all start\n", shown)
    assert re.search(r"\nb .* 3 +5 +8\n", shown)
    kcheck("fleet", "report", tmp_path, "--html", tmp_path / "x.html", "--quiet")
    page = (tmp_path / "x.html").read_text()
    assert 'aria-label="Last 2 runs: ?, 8"' in page
    assert 'aria-label="Last 2 runs: 5, 5"' in page
    old = open_run(str(tmp_path / "run=a"))
    old = old._replace(parts={name: parts for name, parts in old.parts.items() if name != "replica_sets"})
    assert loss_of(old)["committed_lost"] is None
