"""Answers about a part of the log dirs of brokers. Real brokers left the directories."""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.premises.presence import LOG_DIRS_THERE, lacks_log_dirs
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.plans.recover import ClusterRecovery
from tests.cli.command import kcheck as command
from tests.oracle.scenes import killed_brokers

HALF = ("1=broker-1/data1", "2=broker-2", "3=broker-3")
WHOLE = ("1=broker-1", "2=broker-2", "3=broker-3")
METADATA = ("--metadata", "controller")


@pytest.fixture(autouse=True)
def _killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to three killed brokers, the first with two log dirs that its settings list."""
    killed_brokers(tmp_path)
    monkeypatch.chdir(tmp_path)
    _settings("broker-1/data1,broker-1/data2")


def _settings(log_dirs: str) -> None:
    Path("broker-1/server.properties").write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={log_dirs}\n")


def _recovered(*brokers: str, incomplete_ok: bool = False) -> ClusterRecovery:
    return kcheck.recover(*brokers, metadata=["controller"], incomplete_ok=incomplete_ok)


def _stops(answer: ClusterRecovery, sentence: str) -> None:
    """Assert that an answer names the missing log dir first, and has no plan."""
    assert answer.sentences[0] == sentence
    assert answer.steps == ()
    assert answer.nodes_first is None
    assert answer.to_dict()["proven"] is False
    assert not answer.start_of_all.is_safe
    assert not [row for row in answer.election.premises if _is_proven(row)]


def _is_proven(row: JudgedPremise) -> bool:
    return (row.id, row.status, row.broker_id) == (LOG_DIRS_THERE, PremiseStatus.PROVEN, 1)


@pytest.mark.parametrize("listed", ["broker-1/data1,broker-1/data2", "/kafka/data1,/kafka/data2"])
def test_a_log_dir_that_the_settings_list_has_to_be_named(listed: str) -> None:
    """Whether the settings are of this host, or of a host whose disks were copied."""
    _settings(listed)
    why = "First name 1=broker-1/data2 too: broker 1 has another log dir, broker-1/data2, which is not given."
    answer = _recovered(*HALF)
    _stops(answer, why)
    missing = {row.name for row in answer.election.of_cluster if row.best is None}
    assert missing
    assert all(row.unknown_replicas == (1,) for row in answer.election.of_cluster if row.name in missing)
    assert answer.cases == ()
    assert answer.next_command == f"kcheck recover {' '.join((*HALF, *METADATA))} 1=broker-1/data2"
    assert _recovered(*HALF, incomplete_ok=True).steps
    assert _recovered(*WHOLE).steps
    for verb in ("elect", "recover"):
        shown = command(verb, *HALF, *METADATA, columns=1000)
        assert (shown.code, why in shown.out) == (1, True)
    for verb in ("truncation", "predict"):
        shown = command(verb, *HALF, *METADATA, columns=1000)
        assert "broker 1 has another log dir, broker-1/data2, which is not given" in shown.out.lower()
    assert command("truncation", *HALF, *METADATA).code == 1
    shown = command(*HALF, *METADATA, columns=1000)
    assert (shown.code, why in shown.out) == (1, True)


def test_a_registered_log_dir_has_to_be_named() -> None:
    """Without settings its path is not known."""
    Path("broker-1/server.properties").unlink()
    sentence = "broker 1 registered 2 log dirs, and 1 of them is not given; 5 assigned partitions were there"
    provide = "the other log dirs of broker 1, or a server.properties that lists all of them"
    _stops(_recovered(*HALF), f"First name {provide}: {sentence}.")
    assert not any(map(lacks_log_dirs, _recovered(*WHOLE).election.premises))


def test_a_follower_is_emptied_after_the_plan_was_made() -> None:
    """Its broker could lead as well, and then the others delete their records."""
    planned = kcheck.recover(*WHOLE, metadata=["controller"], out="plan")
    row = next(row for row in planned.election.of_cluster if row.name == "__transaction_state-0")
    (number, other) = (number for number in row.leaders if number != row.planned)
    (directory,) = Path(f"broker-{number}").glob(f"data?/{row.name}")
    shutil.rmtree(directory)
    answer = kcheck.recovery_progress("plan", *WHOLE, metadata=["controller"])
    assert str(answer.state) == "stop"
    end = row.leaders[number].log_end_offset
    assert f"{row.name} of broker {number} ends at offset 0 (at {end} in the plan)" in answer.sentences[0]
    assert f"of broker {other}" not in answer.sentences[0]


def test_a_plan_that_was_made_without_a_log_dir_stops() -> None:
    """It also stops if the log dir is named afterwards."""
    command("recover", *HALF, *METADATA, "--output-dir", "plan")
    for brokers, why in ((HALF, "first name 1=broker-1/data2 too"), (WHOLE, "the plan has no steps")):
        progress = kcheck.recovery_progress("plan", *brokers, metadata=["controller"])
        assert progress.sentences[0].startswith(f"Stop: {why}")
