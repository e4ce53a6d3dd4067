"""Where the answer for the lowest possible release differs from the one that is given."""

from dataclasses import replace
from pathlib import Path

import pytest

import kcheck
from kcheck.documents.answer import Answer
from kcheck.model.evidence import OtherEnd
from kcheck.survey.coverage import Progress
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.test_brokers import BROKERS

OLD = BROKERS / "2.8.2" / "stopped" / "broker-1"
DIVERGED = [f"{number}={BROKERS / '1.1.1' / 'diverged' / f'broker-{number}'}" for number in (1, 2)]


def other(answer: Answer) -> OtherEnd | None:
    """Return the other end of the range, as the report of an answer has it."""
    said = answer.report().evidence
    assert said is not None
    return said.other


def test_truncations_that_differ_are_named() -> None:
    """0.11.0 asks for the epoch once, 2.3 until both agree; the plans are those of 2.3, each of them."""
    answer = kcheck.truncation(*DIVERGED, leader=1)
    said = other(answer)
    assert said is not None
    assert "0.11.0" == said.kafka
    assert any(name.startswith("truncation diverged-0") for name in said.differs_in or ())
    named = kcheck.truncation(*DIVERGED, leader=1, kafka="2.3")
    assert [*named.plans] == [*answer.plans]


@pytest.mark.parametrize("module", ["verbs.check", "verbs.prediction", "replicas.truncation", "replicas.end_offset"])
def test_what_is_large_is_not_compared(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer itself is whole."""
    limited = "documents.answer" if module.startswith("replicas.") else module
    monkeypatch.setattr(f"kcheck.{limited}.COMPARED_COUNT_MAX", 0)
    answers: dict[str, Answer] = {
        "verbs.check": kcheck.check(OLD),
        "verbs.prediction": kcheck.overview(OLD),
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


def test_elections_and_starts_are_those_of_the_end_of_a_range_that_is_worse(tmp_path: Path) -> None:
    """A directory has the id of another topic. Brokers of 2.8 truncate it, as the real ones did; 3.6 keeps it apart."""
    kept = unpacked(PLACE / "2.8.2-zk-swap-partitions-n27.tar.xz", tmp_path / "incident")
    log_dirs = sorted(path for path in kept.folder.glob("broker-*/*") if path.is_dir())
    for verb in (kcheck.elect, kcheck.recover, kcheck.overview, kcheck.predict):
        answer = verb(*log_dirs)
        said = answer.report().evidence
        assert said is not None
        assert said.other is not None
        ends = {kafka: verb(*log_dirs, kafka=kafka).badness for kafka in ("2.8", "3.6")}
        assert {said.used, said.other.kafka} == {*ends}
        assert answer.badness == ends[said.used] == max(ends.values())
    assert "27 records are lost" in kcheck.elect(*log_dirs).verdict
