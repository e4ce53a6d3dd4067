"""Steps that bring a disk or save records, and what `--next` says of them.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
from pathlib import Path

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from tests.cli.command import kcheck as command
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
