"""Where the answer for the lowest possible release differs from the one that is given."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import kcheck
from kcheck.documents.answer import Answer
from kcheck.model.evidence import OtherEnd
from kcheck.survey.coverage import Progress
from tests.builders import offsets, partition_dir, partition_metadata, run, write
from tests.test_brokers import BROKERS

OLD = BROKERS / "2.8.2" / "stopped" / "broker-1"
DIVERGED = [f"{number}={BROKERS / '1.1.1' / 'diverged' / f'broker-{number}'}" for number in (1, 2)]


def other(answer: Answer) -> OtherEnd | None:
    """Return the other end of the range, as the report of an answer has it."""
    said = answer.report().evidence
    assert said is not None
    return said.other


def test_nothing_is_compared_where_the_release_is_known() -> None:
    """By the files, by the user, or as far as the user names another protocol; nor by commands that show facts."""
    exact = BROKERS / "3.9.2" / "stopped" / "broker-1"
    answers: Sequence[Answer] = (
        kcheck.check(exact),
        kcheck.check(OLD, kafka="2.8"),
        kcheck.check(OLD, kafka=kcheck.release(paths=[OLD], ibp="2.6")),
        kcheck.inspect(OLD),
    )
    assert [None] * 4 == [other(answer) for answer in answers]


def test_no_difference_is_no_noise(tmp_path: Path) -> None:
    """Two records of a clean ZooKeeper broker."""
    meta = b"version=0\nbroker.id=1\ncluster.id=c\n"
    checkpoints = {
        f"{name}-checkpoint": offsets({"t-0": 10}) for name in ("recovery-point-offset", "replication-offset")
    }
    write(tmp_path, {"meta.properties": meta, ".kafka_cleanshutdown": b"", **checkpoints})
    partition_dir(tmp_path / "t-0", [run(0, 9)])
    write(tmp_path / "t-0", {"partition.metadata": partition_metadata()})
    assert OtherEnd("2.8", ()) == other(kcheck.check(tmp_path))
    assert OtherEnd("2.8", ()) == other(kcheck.end_offset(tmp_path, epochs=[0]))


def test_truncations_that_differ_are_named() -> None:
    """0.11.0 asks for the epoch once, 2.3 until both agree; the plans are those of 2.3, each of them."""
    answer = kcheck.truncation(*DIVERGED, leader=1)
    said = other(answer)
    assert said is not None
    assert "0.11.0" == said.kafka
    assert any(name.startswith("truncation diverged-0") for name in said.differs_in or ())
    named = kcheck.truncation(*DIVERGED, leader=1, kafka="2.3")
    assert [*named.plans] == [*answer.plans]


def test_starts_and_answers_that_differ_are_named() -> None:
    broker = BROKERS / "1.1.1" / "killed" / "broker-1"
    for answer in (kcheck.predict(broker), kcheck.overview(broker)):
        said = other(answer)
        assert said is not None
        assert any(name.startswith("predict ") for name in said.differs_in or ())
    asked = other(kcheck.end_offset(DIVERGED[0], epochs=[0]))
    assert asked is not None
    assert "end-offset diverged-0 epoch 0" in (asked.differs_in or ())


@pytest.mark.parametrize("module", ["verbs.check", "verbs.predict", "replicas.truncation", "replicas.end_offset"])
def test_what_is_large_is_not_compared(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer itself is whole."""
    limited = "documents.answer" if module.startswith("replicas.") else module
    monkeypatch.setattr(f"kcheck.{limited}.COMPARED_COUNT_MAX", 0)
    answers: dict[str, Answer] = {
        "verbs.check": kcheck.check(OLD),
        "verbs.predict": kcheck.overview(OLD),
        "replicas.truncation": kcheck.truncation(*DIVERGED, leader=1),
        "replicas.end_offset": kcheck.end_offset(OLD, epochs=[0]),
    }
    said = other(answers[module])
    assert said is not None
    assert said.differs_in is None
    plans = kcheck.truncation(*DIVERGED, leader=1)
    assert len([*plans.plans]) == len([*kcheck.truncation(*DIVERGED, leader=1, kafka="2.3").plans])


def test_an_interrupted_check_is_not_compared() -> None:
    report = kcheck.check(OLD)
    progress = Progress(log_dirs=1, partitions=1, bytes=1)
    assert report.outcomes()[1] is not None
    assert replace(report, interrupted=(progress, progress)).outcomes()[1] is None
