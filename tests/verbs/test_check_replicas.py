"""Where the records of two replicas differ."""

from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.segments import header_columns as columns
from kcheck.verbs.check import check
from tests.builders import Made, batch, broker, partition_dir, run
from tests.reports import EVERY, document
from tests.test_brokers import BROKERS


@pytest.fixture(autouse=True, params=[300, 4 << 20])
def in_folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are told as they were given; windows are small, or as they are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(columns, "WINDOW_SIZE", request.param)


def differing(one: list[list[Made]], other: list[list[Made]], depth: Depth = Depth.HEADERS) -> list[dict[str, Any]]:
    """Return the data of KC401 about two brokers with these segments."""
    for number, segments in ((1, one), (2, other)):
        path = broker(Path(f"d{number}"), [batch(0)], broker_id=number)
        for file in (path / "t-0").iterdir():
            file.unlink()
        partition_dir(path / "t-0", segments)
    found = document(check(["d1", "d2"], depth=depth, as_kind=None, wanted=EVERY, release=release("4.3")))
    return [row["data"] for row in found["findings"] if row["id"] == "KC401"]


def changed(made: list[Made], number: int) -> list[Made]:
    """Return the batches with another payload in one of them, and the CRC that fits."""
    old = made[number]
    new = batch(old.base_offset, old.last_offset - old.base_offset + 1, payload=b"y" * 39)
    return [*made[:number], new, *made[number + 1 :]]


def test_a_segment_that_cannot_be_read_is_passed_over() -> None:
    differing([run(0, 99), run(100, 199)], [changed(run(0, 199), 12)])
    Path("d1/t-0/00000000000000000000.log").unlink()
    Path("d1/t-0/00000000000000000000.log").symlink_to("nowhere")
    found = document(check(["d1", "d2"], depth=Depth.CRC, as_kind=None, wanted=EVERY, release=release("4.3")))
    assert {"KC001", "KC401"} <= {row["id"] for row in found["findings"]}


def test_another_broker_than_said_is_a_finding() -> None:
    broker(Path("d1"), run(0, 9), broker_id=1)
    answer = check(["7=d1"], depth=Depth.HEADERS, as_kind=None, wanted=EVERY, release=release("4.3"))
    (found,) = (row for row in answer.findings if row.id == "KC315")
    assert found.data["premise"] == "P102"
    assert "broker 1" in found.message


def test_a_log_that_another_one_contradicts_is_not_simply_started() -> None:
    """Its own start rebuilds the epochs; whether it may start is a question of both brokers."""
    brokers = [str(BROKERS / "4.3.1" / "diverged" / f"broker-{number}") for number in (1, 2)]

    def advice(paths: list[str]) -> list[str]:
        found = document(check(paths, depth=Depth.HEADERS, as_kind=None, wanted=EVERY, release=release("4.3")))
        return [row["advice"] for row in found["findings"] if row["id"] == "KC204"]

    assert ["Let the broker start. It rebuilds the leader epochs."] == advice(brokers[:1])
    (said,) = advice(brokers)
    assert said.endswith("the log of another broker differs. Run kcheck recover first.")
