"""A call of a function stands for a command, and the next command repeats parts of it."""

import re
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.errors import UsageError
from tests.docs.examples import ROOT

FOLDER = str(ROOT / "fixtures" / "brokers" / "4.3.1" / "diverged")


def test_a_next_command_repeats_the_call() -> None:
    """Arguments that can be read only once too; defaults are no options."""
    brokers = [f"1={FOLDER}/broker-1", f"2={FOLDER}/broker-2"]
    wanted = kcheck.PartitionFilter(topics=("emptied",), partitions=("0",))
    elected = kcheck.elect(*brokers, metadata=iter([Path(FOLDER) / "broker-2"]), kafka="4.3")
    command = f"kcheck elect {' '.join(brokers)} --metadata {FOLDER}/broker-2 --kafka 4.3"
    assert f"{command} --output-dir DIR" == elected.to_dict()["next"]
    release = kcheck.release("4.3")
    truncated = kcheck.truncation(*brokers, partitions=wanted, kafka=release).to_dict()
    assert truncated["next"] == f"kcheck elect {' '.join(brokers)} --kafka 4.3"
    repaired = kcheck.repair(f"{FOLDER}/broker-1", partitions=wanted, accept_loss=True, tidy=True).to_dict()
    options = "--accept-loss --tidy --topic emptied --partition 0"
    assert repaired["next"] == f"kcheck repair {FOLDER}/broker-1 {options} -o plan.json"


def test_a_plan_is_an_argument(tmp_path: Path) -> None:
    out, brokers = str(tmp_path / "plan"), [f"1={FOLDER}/broker-1", f"2={FOLDER}/broker-2"]
    assert f"less {out}/plan.md" == kcheck.elect(*brokers, out=out).to_dict()["next"]
    assert f"kcheck recover {' '.join(brokers)}" == kcheck.verify(out, *brokers).to_dict()["next"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"partitions": ["orders-0"]}, "partitions: ['orders-0'] is not a PartitionFilter"),
        ({"partitions": kcheck.PartitionFilter(topics="orders")}, "partitions: a filter takes tuples"),
        ({"partitions": kcheck.PartitionFilter(topics=("none",))}, "partitions: topic none: no partition matches"),
        ({"epochs": ("a",)}, "epochs: 'a' is not a number"),
    ],
)
def test_an_error_names_the_argument(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        kcheck.end_offset(f"{FOLDER}/broker-1", **arguments)
