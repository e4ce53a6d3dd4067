"""What releases up to 2.8 do otherwise at a start: one by one, as tests/oracle/starts/test_predict.py."""

from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.offset_index import OFFSET_INDEX_ENTRY
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot, serialize
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.verbs.check import check
from tests.builders import broker, message, run, write
from tests.cases.build import CASES, shared_copy
from tests.verbs.test_predict import one, said, wish

BROKERS = Path(__file__).parents[2] / "fixtures" / "brokers"
INDEX, TIME_INDEX, TRANSACTIONS = (f"{0:020d}{ending}" for ending in (".index", ".timeindex", ".txnindex"))


def predicted(path: Path, kafka: str) -> dict[str, Any]:
    """Return what becomes of the one partition of a log dir that was stopped cleanly."""
    return one(path, asked=wish(kafka, clean=True))[1]


@pytest.mark.parametrize("version", sorted(path.name for path in BROKERS.iterdir()))
@pytest.mark.parametrize("scene", ["stopped", "killed"])
def test_what_brokers_left_boots(version: str, scene: str) -> None:
    """A release loads every log that a broker of it left, and loses nothing."""
    for path in sorted((BROKERS / version / scene).glob("broker-*/data*")):
        (row,) = said(path, asked=wish(version))
        assert row["outcome"] == "ok"
        assert {part["outcome"] for part in row["partitions"]} <= {"ok", "repaired"}


@pytest.mark.parametrize(
    ("kafka", "outcome"), [("1.0", "repaired"), ("1.1", "repaired"), ("2.0", "ok"), ("2.2", "ok"), ("2.3", "ok")]
)
def test_an_index_that_ends_in_zeros(kafka: str, outcome: str, tmp_path: Path) -> None:
    """Up to 1.1 its segment is recovered (OffsetIndex.sanityCheck)."""
    entries = OFFSET_INDEX_ENTRY.pack(3, 100) + bytes(OFFSET_INDEX_ENTRY.size)
    write(broker(tmp_path / "d", run(0, 9), clean=True) / "t-0", {INDEX: entries, TIME_INDEX: b"", TRANSACTIONS: b""})
    found = predicted(tmp_path / "d", kafka)
    assert found["outcome"] == outcome
    # Up to 1.0 all indexes of the segment are deleted before.
    assert (TRANSACTIONS in found["files"]["removed"]) == (kafka == "1.0")


@pytest.mark.parametrize("kafka", ["0.11.0", "1.0", "1.1", "2.0", "2.2", "2.3", "4.3"])
@pytest.mark.parametrize(
    "case", ["kc151-offset-index-order/torn", "kc155-index-zero-tail/closed", "kc161-time-index-order/torn"]
)
def test_the_rules_know_which_indexes_a_start_makes_anew(case: str, kafka: str) -> None:
    """Up to 2.2 it looks at the last slot of each, whatever the stop before was."""
    path = str(shared_copy(CASES / case))
    report = check([path], depth=Depth.HEADERS, as_kind=None, wanted=PartitionFilter(), release=release(kafka))
    told = {each.effect.partition(" rebuilds all")[1] != "" for each in report.findings if each.id == case[:5].upper()}
    (row,) = said(Path(path), asked=wish(kafka))
    recovered = {"the broker recovers the segment" in (part["reason"] or "") for part in row["partitions"]}
    assert {release(kafka).checks_indexes} == told == recovered


@pytest.mark.parametrize(
    ("kafka", "zeros", "abort"),
    [("0.10.2", 12, False), ("0.10.2", 13, True), ("0.11.0", 17, False), ("0.11.0", 18, True)],
)
def test_zeros_behind_the_last_batch(kafka: str, zeros: int, abort: bool, tmp_path: Path) -> None:
    """Fewer bytes than the fields that it looks at together are no entry to a broker (FileLogInputStream)."""
    path = broker(tmp_path / "d", [message(offset) for offset in range(10)], clean=True)
    write(path / "t-0", {INDEX: b"", TIME_INDEX: b""})
    with (path / "t-0" / f"{0:020d}.log").open("ab") as file:
        file.write(bytes(zeros))
    assert (predicted(path, kafka)["outcome"] == "abort") == abort


@pytest.mark.parametrize(("kafka", "why"), [("2.3", "NullPointer"), ("3.7", "OffsetOutOfRange"), ("3.8", None)])
def test_a_transaction_behind_the_log_end(kafka: str, why: str | None, tmp_path: Path) -> None:
    """Up to 3.7 a start looks for its begin, finds nothing, and ends."""
    snapshot = serialize(ProducerSnapshot(version=1, producers=(Producer(1, 0, 0, 20, 0, 0, 0, 20),)))
    path = broker(tmp_path / "d", run(0, 9), clean=True)
    write(path / "t-0", {INDEX: b"", TIME_INDEX: b"", f"{10:020d}.snapshot": snapshot})
    found = predicted(path, kafka)
    assert found["outcome"] == ("ok" if why is None else "abort")
    assert (found["reason"] or "").startswith(f"{why}Exception" if why else "")
