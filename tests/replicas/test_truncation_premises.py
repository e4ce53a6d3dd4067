"""The premises of `kcheck truncation`: the same ones as those of elect."""

import shutil
from pathlib import Path

import kcheck
from kcheck.model.premises import PremiseStatus
from tests.cli.command import kcheck as command
from tests.oracle.scenes import FIXTURES


def test_premises_are_those_of_elect(tmp_path: Path) -> None:
    """A log whose end is missing: the answer rests on it, and nobody has to ask elect for that."""
    folder = Path(shutil.copytree(FIXTURES / "brokers" / "4.3.1" / "stopped", tmp_path / "stopped"))
    brokers = [f"{number}={folder}/broker-{number}" for number in (1, 2, 3)]
    whole = kcheck.truncation(*brokers)
    assert whole.is_proven
    for path in folder.glob(f"broker-2/data1/segments-0/{120:020}.*"):
        path.unlink()
    answer = kcheck.truncation(*brokers)
    of_elect = [row for row in kcheck.elect(*brokers).premises if row.id != "P801"]
    assert of_elect == [*answer.premises]
    assert ["P306"] == [row.id for row in answer.premises if row.status is PremiseStatus.REFUTED]
    assert not answer.is_proven
    assert kcheck.truncation(*brokers, partitions=kcheck.PartitionFilter(topics=("plain",))).is_proven
    ended = command("truncation", *brokers)
    assert (1, True) == (ended.code, "segments-0 ends at 120 here" in ended.out)
    assert kcheck.truncation(*brokers, live=True).premises == ()
