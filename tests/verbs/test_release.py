"""Where the answer for the lowest possible release differs from the one that is given."""

from dataclasses import replace

import pytest

import kcheck
from kcheck.documents.answer import Answer
from kcheck.model.evidence import OtherEnd
from kcheck.survey.coverage import Progress
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
