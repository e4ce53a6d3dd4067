"""Shipped histories end as they say, in each release that they name."""

import pytest

from kcheck.core.releases.releases import lines
from kcheck.errors import UsageError
from kcheck.simulation.replay import in_words, replay
from kcheck.simulation.script import parse
from kcheck.verbs.simulate import ReleasesCompared, histories, simulate

HISTORIES = histories()
ENDS = [(history.name, kafka, end) for history in HISTORIES for kafka, end in history.outcomes]
TEXTS = {history.name: history.text for history in HISTORIES}


@pytest.mark.parametrize(("name", "kafka", "end"), ENDS)
def test_a_history_ends_as_it_says(name: str, kafka: str, end: str) -> None:
    """Its expectations hold, and the verdict is the published one."""
    script = parse(TEXTS[name], name)
    run = replay(script, kafka)
    assert () == run.failed
    assert end == in_words(run.verdict, script.names)


def test_every_history_ends_in_two_ways_or_says_that_it_does_not() -> None:
    """A fix changes the outcome; five histories show what no release prevents or what only a line inside shows."""
    same = {history.name for history in HISTORIES if len({end for _, end in history.outcomes}) < 2}
    assert {"kafka-15021", "kafka-15510", "kafka-20554", "linkedin-99", "unclean-shortest"} == same
    assert all(history.page and history.title for history in HISTORIES)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kafka", lines())
def test_every_history_runs_in_every_release(kafka: str) -> None:
    """Whatever comes of it; a release without such a mode says so."""
    for history in HISTORIES:
        try:
            run = replay(parse(history.text, history.name), kafka)
        except UsageError:
            assert "mode=" in history.text
            continue
        assert run.steps[-1].state == replay(parse(history.text, history.name), kafka).steps[-1].state


def test_a_comparison_names_the_rules_that_change_the_outcome() -> None:
    answer = simulate("kip-101-1", kafka="all")
    assert isinstance(answer, ReleasesCompared)
    rows = answer.report().body["releases"]
    assert isinstance(rows, tuple)
    changed = {row["kafka"]: row["changed_by"] for row in rows if row["changed_by"]}
    assert ["0.11.0"] == [*changed]
    assert "OffsetsForLeaderEpoch (KIP-101)" in changed["0.11.0"]
