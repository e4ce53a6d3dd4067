"""What loses a cluster whose controllers are lost, played on real ones; and that the plan goes around it."""

import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.ways import Way
from kcheck.disk.local import LOCAL
from kcheck.formats import quorum_state
from kcheck.model.cluster import QuorumState
from kcheck.records.raft_batch import voters_batch
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck as kcheck_command
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    LEADS,
    Nodes,
    copied,
    cut,
    followed,
    middle,
    same,
    wait_leads,
    wait_says,
)
from tests.oracle.clusters.test_lost_quorum import DYNAMIC, OTHERS, Base, base, planned, started
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

RELEASES = ("3.9.2", "4.3.1")
BY_PLAN = pytest.mark.parametrize("by_plan", [True, False])
"""Whether a test does what the plan says: then the cluster is as before."""
WAITS = re.compile("still catching up because we still don't know the high water mark")
NEW = 201
LONG = 25.0
"""Seconds in which controllers that can win an election have won it."""


def alone(nodes: Nodes) -> None:
    """Name controller 101 as the only voter, in every configuration."""
    for number in nodes.nodes:
        nodes.configure(number, [101])


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_a_stale_survivor_gets_the_copy_of_a_broker(version: str, base: Base, tmp_path: Path) -> None:
    """The plan; the refusal names what the survivor lacks, and what it loses where the user forces it."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        cut(nodes, 101, middle(nodes))
        refused = kcheck.recover_quorum(*nodes.arguments(101, *BROKERS), dead=OTHERS, way="static")
        assert [refusal.name for refusal in refused.refusals] == ["way"]
        assert "node 1" in refused.refusals[0].bring or "node 2" in refused.refusals[0].bring
        started(nodes, planned(nodes, 101, *BROKERS, way=Way.COPY, out=tmp_path / "out", dead=OTHERS), cluster)


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_a_stale_survivor_that_is_forced_makes_strays_of_what_it_lacks(
    version: str, base: Base, tmp_path: Path
) -> None:
    """Exactly the topics that the answer names; no broker keeps a snapshot that is beyond its log."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        cut(nodes, 101, middle(nodes))
        answer = kcheck.recover_quorum(
            *nodes.arguments(101, *BROKERS), dead=OTHERS, way="static", force=True, out=tmp_path / "out"
        )
        (copy,) = (row for row in answer.to_dict()["copies"] if row["node_id"] == 101)
        followed(nodes, answer)
        nodes[101].start()
        wait_leads(nodes[101])
        nodes.start(*BROKERS)
        named = copy["lacks"]["created"]
        assert named

        def stray_topics() -> list[str]:
            return sorted({name.rpartition("-")[0] for name in nodes.strays()})

        wait_for("strays", lambda: stray_topics() == named)


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_an_old_disk_that_is_put_back_gives_a_majority_without_the_last_topics(
    version: str, base: Base, tmp_path: Path
) -> None:
    """Two of three controllers elect one of themselves, and topics become stray; no verb calls that safe."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=[103]) as nodes:
        for number in (101, 102):
            cut(nodes, number, middle(nodes))
        here = nodes.arguments(101, 102, *BROKERS)
        for verb in ("recover", "elect", "cluster"):
            told = kcheck_command(verb, *here)
            assert told.code == 1
            assert "The controllers here lack metadata that the brokers have." in " ".join(told.out.split())
        controllers = [word for number in (101, 102) for word in ("--metadata", str(nodes[number].log_dirs[0]))]
        told = kcheck_command("preflight", str(nodes[1].dir / "server.properties"), *controllers)
        assert told.code == 1
        assert "abort P201 the controllers here have older metadata than broker 1" in " ".join(told.out.split())
        (refusal,) = kcheck.recover_quorum(*here).refusals
        assert refusal.name == "unnamed-nodes"
        lacked = sorted(set(nodes.image(1).topics) - set(read_copy(LOCAL, str(nodes.metadata(101)), 101).image.topics))
        assert lacked
        nodes.start(101, 102)
        wait_for("a leader", lambda: any(LEADS.search(nodes[one].log_since_start()) for one in (101, 102)))
        nodes.start(*BROKERS)
        wait_for("strays", lambda: sorted({name.rpartition("-")[0] for name in nodes.strays()}) == lacked)


@pytest.mark.parametrize("version", sampled(RELEASES))
@pytest.mark.parametrize("by_plan", [True, False])
def test_a_bad_byte_of_the_survivor_costs_all_that_follows(
    version: str, by_plan: bool, base: Base, tmp_path: Path
) -> None:
    """It starts without complaint, and every broker cuts its good copy; unless it gets the copy of a broker first."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        log = max(nodes.metadata(101).glob("*.log"))
        with LOCAL.open(str(log)) as source:
            batches = [*Walk(source)]
        data = bytearray(log.read_bytes())
        data[batches[len(batches) // 2].position + 70] ^= 1
        log.write_bytes(data)
        for path in nodes.metadata(101).glob("*.checkpoint"):
            path.unlink()
        if by_plan:
            started(nodes, planned(nodes, 101, *BROKERS, way=Way.COPY, out=tmp_path / "out", dead=OTHERS), cluster)
            return
        alone(nodes)
        nodes[101].start()
        wait_leads(nodes[101])
        nodes[1].spawn()
        cuts = re.compile(r"runcated to offset|runcating to offset|below the current end|Fully truncat")
        wait_for("a cut", lambda: cuts.search(nodes[1].log_since_start()) is not None)


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_empty_voters_that_start_first_take_the_cluster(version: str, base: Base, tmp_path: Path) -> None:
    """Two new controllers elect one of themselves; the log of the survivor is cut to theirs."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        before, voters = nodes.end(101), [101, 202, 203]
        for number in (202, 203):
            nodes.add(number, voters)
            nodes.format(number)
        nodes.configure(101, voters)
        for _ in range(6):  # until their epoch is above that of the survivor
            nodes.start(202, 203)
            wait_for(
                "an empty leader", lambda: any("ransition to Leader" in nodes[n].log_since_start() for n in (202, 203))
            )
            nodes[202].kill()
            nodes[203].kill()
        nodes.start(202, 203)
        nodes[101].spawn()
        wait_for("a cut", lambda: "runcat" in nodes[101].log_since_start() or nodes.end(101) < before)


@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_record_of_the_same_epoch_makes_two_histories(version: str, base: Base, tmp_path: Path) -> None:
    """The broker keeps a record of its own at that offset, without an error; kcheck finds it, and refuses."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=OTHERS) as nodes:
        copy = read_copy(LOCAL, str(nodes.metadata(1)), 1)
        cut(nodes, 101, copy.end - 3)
        own = read_copy(LOCAL, str(nodes.metadata(101)), 101)
        assert own.epoch == copy.epoch
        voters = [voter for voter in own.voter_set if voter.voter_id == 101]
        log = max(nodes.metadata(101).glob("*.log"))
        log.write_bytes(log.read_bytes() + voters_batch(own.end, own.epoch, 0, voters))
        state = QuorumState(-1, own.epoch, -1, None, "A" * 22)
        (nodes.metadata(101) / "quorum-state").write_bytes(quorum_state.serialize(state))
        nodes[101].start()
        wait_leads(nodes[101])
        nodes.start(1)
        wait_for("records of the new leader", lambda: nodes.end(1) > copy.end)
        nodes.kill()
        refused = kcheck.recover_quorum(*nodes.arguments(101, 1), dead=[2, *OTHERS])
        assert "two-histories" in [refusal.name for refusal in refused.refusals]


@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_stand_in_of_the_remembered_leader_ends(version: str, base: Base, tmp_path: Path) -> None:
    """The survivor tells it that it leads."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=OTHERS) as nodes:
        own = read_copy(LOCAL, str(nodes.metadata(101)), 101)
        path = nodes.metadata(101) / "quorum-state"
        path.write_bytes(quorum_state.serialize(QuorumState(102, own.epoch, -1, None, "A" * 22)))
        (voter,) = (voter for voter in own.voter_set if voter.voter_id == 102)
        nodes.add(102)
        folder = nodes[102].log_dirs[0]
        folder.mkdir()
        (folder / "meta.properties").write_text(
            f"node.id=102\ndirectory.id={voter.directory_id}\nversion=1\ncluster.id={nodes.cluster_id}\n"
        )
        (folder / "bootstrap.checkpoint").write_bytes((nodes[101].log_dirs[0] / "bootstrap.checkpoint").read_bytes())
        nodes[101].spawn()
        time.sleep(2)
        nodes[102].spawn()
        time.sleep(20)
        assert not nodes[102].alive


@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_brokers_run_on_while_a_record_names_the_voter(version: str, base: Base, tmp_path: Path) -> None:
    """Where the log names the voters, no configuration changes."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=()) as nodes:
        nodes.start(*CONTROLLERS)
        nodes.start(*BROKERS)
        time.sleep(4)
        for number in CONTROLLERS:
            nodes[number].kill()
        for number in OTHERS:
            del nodes.nodes[number]
        answer = planned(nodes, 101, *BROKERS, way=Way.VOTERS, out=tmp_path / "out", dead=OTHERS)
        followed(nodes, answer)
        nodes[101].start()
        wait_leads(nodes[101])
        same(nodes, cluster)


STARTS_WITH = {
    "3.3.2": "is different from the voter set read from the state file",
    "3.6.2": "is different from the voter set read from the state file",
    "3.8.1": "Leader 103 must be in the voter set",
    "3.9.2": LEADS.pattern,
}
"""What a node says whose quorum-state has a lost voter and leader: before 3.9 it ends."""


@pytest.mark.parametrize("version", sampled([*STARTS_WITH]))
def test_voters_of_a_state_that_the_configuration_does_not_name(version: str, base: Base, tmp_path: Path) -> None:
    """1.2: up to 3.8 the node ends; the plan sets the file aside on every node."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        answer = planned(nodes, 101, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=OTHERS)
        assert [plan.node_id for plan in answer.plans] == ([] if version > "3.9" else [101, *BROKERS])
        state = nodes.metadata(101) / "quorum-state"
        state.write_text(json.dumps(json.loads(state.read_text()) | {"leaderId": 103}))
        alone(nodes)
        nodes[101].spawn()
        wait_says(nodes[101], re.compile(STARTS_WITH[version]))


@pytest.mark.parametrize("version", sampled(RELEASES))
@BY_PLAN
def test_an_epoch_that_a_broker_has_seen_already(version: str, by_plan: bool, base: Base, tmp_path: Path) -> None:
    """1.3: the broker waits for ever, without an error; the epoch of the plan is above that of every node."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        state = nodes.metadata(1) / "quorum-state"
        document = json.loads(state.read_text())
        state.write_text(json.dumps(document | {"leaderId": -1, "leaderEpoch": 99, "votedId": -1}))
        if by_plan:
            started(nodes, planned(nodes, 101, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=OTHERS), cluster)
            return
        alone(nodes)
        nodes[101].start()
        wait_leads(nodes[101])
        nodes[1].spawn()
        wait_says(nodes[1], WAITS)
        time.sleep(LONG)
        assert nodes[1].alive
        assert "started (kafka.server" not in nodes[1].log_since_start()


@pytest.mark.parametrize("version", sampled(DYNAMIC))
@pytest.mark.parametrize("formatted", [True, False])
def test_a_configuration_changes_no_voter_of_the_log(version: str, formatted: bool, base: Base, tmp_path: Path) -> None:
    """1.4: nobody wins. Neither does a new controller of `format --standalone`, which gets the log of a broker."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=CONTROLLERS if formatted else OTHERS) as nodes:
        number = NEW if formatted else 101
        if formatted:
            nodes.add(NEW, voters=[NEW])
            nodes.format(NEW, "--standalone")
            for path in nodes.metadata(1).iterdir():
                if path.name != "quorum-state":
                    shutil.copy(path, nodes.metadata(NEW))
        for each in nodes.nodes:
            nodes.configure(each, [number])
        nodes[number].spawn()
        time.sleep(LONG)
        assert LEADS.search(nodes[number].log_since_start()) is None


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_brokers_with_a_snapshot_end_where_their_log_is_cut_to_nothing(
    version: str, base: Base, tmp_path: Path
) -> None:
    """(d): of empty controllers in an epoch above theirs. `recover metadata` puts its snapshot above their copies."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        with_snapshots(nodes)
        for number in CONTROLLERS:
            del nodes.nodes[number]
        nodes.add(NEW, voters=[NEW])
        nodes.format(NEW)
        nodes.metadata(NEW).mkdir()
        for number in BROKERS:
            nodes.configure(number, [NEW])
        state = QuorumState(-1, 99, -1, (NEW,))
        (nodes.metadata(NEW) / "quorum-state").write_bytes(quorum_state.serialize(state))
        nodes[NEW].start()
        wait_leads(nodes[NEW])
        nodes[1].spawn()
        ends = "have a last fetch epoch and there is a snapshot"
        wait_for("its end", lambda: ends in nodes[1].log_since_start())


@pytest.mark.parametrize("version", sampled(RELEASES))
def test_brokers_with_a_later_snapshot_serve_another_cluster(version: str, base: Base, tmp_path: Path) -> None:
    """1.12: a stale survivor knows fewer topics than the brokers, and nobody says so.

    With --force the plan sets their copies aside: the test of a forced stale survivor.
    """
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        end = middle(nodes)
        with_snapshots(nodes)
        for number in OTHERS:
            del nodes.nodes[number]
        cut(nodes, 101, end)
        later = [number for number in BROKERS if any(_ends(nodes, number, end))]
        assert later == [*BROKERS]
        alone(nodes)
        state = QuorumState(-1, 99, -1, (101,))
        (nodes.metadata(101) / "quorum-state").write_bytes(quorum_state.serialize(state))
        nodes[101].start()
        wait_leads(nodes[101])
        nodes[later[0]].spawn()
        wait_for("records of the new leader", lambda: nodes.age(later[0])[0] == 100)
        time.sleep(LONG)
        assert nodes.strays() == []
        assert {*nodes.image(101).topics} < {*nodes.image(later[0]).topics}


def with_snapshots(nodes: Nodes) -> None:
    """Let all nodes run until each broker has a snapshot, as in production; the controllers keep their logs."""
    for number in BROKERS:
        path = nodes.dir / f"node-{number}" / "server.properties"
        path.write_text(path.read_text() + "metadata.log.max.record.bytes.between.snapshots=500\n")
    nodes.start(*CONTROLLERS, *BROKERS)
    wait_for("a snapshot", lambda: all(any(nodes.metadata(each).glob("*.checkpoint")) for each in BROKERS))
    nodes.kill()


def _ends(nodes: Nodes, number: int, end: int) -> Iterator[bool]:
    """Yield of each snapshot of a node whether it is beyond an offset."""
    for path in nodes.metadata(number).glob("*.checkpoint"):
        yield int(path.name[:20]) > end
