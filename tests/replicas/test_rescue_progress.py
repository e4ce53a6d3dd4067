"""`kcheck recover DIR --next` with the plans of the rescues: done, wait, go on or stop; on the disks of real nodes."""

import json
import shutil
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.progress import RescueAction
from kcheck.disk.apply import apply
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.plans.rescue_progress import RescueProgress
from kcheck.records.raft_batch import voters_batch
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck as command
from tests.replicas import test_recover_metadata as metadata
from tests.replicas import test_recover_quorum as quorum
from tests.replicas import test_recover_topic as topic

METADATA = "__cluster_metadata-0"


def asked(out: Path, nodes: Path, *numbers: int) -> RescueProgress:
    """Return what to do now."""
    return kcheck.rescue_progress(out, *(f"{number}={nodes}/broker-{number}" for number in numbers))


def now(answer: RescueProgress) -> tuple[str, str | None]:
    """Return what to do, and the kind of the step."""
    return str(answer.state), None if answer.at is None else str(answer.steps[answer.at].action)


def leads(path: Path, epoch: int) -> None:
    """Let the log of a controller have a record of a new leader, which is a control record like any."""
    copy = read_copy(LOCAL, str(path), 1)
    log = max([*path.glob("*.log")], default=path / f"{copy.end:020}.log")
    data = log.read_bytes() if log.exists() else b""
    log.write_bytes(data + voters_batch(copy.end, epoch, 0, copy.voter_set))


def test_a_record_of_voters_to_the_end(tmp_path: Path) -> None:
    """Every node must be named; what is applied is not asked for again."""
    nodes, out = quorum.laid_out(tmp_path), tmp_path / "out"
    quorum.dynamic(nodes, 3)
    quorum.log(nodes, 2).write_bytes(quorum.log(nodes, 3).read_bytes())
    quorum.asked(nodes, 2, 3, dead=[1], way="voters", voter="3", force=True, out=out)
    assert now(asked(out, nodes, 2, 3)) == ("next", "apply")
    apply((out / "plan-3.json").read_bytes(), str(out / "backup-3"))
    answer = asked(out, nodes, 2, 3)
    assert [line for step in answer.shown for line in step.commands] == [
        f"kcheck apply {out}/plan-2.json --backup {out}/backup-2 --yes"
    ]
    apply((out / "plan-2.json").read_bytes(), str(out / "backup-2"))
    answer = asked(out, nodes, 2, 3)
    assert now(answer) == ("next", "controller")
    assert answer.until == "the metadata log of the controller has a record of a new leader"
    folder = quorum.log(nodes, 3).parent
    leads(folder, 3)
    assert now(asked(out, nodes, 2, 3)) == ("next", "brokers")
    (nodes / "broker-2" / "data1" / METADATA).rmdir()
    shutil.copytree(folder, nodes / "broker-2" / "data1" / METADATA)
    answer = asked(out, nodes, 2, 3)
    assert now(answer) == ("done", None)
    assert answer.sentences == ("Done. The cluster is as planned, with broker 2.",)
    assert (answer.next_command, [step.action for step in answer.later]) == (None, [RescueAction.LATER] * 2)


def test_what_changed_since_stops_the_plan(tmp_path: Path) -> None:
    """The exit code says so, and the command that plans again."""
    nodes, out = quorum.laid_out(tmp_path), tmp_path / "out"
    quorum.dynamic(nodes, 3)
    quorum.asked(nodes, 3, dead=quorum.DEAD, way="voters", out=out)
    (out / "backup").mkdir()
    (nodes / "broker-3" / "data1" / METADATA / "quorum-state").write_text("{}")
    done = command("recover", str(out), "--next", f"3={nodes}/broker-3")
    assert done.code == 1
    assert "Stop:" in done.out
    assert "has changed since the plan was made" in " ".join(done.out.split())
    assert f"kcheck recover quorum 3={nodes}/broker-3 --dead 1 --dead 2" in done.out


def test_the_controller_of_the_plan_must_be_named(tmp_path: Path) -> None:
    nodes, out = quorum.laid_out(tmp_path), tmp_path / "out"
    quorum.asked(nodes, 3, dead=quorum.DEAD, out=out)
    with pytest.raises(UsageError, match="needs the log dir of controller 3"):
        asked(out, nodes, 2)


def test_metadata_made_again_to_the_end(tmp_path: Path) -> None:
    """The ISR has one replica until the others have followed; a directory that is set aside stops it."""
    nodes, out = metadata.laid_out(tmp_path), tmp_path / "out"
    plan = metadata.asked(nodes, 1, 2, 3, 201, out=out)
    assert plan.place is not None
    assert now(asked(out, nodes, 1, 2, 3, 201)) == ("next", "apply")
    apply((out / "plan-201.json").read_bytes(), str(out / "backup-201"))
    answer = asked(out, nodes, 1, 2, 3, 201)
    assert (now(answer), len(answer.shown)) == (("next", "settings"), 3)
    folder = nodes / "broker-201" / "data1" / METADATA
    leads(folder, plan.place[1] + 1)
    assert now(asked(out, nodes, 1, 2, 3, 201)) == ("next", "brokers")
    for number in (1, 2):
        shutil.copytree(folder, nodes / f"broker-{number}" / "data1" / METADATA)
    answer = asked(out, nodes, 1, 2, 3, 201)
    assert now(answer) == ("wait", "brokers")
    assert "Broker 3 must start" in answer.sentences[0]
    shutil.copytree(folder, nodes / "broker-3" / "data1" / METADATA)
    answer = asked(out, nodes, 1, 2, 3, 201)
    assert now(answer) == ("wait", "check")
    assert "1 partition without a leader: voted-0" in answer.sentences[0]
    stray = nodes / "broker-1" / "data1" / f"{metadata.TOPIC}-0.{'0' * 32}-stray"
    stray.mkdir()
    answer = asked(out, nodes, 1, 2, 3, 201)
    assert (answer.state, answer.fails) == ("stop", (f"broker 1 has set {stray} aside",))


def test_a_controller_that_starts_with_the_metadata_as_first_records(tmp_path: Path) -> None:
    """It does not lead for the brokers before its log has the topics."""
    nodes, out = metadata.laid_out(tmp_path), tmp_path / "out"
    metadata.asked(nodes, 1, 2, 3, 201, bootstrap=True, out=out)
    apply((out / "plan-201.json").read_bytes(), str(out / "backup-201"))
    folder = nodes / "broker-201" / "data1" / METADATA
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(voters_batch(0, 1, 0, ()))
    assert now(asked(out, nodes, 1, 2, 3, 201)) == ("wait", "controller")


def test_directories_of_a_deleted_topic_to_the_end(tmp_path: Path) -> None:
    """A broker that has loaded one has its indexes again."""
    nodes, out = topic.laid_out(tmp_path), tmp_path / "out"
    plan = topic.asked(nodes, out=out)
    assert now(asked(out, nodes, 1, 2, 3)) == ("next", "apply")
    first, *others = plan.plans
    apply((out / first.name).read_bytes(), str(out / "backup-first"))
    answer = asked(out, nodes, 1, 2, 3)
    assert first.name not in " ".join(answer.shown[0].commands)
    assert others[0].name in answer.shown[0].commands[0]
    for one in others:
        apply((out / one.name).read_bytes(), str(out / f"backup-{one.name}"))
    assert now(asked(out, nodes, 1, 2, 3)) == ("next", "brokers")
    for number in (1, 2, 3):
        folder = nodes / f"broker-{number}" / "data1" / f"{topic.TOPIC}-0"
        for log in folder.glob("*.log"):
            log.with_suffix(".index").write_bytes(b"")
        assert now(asked(out, nodes, 1, 2, 3))[0] == ("wait" if number < 3 else "done")
    elsewhere = json.loads((out / "recovery.json").read_text())
    elsewhere["topic_id"] = "A" * 22
    (out / "recovery.json").write_text(json.dumps(elsewhere))
    assert "has no topic" in " ".join(asked(out, nodes, 1, 2, 3).fails)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"steps": [{"title": "t", "commands": [], "notes": [], "is_text": False, "action": "dance"}]}, "is no step"),
        ({"topic": "no/topic"}, "is not a topic name"),
        ({"plans": [{"broker_id": 1, "kind": "../x"}]}, "is no kind of plan"),
        ({"schema": "kcheck.recovery/1"}, "no plan of recover quorum"),
        ({"plans": [{"broker_id": 9, "kind": "files"}]}, "plan-9-files.json: No such file"),
    ],
)
def test_a_plan_that_somebody_edited_is_refused(change: dict[str, object], why: str, tmp_path: Path) -> None:
    nodes, out = topic.laid_out(tmp_path), tmp_path / "out"
    topic.asked(nodes, out=out)
    path = out / "recovery.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=why):
        asked(out, nodes, 1, 2, 3)
