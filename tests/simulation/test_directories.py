"""What a simulated broker has on disk is what the other verbs read there, and they say what the simulator says next."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck import api
from kcheck.core.replication.truncation import leader_epoch_reply
from kcheck.disk.new_files import write_tree
from kcheck.errors import UsageError
from kcheck.model.entries import Epoch
from kcheck.simulation import followers, leaders
from kcheck.simulation.deliveries import deliver_all
from kcheck.simulation.directories import CLUSTER_ID, TOPIC_ID, broker_id, files_after, magic_of
from kcheck.simulation.logs import as_leader, started
from kcheck.simulation.replay import Replay, replay
from kcheck.simulation.script import parse
from kcheck.simulation.state import ClusterState, EpochsFile, PartitionState, ReplicaMode
from kcheck.simulation.world import World
from kcheck.verbs.simulate import Simulation, histories, simulate, write_directories

HISTORIES = {history.name: history for history in histories()}
RUNS = [(name, kafka) for name, history in HISTORIES.items() for kafka, _ in history.outcomes]
ROUNDS_MAX = 30
FORMATS = {
    "0.8.2": (0, set()),
    "0.9.0": (0, {"meta.properties"}),
    "0.10.2": (1, {"meta.properties"}),
    "2.7": (2, {"meta.properties", "log-start-offset-checkpoint", "leader-epoch-checkpoint"}),
    "4.3": (2, {"meta.properties", "log-start-offset-checkpoint", "leader-epoch-checkpoint", "partition.metadata"}),
}


def written(tmp_path: Path, run: Replay, step: int) -> list[str]:
    """Write the log dirs after a step; return their paths, with broker ids."""
    out = tmp_path / f"step-{step}"
    write_tree(str(out), files_after(run, step))
    return [f"{broker_id(number)}={out}/broker-{broker_id(number)}" for number in range(len(run.script.names))]


def steps_with_dead_brokers(run: Replay) -> Iterator[int]:
    """Yield the steps after which a broker is down, each new state of the disks once."""
    seen = set()
    for number, step in enumerate(run.steps):
        disks = tuple(
            (node.batches, node.epochs, node.checkpoint, node.flushed, node.log_start_offset, node.clean)
            for node in step.state.nodes
        )
        if not all(node.running for node in step.state.nodes) and disks not in seen:
            seen.add(disks)
            yield number


def torn(state: ClusterState) -> list[int]:
    """Return the brokers that do not start: a power loss has torn their leader-epoch-checkpoint."""
    return [number for number, node in enumerate(state.nodes) if node.epochs_file is EpochsFile.TORN]


def after_a_start(run: Replay, step: int) -> ClusterState:
    """Return the cluster if every process dies now and starts again, before anyone leads."""
    state = run.steps[step].state
    nodes = (
        node if not node.running else node._replace(clean=False, running=False, mode=ReplicaMode.NONE, lead=None)
        for node in state.nodes
    )
    fresh = (node._replace(leader=-1, leader_epoch=-1, partition_epoch=-1) for node in nodes)
    return state._replace(nodes=tuple(started(node, run.rules.release) for node in fresh), held=(), holding=frozenset())


def truncated_end(state: ClusterState, run: Replay, ends: tuple[int, int], epoch: int) -> tuple[str, int | None]:
    """Return the status of a follower when it has found where to truncate, and its log end; None if it exits."""
    leader, follower = ends
    world = World(state, run.rules)
    told = PartitionState(world.controller.epoch, leader, epoch, (leader,), 1 << 20)
    leaders.make_leader(world, leader, told)
    followers.make_follower(world, follower, told)
    deliver_all(world)
    for _ in range(ROUNDS_MAX):
        before = world.nodes[follower]
        followers.ask(world, follower)
        deliver_all(world)
        after = world.nodes[follower]
        if not after.running:
            return "ok", None
        if before.mode is ReplicaMode.FETCHING and after.log_end_offset >= before.log_end_offset:
            return "fetch_fails" if after.mode is ReplicaMode.FAILED else "ok", before.log_end_offset
    return "loops", world.nodes[follower].log_end_offset


@pytest.mark.sample(30)
@pytest.mark.parametrize(("name", "kafka"), RUNS)
def test_the_verbs_say_what_the_simulator_says(name: str, kafka: str, tmp_path: Path) -> None:
    """Log end, high watermark and epochs after a start; every follower's truncation; every answer about an epoch."""
    run = replay(parse(HISTORIES[name].text, name), kafka)
    release = run.rules.release
    for step in steps_with_dead_brokers(run):
        paths = written(tmp_path, run, step)
        hosts = run.steps[step].state.controller.seats.replicas
        state = after_a_start(run, step)
        log_dirs = api.predict(*paths, kafka=release).to_dict()["log_dirs"]
        offline = {log_dir["broker_id"] for log_dir in log_dirs if log_dir["outcome"] == "offline"}
        assert offline == {broker_id(number) for number in torn(state)}
        if offline:
            continue
        rows = {row["broker_id"]: row for log_dir in log_dirs for row in log_dir["partitions"]}
        for number in hosts:
            row, node = rows[broker_id(number)], state.nodes[number]
            assert (node.log_end_offset, node.high_watermark, node.log_start_offset) == (
                row["log_end_offset"], row["high_watermark"], row["log_start_offset"]
            )  # fmt: skip
            if release.has_leader_epochs:
                epochs = [{"epoch": entry.epoch, "start_offset": entry.start_offset} for entry in node.epochs]
                assert epochs == row["leader_epochs"]
        _hold_truncations(paths, run, state)
        _hold_answers(paths, run, state)


def _hold_truncations(paths: list[str], run: Replay, state: ClusterState) -> None:
    for plan in api.truncation(*paths, kafka=run.rules.release).to_dict()["partitions"]:
        for follower in plan["followers"]:
            ends = (plan["leader"] - 1, follower["broker_id"] - 1)
            outcome = truncated_end(state, run, ends, plan["leader_epoch"])
            exits = follower["exits_without_unclean_election"] and not run.rules.unclean
            assert (follower["status"], None if exits else follower["log_end_offset_after"]) == outcome


def _hold_answers(paths: list[str], run: Replay, state: ClusterState) -> None:
    if not run.rules.release.has_leader_epochs:
        return
    for row in api.end_offset(*paths, after_start=True, kafka=run.rules.release).to_dict()["answers"]:
        leader = as_leader(state.nodes[row["broker_id"] - 1])
        reply = leader_epoch_reply(leader, Epoch(row["requested_epoch"]), run.rules.release)
        assert (reply.epoch, reply.end_offset) == (row["epoch"], row["end_offset"])


@pytest.mark.parametrize("kafka", list(FORMATS))
def test_files_of_a_release(kafka: str) -> None:
    """A release has the files that it knows, with messages of its format."""
    run = replay(parse("brokers A B C\ntopic rf=2\nA leads\nappend 2\nfetch all\nstop B\ncrash A", "ticket"), kafka)
    files = files_after(run, len(run.steps) - 1)
    names = {path.rpartition("/")[2] for path in files}
    magic, some = FORMATS[kafka]
    assert magic == magic_of(run) == files["broker-1/simulated-0/00000000000000000000.log"][16]
    assert some == names & FORMATS["4.3"][1]
    assert "broker-2/.kafka_cleanshutdown" in files
    assert "broker-1/.kafka_cleanshutdown" not in files
    assert not any(path.startswith("broker-3/simulated") for path in files)
    assert {len(CLUSTER_ID), len(TOPIC_ID)} == {22}
    old = replay(parse("brokers A\ntopic message.format=0.10.0\nA leads\nappend 2", "ticket"), "2.7")
    assert 1 == magic_of(old)
    text = "brokers A\ntopic mode=zookeeper message.format=0.10.0\nA leads\nappend 2"
    assert 2 == magic_of(replay(parse(text, "ticket"), "3.5"))
    assert 1 == magic_of(replay(parse(text, "ticket"), "3.5", ibp="2.8"))


def test_nothing_is_wrong_with_the_files(tmp_path: Path) -> None:
    """A check of every record has no finding, with logs that have an index and were trimmed.

    Before KIP-107 a follower deletes its records itself.
    """
    appends = "append 400\n" * 3
    text = f"brokers A B\nA leads\n{appends}fetch all\ntrim A to 403\nfetch all\nstop B\nstop A"
    for kafka in ("0.10.2", "2.7", "4.3"):
        run = replay(parse(text, "ticket"), kafka)
        paths = written(tmp_path / kafka, run, len(run.steps) - 1)
        findings = api.check(*paths, depth="records", kafka=run.rules.release).to_dict()["findings"]
        assert (["KC405"] if kafka == "0.10.2" else []) == [finding["id"] for finding in findings]
        starts = [
            log_dir["partitions"][0] for log_dir in api.predict(*paths, kafka=run.rules.release).to_dict()["log_dirs"]
        ]
        assert ([400, 0] if kafka == "0.10.2" else [403, 403]) == [row["log_start_offset"] for row in starts]
        assert [1200] * 2 == [row["log_end_offset"] for row in starts]
    assert 16 == len(files_after(run, len(run.steps) - 1)["broker-1/simulated-0/00000000000000000000.index"])


def test_a_directory_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    """Nor is anything written in a log dir, or for a step that the history does not have."""
    answer = simulate("kip-966", kafka="4.3")
    assert isinstance(answer, Simulation)
    write_directories(answer.replay, str(tmp_path), 0)
    with pytest.raises(UsageError, match="is not empty"):
        write_directories(answer.replay, str(tmp_path))
    with pytest.raises(UsageError, match="is inside of"):
        write_directories(answer.replay, str(tmp_path / "broker-1" / "new"))
    with pytest.raises(UsageError, match="use 0 to"):
        write_directories(answer.replay, str(tmp_path / "new"), 1000)
    with pytest.raises(UsageError, match="cannot read"):
        write_directories(answer.replay, str(tmp_path / "broker-1" / "meta.properties"))
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(("kafka", "end"), [("0.10.2", 7), ("2.7", 0)])
def test_a_power_loss_inside_of_an_append(kafka: str, end: int, tmp_path: Path) -> None:
    """Old messages stand alone, so that some of an append survive; a batch goes as a whole."""
    text = "brokers A B\ntopic unclean=true\nA leads\nappend 10\nfetch all\ncheckpoint B\npower-loss B from 7\n"
    run = replay(parse(text, "ticket"), kafka)
    paths = written(tmp_path, run, len(run.steps) - 1)
    starts = api.predict(paths[1], kafka=run.rules.release).to_dict()["log_dirs"][0]["partitions"]
    assert [end] == [row["log_end_offset"] for row in starts]
    rest = (
        f"start B\nexpect B leo {end}\nfetch all\nexpect B leo 10 hw 10\nexpect nothing lost\nexpect nothing diverged"
    )
    again = replay(parse(text + rest, "ticket"), kafka)
    assert () == again.failed
    assert again.steps[-1].state.nodes[0].batches == again.steps[-1].state.nodes[1].batches
