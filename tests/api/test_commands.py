"""A call of a function stands for a command, and the next command repeats parts of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.documents.answer import Answer
from kcheck.dumps.filter import DumpDetail
from kcheck.errors import UsageError
from kcheck.renderers.json import RENDERER
from tests.docs.examples import ROOT

FOLDER = str(ROOT / "fixtures" / "brokers" / "4.3.1" / "diverged")
BROKERS = (f"1={FOLDER}/broker-1", f"2={FOLDER}/broker-2")


def test_a_next_command_repeats_the_call() -> None:
    """Arguments that can be read only once too; defaults are no options."""
    wanted = kcheck.PartitionFilter(topics=("emptied",), partitions=("0",))
    elected = kcheck.elect(*BROKERS, metadata=iter([Path(FOLDER) / "broker-2"]), kafka="4.3")
    command = f"kcheck elect {' '.join(BROKERS)} --metadata {FOLDER}/broker-2 --kafka 4.3"
    assert f"{command} --output-dir DIR" == elected.to_dict()["next"]
    release = kcheck.release("4.3")
    truncated = kcheck.truncation(*BROKERS, partitions=wanted, kafka=release).to_dict()
    assert truncated["next"] == f"kcheck elect {' '.join(BROKERS)} --kafka 4.3"
    repaired = kcheck.repair(f"{FOLDER}/broker-1", partitions=wanted, accept_loss=True, tidy=True).to_dict()
    options = "--accept-loss --tidy --topic emptied --partition 0"
    assert repaired["next"] == f"kcheck repair {FOLDER}/broker-1 {options} -o plan.json"


def test_a_plan_is_an_argument(tmp_path: Path) -> None:
    out = str(tmp_path / "plan")
    assert f"less {out}/plan.md" == kcheck.elect(*BROKERS, out=out).to_dict()["next"]
    assert f"kcheck recover {' '.join(BROKERS)}" == kcheck.verify(out, *BROKERS).to_dict()["next"]


@pytest.mark.parametrize(
    "ask",
    [kcheck.check, kcheck.inspect, kcheck.predict, kcheck.truncation, kcheck.elect, kcheck.recover, kcheck.cluster],
)
def test_a_document_is_what_its_text_says(ask: Callable[..., Answer]) -> None:
    """With the types of JSON alone."""
    said = json.loads(RENDERER.rendered(ask(*BROKERS).report()))
    assert json.dumps(said) == json.dumps(ask(*BROKERS).to_dict())


def test_a_dump_is_what_its_text_says() -> None:
    """Its rows come in blocks, those of the records within those of the batches."""
    log, detail = next(Path(FOLDER).rglob("emptied-0/*.log")), DumpDetail(records=True)
    said = json.loads(RENDERER.rendered(kcheck.dump(log, detail=detail).report()))
    assert said == kcheck.dump(log, detail=detail).to_dict()


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


@pytest.mark.parametrize("verb", [kcheck.recover, kcheck.elect])
def test_a_dead_broker_is_a_number(verb: Any) -> None:
    """A text would name no broker, and the answer would not say so."""
    with pytest.raises(UsageError, match="dead: '3' is not a number"):
        verb(*BROKERS, dead=("3",))


def test_an_export_as_a_text() -> None:
    """The screen of the command is its records, so the text lists the logs."""
    log = f"{FOLDER}/broker-1/data1/diverged-0"
    assert f"1 log\n  {log}" == str(kcheck.export(log))
