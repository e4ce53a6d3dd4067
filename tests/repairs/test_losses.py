"""What a plan says a partition loses is what the start loses, and the plan says what it saves."""

import json
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.names import parse_directory
from kcheck.plans.losses import PartitionLoss, worse
from tests.builders import Made, broker, epochs, log_dir, partition_dir, partition_metadata, write
from tests.builders import readable_run as run
from tests.cli.command import kcheck
from tests.repairs.test_proofs import planned

LATER = f"{15:020d}.log"


def torn(path: Path, segments: list[list[Made]], cut: int, *, high_watermark: int) -> Path:
    """Write a log dir after an unclean stop; `cut` bytes are missing at the end of its first segment."""
    made = log_dir(path, clean=False, recovery_point={"t-0": 0}, high_watermark={"t-0": high_watermark})
    partition_dir(made / "t-0", segments)
    write(made / "t-0", {"leader-epoch-checkpoint": epochs((0, 0)), "partition.metadata": partition_metadata()})
    first = made / "t-0" / f"{0:020d}.log"
    first.write_bytes(first.read_bytes()[:-cut])
    return made


def closed(path: Path, *, cut: int = 5) -> Path:
    """Write a partition whose closed segment ends in an incomplete batch, of offset 14; 25 records follow."""
    return torn(path, [[*run(0, 9), *run(10, 13), *run(14, 14)], run(15, 39)], cut, high_watermark=40)


def active(path: Path, *, cut: int = 5) -> Path:
    """Write a partition whose log ends in an incomplete batch of 3 records."""
    return torn(path, [[*run(0, 9), *run(10, 14), *run(15, 17)]], cut, high_watermark=15)


def document(*arguments: str | Path) -> Any:
    """Return what a command writes as JSON."""
    return json.loads(kcheck(*arguments, "--format", "json").out)


def losses(path: Path, *options: str) -> tuple[Any, Any]:
    """Return what the only partition loses, by predict and by repair."""
    (of_start,) = document("predict", path)["log_dirs"]
    (of_plan,) = document("repair", path, *options)["losses"]
    return of_start["partitions"][0]["lost"], of_plan


def test_a_plan_saves_the_segments_after_an_incomplete_batch(tmp_path: Path) -> None:
    """The next start loses 26 records, the plan one: both by the same count."""
    one = closed(tmp_path / "1")
    start, plan = losses(one, "--accept-loss")
    assert (start["from"], start["to"], start["records"], start["at_least"]) == (14, 40, 26, 26)
    assert start == plan["start_loses"]
    assert (plan["plan_loses"]["records"], plan["plan_loses"]["from"], plan["saved"]) == (1, 14, 25)
    (loses,) = [row["loses"] for row in document("repair", "--accept-loss", one)["operations"] if row["loses"]]
    assert (loses["records"], loses["from"], loses["to"], loses["at_least"]) == (1, 14, 15, 1)
    shown = kcheck("repair", one, "--accept-loss", columns=200).out
    assert "t-0: 26 records (offsets 14-39) without this plan, 1 record (offset 14) with it; it saves 25" in shown


def test_a_refused_step_says_what_it_would_save(tmp_path: Path) -> None:
    """Nobody declines 25 records unknowingly."""
    (refused, *_) = planned(str(closed(tmp_path / "1"))).not_planned
    assert "it discards 1 record (offset 14)" in refused.why
    assert "and saves 25 records that the next start loses: only with --accept-loss" in refused.why


def test_what_no_header_proves_is_unknown(tmp_path: Path) -> None:
    """The known part is a lower bound in every verb, the offsets an upper one."""
    one = closed(tmp_path / "1", cut=40)
    start, plan = losses(one, "--accept-loss")
    assert (start["records"], start["at_least"]) == (None, 25)
    assert (plan["plan_loses"]["records"], plan["plan_loses"]["at_least"], plan["saved"]) == (None, 0, 25)
    assert "will boot but lose at most 26 records" in kcheck("predict", one).out
    assert "LOST at most 26 records (offsets 14-39)" in kcheck("predict", one).out


def test_every_verb_counts_the_records_of_an_incomplete_tail(tmp_path: Path) -> None:
    """As its header names them."""
    one = active(tmp_path / "1")
    start, plan = losses(one)
    assert (start["from"], start["to"], start["records"], start["below_high_watermark"]) == (15, 18, 3, 0)
    assert (start, start, 0) == (plan["start_loses"], plan["plan_loses"] or start, plan["saved"])
    for verb, words in {
        "predict": "will boot but lose 3 records",
        "check": "The next start loses 3 records (offsets 15-17).",
        "repair": "it discards 3 records (offsets 15-17), 80 bytes, 0 below the high watermark, as the",
    }.items():
        assert words in " ".join(kcheck(verb, one).out.split()), verb
    assert "will boot but lose 3 records" in kcheck(one).out
    two = broker(tmp_path / "2", [*run(0, 9), *run(10, 14), *run(15, 17)], broker_id=2, high_watermark=15)
    shown = document("truncation", f"1={one}", f"2={two}", "--leader", "2")
    (lost,) = shown["partitions"][0]["lost_at_start"]
    assert (lost["broker_id"], lost["records"], lost["at_least"]) == (1, 3, 3)


@pytest.mark.parametrize("cut", [5, 60])
def test_another_replica_counts_what_the_header_does_not(tmp_path: Path, cut: int) -> None:
    """Its batch begins at the same offset."""
    one = active(tmp_path / "1", cut=cut)
    two = broker(tmp_path / "2", [*run(0, 9), *run(10, 14), *run(15, 17)], broker_id=2, high_watermark=15)
    made = planned(f"1={one}", against=[f"2={two}"])
    (loss,) = made.losses
    assert loss.start_loses is not None
    assert (loss.start_loses.start, loss.start_loses.end, loss.start_loses.records) == (15, 18, 3)
    whys = [row.why for row in made.not_planned if row.finding == "KC144"]
    assert all("3 records (offsets 15-17)" in why and "broker 2 has offsets up to 18" in why for why in whys)
    assert whys


def test_a_plan_never_saves_less_than_nothing() -> None:
    """It may discard what the start keeps."""
    lost = LostRecords(Offset(0), Offset(9), 9, 100, None)
    assert (0, 9) == tuple(PartitionLoss("/d", "t-0", *pair).saved for pair in ((None, lost), (lost, None)))


def test_a_loss_of_unknown_count_is_worse_than_one_that_is_counted() -> None:
    """And no worse than itself."""
    directory = parse_directory("t-0")
    assert directory is not None

    def start(records: int | None) -> list[LogDirPrediction]:
        part = PartitionPrediction("t-0", directory, Outcome.LOST, None, lost=LostRecords(None, None, records, 1, None))
        return [LogDirPrediction("d", 1, Outcome.LOST, (), clean=True, mode=None, uncertain=None, partitions=(part,))]

    assert worse(start(3), start(None)) is not None
    assert worse(start(3), start(4)) is not None
    assert [None] * 3 == [worse(start(before), start(after)) for before, after in ((None, 3), (None, None), (3, 3))]
