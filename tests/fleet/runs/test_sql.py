"""The views of `kcheck fleet sql` in DuckDB and Spark: the tables of complete runs, and the answers of their views."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from kcheck.fleet.run_output import run_tables
from tests.cli.command import kcheck
from tests.fleets import LOSS, PARTITION, START, finding, forged

QUESTIONS = ("worst_findings", "at_risk", "behind", "losing_brokers")
ANSWERS: dict[str, list[tuple[Any, ...]]] = {
    "findings": [("007", 1), ("new", 3)],
    "worst_findings": [("fatal", "KC101"), ("error", "KC201")],
    "at_risk": [("c", "t", 0, "2", 1, 0), ("c", "t", 1, "2", 0, 2)],
    "behind": [("c", "t", 0, "2", 3)],
    "losing_brokers": [("c", "1", 2, 8, 6), ("c", "2", 1, None, 3)],
}
"""What each view says of the runs below."""
QUERIES = {
    "findings": "SELECT run, count(*) FROM findings GROUP BY run ORDER BY run",
    "worst_findings": "SELECT severity, id FROM worst_findings",
    **{name: f"SELECT * FROM {name}" for name in ("at_risk", "behind", "losing_brokers")},
}


def statements(engine: str, folder: Path) -> list[str]:
    """Return the statements for two complete runs of a folder in which a third was killed."""
    out = folder / "cluster=other" / "run=other" / "it's \x1b\u202e*[1]{a,b}?%41"
    forged(out, "007", findings=[finding()])
    place = {"cluster": "c", "broker": "2", "topic": "t", "replicas_of_topic": 2, "at_risk_below_high_watermark": 0}
    sets = [{**place, "partition": 0, "lost_below_high_watermark": 1},
            {**place, "partition": 1, "lost_below_high_watermark": 0, "at_risk_below_high_watermark": 2},
            {**place, "partition": 2, "lost_below_high_watermark": 0}]  # fmt: skip
    unknown = {**LOSS, "broker": "2", "lost": LOSS["lost"].replace("4", "null")}
    forged(
        out, "new", started=1_800_000_000_000, replica_sets=sets, predictions=[START, LOSS, LOSS, unknown],
        findings=[finding(), finding(id="KC101", severity="fatal"), finding(severity="info")],
        partitions=[PARTITION, {**PARTITION, "broker": "2", "log_end_offset": 7}],
    )  # fmt: skip
    killed = forged(out, "killed", started=1_900_000_000_000, findings=[finding(id="KC999", severity="fatal")])
    (killed / "_manifest.json").unlink()
    done = kcheck("fleet", "sql", engine, out)
    assert (0, "") == (done.code, done.err)
    lines = [line for line in done.out.splitlines() if not line.startswith("--")]
    return [statement for statement in "\n".join(lines).split(";") if statement.strip()]


def test_duckdb_answers(tmp_path: Path) -> None:
    """Every table is a view, of complete runs alone."""
    connection = duckdb.connect()
    for statement in statements("duckdb", tmp_path):
        connection.execute(statement)
    assert {*run_tables(), *QUESTIONS} == {
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    }
    assert ANSWERS == {name: connection.execute(query).fetchall() for name, query in QUERIES.items()}


def test_one_run_is_enough(tmp_path: Path) -> None:
    run = forged(tmp_path, findings=[finding()])
    connection = duckdb.connect()
    connection.execute(kcheck("fleet", "sql", "duckdb", run).out)
    assert [("r",)] == connection.execute("SELECT DISTINCT run FROM findings").fetchall()


@pytest.mark.parametrize(
    ("engine", "name", "said"),
    [
        ("oracle", "run=r", "oracle: not one of duckdb, spark"),
        ("spark", "moved", "is not run=r"),
        ("duckdb", "back\\slash/run=r", "DuckDB reads no path with a backslash"),
    ],
)
def test_what_makes_no_sense_is_refused(engine: str, name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    forged(tmp_path).rename(tmp_path / name)
    done = kcheck("fleet", "sql", engine, tmp_path / name)
    assert (2, True) == (done.code, said in done.err)


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_run_with_a_name_that_no_scan_gives_is_refused(engine: str, tmp_path: Path) -> None:
    """It could end a text, or name another run."""
    forged(tmp_path, "a,b'\n")
    done = kcheck("fleet", "sql", engine, tmp_path)
    assert (2, "") == (done.code, done.out)
    assert done.err.rstrip("\n").isprintable()
