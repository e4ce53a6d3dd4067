"""Steps that bring a disk or save records, and what `--next` says of them.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from tests.cli.command import kcheck as command
from tests.oracle.scenes import unpacked, with_controller
from tests.replicas.test_recover import DIVERGED, OUTRUN


def test_a_broker_with_the_only_copies_is_sought_first(tmp_path: Path) -> None:
    """If the disk is lost, another plan is for that. Once its disks are named, the plan is made again."""
    every = [f"{number}={OUTRUN}/broker-{number}" for number in (1, 2, 3)]
    present, plan = every[1:], tmp_path / "plan"
    answer = kcheck.recover(*present, out=plan)
    assert (answer.steps[0].kind, answer.steps[0].brokers) == (RecoveryAction.BRING, (1,))
    assert RecoveryAction.BRING not in {step.kind for step in answer.case_plans[0].steps}
    now = kcheck.recovery_progress(plan, *present)
    assert (now.state, now.at) == (PlanState.NEXT, 0)
    assert now.then is None
    assert f"follow the plan in {plan}/case-1." in " ".join(now.sentences)
    assert "Type this on" not in command("recover", str(plan), "--next", *present).out
    found = kcheck.recovery_progress(plan, *every)
    assert found.state is PlanState.STOP
    assert "broker 1 can start now, and the plan leaves that broker out" in found.sentences[0]
    assert found.then is None


def test_records_are_saved_before_a_step_removes_them(tmp_path: Path) -> None:
    """The files of the plan have them. If these are missing, nothing goes on."""
    brokers, plan = [f"{number}={DIVERGED}/broker-{number}" for number in (1, 2)], tmp_path / "plan"
    unsaved = kcheck.recover(*brokers)
    saves = next(at for at, step in enumerate(unsaved.steps) if step.kind is RecoveryAction.SAVE)
    assert unsaved.texts[saves].commands == (f"kcheck recover {' '.join(brokers)} --output-dir DIR",)
    assert kcheck.recover(*brokers, out=plan).texts[saves].commands == ()
    now = kcheck.recovery_progress(plan, *brokers)
    assert (now.state, now.at) == (PlanState.NEXT, saves + 1)
    lost = next(step for step in now.steps if step.final is not None)
    assert lost.final is not None
    assert lost.final.endswith(f"{plan}/saved has them")
    text = (plan / "recovery.json").read_text()
    (plan / "recovery.json").write_text(text.replace('"is_loss": false', '"is_loss": true'))
    assert "Cannot be undone: no record is lost;" in command("recover", str(plan), "--next", *brokers).out
    shutil.rmtree(plan / "saved")
    gone = kcheck.recovery_progress(plan, *brokers)
    assert gone.state is PlanState.STOP
    assert f"{plan}/saved is missing, and later steps remove the records that were saved there" in gone.sentences[0]


def test_no_broker_starts_before_the_newest_disk_of_an_old_copy_was_sought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broker 2 of a real 4.3.1 had a disk of before: starting all lost 40 records. A case is for a lost disk."""
    monkeypatch.chdir(with_controller(unpacked("clusters/4.3.1/old-copy", tmp_path)))
    brokers, asked = [f"{number}=broker-{number}" for number in (1, 2, 3)], {"metadata": ["controller"]}
    answer = kcheck.recover(*brokers, **asked, out="plan")
    assert [(step.kind, step.brokers) for step in answer.steps] == [(RecoveryAction.BRING, (2,))]
    assert not any(text.startswith("This plan") for text in answer.sentences)
    assert not answer.to_dict()["proven"]
    case, plan = answer.cases[0], answer.case_plans[0]
    assert (case.condition, case.decided_by) == ("the newest disk of broker 2 is lost", "the disks of its host")
    kinds = [RecoveryAction.START, RecoveryAction.ELECT, RecoveryAction.START, RecoveryAction.START]
    assert [step.kind for step in plan.steps] == kinds
    assert plan.steps[-1].brokers == (2,)
    assert "Records that only that disk has are lost, and not counted." in " ".join(plan.sentences)
    (unclean,) = (row.condition for row in answer.cases[1:])
    assert unclean == "unclean.leader.election.enable is true on a controller, and the newest disk of broker 2 is lost"
    now = kcheck.recovery_progress("plan", *brokers, **asked)
    assert (now.state, now.at, now.then) == (PlanState.NEXT, 0, None)
    assert "If the newest disk of broker 2 is lost (see the disks of its host), follow the plan in plan/case-1." in (
        now.sentences
    )
    lost = kcheck.recovery_progress("plan/case-1", *brokers, **asked)
    assert (lost.state, lost.at, lost.now.is_held) == (PlanState.NEXT, 0, False)
    assert [step.kind for step in lost.now.steps] == kinds
    for marker in Path("broker-2").glob("data*/.kafka_cleanshutdown"):  # As a newer disk has it.
        marker.write_text(marker.read_text().replace("190", "338"))
    found = kcheck.recovery_progress("plan", *brokers, **asked)
    assert found.state is PlanState.STOP
    assert "the disks of broker 2 are not sought any more, and the plan has no other step" in found.sentences[0]
