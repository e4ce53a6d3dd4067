"""Steps that bring a disk or save records, and what `--next` says of them.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from kcheck.model.finding import Finding
from kcheck.model.names import CLEAN_SHUTDOWN
from tests.cli.command import kcheck as command
from tests.fleet.scan.test_local_engine import scanned
from tests.oracle.scenes import unpacked, with_controller
from tests.replicas.test_recover import BROKERS, DIVERGED, OUTRUN


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


@pytest.fixture
def _old_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to disks of 4.3.1, of which broker 2 has an old copy. solo-1 has no other replica."""
    unpacked("clusters/4.3.1/old-copy", tmp_path)
    monkeypatch.chdir(tmp_path)


def _markers(content: str | None) -> None:
    for marker in Path("broker-2").glob(f"*/{CLEAN_SHUTDOWN}"):
        marker.unlink()
        if content is not None:
            marker.write_text(content)


FORGED = '{"version":0,"brokerEpoch":338}'


@pytest.mark.usefixtures("_old_copy")
@pytest.mark.parametrize("marker", [FORGED, None])
def test_a_disk_that_may_be_an_old_copy_is_sought(marker: str | None) -> None:
    """A start in vain removes the file that proves it. The plan still begins with the newest disk, as --next does."""
    kcheck.recover(*BROKERS, metadata=["controller"], out="plan")
    _markers(marker)
    answer = kcheck.recover(*BROKERS, metadata=["controller"])
    assert (answer.steps[0].kind, answer.steps[0].brokers) == (RecoveryAction.BRING, (2,))
    assert answer.case_plans[0].texts[-1].final == "solo-1 may go on from an old copy, without newer records"
    now = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert (now.state, now.at) == (PlanState.NEXT, 0)


@pytest.mark.usefixtures("_old_copy")
def test_the_newest_disk_is_here_once_something_proves_it() -> None:
    """Without the file nothing proves it.

    Nothing speaks against it, as solo-1 shows the last epoch, and the metadata log of another broker is newer.
    """
    kcheck.recover(*BROKERS, metadata=["controller"], out="plan")
    (epochs,) = Path("broker-2").glob("*/solo-1/leader-epoch-checkpoint")
    epochs.write_text("0\n2\n0 0\n4 50\n")
    _markers(None)
    (own,), (other,) = (Path(name).glob("*/__cluster_metadata-0") for name in ("broker-2", "broker-3"))
    shutil.rmtree(own)
    shutil.copytree(other, own)
    now = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert not now.now.first.disks
    assert (now.state, now.at) == (PlanState.NEXT, 0)
    for log_dir in Path("broker-2").glob("data*"):
        (log_dir / CLEAN_SHUTDOWN).write_text(FORGED)
    found = kcheck.recovery_progress("plan", *BROKERS, metadata=["controller"])
    assert found.state is PlanState.STOP
    assert "the disks of broker 2 are not sought any more, and the plan has no other step" in found.sentences[0]


@pytest.mark.usefixtures("_old_copy")
def test_the_high_watermark_of_an_old_copy_bounds_no_loss() -> None:
    """solo-1 was created again, empty, and 50 is what the old copy knows of it."""
    (solo,) = Path("broker-2").glob("*/solo-1")
    shutil.rmtree(solo)
    answer = kcheck.recover(*BROKERS, metadata=["controller"])
    assert answer.scenario("plan").lost.upper_records is None
    assert "First find the newest disk of broker 2: " in " ".join(answer.sentences)
    assert answer.steps[0].kind is RecoveryAction.BRING


@pytest.mark.usefixtures("_old_copy")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_scan_of_small_files_sees_an_old_copy_without_the_marker(tmp_path: Path) -> None:
    """The epochs of a log are a small file. Only what they leave open is read in the log."""
    _markers(FORGED)
    _, rows = scanned(tmp_path, tmp_path / "{broker}" / "{log_dir}", depth="checkpoints")
    (judged,) = (row for row in rows["premises"] if (row["id"], row["broker_id"]) == ("P701", 2))
    assert judged["sentence"].startswith("broker 2 led solo-1 in leader epoch 4, which its log does not show")


@pytest.mark.usefixtures("_old_copy")
def test_every_verb_about_all_disks_reports_the_old_copy() -> None:
    """Check missed the log that is too short, repair the old copy, and cluster both."""
    both = {"P306", "P701"}
    assert both == _premises(kcheck.check(*BROKERS, metadata=["controller"]).findings)
    left = kcheck.repair(*BROKERS, metadata=["controller"]).not_planned
    why = " ".join(row.why for row in left if row.finding == "KC315")
    assert "old copy" in why
    assert "clicks-2 ends at 100 here" in why
    assert {"P701"} == _premises(kcheck.cluster("broker-2", "controller").collected)
    _markers(FORGED)
    assert {"P306"} == _premises(kcheck.check(*BROKERS, metadata=["controller"]).findings)
    assert set() == _premises(kcheck.check("broker-2", metadata=["controller"]).findings)


def _premises(findings: Iterable[Finding]) -> set[object]:
    return {finding.data["premise"] for finding in findings if finding.id == "KC315"}


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
    for marker in Path("broker-2").glob("data*/.kafka_cleanshutdown"):  # As a newer disk has them.
        marker.write_text(marker.read_text().replace("190", "338"))
    (epochs,) = Path("broker-2").glob("*/solo-1/leader-epoch-checkpoint")
    epochs.write_text("0\n2\n0 0\n4 50\n")
    found = kcheck.recovery_progress("plan", *brokers, **asked)
    assert found.state is PlanState.STOP
    assert "the disks of broker 2 are not sought any more, and the plan has no other step" in found.sentences[0]
