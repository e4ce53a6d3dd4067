"""Clusters of other shapes, and damages that are no plain loss of disks: the way back, or the right refusal."""

import re
import shutil
import time
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.ways import Way
from kcheck.disk.local import LOCAL
from kcheck.views.metadata_copy import read_copy
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    LEADS,
    METADATA,
    QUORUM,
    Nodes,
    copied,
    cut,
    followed,
    middle,
    same,
    wait_leads,
)
from tests.oracle.clusters.test_lost_quorum import CANDIDATE, OTHERS, Base, base, planned, started
from tests.oracle.kafka import wait_for

__all__ = ["base"]

pytestmark = [pytest.mark.oracle, pytest.mark.whole]

FIVE = (101, 102, 103, 104, 105)
LONG = 25.0
"""Seconds in which controllers that can win an election have won it."""


def leads(nodes: Nodes, *each: int) -> bool:
    """Whether one of some controllers leads since its last start."""
    return any(LEADS.search(nodes[number].log_since_start()) is not None for number in each)


def test_two_of_five_static_controllers_are_left(base: Base, tmp_path: Path) -> None:
    """The one that lacks records comes back empty; the other one leads alone."""
    cluster, dead = base("4.3.1", dynamic=False, controllers=FIVE), FIVE[2:]
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=dead, controllers=FIVE) as nodes:
        cut(nodes, 102, middle(nodes))
        answer = planned(nodes, 101, 102, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=dead)
        assert [plan.node_id for plan in answer.plans] == [102]
        started(nodes, answer, cluster)


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_two_of_five_dynamic_controllers_get_a_stand_in(version: str, older: bool, base: Base, tmp_path: Path) -> None:
    """One empty node with the ids of a lost one makes three of five; one of the other two may lack records."""
    cluster, dead = base(version, dynamic=True, controllers=FIVE), FIVE[2:]
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=dead, controllers=FIVE) as nodes:
        if older:
            cut(nodes, 102, middle(nodes))
        answer = planned(nodes, 101, 102, *BROKERS, way=Way.IDENTITY, out=tmp_path / "out", dead=dead)
        followed(nodes, answer)
        assert answer.rescue is not None
        (stand_in,) = answer.rescue.stand_ins
        nodes.add(stand_in.node_id)
        shutil.copytree(tmp_path / "out" / f"stand-in-{stand_in.node_id}", nodes[stand_in.node_id].log_dirs[0])
        for number in (101, 102):
            nodes[number].spawn()
        for number in (101, 102):
            log = nodes[number].log_since_start
            wait_for("a candidate", lambda log=log: CANDIDATE.search(log()) is not None)  # type: ignore[misc]
        nodes.start(stand_in.node_id)
        wait_for("a leader", lambda: leads(nodes, 101, 102))
        nodes.start(*BROKERS)
        same(nodes, cluster)


@pytest.mark.parametrize("version", sampled(("3.9.2", "4.3.1")))
def test_a_controller_that_was_formatted_again_has_no_vote(version: str, base: Base, tmp_path: Path) -> None:
    """Two of three do not elect, although both have the log; with its former directory.id they do."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=(103,)) as nodes:
        path = nodes[102].log_dirs[0] / "meta.properties"
        former = path.read_text()
        path.write_text(re.sub(r"(?m)^directory\.id=.+$", "directory.id=ZZZZZZZZQAaAAAAAAAAAAA", former))
        arguments = nodes.arguments(101, 102, *BROKERS)
        refused = kcheck.recover_quorum(*arguments, dead=[103])
        assert [refusal.name for refusal in refused.refusals] == ["directory-id"]
        for number in (101, 102):
            nodes[number].spawn()
        time.sleep(LONG)
        assert not leads(nodes, 101, 102)
        nodes.kill()
        wanted = re.findall(r"write (directory\.id=\S+) into", refused.refusals[0].bring)
        path.write_text(re.sub(r"(?m)^directory\.id=.+$", wanted[0], path.read_text()))
        assert [row.name for row in kcheck.recover_quorum(*arguments, dead=[103]).refusals] == ["majority"]
        for number in (101, 102):
            nodes[number].spawn()
        wait_for("a leader", lambda: leads(nodes, 101, 102))
        nodes.start(*BROKERS)
        same(nodes, cluster)


@pytest.mark.parametrize("by_plan", [True, False])
def test_two_of_three_of_an_old_state(by_plan: bool, base: Base, tmp_path: Path) -> None:
    """Started first, they elect one of themselves, and the third one is cut; a topic on a broker proves the loss."""
    cluster = base("4.3.1", dynamic=False)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=()) as nodes:
        end = middle(nodes)
        for number in (101, 102):
            cut(nodes, number, end)
        if by_plan:
            answer = planned(nodes, *CONTROLLERS, *BROKERS, way=Way.STATIC, out=tmp_path / "out", voter="103")
            assert answer.loss is not None
            assert answer.loss.behind == (101, 102)
            started(nodes, answer, cluster)
            return
        before = nodes.end(103)
        nodes.start(101, 102)
        wait_for("a leader", lambda: leads(nodes, 101, 102))
        nodes[103].spawn()
        topics = {*nodes.image(1).topics}
        wait_for("a cut", lambda: "runcat" in nodes[103].log_since_start() or nodes.end(103) < before)
        wait_for("fewer topics", lambda: {*nodes.image(103).topics} < topics)


def test_a_voter_that_was_removed_is_not_missed(base: Base, tmp_path: Path) -> None:
    """The last record of the voters counts: two are left of it, of which one is lost."""
    cluster = base("4.3.1", dynamic=True)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=True, lost=()) as nodes:
        nodes.start(*CONTROLLERS)
        wait_for("a leader", lambda: leads(nodes, *CONTROLLERS))
        nodes.start(*BROKERS)
        (voter,) = (row for row in read_copy(LOCAL, str(nodes.metadata(1)), 1).voter_set if row.voter_id == 103)
        words = ("--controller-id", "103", "--controller-directory-id", voter.directory_id)
        nodes.tool(QUORUM, "--bootstrap-server", nodes.bootstrap, "remove-controller", *words)
        wait_for("two voters", lambda: all(_voters(nodes, number) == {101, 102} for number in (101, *BROKERS)))
        nodes.kill()
        for number in OTHERS:
            del nodes.nodes[number]
        answer = planned(nodes, 101, *BROKERS, way=Way.VOTERS, out=tmp_path / "out", dead=OTHERS)
        assert answer.loss is not None
        assert (answer.loss.voters, answer.loss.lost) == ((101, 102), (102,))
        followed(nodes, answer)
        nodes[101].start()
        wait_leads(nodes[101])
        nodes.start(*BROKERS)
        same(nodes, cluster)


def _voters(nodes: Nodes, number: int) -> frozenset[int]:
    return read_copy(LOCAL, str(nodes.metadata(number)), number).voters


def test_a_node_that_runs_on_is_left_alone(base: Base, tmp_path: Path) -> None:
    """And a copy of its disk is what it was at that moment: a crash would have left the same."""
    cluster = base("4.3.1", dynamic=False)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=()) as nodes:
        nodes.start(*CONTROLLERS)
        wait_for("a leader", lambda: leads(nodes, *CONTROLLERS))
        nodes.start(*BROKERS)
        shutil.copytree(nodes[101].log_dirs[0], tmp_path / "live" / "data")
        refused = kcheck.recover_quorum(*nodes.arguments(101, *BROKERS), dead=OTHERS)
        assert "running" in [refusal.name for refusal in refused.refusals]
        nodes.kill()
        shutil.rmtree(nodes[101].log_dirs[0])
        shutil.copytree(tmp_path / "live" / "data", nodes[101].log_dirs[0])
        (nodes[101].log_dirs[0] / ".lock").unlink(missing_ok=True)
        answer = kcheck.recover_quorum(*nodes.arguments(101, *BROKERS), dead=OTHERS, out=tmp_path / "out")
        assert answer.refusals == ()
        started(nodes, answer, cluster)


def test_disks_of_two_clusters_are_told_apart(base: Base, tmp_path: Path) -> None:
    """By their cluster ids; where those are equal, by records that differ at one offset."""
    cluster, other = base("4.3.1", dynamic=False), base("4.3.1", dynamic=False, disks=2)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=OTHERS) as nodes:
        shutil.rmtree(nodes.metadata(2))
        shutil.copytree(other / "now" / "node-2" / "data" / METADATA, nodes.metadata(2))
        refused = kcheck.recover_quorum(*nodes.arguments(101, *BROKERS), dead=OTHERS)
        assert "two-histories" in [refusal.name for refusal in refused.refusals]
        path = nodes[2].log_dirs[0] / "meta.properties"
        path.write_text(re.sub(r"(?m)^cluster\.id=.+$", "cluster.id=BBBBBBBBQAaAAAAAAAAAAA", path.read_text()))
        refused = kcheck.recover_quorum(*nodes.arguments(101, *BROKERS), dead=OTHERS)
        assert "two-clusters" in [refusal.name for refusal in refused.refusals]
