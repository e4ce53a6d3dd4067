"""Runs of a fleet that nobody scanned: tables with the rows that a test wants in them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from kcheck.arrow import batch_of
from kcheck.fleet.run_output import RunOutput, run_tables

FINDING = {
    "cluster": "c", "broker": "1", "id": "KC201", "name": "epoch-order", "severity": "error", "broker_id": 1,
    "log_dir": "/d", "dir": "t-0", "file": "leader-epoch-checkpoint", "line": 3, "topic": "t", "partition": 0,
    "message": "it is wrong", "effect": "it serves it", "advice": "look at it", "data": "{}",
}  # fmt: skip
"""A finding, as a row of its table."""
PARTITION = {"cluster": "c", "broker": "1", "log_dir": "/d", "dir": "t-0", "topic": "t", "partition": 0,
             "state": "current", "log_end_offset": 10, "size": 1000}  # fmt: skip
LOG_DIR = {"cluster": "c", "broker": "1", "log_dir": "/d"}
START: dict[str, Any] = {**LOG_DIR, "outcome": "ok", "reason": "will boot", "scan_bytes": 100}
LOSS: dict[str, Any] = {**LOG_DIR, "dir": "t-0", "topic": "t", "partition": 0, "outcome": "lost",
        "reason": "it is torn",
        "lost": '{"from": 5, "to": 9, "records": 4, "bytes": 80, "below_high_watermark": 3}'}  # fmt: skip
"""What the next start makes of a log dir, and of a partition in it."""

Rows = Iterable[Mapping[str, Any]]


def finding(**changes: Any) -> dict[str, Any]:
    """Return a finding with changes."""
    return {**FINDING, **changes}


def forged(
    out: Path, name: str = "r", *, finished: bool = True, started: int = 1_700_000_000_000, depth: str = "headers",
    **tables: Rows,
) -> Path:  # fmt: skip
    """Write a run with these rows in its tables, and return its directory; a field that is not given is null."""
    about = {"kafka": "4.3", "depth": depth}
    with RunOutput(str(out), name, about) as output:
        for table, rows in {"log_dirs": [LOG_DIR], **tables}.items():
            columns = run_tables()[table].run_columns
            values = (tuple(row.get(column.name) for column in columns) for row in rows)
            for part in _parts(values):
                output.write(table, batch_of(part, columns))
        output.finish({"started": started, "ended": started + 61_000, "finished": finished})
    return out / f"run={name}"


def _parts(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    while part := list(islice(rows, 10_000)):
        yield part
