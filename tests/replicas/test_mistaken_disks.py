"""Disks that are given for another broker or cluster: no step is right before that is solved.

Real brokers left the directories (fixtures/README.md).
"""

import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.model.finding import Severity
from tests.cli.command import kcheck as command
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.replicas.incident_plans import PACKED

METADATA = {"metadata": ["controller"]}
SWAPPED = ("1=broker-2", "2=broker-1", "3=broker-3")


@pytest.fixture(autouse=True)
def _power_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to three brokers of 3.9.2 that lost power."""
    with tarfile.open(PACKED["power-loss-3.9.2"]) as tar:
        tar.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)


def _without_settings() -> None:
    for path in Path().glob("broker-*/server.properties"):
        path.unlink()


@pytest.mark.parametrize(
    ("brokers", "has_settings"),
    [(SWAPPED, True), (SWAPPED, False), (("1=broker-1", "2=broker-1/data", "3=broker-3"), False)],
)
def test_ids_that_are_swapped_get_no_step(brokers: Sequence[str], *, has_settings: bool) -> None:
    """The two brokers do not start; whoever starts broker 3 alone meanwhile loses 20 records of old-0."""
    if not has_settings:
        _without_settings()
    answer = kcheck.recover(*brokers, **METADATA, out="plan")
    assert (answer.steps, answer.cases, answer.nodes_first) == ((), (), None)
    assert set(answer.mistaken) <= {1, 2}
    assert answer.mistaken
    said = " ".join(answer.sentences)
    assert f"Broker {answer.mistaken[0]} should not start: " in said
    assert "Solve that first, and ask again." in said
    assert "This plan" not in said
    assert "the steps go on" not in said
    screen = command("recover", *brokers, "--metadata", "controller", columns=1000).out
    assert "Start broker" not in screen
    assert "--output-dir" not in screen
    now = kcheck.recovery_progress("plan", *brokers, **METADATA)
    assert now.state is PlanState.STOP
    solved = kcheck.recovery_progress("plan", "1=broker-1", "2=broker-2", "3=broker-3", **METADATA)
    assert solved.state is PlanState.STOP
    why = "Stop: the plan has no steps, because something came before all steps then"
    assert solved.sentences[0].startswith(why)
    assert solved.now.steps != ()


def test_disks_of_two_brokers_that_are_exchanged() -> None:
    """One disk of each is in the place of the other's. Nothing is said about logs of a wrong broker."""
    held = Path("held")
    Path("broker-1/data").rename(held)
    Path("broker-2/data").rename("broker-1/data")
    held.rename("broker-2/data")
    answer = kcheck.recover("1=broker-1", "2=broker-2", "3=broker-3", **METADATA)
    assert answer.steps == ()
    assert answer.sentences[-4:-1] == (
        "broker-1/data: meta.properties says broker 2, but the settings name 1.",
        "broker-2/data: meta.properties says broker 1, but the settings name 2.",
        "Mount each of these disks at its own broker. Format none: one may have the only copy of records.",
    )
    assert {row.id for row in answer.election.refuted if row.broker_id in {1, 2}} == {"P102"}
    assert not answer.election.uncounted


def test_findings_about_exchanged_disks_advise_nothing_else() -> None:
    """Rules of one disk advised to copy directories, and to move copies aside."""
    held = Path("held")
    Path("broker-1/data").rename(held)
    Path("broker-2/data").rename("broker-1/data")
    held.rename("broker-2/data")
    first = "First: Mount the disk of this broker, or correct node.id or broker.id, or BROKER=PATH."
    for found in (kcheck.check, kcheck.overview):
        rows = found("1=broker-1", "2=broker-2", "3=broker-3", **METADATA).collected
        own = [row for row in rows if row.where.broker_id in {1, 2} and row.severity is not Severity.INFO]
        others = [row for row in own if row.id not in {"KC305", "KC315"}]
        assert others
        waits = "Follow kcheck recover, which compares no leaders before each disk is at the right broker."
        assert {row.advice for row in others} <= {first, waits}
        assert {row.repair for row in others if row.advice == first} == {None}


@pytest.mark.parametrize("is_damaged", [False, True])
def test_elect_orders_and_repairs_nothing_beside_exchanged_disks(tmp_path: Path, *, is_damaged: bool) -> None:
    """Broker 3 can start, and would lead old-0 alone. A repair of it is no step before the disks are right."""
    if is_damaged:
        Path("broker-3/data/meta.properties").unlink()
    answer = kcheck.elect(*SWAPPED, **METADATA, out=tmp_path / "out")
    assert answer.to_dict()["start_order"] == []
    assert answer.repairs == ()
    assert "First repair" not in answer.verdict
    assert "start-order.txt" not in {path.name for path in (tmp_path / "out").iterdir()}


def test_a_disk_of_another_cluster_gets_no_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real controller refused broker 1 for ever."""
    shutil.rmtree(tmp_path / "broker-1")
    kept = unpacked(PLACE / "4.3.1-kraft-other-cluster+swap-disks-p13.tar.xz", tmp_path / "incident")
    monkeypatch.chdir(kept.folder)
    brokers = [f"{path.name[7:]}={path}" for path in sorted(Path().glob("broker-*"))]
    answer = kcheck.recover(*brokers, metadata=[path for path in ("controller",) if Path(path).is_dir()])
    assert answer.mistaken
    assert answer.steps == ()
