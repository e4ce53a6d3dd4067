"""What premises make of a plan: the starts without it and with it, and what a person has to do."""

import os
import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.apply import apply
from kcheck.disk.rights import rights_of
from kcheck.model.premises import PremiseStatus
from kcheck.views import host_facts
from tests.cli.command import kcheck as command
from tests.repairs.test_cases import told
from tests.test_brokers import BROKERS

STOPPED = BROKERS / "4.3.1" / "stopped"


@pytest.fixture
def broker(tmp_path: Path) -> Path:
    """Copy a broker with two log dirs, and write its server.properties."""
    shutil.copytree(STOPPED / "broker-1", tmp_path / "broker-1")
    paths = ",".join(str(tmp_path / "broker-1" / name) for name in ("data1", "data2"))
    (tmp_path / "broker-1" / "server.properties").write_text(f"node.id=1\nprocess.roles=broker\nlog.dirs={paths}\n")
    return tmp_path / "broker-1"


def test_a_step_makes_a_premise_true(broker: Path, tmp_path: Path) -> None:
    """A meta.properties that names nothing: the broker does not start; with the plan it does, as predict says then."""
    (broker / "data2" / "meta.properties").write_text("")
    made = kcheck.repair(broker / "server.properties")
    now = kcheck.predict(broker / "server.properties")
    assert (told([*made.now]), made.premises) == (
        told([*now.log_dirs]),
        tuple(row for row in now.premises if row.id != "P801"),
    )
    assert {str(start.outcome) for start in made.now} == {"abort"}
    assert {str(start.outcome) for start in made.starts} == {"ok"}
    (operation,) = made.plan.operations
    assert operation.why.broker_now == f"the broker does not start: {made.now[0].reasons[0]}"
    assert (operation.why.broker_after or "").startswith("the log dir is loaded")
    assert "KC315" not in {row.finding for row in made.not_planned}
    apply(made.plan_bytes(), str(tmp_path / "undo"))
    assert told([*made.starts]) == told([*kcheck.predict(broker / "server.properties").log_dirs])


def test_a_plan_with_nothing_to_do_for_kcheck(broker: Path) -> None:
    """The settings name another broker: a person has to act, and the exit code says so."""
    settings = broker / "server.properties"
    settings.write_text(settings.read_text().replace("node.id=1", "node.id=7"))
    sentence = "meta.properties says broker 1, but the settings name 7"
    for answer in (command("repair", settings), command("repair", broker)):
        assert (answer.code, "nothing to do" in answer.out) == (1, False)
        assert sentence in " ".join(answer.out.split())
    document = kcheck.repair(broker / "data1", config=settings).to_dict()
    assert ["P102"] == [row["id"] for row in document["premises"] if row["status"] == "refuted"][:1]
    assert ("KC315", "fatal") in {(row["finding"], row["severity"]) for row in document["refused"]}
    assert kcheck.repair(settings, keep=lambda *_: False).not_planned == ()


def test_a_log_dir_that_is_missing(broker: Path) -> None:
    """It is a premise, and no path that kcheck cannot read."""
    shutil.rmtree(broker / "data2")
    made = kcheck.repair(broker / "server.properties")
    now = kcheck.predict(broker / "server.properties").log_dirs
    assert told([*made.now]) == told([*now]) == told([*made.starts])
    assert made.plan.operations == ()
    assert ["KC315"] == [row.finding for row in made.not_planned if row.severity.rank >= 2]
    assert made.collected == []
    assert command("repair", broker / "server.properties").code == 1


def test_a_log_dir_of_another_user(broker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A partition directory that the broker's user may not use; the plan does not change that."""
    refused = next(path.name for path in sorted((broker / "data1").iterdir()) if path.name.startswith("plain-"))
    user = os.getuid() + 1001

    def seen(path: str, name: str = "") -> object:
        rights = rights_of(path, name)
        return rights and rights._replace(user=user + 1 if name == refused else user, mode=0o700)

    monkeypatch.setattr(host_facts, "rights_of", seen)
    monkeypatch.setattr(host_facts, "rights_in", lambda *_: iter(()))
    made = kcheck.repair(broker)
    refuted = [premise.id for premise in made.premises if premise.status is PremiseStatus.REFUTED]
    assert refuted == ["P401"]
    assert told([*made.now]) == told([*kcheck.predict(broker).log_dirs])
    assert {str(start.outcome) for start in (*made.now, *made.starts)} == {"abort"}
