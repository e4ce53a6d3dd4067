"""Controllers whose disks are not here, and controllers that only settings name.

Real nodes of 4.3.1 left the directories. Brokers alone, and nodes with settings changed by a plan, were started so.
"""

import shutil
from pathlib import Path

import pytest

import kcheck
from tests.cli.command import kcheck as command
from tests.replicas import test_recover_metadata as metadata
from tests.replicas import test_recover_quorum as quorum
from tests.replicas.test_rescue_combined import NODES, paths, refusals, with_settings
from tests.replicas.test_rescue_inputs import METADATA, without_copies

BROKERS = quorum.QUORUM.parents[2] / "brokers" / "4.3.1" / "diverged"
AWAY = "Controller 100 is not here. If its disk is lost, start no node: kcheck recover quorum"


def test_every_verb_names_controllers_that_are_not_here(tmp_path: Path) -> None:
    """Brokers' disks do not show whether these are lost; the command has the user's own paths."""
    shutil.copytree(BROKERS, tmp_path / "d")
    one, two = (str(tmp_path / "d" / f"broker-{number}") for number in (1, 2))
    settings = tmp_path / "d" / "broker-1" / "server.properties"
    settings.write_text(f"process.roles=broker\nnode.id=1\nlog.dirs={tmp_path}/d/broker-1/data1\n")
    for verb, words in {
        "recover": [one, two], "elect": [one, two], "cluster": [one, two], "preflight": [str(settings)], "": [one],
    }.items():  # fmt: skip
        done = command(*filter(None, [verb]), *words, columns=1000)
        assert f"{AWAY} {' '.join(words)} --dead 100" in done.out, (verb, done.out)
    both = command(one, two, columns=1000)
    assert both.out.count(AWAY) == 1
    assert AWAY not in command("recover", one, two, "--dead", "100", columns=1000).out


def test_one_controller_of_three_is_not_safe(tmp_path: Path) -> None:
    """The others can elect another history, or be lost."""
    nodes = quorum.laid_out(tmp_path)
    with_settings(nodes, 3)
    shutil.rmtree(nodes / "broker-2" / "data1" / METADATA)
    for verb in ("recover", "elect"):
        done = command(verb, *paths(nodes, 3), columns=1000)
        asks = "Controllers 1 and 2 are not here. If their disks are lost, start no node: kcheck recover quorum"
        assert (done.code, f"{asks} {paths(nodes, 3)[0]} --dead 1 --dead 2" in done.out) == (1, True), done.out
    done = command("recover", *paths(nodes, 2, 3), columns=1000)
    assert (done.code, "Controller 2 has lost the metadata. Controller 1 is not here." in done.out) == (1, True)


def test_after_its_settings_every_verb_starts_the_only_controller(tmp_path: Path) -> None:
    """The quorum-state of node 3 still has three voters, which 4.3.1 does not read; 3.8 ends for it."""
    nodes = quorum.laid_out(tmp_path)
    for number in NODES:
        at = f"PLAINTEXT://h{number}:9092"
        role = {"listeners": at, "advertised.listeners": at, "process.roles": "broker"}
        with_settings(nodes, number, **{"controller.quorum.voters": "3@c3:9093"} | ({} if number == 3 else role))
    for number in (1, 2):
        shutil.rmtree(nodes / f"broker-{number}" / "data1" / METADATA)
    here = paths(nodes, *NODES)
    done = command("recover", *here, columns=1000)
    assert (done.code, "1. Start broker 3." in done.out) == (0, True)
    assert done.out.count("Needs: no other node of the cluster runs.") == 1
    elected = command("elect", *here, columns=1000)
    assert (elected.code, "Start broker 3 first: it is the controller." in elected.out) == (0, True)
    shown = command("cluster", *here, columns=1000)
    assert (shown.code, "controllers: voters 3," in shown.out) == (0, True)
    named = [word for number in (1, 2, 3) for word in ("--metadata", f"{nodes}/broker-{number}/data1")]
    for number in NODES:
        settings = nodes / f"broker-{number}" / "server.properties"
        assert "may start" in command("preflight", str(settings), *named).out
    answer = kcheck.recover_quorum(*here)
    assert refusals(answer) == {"majority": "1 controller of 1 is left (3): a majority."}
    assert "It is not known if its records were committed." in answer.sentences
    former = kcheck.recover_quorum(*here, kafka="3.6")
    assert former.loss is not None
    assert former.loss.voters == (1, 2, 3)


def test_topics_that_the_only_copy_does_not_have_are_red(tmp_path: Path) -> None:
    """Brokers would set their directories aside; a newer copy may be elsewhere."""
    nodes = quorum.laid_out(tmp_path)
    without_copies(nodes)
    for number in NODES:
        with_settings(nodes, number, **{"controller.quorum.voters": "3@c3:9093"} | (
            {} if number == 3 else {"process.roles": "broker"}
        ))  # fmt: skip
    done = command("cluster", *paths(nodes, *NODES), columns=1000)
    words = "The newest copy, of node 3, does not have voted, and disks do. Brokers set these directories aside."
    assert (done.code, words in done.out, "kcheck recover metadata" in done.out) == (1, True, True), done.out


def test_voters_that_do_not_start_are_red(tmp_path: Path) -> None:
    """A node in the list of voters that is a broker alone ends (P108)."""
    nodes = quorum.laid_out(tmp_path)
    for number in NODES:
        with_settings(nodes, number, **{"process.roles": "broker"})
    done = command("cluster", *(f"{nodes}/broker-{number}/data1" for number in NODES), columns=1000)
    assert (done.code, "process.roles is broker, but node 1 is in controller.quorum.voters" in done.out) == (1, True)


@pytest.mark.parametrize("protocols", [None, "PLAINTEXT:PLAINTEXT", "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"])
def test_settings_of_zookeeper_become_those_of_a_broker(protocols: str | None, tmp_path: Path) -> None:
    """As the plan says. Nothing is wrong with them before that."""
    nodes = metadata.laid_out(tmp_path)
    metadata.as_of_zookeeper(nodes)
    for number in NODES:
        lines = [f"broker.id={number}", "zookeeper.connect=z:2181", f"log.dirs={nodes}/broker-{number}/data1"]
        lines += [] if protocols is None else [f"listener.security.protocol.map={protocols}"]
        (nodes / f"broker-{number}" / "server.properties").write_text("\n".join([*lines, ""]))
    assert metadata.names(metadata.asked(nodes, *NODES, 201, kafka="4.3")) == []


def test_preflight_of_the_only_controller_says_what_it_did_not_compare(tmp_path: Path) -> None:
    """An older copy of its disk shows nothing by itself."""
    nodes = quorum.laid_out(tmp_path)
    settings = with_settings(nodes, 3, **{"controller.quorum.voters": "3@c3:9093"})
    lost = tmp_path / "lost"
    lost.mkdir()
    for number in (1, 2):
        shutil.move(nodes / f"broker-{number}" / "data1" / METADATA, lost / str(number))
        with_settings(nodes, number, **{"controller.quorum.voters": "3@c3:9093", "process.roles": "broker"})
    named = [word for number in (1, 2) for word in ("--metadata", f"{nodes}/broker-{number}/data1")]
    done = command("preflight", str(settings), *named, columns=1000)
    assert "not looked at: whether the brokers have newer metadata than this copy" in done.out, done.out
