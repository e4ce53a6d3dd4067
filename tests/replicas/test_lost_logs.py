"""Logs that a broker led last and that no disk here has: no answer says that nothing is lost.

Real brokers wrote the disks of the incident. Broker 2 led clicks-2 last, on a disk that is gone.
"""

import contextlib
import json
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kcheck.core.election.progress import PlanState, StepState
from kcheck.core.releases.releases import release
from kcheck.model.report import PartitionFilter
from kcheck.plans.next_step import next_step
from kcheck.replicas.elect import ElectionQuestion
from tests.cli.command import kcheck
from tests.oracle.scenes import FIXTURES

LOST = "no log dir here has the log of clicks-2, which broker 2 led last"
QUESTION = ElectionQuestion(metadata=("controller",))
BROKERS = ("1=broker-1", "2=broker-2", "3=broker-3", "--metadata", "controller")


def taken_out(folder: Path) -> None:
    """Take the lost log dir out of log.dirs, as Kafka's operations advise."""
    path = folder / "broker-2" / "server.properties"
    path.write_text(path.read_text("utf-8").replace("broker-2/data,broker-2/data1", "broker-2/data"), "utf-8")
    assert "data1" not in path.read_text("utf-8")


def without_settings(folder: Path) -> None:
    """Leave no settings that name the log dir. Only the registration in the metadata knows of it."""
    (folder / "broker-2" / "server.properties").unlink()


def formatted(folder: Path) -> None:
    """Put an empty log dir with another id in its place."""
    new = folder / "broker-2" / "data1"
    new.mkdir()
    text = (folder / "broker-2" / "data" / "meta.properties").read_text("utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("directory.id"))
    (new / "meta.properties").write_text("\n".join((*lines, "directory.id=MkU3OEVBNTcwNTJENDM2Qg", "")), "utf-8")


@pytest.fixture(params=[taken_out, without_settings, formatted])
def incident(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the disks without the log dir, after a change that lets the broker start."""
    with tarfile.open(FIXTURES / "asked" / "disk-gone.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    change: Callable[[Path], None] = request.param
    change(tmp_path)
    return tmp_path


def test_every_answer_names_the_log(incident: Path) -> None:
    """They exit with 1, and say that records are not counted."""
    with contextlib.chdir(incident):
        for verb in ("elect", "recover", "truncation"):
            ended = kcheck(verb, *BROKERS, columns=300)
            text = " ".join(ended.out.split())
            assert LOST in text, verb
            assert "nothing is lost" not in text
            assert ended.code == 1
        ended = kcheck("broker-1", "broker-2", "broker-3", "controller", columns=300)
        assert LOST in ended.out
        assert "nothing is lost" not in ended.out
        assert ended.code == 1
        if (incident / "broker-2" / "server.properties").exists():
            ended = kcheck("preflight", "broker-2", "--metadata", "controller", columns=300)
            assert LOST in ended.out
            assert ended.code == 1


def test_directories_that_somebody_removed(tmp_path: Path) -> None:
    """Checkpoints of broker 3 list them, and the metadata names these log dirs. So no disk is to be found."""
    with tarfile.open(FIXTURES / "incidents" / "plans" / "empty-disk-repaired.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    with contextlib.chdir(tmp_path):
        ended = kcheck("recover", ".", columns=300)
        said = kcheck("elect", ".", columns=300)
    text, title = " ".join(ended.out.split()), "Lost by this plan"
    assert "broker 3: the directories of orders-0, orders-2, state-0 and 3 more were removed from" in text
    assert "1. Put back the directories that were removed on broker 3. Then ask kcheck recover again." in text
    assert "newest disk" not in text
    assert "Go on" not in text
    before, first, second = ended.out.split("\nIf ")
    assert first.startswith("no backup has the directories that were removed on broker 3 (see the backups):")
    assert [0, 1, 1] == [part.count(title) for part in (before, first, second)]
    assert "payments-1 loses offsets 0-59 in steps 3 and 4." in second.partition(title)[2]
    assert "only replica" not in said.out
    assert "Start broker 2 first: it is the last known leader of clicks-2." in " ".join(said.out.split())


def test_a_scan_names_the_log(incident: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The tables of a run have the premise, and the elections of the run count by it."""
    run = tmp_path_factory.mktemp("runs") / "run"
    kcheck("fleet", "scan", str(incident), "--output-dir", str(run), columns=300)
    for verb in ("elect", "recover"):
        ended = kcheck(verb, "--from", str(run), columns=300)
        assert LOST in " ".join(ended.out.split()), verb
        assert "nothing is lost" not in ended.out
        assert ended.code == 1


def test_a_log_that_is_back_is_no_loss(tmp_path: Path) -> None:
    """Broker 1 is given up instead: broker 3 led what it had, and no partition waits for a log."""
    with tarfile.open(FIXTURES / "asked" / "disk-gone.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    shutil.rmtree(tmp_path / "broker-1")
    with contextlib.chdir(tmp_path):
        assert "P861" not in kcheck("elect", "3=broker-3", "--dead", "1", "--metadata", "controller").out


@pytest.fixture
def planned(tmp_path: Path) -> Path:
    """Return the disks without the log dir, with their plan."""
    with tarfile.open(FIXTURES / "asked" / "disk-gone.tar.xz") as tar:
        tar.extractall(tmp_path, filter="data")
    with contextlib.chdir(tmp_path):
        kcheck("recover", *BROKERS, "--output-dir", "plan")
    return tmp_path


def asked(folder: Path, plan: str) -> tuple[int, str]:
    """Return the exit code and the answer of --next."""
    with contextlib.chdir(folder):
        ended = kcheck("recover", plan, "--next", *BROKERS, columns=300)
    return ended.code, " ".join(ended.out.split())


def test_the_main_plan_elects_nothing_that_a_disk_may_still_have(planned: Path) -> None:
    """The unclean election of clicks-2 gives up records for good. Only the case of the lost disk has it."""
    for plan, has_election in (("plan", False), ("plan/case-1", True)):
        steps = json.loads((planned / plan / "recovery.json").read_text("utf-8"))["steps"]
        assert has_election == ("elect" in {step["action"] for step in steps})
    code, said = asked(planned, "plan")
    assert code == 0
    assert "Broker 2 should not start: log dir broker-2/data1 is missing" in said
    assert "clicks-2 can lose records, because broker 2 led it last. Go on with step" in said


def test_a_plan_without_the_lost_log_dir_begins_with_its_first_step(planned: Path) -> None:
    """Its logs are judged as if log.dirs did not name the log dir. After that step the plan goes on."""
    code, said = asked(planned, "plan/case-1")
    assert (code, "Go on with step 1 of 5. Take broker-2/data1 out of log.dirs of broker 2." in said) == (0, True)
    taken_out(planned)
    code, said = asked(planned, "plan/case-1")
    assert (code, "Go on with step 2 of 5. Start broker 1." in said) == (0, True)
    assert LOST in said


def test_a_broker_that_can_start_after_all_stops_the_plan_that_is_without_it(planned: Path) -> None:
    """The disk is back, or the log dir is given up: both need another plan."""
    taken_out(planned)
    code, said = asked(planned, "plan")
    assert (code, said.find("Stop: broker 2 can start now, and the plan leaves that broker out.") >= 0) == (1, True)


def test_a_plan_is_not_done_while_a_broker_does_not_start(planned: Path) -> None:
    """The log of clicks-2 is still to be found after the last step."""
    with contextlib.chdir(planned):
        progress = next_step("plan", [*BROKERS[:3]], QUESTION, wanted=PartitionFilter(), release=release("4.3"))
        done = replace(progress, states=(StepState.DONE,) * len(progress.steps))
        assert done.state is PlanState.WAIT
        waits, ask = done.sentences
    assert waits.startswith("Wait. Every step is done, but broker 2 does not start: log dir broker-2/data1 is missing")
    assert ask == "Solve that. Then this command has the next plan."


def test_one_broker_of_three_asks_for_the_others(planned: Path) -> None:
    """No step, and no case: the other disks are at hand, but not named. Who gave them up says so."""
    with contextlib.chdir(planned):
        ended = kcheck("recover", "broker-2", columns=300)
        given_up = kcheck("recover", "broker-2", "--dead", "1", "--dead", "3", columns=300)
    lines = ended.out.splitlines()
    assert lines[4] == "First name the disks of brokers 1 and 3 too. Without them nothing can be decided."
    assert lines[5] == "If brokers 1 and 3 are lost, name --dead 1 --dead 3 instead."
    assert lines[6].startswith("Broker 2 should not start: log dir broker-2/data1 is missing")
    assert lines[-1] == "  kcheck recover broker-2 1=PATH 3=PATH"
    assert (ended.code, "1. " in ended.out, "If the disk" in ended.out) == (1, False, False)
    assert "Data that only brokers 1 and 3" not in ended.out
    assert "If the disk of broker-2/data1 is lost" in given_up.out


def test_the_screen_says_who_stays_offline_and_what_comes_next(planned: Path) -> None:
    """Solo-1 is whole on the other log dir. The unclean election of the lost disk cannot be undone."""
    with contextlib.chdir(planned):
        out = " ".join(kcheck("recover", *BROKERS, columns=300).out.split())
        elected = " ".join(kcheck("elect", *BROKERS, columns=300).out.split())
    plan, _, lost = out.partition("If the disk of broker-2/data1 is lost")
    assert "Starting everything now: 2 partitions get no leader (clicks-2, solo-1)." in plan
    assert "This plan" not in plan
    assert "Start broker" not in plan
    assert "solo-1 is offline until broker 2 starts. clicks-2 can lose records" in plan
    again = "Once every broker here can start, ask again: kcheck recover 1=broker-1 2=broker-2 3=broker-3 --metadata"
    assert again in plan
    assert "Cannot be undone" not in plan
    assert "election-before-3.json Cannot be undone: a replica that has other records" in lost
    assert lost.count("by an unclean election") == 1
    assert elected.count("First make broker 2 able to start, and ask again.") == 1
    assert "kcheck repair" not in elected


@pytest.mark.parametrize(
    ("name", "without", "words"),
    [
        ("stopped", None, "at most 40 records are lost, all of them committed"),
        ("stopped", "broker-2", "an unknown number of records are lost"),
        ("killed", None, "an unknown number of records are lost"),
    ],
)
def test_only_a_clean_stop_lets_checkpoints_bound_a_log(
    name: str, without: str | None, words: str, tmp_path: Path
) -> None:
    """A broker writes them every five seconds, and when it stops. Each replica has to have its own."""
    shutil.copytree(FIXTURES / "brokers" / "4.3.1" / name, tmp_path / "disks")
    for log in (tmp_path / "disks").glob("broker-*/*/plain-0"):
        shutil.rmtree(log)
    if without is not None:
        (tmp_path / "disks" / without / "data1" / "replication-offset-checkpoint").unlink()
    assert f"Starting everything now: {words}." in kcheck("recover", tmp_path / "disks", columns=400).out
