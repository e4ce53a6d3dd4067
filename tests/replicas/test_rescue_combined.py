"""Three nodes that are broker and controller at once: empty disks, disks of others, and their way back as brokers.

Real nodes of 4.3.1 left the directories. The settings are like those that real nodes had.
"""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.disk.apply import apply
from kcheck.plans.recover_metadata import MetadataRecovery
from tests.cli.command import kcheck as command
from tests.replicas import test_recover_metadata as metadata
from tests.replicas import test_recover_quorum as quorum
from tests.replicas.test_rescue_inputs import METADATA, without_copies
from tests.replicas.test_rescue_progress import asked as progress
from tests.replicas.test_rescue_progress import leads, now

NODES = (1, 2, 3)
VOTERS = ",".join(f"{number}@c{number}:9093" for number in NODES)


def with_settings(nodes: Path, number: int, **more: object) -> Path:
    """Give a node the settings of a broker that is a controller too; return them."""
    folder = nodes / f"broker-{number}"
    listeners = f"PLAINTEXT://h{number}:9092,CONTROLLER://c{number}:9093"
    lines = {
        "process.roles": "broker,controller", "node.id": number, "controller.quorum.voters": VOTERS,
        "controller.listener.names": "CONTROLLER", "listeners": listeners, "advertised.listeners": listeners,
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT", "log.dirs": folder / "data1",
        **more,
    }  # fmt: skip
    (folder / "server.properties").write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    return folder / "server.properties"


def emptied(nodes: Path, number: int) -> Path:
    """Leave the empty mount point of a disk."""
    path = nodes / f"broker-{number}" / "data1"
    shutil.rmtree(path)
    path.mkdir()
    return path


def combined(tmp_path: Path, **changed: object) -> Path:
    """Return nodes of which 3 has an old copy, and 1 and 2 none; and the disk of controller 201."""
    nodes = quorum.laid_out(tmp_path)
    without_copies(nodes)
    for number in NODES:
        with_settings(nodes, number, **changed)
    new = quorum.new_disk(nodes, 201)
    shutil.copy(nodes / "broker-1" / "data1" / "bootstrap.checkpoint", new)
    identity = new / "meta.properties"
    identity.write_text(re.sub("directory.id=.+", "directory.id=AAAAAAAAQAaAAAAAAAAAAA", identity.read_text()))
    with_settings(
        nodes, 201,
        **{
            "process.roles": "controller", "listeners": "CONTROLLER://c201:9093",
            "advertised.listeners": "CONTROLLER://c201:9093", "controller.quorum.voters": "201@c201:9093",
        },
    )  # fmt: skip
    return nodes


def paths(nodes: Path, *numbers: int) -> list[str]:
    """Return the arguments that name nodes."""
    return [f"{number}={nodes}/broker-{number}" for number in numbers or (*NODES, 201)]


def refusals(answer: Any) -> Mapping[str, str]:
    """Return why there is no plan, by name."""
    return {row.name: row.why for row in answer.refusals}


def test_an_empty_disk_turns_no_refusal_off(tmp_path: Path) -> None:
    """The disk of node 2 still proves that the copy of node 3 is old; node 1 may have a newer one."""
    nodes = combined(tmp_path)
    empty = emptied(nodes, 1)
    answer = kcheck.recover_quorum(*paths(nodes, *NODES))
    assert refusals(answer) == {
        "missing-disk": f"{empty} of node 1 is missing or empty.",
        "stale-copy": "The newest copy, of node 3, does not have voted, and disks do.",
    }
    assert answer.sentences[:2] == (
        "1 of 3 controllers has lost the metadata (2): a leader may still be elected.",
        "The disk of controller 1 is not here, and can have newer metadata.",
    )
    given_up = kcheck.recover_quorum(*paths(nodes, *NODES), dead=[1])
    assert [*refusals(given_up)] == ["stale-copy"]


def test_an_empty_disk_becomes_no_new_controller(tmp_path: Path) -> None:
    """The disk may have the only copy."""
    nodes = combined(tmp_path)
    empty = emptied(nodes, 3)
    answer = kcheck.recover_metadata(*paths(nodes, *NODES))
    assert refusals(answer) == {
        "missing-disk": f"{empty} of node 3 is missing or empty.",
        "no-controller": "No disk of a new controller is here.",
    }
    assert answer.controller is None
    assert "from the disks of brokers 1 and 2." in answer.sentences[0]
    assert "missing-disk" in refusals(kcheck.recover_metadata(*paths(nodes, *NODES), voter="3"))
    assert refusals(kcheck.recover_metadata(*paths(nodes), dead=[3])) == {}


def test_a_broker_that_was_formatted_again_is_no_new_controller(tmp_path: Path) -> None:
    nodes = combined(tmp_path)
    new = emptied(nodes, 3)
    shutil.copy(nodes / "broker-1" / "data1" / "bootstrap.checkpoint", new)
    text = (nodes / "broker-1" / "data1" / "meta.properties").read_text()
    (new / "meta.properties").write_text(text.replace("node.id=1", "node.id=3"))
    answer = kcheck.recover_metadata(*paths(nodes, *NODES))
    assert refusals(answer) == {
        "controller-is-broker": "Node 3 is a broker by its settings, and its disk has no partition."
    }


@pytest.mark.parametrize("verb", ["recover", "elect", "cluster"])
def test_other_verbs_ask_for_the_disk(verb: str, tmp_path: Path) -> None:
    """Nothing that is not here counts as lost; a path without its node does not crash."""
    nodes = combined(tmp_path)
    emptied(nodes, 1)
    named = [f"{nodes}/broker-{number}/data1" for number in NODES] if verb == "cluster" else paths(nodes, *NODES)
    done = command(verb, *named, columns=1000)
    assert done.code == 1, done.err
    assert "1 of 3 controllers has lost its metadata (2)." in done.out
    assert "The disk of node 1 is missing or empty, and can have a copy. Mount it first." in done.out


def test_no_table_says_no_loss_where_the_metadata_comes_first(tmp_path: Path) -> None:
    """Which replica leads is not known without it."""
    nodes = combined(tmp_path)
    done = command("elect", *paths(nodes, *NODES), columns=200)
    (row,) = (line for line in done.out.splitlines() if line.startswith("choose the best leaders"))
    assert row.split()[4:] == ["?", "?", "?", "?"]


def test_a_controller_that_is_not_named(tmp_path: Path) -> None:
    """Without any copy here the settings name the node, whose disk can have records too."""
    nodes = combined(tmp_path)
    done = command("recover", *paths(nodes, 1, 2), columns=1000)
    assert "Node 3 is a controller by the settings. Name its log dirs too: kcheck recover metadata" in done.out
    answer = kcheck.recover_metadata(*paths(nodes, 1, 2, 201))
    assert refusals(answer) == {"unnamed-nodes": "Broker 3 may have records or metadata that no disk here has."}
    told = kcheck.recover_quorum(*paths(nodes, 3))
    assert told.sentences[0] == "The disks of controllers 1 and 2 are not here, and can have newer metadata."
    assert "unnamed-nodes" in refusals(told)


def test_the_disks_of_others(tmp_path: Path) -> None:
    """The metadata is that of the node that a disk belongs to, and so is the next command."""
    nodes = combined(tmp_path)
    swapped = [f"{number}={nodes}/broker-{other}/data1" for number, other in ((1, 3), (2, 2), (3, 1))]
    done = command("recover", *swapped, columns=1000)
    assert f"1={nodes}/broker-3/data1 is the disk of node 3." in done.out
    assert "2 of 3 controllers have lost their metadata (1 and 2)" in done.out
    assert (
        f"kcheck recover metadata 3={nodes}/broker-3/data1 2={nodes}/broker-2/data1 1={nodes}/broker-1/data1"
        in done.out
    )


def planned(nodes: Path, out: Path) -> MetadataRecovery:
    """Return the plan for all nodes."""
    answer = kcheck.recover_metadata(*paths(nodes), out=out)
    assert refusals(answer) == {}
    return answer


def test_the_plan_makes_them_brokers(tmp_path: Path) -> None:
    """Each gets its exact settings, and keeps its disk; `--next` does not go on before these are set."""
    nodes, out = combined(tmp_path), tmp_path / "out"
    answer = planned(nodes, out)
    steps = [step for step in answer.steps if step.title.startswith("Make node ")]
    assert [step.commands for step in steps] == [
        ("process.roles=broker", f"listeners=PLAINTEXT://h{n}:9092", f"advertised.listeners=PLAINTEXT://h{n}:9092")
        for n in NODES
    ]
    assert answer.steps[0].notes == ("Keep the disks of nodes 1, 2 and 3. They start again as brokers alone.",)
    assert answer.steps[-1].title == "Never start nodes 1, 2 and 3 as controllers again"
    apply((out / "plan-201.json").read_bytes(), str(out / "backup-201"))
    for number in NODES:
        with_settings(nodes, number, **{"controller.quorum.voters": "201@c201:9093"})
    told = progress(out, nodes, *NODES, 201)
    assert now(told) == ("next", "settings")
    assert told.sentences[1].startswith(f"Left: {nodes}/broker-1/server.properties needs process.roles=broker")
    for number, step in zip(NODES, steps, strict=True):
        changed = {key: value for key, _, value in (line.partition("=") for line in step.commands)}
        with_settings(nodes, number, **{"controller.quorum.voters": "201@c201:9093"} | changed)
    assert now(progress(out, nodes, *NODES, 201)) == ("next", "brokers")


def test_after_the_plan_all_verbs_let_the_nodes_start(tmp_path: Path) -> None:
    """The new controller has the newest snapshot, and no node a place among other voters."""
    nodes, out = combined(tmp_path), tmp_path / "out"
    answer = planned(nodes, out)
    apply((out / "plan-201.json").read_bytes(), str(out / "backup-201"))
    steps = [step for step in answer.steps if step.title.startswith("Make node ")]
    for number, step in zip(NODES, steps, strict=True):
        changed = {key: value for key, _, value in (line.partition("=") for line in step.commands)}
        with_settings(nodes, number, **{"controller.quorum.voters": "201@c201:9093"} | changed)
    for words in (["cluster"], ["recover"], []):
        done = command(
            *words, *(paths(nodes) if words == ["recover"] else [path.partition("=")[2] for path in paths(nodes)])
        )
        assert (done.code, "KC315" in done.out, "UNCLEAN" in done.out) == (0, False, False), done.out
    for number in NODES:
        settings = nodes / f"broker-{number}" / "server.properties"
        done = command("preflight", str(settings), "--metadata", f"{nodes}/broker-201/data1")
        assert "may start" in done.out, done.out
    assert refusals(kcheck.recover_quorum(*paths(nodes))).keys() == {"majority"}


def test_the_plan_of_a_quorum_makes_them_brokers_too(tmp_path: Path) -> None:
    """All but the controller that leads. Their disks are kept, as they are brokers."""
    nodes = combined(tmp_path)
    answer = kcheck.recover_quorum(*paths(nodes, *NODES), force=True, out=tmp_path / "out")
    assert [step.title.partition(",")[0] for step in answer.steps if step.title.startswith("Make ")] == [
        "Make node 1 a broker alone", "Make node 2 a broker alone",
    ]  # fmt: skip
    last = answer.steps[-1]
    assert last.title == "Never start these as controllers again"
    assert last.notes[0] == "Node 1 is a broker too. Keep its disk, and start the node only as a broker."
    shutil.rmtree(nodes / "broker-1")
    again = kcheck.recover_quorum(*paths(nodes, 2, 3), dead=[1], force=True)
    assert again.steps[-1].notes[0].endswith("With the old disk, first move __cluster_metadata-0 elsewhere.")


def test_no_verb_asks_for_a_quorum_again_once_all_settings_name_its_controller(tmp_path: Path) -> None:
    """The quorum-state of node 3 still has three voters, which 4.3.1 does not read; a controller left out is asked for.

    Nodes of 4.3.1 that were set like this started, and kept everything.
    """
    nodes = quorum.laid_out(tmp_path)
    for number in NODES:
        with_settings(nodes, number)
    for number in (1, 2):
        shutil.rmtree(nodes / f"broker-{number}" / "data1" / METADATA)
    here = paths(nodes, *NODES)

    def asks() -> dict[str, bool]:
        told = {verb: command(verb, *here, columns=1000).out for verb in ("cluster", "elect", "recover")}
        return {verb: "Do not start any of them: kcheck recover quorum" in out for verb, out in told.items()}

    assert asks() == dict.fromkeys(("cluster", "elect", "recover"), True)
    answer = kcheck.recover_quorum(*here, out=tmp_path / "out")
    assert answer.refusals == ()
    alone = {"controller.quorum.voters": "3@c3:9093"}
    with_settings(nodes, 3, **alone)
    assert asks() == dict.fromkeys(("cluster", "elect", "recover"), True)
    steps = [step for step in answer.steps if step.title.startswith("Make node ")]
    for number, step in zip((1, 2), steps, strict=True):
        with_settings(nodes, number, **alone | dict(line.split("=", 1) for line in step.commands if "=" in line))
    assert asks() == dict.fromkeys(("cluster", "elect", "recover"), False)


def test_a_voter_alone_is_not_green(tmp_path: Path) -> None:
    """The others can have lost their metadata, and then elect an empty history; one disk asks for theirs."""
    nodes = quorum.laid_out(tmp_path)
    settings = [str(with_settings(nodes, number)) for number in NODES]
    shutil.rmtree(nodes / "broker-1" / "data1" / METADATA)
    for words in ([f"{nodes}/broker-3/data1"], ["predict", settings[2]], ["preflight", settings[2]]):
        done = command(*words, columns=1000)
        assert (done.code, "No problems found" in done.out) == (1, False)
        assert "or run kcheck recover quorum if these are lost" in done.out
        assert done.out.endswith(f"Next:\n  kcheck {' '.join(words)} --metadata PATH\n")
    for verb in ("predict", "preflight"):
        done = command(verb, settings[0])
        assert (done.code, "The failed start removes" in done.out) == (1, False)
        assert done.out.endswith("Next:\n  kcheck help lost-quorum\n")


def test_a_broker_that_is_not_named_is_awaited(tmp_path: Path) -> None:
    """A plan is not done before all of its brokers are here."""
    nodes, out = metadata.laid_out(tmp_path), tmp_path / "out"
    plan = metadata.asked(nodes, 1, 2, 3, 201, out=out)
    assert plan.place is not None
    apply((out / "plan-201.json").read_bytes(), str(out / "backup-201"))
    folder = nodes / "broker-201" / "data1" / METADATA
    leads(folder, plan.place[1] + 1)
    for number in (1, 2):
        shutil.copytree(folder, nodes / f"broker-{number}" / "data1" / METADATA)
    told = progress(out, nodes, 1, 2, 201)
    assert now(told) == ("wait", "brokers")
    assert re.search(r"Broker 3 must start, .* Name their log dirs too: 3=PATH\.", told.sentences[0])


def test_a_refused_command_can_be_typed_again(tmp_path: Path) -> None:
    """The answers file of the refusal is kept and used; one that leaves out a replica here is refused."""
    nodes, out = combined(tmp_path), tmp_path / "out"
    line = ["recover", "metadata", *paths(nodes, 1, 2, 201), "--output-dir", str(out)]
    for _ in range(2):
        assert command(*line).code == 1
    assert [path.name for path in out.iterdir()] == ["answers.json"]
    again = kcheck.recover_metadata(*paths(nodes), out=out)
    assert refusals(again) == {
        "answers": "The answers leave out the replica of voted-0 on broker 3, which can have more records."
    }
    document = json.loads((out / "answers.json").read_text())
    document["topics"]["voted"]["replicas"]["0"] = [3, 2, 1]
    document["topics"]["voted"]["configs"] = {"retention.ms": "7"}
    (out / "answers.json").write_text(json.dumps(document))
    done = kcheck.recover_metadata(*paths(nodes), out=out)
    assert refusals(done) == {}
    assert done.rebuild.topics[0].configs == {"retention.ms": "7"}
    assert f"{out}/answers.json" not in done.written
    assert f"{out}/plan-201.json" in done.written


def test_metadata_of_a_backup_in_every_controller_is_red_in_every_verb(tmp_path: Path) -> None:
    """All three copies are equal, and older than the logs of nodes 1 and 2: node 3 could lead without their records."""
    nodes = quorum.laid_out(tmp_path)
    for number in NODES:
        with_settings(nodes, number)
    for number in (1, 2):
        (nodes / f"broker-{number}" / "data1" / "voted-0" / "leader-epoch-checkpoint").write_text("0\n1\n4 0\n")
    stale = "is older than voted-0 on the disks"
    named = [word for number in NODES for word in ("--metadata", f"{nodes}/broker-{number}/data1")]
    asked = {
        "preflight": ["preflight", f"{nodes}/broker-3/server.properties", *named],
        "cluster": ["cluster", *paths(nodes, *NODES)], "quorum": ["recover", "quorum", *paths(nodes, *NODES)],
    }  # fmt: skip
    for words in asked.values():
        done = command(*words, columns=1000)
        assert (done.code, stale in done.out, "everything that was committed" in done.out) == (1, True, False), done.out
    told = kcheck.recover_quorum(*paths(nodes, *NODES))
    assert told.sentences[-1] == "The disks of brokers are newer than that copy, so a part of the metadata is missing."
    (majority,) = (row.bring for row in told.refusals if row.name == "majority")
    assert majority.startswith("Do not start them.")
    assert "kcheck recover metadata" in command("cluster", *paths(nodes, *NODES), columns=1000).out
