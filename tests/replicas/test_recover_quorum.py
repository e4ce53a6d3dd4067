"""`kcheck recover quorum`: what is on the disks, the plan of each node, and its files; undo gives the bytes of before.

Real nodes of 4.3.1 left the directories: three brokers that are controllers too (fixtures/README.md).
"""

import fcntl
import json
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.core.rescue.ways import Way
from kcheck.disk.apply import apply, undo
from kcheck.disk.local import LOCAL
from kcheck.errors import UsageError
from kcheck.model.cluster import Voter
from kcheck.model.names import log_name
from kcheck.plans.recover_quorum import QuorumRecovery
from kcheck.records.raft_batch import voters_batch
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck as command
from tests.disk.plans import state
from tests.oracle.scenes import FIXTURES

QUORUM = FIXTURES / "clusters" / "4.3.1" / "quorum"
METADATA = "__cluster_metadata-0"
DEAD = (1, 2)
EPOCH_AT = 12
"""Where a batch has its epoch."""


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    """Return the folder of the nodes."""
    return laid_out(tmp_path)


def laid_out(tmp_path: Path) -> Path:
    """Copy the disks of nodes 1 to 3."""
    shutil.copytree(QUORUM, tmp_path / "nodes")
    for path in (tmp_path / "nodes").rglob("server.properties"):
        path.unlink()
    return tmp_path / "nodes"


def asked(nodes: Path, *numbers: int, **how: Any) -> QuorumRecovery:
    """Return the answer for some of the nodes."""
    return kcheck.recover_quorum(*(f"{number}={nodes}/broker-{number}" for number in numbers), **how)


def names(answer: QuorumRecovery) -> list[str]:
    """Return the names of the refusals."""
    return [refusal.name for refusal in answer.refusals]


def log(nodes: Path, number: int) -> Path:
    """Return the metadata log of a node, which has one segment."""
    return nodes / f"broker-{number}" / "data1" / METADATA / log_name(0)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let another process hold the lock of a log dir."""
    told, go = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        with path.open("w+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            os.write(told[1], b"x")
            os.read(go[0], 1)
        os._exit(0)
    os.read(told[0], 1)
    try:
        yield
    finally:
        os.write(go[1], b"x")
        os.waitpid(child, 0)
        for descriptor in (*told, *go):
            os.close(descriptor)


def dynamic(nodes: Path, number: int) -> None:
    """Let the log of a node name three voters."""
    copy = read_copy(LOCAL, str(log(nodes, number).parent), number)
    directory = copy.directory_id or ""
    voters = [
        Voter(each, directory if each == number else "A" * 21 + str(each), (f"C://h{each}:1",)) for each in (1, 2, 3)
    ]
    log(nodes, number).write_bytes(log(nodes, number).read_bytes() + voters_batch(copy.end, copy.epoch, 7, voters))


def new_disk(nodes: Path, number: int, *, formatted: bool = True) -> Path:
    """Make the disk of a new controller."""
    folder = nodes / f"broker-{number}" / "data1"
    folder.mkdir(parents=True)
    if formatted:
        text = (nodes / "broker-3" / "data1" / "meta.properties").read_text()
        (folder / "meta.properties").write_text(text.replace("node.id=3", f"node.id={number}"))
    return folder


def test_a_survivor_of_static_voters(nodes: Path, tmp_path: Path) -> None:
    """The configuration alone changes: no plan of files."""
    answer = asked(nodes, 3, dead=DEAD, out=tmp_path / "out")
    assert answer.rescue is not None
    assert (answer.rescue.way, answer.rescue.retired, answer.plans) == (Way.STATIC, (1, 2), ())
    assert answer.sentences[0] == "2 of 3 controllers have lost the metadata (1 and 2): no leader can be elected."
    assert sorted(os.listdir(tmp_path / "out")) == ["recovery.json", "recovery.md"]
    assert answer.next_command == f"kcheck recover {tmp_path}/out --next 3={nodes}/broker-3"
    assert json.loads((tmp_path / "out" / "recovery.json").read_text())["schema"] == "kcheck.recovery-quorum/1"


def test_a_new_controller_gets_the_newest_copy_and_undo_takes_it_back(nodes: Path, tmp_path: Path) -> None:
    """Its directory is created by apply, and removed by undo."""
    new = new_disk(nodes, 201)
    before = state(new)
    answer = asked(nodes, 201, 3, dead=[1, 2, 3], voter="201@new:9093", out=tmp_path / "out")
    assert answer.rescue is not None
    assert (answer.rescue.way, answer.rescue.address) == (Way.COPY, "new:9093")
    plan = (tmp_path / "out" / "plan-201.json").read_bytes()
    apply(plan, str(tmp_path / "backup"))
    copy = read_copy(LOCAL, str(new / METADATA), 201)
    assert (copy.end, copy.defects) == (read_copy(LOCAL, str(log(nodes, 3).parent), 3).end, ())
    assert copy.elected is not None
    assert (copy.elected.leader_epoch, copy.elected.voters) == (2, (201,))
    undo(str(tmp_path / "backup"))
    assert state(new) == before
    shown = command("recover", "quorum", f"201={nodes}/broker-201", f"3={nodes}/broker-3", "--dead", "1", "--dead", "2",
                    "--dead", "3", "--voter", "201@new:9093")  # fmt: skip
    assert shown.code == 0
    assert "Way back: copy, with controller 201." in shown.out
    assert "Next:\n  kcheck recover quorum 201=" in shown.out


def test_a_stale_survivor_gets_the_newer_copy_in_the_place_of_its_own(nodes: Path, tmp_path: Path) -> None:
    """What the copy does not have moves into the backup."""
    own = log(nodes, 3)
    own.write_bytes(own.read_bytes()[:-72])
    before = state(nodes / "broker-3")
    answer = asked(nodes, 3, 2, dead=[1, 2], out=tmp_path / "out")
    assert answer.rescue is not None
    assert answer.rescue.way is Way.COPY
    assert "lacks" in json.dumps(answer.to_dict())
    assert answer.next_command is not None
    assert answer.next_command.startswith("kcheck apply ")
    apply((tmp_path / "out" / "plan-3.json").read_bytes(), str(tmp_path / "backup"))
    assert own.read_bytes() == log(nodes, 2).read_bytes()
    undo(str(tmp_path / "backup"))
    assert state(nodes / "broker-3") == before


def test_a_record_names_the_survivor_after_a_torn_batch(nodes: Path, tmp_path: Path) -> None:
    """The torn batch is cut, and the record begins a segment of its own."""
    dynamic(nodes, 3)
    end = read_copy(LOCAL, str(log(nodes, 3).parent), 3).end
    whole = log(nodes, 3).read_bytes()
    log(nodes, 3).write_bytes(whole + whole[:50])
    (log(nodes, 3).parent / f"{end:020d}.index").write_bytes(bytes(8))
    before = state(nodes / "broker-3")
    answer = asked(nodes, 3, dead=DEAD, way="voters", out=tmp_path / "out")
    apply((tmp_path / "out" / "plan-3.json").read_bytes(), str(tmp_path / "backup"))
    copy = read_copy(LOCAL, str(log(nodes, 3).parent), 3)
    assert (copy.end, copy.epoch, copy.defects, copy.voters) == (end + 1, 2, (), frozenset({3}))
    assert answer.rescue is not None
    assert answer.rescue.address == "h3:1"
    undo(str(tmp_path / "backup"))
    assert state(nodes / "broker-3") == before


def test_a_stand_in_gets_the_ids_of_a_lost_voter(nodes: Path, tmp_path: Path) -> None:
    dynamic(nodes, 3)
    answer = asked(nodes, 3, dead=DEAD, out=tmp_path / "out")
    assert answer.rescue is not None
    (stand_in,) = answer.rescue.stand_ins
    folder = tmp_path / "out" / f"stand-in-{stand_in.node_id}"
    assert f"node.id={stand_in.node_id}\ndirectory.id=" in (folder / "meta.properties").read_text()
    assert (folder / "bootstrap.checkpoint").read_bytes() == (
        nodes / "broker-3" / "data1" / "bootstrap.checkpoint"
    ).read_bytes()
    runbook = (tmp_path / "out" / "recovery.md").read_text()
    assert "remove-controller --controller-id" in runbook


def test_a_majority_is_told_to_start(nodes: Path) -> None:
    """A user can pass over it; then the other controller comes back empty."""
    assert names(asked(nodes, 2, 3, dead=[1])) == ["majority"]
    forced = asked(nodes, 2, 3, dead=[1], force=True)
    assert [refusal.name for refusal in forced.warnings] == ["majority"]
    (dropped,) = forced.plans
    assert {type(operation).__name__ for operation in dropped.plan.operations} == {"SetAside"}


def test_nobody_is_sent_to_start_damaged_controllers(nodes: Path) -> None:
    """Each of three would truncate its log, and lead; the metadata comes from elsewhere."""
    for number in (1, 2, 3):
        data = bytearray(log(nodes, number).read_bytes())
        data[300] ^= 1
        log(nodes, number).write_bytes(data)
    answer = asked(nodes, 1, 2, 3)
    assert names(answer) == ["damaged"]
    assert "kcheck recover metadata" in answer.refusals[0].bring
    assert answer.sentences[0].startswith("3 of 3 controllers have lost all or a part of the metadata")
    assert answer.sentences[1] == "Do not start any controller yet."
    paths = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]
    for verb in ("recover", "elect", "cluster"):
        done = command(verb, *paths)
        assert done.code == 1
        assert "3 of 3 controllers have corrupt metadata logs" in " ".join(done.out.split())
        assert f"kcheck recover quorum {paths[0]}" in " ".join(done.out.split())


def test_a_node_without_its_identity_is_refused_once(nodes: Path) -> None:
    (nodes / "broker-3" / "data1" / "meta.properties").unlink()
    assert names(asked(nodes, 3, dead=DEAD)) == ["no-cluster-id"]


def test_an_unreadable_quorum_state_is_replaced(nodes: Path) -> None:
    """A torn one ends the node at its start."""
    (log(nodes, 3).parent / "quorum-state").write_bytes(b"")
    (plan,) = asked(nodes, 3, dead=DEAD).plans
    assert [operation.path.rpartition("/")[2] for operation in plan.plan.operations] == ["quorum-state"]


def test_nodes_that_are_not_named_are_asked_for(nodes: Path) -> None:
    shown = command("recover", "quorum", f"3={nodes}/broker-3")
    assert shown.code == 1
    assert "Refused: Nodes 1 and 2 may have seen a higher epoch or a newer copy." in shown.out
    assert "--dead 1" in shown.out


def test_two_clusters_are_told_apart(nodes: Path) -> None:
    path = nodes / "broker-2" / "data1" / "meta.properties"
    path.write_text(path.read_text().replace("cluster.id=", "cluster.id=A"))
    assert "two-clusters" in names(asked(nodes, 2, 3, dead=[1]))


def test_two_histories_are_told_apart(nodes: Path) -> None:
    """One batch differs in its bytes at the same offset of the same epoch."""
    path = log(nodes, 2)
    copy = read_copy(LOCAL, str(path.parent), 2)
    other = voters_batch(copy.end - 1, copy.epoch, 0, [])
    path.write_bytes(path.read_bytes()[:-72] + other)
    assert "two-histories" in names(asked(nodes, 2, 3, dead=[1]))


def test_a_running_node_is_left_alone(nodes: Path) -> None:
    with locked(nodes / "broker-3" / "data1" / ".lock"):
        assert names(asked(nodes, 3, dead=DEAD)) == ["running"]


def test_disks_without_any_metadata_are_refused(nodes: Path) -> None:
    for number in (2, 3):
        shutil.rmtree(log(nodes, number).parent)
    answer = asked(nodes, 2, 3)
    assert names(answer) == ["no-metadata"]
    assert answer.next_command is None
    assert answer.with_plan("never") is answer
    shown = command("recover", "quorum", f"3={nodes}/broker-3")
    assert "Refused: No log dir here has a copy of the metadata." in shown.out


def test_a_new_controller_without_format_is_refused(nodes: Path) -> None:
    new = new_disk(nodes, 201, formatted=False)
    answer = kcheck.recover_quorum(f"201={new}", f"3={nodes}/broker-3", dead=[1, 2, 3], voter="201")
    assert names(answer) == ["missing-disk"]
    (new / "meta.properties").write_text("version=1\nnode.id=201\n")
    answer = kcheck.recover_quorum(f"201={new}", f"3={nodes}/broker-3", dead=[1, 2, 3], voter="201")
    assert names(answer) == ["no-cluster-id"]


def test_settings_name_the_address_of_a_controller(nodes: Path) -> None:
    """That of controller.quorum.voters counts first; a listener of all addresses is none."""
    folder = nodes / "broker-3"
    base = f"process.roles=broker,controller\nnode.id=3\nlog.dirs={folder}/data1\n"
    base += "controller.listener.names=C\nlisteners=C://0.0.0.0:1,PLAINTEXT://h:2\n"
    for more, expected in (
        ("advertised.listeners=C://own:3\n", "own:3"),
        ("controller.quorum.voters=1@a:1,3@b:2\n", "b:2"),
        (f"metadata.log.dir={folder}/data1\n", "127.0.0.1"),
    ):
        (folder / "server.properties").write_text(base + more)
        answer = asked(nodes, 3, dead=DEAD)
        assert answer.rescue is not None
        assert (answer.rescue.address or "").startswith(expected)
    (folder / "server.properties").write_text(base.replace("broker,controller", "broker"))
    assert asked(nodes, 3, dead=DEAD).rescue is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x",), ": not a log dir"),
        (("9=broker-3",), "its meta.properties says node 3"),
        (("empty",), ": no node id"),
        (("3=broker-3", "--voter", "3@h"), "write NODE or NODE@HOST:PORT"),
        (("3=broker-3", "--voter", "3@h:99999"), "write NODE or NODE@HOST:PORT"),
        (("3=broker-3", "--way", "magic"), "--way magic: use one of static, identity, copy, voters"),
        (("3=broker-3", "--dead", "-1"), "--dead -1: must be from 0"),
        ((), "NODE=PATH... is missing"),
    ],
)
def test_arguments_that_make_no_sense(
    nodes: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(nodes)
    Path("x").touch()
    Path("empty").mkdir()
    shown = command("recover", "quorum", *arguments)
    assert shown.code == 2
    assert message in shown.err


def test_a_copy_that_is_too_large_for_a_plan_is_copied_by_hand(nodes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcheck.plans.rescue_files.CONTENT_SIZE_MAX", 100)
    new_disk(nodes, 201)
    with pytest.raises(UsageError, match=r"more than a plan carries; copy .* to the controller \(cp -a, without"):
        asked(nodes, 201, 3, dead=[1, 2, 3], voter="201@h:1")


def test_elect_and_recover_lead_here_where_a_majority_is_given_up(nodes: Path) -> None:
    """One of three is no majority."""
    sentence = "2 of 3 controllers are given up: no leader can be elected. Do not start any of them: "
    command_line = f"kcheck recover quorum 3={nodes}/broker-3 --dead 1 --dead 2"
    elected = kcheck.elect(f"3={nodes}/broker-3", dead=DEAD)
    assert elected.verdict.endswith(sentence + command_line)
    assert sentence + command_line in kcheck.recover(f"3={nodes}/broker-3", dead=DEAD).sentences
    assert kcheck.elect(f"2={nodes}/broker-2", f"3={nodes}/broker-3", dead=[1]).rescue is None


def test_the_premise_about_lost_metadata_leads_here(nodes: Path) -> None:
    """P202 names the command."""
    for number in (1, 2, 3):
        if number < 3:
            shutil.rmtree(log(nodes, number).parent)
        (nodes / f"broker-{number}" / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id={number}\nlog.dirs={nodes}/broker-{number}/data1\n"
        )
    arguments = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]
    findings = kcheck.cluster(*arguments, kafka="4.3").findings
    assert any("kcheck recover quorum" in finding.advice for finding in findings)


def test_disks_of_another_node_go_back_before_any_rescue(nodes: Path) -> None:
    """Of three nodes that are controllers too, two have each other's disks: `recover quorum` refuses these."""
    voters = ",".join(f"{number}@h:{number}" for number in (1, 2, 3))
    for number, own in ((1, 1), (2, 3), (3, 2)):
        (nodes / f"broker-{number}" / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id={own}\ncontroller.quorum.voters={voters}\n"
            f"log.dirs={nodes}/broker-{number}/data1\n"
        )
    answer = kcheck.recover(
        *(f"{own}={nodes}/broker-{number}" for number, own in ((1, 1), (2, 3), (3, 2))), kafka="4.3"
    )
    assert answer.election.rescue is None
    assert any("but the settings name 3. Solve that first" in sentence for sentence in answer.sentences)


def test_settings_that_a_start_refuses_are_mended_before_any_rescue(nodes: Path) -> None:
    """The logs of all voters are here: the plan for a lost quorum would give up two of them."""
    for number in (1, 2):
        (nodes / f"broker-{number}" / "server.properties").write_text(
            f"process.roles=broker,controller\nnode.id={number}\nlog.dirs={nodes}/broker-{number}/data1\nnum.partitions=x\n"
        )
    answer = kcheck.recover(*(f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)))
    first = answer.election.rescue
    assert first is not None
    assert first.why.startswith("No majority of the controllers starts. Controller 1 does not start: num.partitions")
    assert "; controller 2 does not start: " in first.why
    assert answer.next_command == first.command == f"kcheck preflight {nodes}/broker-1"
    assert command(*first.command.split()[1:]).code == 1
    (step,) = answer.texts
    assert step.title == "Solve what the command names, then ask kcheck recover again"


def test_lost_logs_lead_here_without_any_settings(nodes: Path) -> None:
    """The copy that is left names the voters: recover, elect and cluster say what two empty ones mean."""
    for number in (1, 2):
        shutil.rmtree(log(nodes, number).parent)
    arguments = [f"{number}={nodes}/broker-{number}" for number in (1, 2, 3)]
    sentence = f"2 of 3 controllers have lost their metadata (1 and 2): no majority has the history. Do not start any of them: kcheck recover quorum {' '.join(arguments)}"  # noqa: E501
    answer = kcheck.recover(*arguments)
    assert answer.sentences[0] == sentence
    assert [text.commands for text in answer.texts] == [(f"kcheck recover quorum {' '.join(arguments)}",)]
    assert answer.next_command == sentence[sentence.index("kcheck") :]
    assert kcheck.elect(*arguments).verdict == sentence
    shown = command("cluster", *arguments, columns=500)
    assert (shown.code, sentence in shown.out, "\nhealthy" in shown.out) == (1, True, False)
    assert command("recover", *arguments).code == command("elect", *arguments).code == 1


def test_one_controller_of_three_proves_no_health(nodes: Path) -> None:
    """Two are not here: they may run."""
    shown = command("cluster", f"3={nodes}/broker-3", columns=200)
    assert "\nnot known to be healthy. When this metadata was written: 1 partition, each with a leader" in shown.out
    assert "\nhealthy" not in shown.out
    answer = kcheck.recover(f"3={nodes}/broker-3")
    assert answer.election.rescue is None
    assert "If brokers 1 and 2 are lost, name --dead 1 --dead 2 instead." in answer.sentences
    lost = kcheck.recover(f"3={nodes}/broker-3", dead=(1, 2)).election
    assert lost.rescue is not None
    assert lost.rescue.command == f"kcheck recover quorum 3={nodes}/broker-3 --dead 1 --dead 2"


def reformatted(folder: Path) -> None:
    """Write the disks of two brokers, whose only controller was formatted again."""
    with tarfile.open(FIXTURES / "incidents" / "plans" / "controllers-reformatted.tar.xz") as tar:
        tar.extractall(folder, filter="data")


def test_a_controller_of_an_old_state_gets_the_copy_of_a_broker(tmp_path: Path) -> None:
    """Started, it would cut that copy: nobody is told to start it."""
    reformatted(tmp_path)
    arguments = [*(f"{number}={tmp_path}/broker-{number}" for number in (1, 2)), f"{tmp_path}/new-controller"]
    answer = kcheck.recover_quorum(*arguments)
    assert names(answer) == ["two-histories"]
    assert "(2 topics) and " in answer.refusals[0].why
    assert "(0 topics) do not have the same record at offset 0." in answer.refusals[0].why
    assert answer.sentences[1] == "Do not start any node yet."
    old = tmp_path / "new-controller" / METADATA
    shutil.rmtree(old)
    shutil.copytree(tmp_path / "broker-1" / "data" / METADATA, old)
    answer = kcheck.recover_quorum(*arguments)
    assert answer.sentences[:2] == (
        "1 of 1 controller lacks records that node 2 has (100): as leader, it would truncate the newer copy.",
        "Do not start any controller yet.",
    )
    assert answer.rescue is not None
    assert (answer.rescue.way, answer.rescue.target.node_id, answer.rescue.retired) == (Way.COPY, 100, ())
    assert len(answer.plans) == 1
    shutil.rmtree(old)
    answer = kcheck.recover_quorum(*arguments)
    assert answer.rescue is not None
    assert (answer.rescue.way, answer.rescue.target.node_id) == (Way.COPY, 100)


def test_a_new_history_of_a_higher_epoch_is_no_newer_copy(tmp_path: Path) -> None:
    """Empty voters elect each other until their epoch is above that of the brokers: no batch has the same epoch."""
    reformatted(tmp_path)
    folder = tmp_path / "new-controller" / METADATA
    with LOCAL.open(str(folder / log_name(0))) as source:
        positions = [batch.position for batch in Walk(source)]
    data = bytearray((folder / log_name(0)).read_bytes())
    for position in positions:
        data[position + EPOCH_AT : position + EPOCH_AT + 4] = bytes([0, 0, 0, 9])  # the CRC does not cover it
    (folder / log_name(0)).write_bytes(data)
    answer = kcheck.recover_quorum(*(f"{n}={tmp_path}/broker-{n}" for n in (1, 2)), f"{tmp_path}/new-controller")
    assert names(answer) == ["two-histories", "two-histories"]
    assert answer.sentences[1] == "Do not start any node yet."
    assert "Start them" not in json.dumps(answer.to_dict())


def test_controllers_that_lack_what_brokers_have_lead_here(tmp_path: Path) -> None:
    """The only controller was formatted again; named as metadata, it is one of the nodes of the rescue."""
    reformatted(tmp_path)
    brokers = [f"{number}={tmp_path}/broker-{number}" for number in (1, 2)]
    copy = f"{tmp_path}/new-controller"
    answer = kcheck.recover(*brokers, metadata=[f"{copy}/{METADATA}"])
    assert answer.next_command == f"kcheck recover quorum {' '.join(brokers)} {copy}"
    assert any("up to 130 records of 2 partitions would become stray" in sentence for sentence in answer.sentences)
    report = kcheck.cluster(*brokers, copy)
    assert report.rescue is not None
    assert report.rescue.command == answer.next_command


@pytest.mark.parametrize("way", [None, "copy"])
def test_a_corrupt_snapshot_is_set_aside_where_older_files_have_what_it_had(
    way: str | None, nodes: Path, tmp_path: Path
) -> None:
    """No node starts with it; a new controller gets the copy without it."""
    for number in (2, 3):
        (log(nodes, number).parent / SNAPSHOT).write_bytes(b"torn")
    if way is not None:
        new_disk(nodes, 201)
    before = state(nodes)
    if way is None:
        answer = asked(nodes, 3, dead=DEAD, out=tmp_path / "out")
    else:
        answer = asked(nodes, 3, 201, dead=(*DEAD, 3), voter="201@h:1", out=tmp_path / "out")
    assert names(answer) == []
    (plan,) = answer.plans
    apply((tmp_path / "out" / plan.name).read_bytes(), str(tmp_path / "backup"))
    folder = log(nodes, plan.node_id).parent
    assert [path.name for path in folder.glob("*.checkpoint")] == []
    copy = read_copy(LOCAL, str(folder), plan.node_id)
    assert (copy.problems, {*copy.image.topics}) == ((), {"voted"})
    undo(str(tmp_path / "backup"))
    assert before == state(nodes)
    (refusal,) = asked(nodes, 2, 3, dead=(1,)).refusals
    assert f"move {log(nodes, 2).parent}/{SNAPSHOT} and {log(nodes, 3).parent}/{SNAPSHOT} elsewhere" in refusal.bring


SNAPSHOT = f"{20:020}-{1:010}.checkpoint"
