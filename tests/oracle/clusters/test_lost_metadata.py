"""The metadata of all nodes is lost: what kcheck makes again from the brokers' disks, on real clusters.

By default one release is played; `KCHECK_SWEEP` takes all.
"""

import json
from pathlib import Path

import pytest

import kcheck
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_metadata import NEW, answers, planned, started, with_controller, without_metadata
from tests.oracle.clusters.lost_quorum import BROKERS, CONTROLLERS, QUORUM, copied, followed, wait_leads
from tests.oracle.clusters.test_lost_quorum import DYNAMIC, Base, base

__all__ = ["base"]

pytestmark = pytest.mark.oracle

RELEASES = ("3.3.2", "3.9.2", "4.0.2", "4.3.1")


def test_all_comes_back_from_disks_without_metadata(base: Base, tmp_path: Path) -> None:
    """Topics, ids, replicas, records, groups; every node starts at the same moment, and no directory becomes stray."""
    cluster = base("4.3.1", dynamic=False)
    with copied(cluster, tmp_path / "run", "4.3.1", dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(RELEASES))
def test_brokers_drop_their_older_copies(version: str, base: Base, tmp_path: Path) -> None:
    """The snapshot lies above all of them: no file of a broker changes."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers", force=True)
        answer = planned(nodes, tmp_path / "out", answers=known, force=True)
        assert [plan.node_id for plan in answer.plans] == [NEW]
        started(nodes, answer, cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_dynamic_quorum_grows_again(version: str, base: Base, tmp_path: Path) -> None:
    """The snapshot names one voter; then another is added."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)
        nodes.add(NEW + 1, voters=[NEW])
        nodes.format(NEW + 1, "--no-initial-controllers")
        nodes.start(NEW + 1)
        settings = str(nodes.dir / f"node-{NEW + 1}" / "server.properties")
        nodes.tool(QUORUM, "--command-config", settings, "--bootstrap-server", nodes.bootstrap, "add-controller")
        assert {*nodes.image(NEW).controllers} == {NEW, NEW + 1}


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(("4.0.2", "4.3.1")))
def test_with_elr_and_registrations_a_leader_is_left(version: str, base: Base, tmp_path: Path) -> None:
    """Without them the first registration of each broker counts as unclean, and the ISR ends empty."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        without_metadata(nodes, *BROKERS)
        with_controller(nodes)
        known = answers(nodes, cluster, tmp_path / "answers")
        known.write_text(json.dumps({**json.loads(known.read_text()), "elr": True}))
        started(nodes, planned(nodes, tmp_path / "out", answers=known), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(("4.0.2", "4.3.1")))
def test_one_broker_alone_serves_what_it_has(version: str, base: Base, tmp_path: Path) -> None:
    """The other one is given up: partitions without a disk stay offline, the others lead and take records."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=(*CONTROLLERS, 2)) as nodes:
        without_metadata(nodes, 1)
        with_controller(nodes)
        answer = kcheck.recover_metadata(*nodes.arguments(NEW, 1), out=tmp_path / "out", dead=[2])
        assert answer.refusals == ()
        followed(nodes, answer)
        nodes.start(NEW, 1)
        wait_leads(nodes[NEW])
        assert nodes.strays() == []
        image = nodes.image(1)
        assert {*image.topics} == {topic.name for topic in answer.rebuild.topics}
