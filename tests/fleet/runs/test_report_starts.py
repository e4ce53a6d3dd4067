"""What a report tells of the next starts that a run predicts."""

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.errors import KcheckError
from kcheck.fleet.runs import broker_starts as fleet_starts
from tests.fleet.runs.test_report import reported
from tests.fleets import LOSS, START, forged


def test_what_a_broker_will_not_serve_is_no_clean_start(tmp_path: Path) -> None:
    """As `kcheck predict` says: neither a stray, nor a directory that the broker deletes though it has no -delete."""
    place = {**START, "topic": "t", "partition": 0}
    rows = [(f"{name}-0{suffix}", outcome) for name, suffix, outcome in (
        ("a", "", "stray"), ("b", ".0-stray", "stray"), ("c", "", "deleted"), ("d", ".0-delete", "deleted"),
    )]  # fmt: skip
    aside = [{**place, "dir": name, "outcome": outcome} for name, outcome in rows]
    run = forged(tmp_path, predictions=[START, *aside])
    found = reported(run)
    (start,), (broker,), (cluster,) = (found[name] for name in ("broker_starts", "brokers", "clusters"))
    assert ("stray", 2, 0) == tuple(start[name] for name in ("next_start", "unserved_partitions", "lost_records"))
    assert ("clean", "error", "clean", "error") == tuple(
        row[name] for row in (broker, cluster) for name in ("verdict", "risk")
    )
    (action,) = found["actions"]
    stop = "The broker will rename them to -stray and stop serving them."
    assert f"Before broker 1 of c restarts, fix a-0 and 1 more partition. {stop}" == action["what"]
    assert "kcheck predict --kafka 4.3 /d" == action["command"] == broker["command"]


def test_losses_of_the_next_start_are_told_worst_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not counted may be all of it; then what consumers may have read. An older run tells nothing."""

    def loss(broker: str, records: int | None, below: int | None) -> dict[str, Any]:
        told = {"from": 5, "to": 9, "records": records, "bytes": 80, "below_high_watermark": below}
        return {**LOSS, "broker": broker, "lost": json.dumps(told)}

    starts = [{**START, "broker": name} for name in "1234"]
    starts.append({**START, "broker": "4", "log_dir": "/e", "outcome": "unknown", "scan_bytes": None})
    starts.append({**START, "broker": None, "outcome": "abort"})
    losses = [loss("1", 9, 0), loss("2", None, None), loss("3", 4, 4), loss("3", 5, 0)]
    found = reported(forged(tmp_path, predictions=[*starts, *losses]))
    assert ["2", "3", "1", "3"] == [row["broker"] for row in found["losses"]]
    shown = ("broker", "next_start", "losing_partitions", "lost_records", "scan_bytes")
    assert [
        (None, "abort", 0, 0, 100), ("4", "unknown", 0, None, 100), ("2", "lost", 1, None, 100),
        ("3", "lost", 2, 9, 100), ("1", "lost", 1, 9, 100),
    ] == [tuple(row[name] for name in shown) for row in found["broker_starts"]]  # fmt: skip
    (cluster,) = found["cluster_starts"]
    assert (4, None, 500) == tuple(cluster[name] for name in shown[2:])
    monkeypatch.setattr(fleet_starts, "LOSS_COUNT", 2)
    few = reported(tmp_path / "run=r")
    assert (found["losses"][:2], 4) == (few["losses"], few["partitions_losing"])
    none = reported(forged(tmp_path, "none"))
    assert ([], [], 0, []) == tuple(
        none[name] for name in ("cluster_starts", "broker_starts", "partitions_losing", "losses")
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**START, "outcome": "sleeps"}, "a log dir has the outcome 'sleeps'"),
        ({**LOSS, "lost": "{"}, "invalid loss of a partition"),
        ({**LOSS, "lost": "[]"}, "invalid loss of a partition"),
        ({**LOSS, "lost": LOSS["lost"].replace("4", '"4"')}, "invalid loss of a partition"),
    ],
)
def test_a_prediction_that_is_none_is_damage(row: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(KcheckError, match=said):
        reported(forged(tmp_path, predictions=[START, row]))
