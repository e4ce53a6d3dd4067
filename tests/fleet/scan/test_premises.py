"""A scan asks the premises that preflight asks about the same broker, and answers them alike."""

import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.command import kcheck
from tests.oracle.incidents.asked import run
from tests.oracle.scenes import FIXTURES

_HOST = "is about the machine of the broker: a scan may run on another one"
ELSEWHERE = {
    "P101": "compares the disk with metadata that the user names; a scan groups log dirs by their cluster id",
    **dict.fromkeys(("P401", "P402", "P403", "P404", "P405", "P843"), _HOST),
}
"""Why a scan does not ask these premises."""


@pytest.mark.parametrize(
    ("name", "metadata", "refuted"),
    [("keyless-records-compacted", (), "P801"), ("unclean-election-happened", ("--metadata", "controller"), "P602")],
)
def test_a_scan_asks_what_preflight_asks(
    name: str, metadata: tuple[str, ...], refuted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all records read; the premises about the host and the command line are the only others."""
    with tarfile.open(FIXTURES / "asked" / f"{name}.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)
    code, answer = run(tmp_path, "preflight", "broker-1/server.properties", *metadata)
    asked = {(row["id"], row["status"]) for row in answer["premises"] if row["id"] not in ELSEWHERE}
    assert (1, True) == (code, (refuted, "refuted") in asked)
    kcheck("fleet", "scan", ".", "--depth", "records", "--jobs", "1", "--output-dir", "out")
    (table,) = Path("out").glob("run=*/premises/*.parquet")
    scanned = {(row["id"], row["status"]) for row in pq.ParquetFile(table).read().to_pylist() if row["broker_id"] == 1}
    unseen = {(number, "not-seen") for number, why in ELSEWHERE.items() if why == _HOST}
    assert asked | unseen == scanned


def test_what_a_scan_does_not_look_at_is_not_seen(tmp_path: Path) -> None:
    """Neither the host nor records of compacted topics are passed over: the row says what shows them."""
    kcheck("fleet", "scan", FIXTURES / "brokers" / "4.3.1" / "stopped", "--output-dir", tmp_path, "--run", "r")
    (table,) = tmp_path.glob("run=r/premises/*.parquet")
    rows = [row for row in pq.ParquetFile(table).read().to_pylist() if row["id"] in (*ELSEWHERE, "P801")]
    assert {"not-seen"} == {row["status"] for row in rows}
    assert {"P401", "P402", "P403", "P404", "P405", "P801"} <= {row["id"] for row in rows}
    assert {"kcheck preflight server.properties on that host", "fleet scan --depth records"} == {
        row["provide"] for row in rows
    }
