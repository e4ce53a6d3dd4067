"""A majority of the controllers is lost: each way back on real clusters, and what happens without the plan.

By default one way is played, the one in which kcheck writes most: a log, and a record in it. `KCHECK_SWEEP` takes all,
with releases of every kind.
"""

import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import kcheck
from kcheck.core.rescue.ways import Way
from kcheck.disk.local import LOCAL
from kcheck.formats import quorum_state
from kcheck.model.cluster import QuorumState
from kcheck.plans.recover_quorum import QuorumRecovery
from kcheck.views.metadata_copy import read_copy
from tests.oracle.ask import sampled
from tests.oracle.clusters.lost_quorum import (
    BROKERS,
    CONTROLLERS,
    LEADS,
    QUORUM,
    Nodes,
    copied,
    cut,
    followed,
    made,
    middle,
    next_kind,
    same,
    wait_leads,
    works,
)
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError
from tests.oracle.kafka import wait_for

pytestmark = pytest.mark.oracle

STATIC = ("3.3.2", "3.6.2", "3.8.1", "3.9.2", "4.0.2", "4.3.1")
DYNAMIC = ("3.9.2", "4.0.2", "4.3.1")
OTHERS = CONTROLLERS[1:]

CANDIDATE = re.compile("Completed transition to (Candidate|Prospective)State")

Base = Callable[..., Path]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    """Make the cluster of a release and a kind once."""
    folder = tmp_path_factory.mktemp("clusters")

    def cluster(version: str, *, dynamic: bool, disks: int = 1, clean: bool = False) -> Path:
        try:
            return made(
                version, folder / f"{version}-{dynamic}-{disks}-{clean}", dynamic=dynamic, disks=disks, clean=clean
            )
        except NoKafkaError as error:
            return no_kafka(f"Kafka {error}".partition("\n")[0])

    return cluster


def planned(nodes: Nodes, *each: int, way: Way, out: Path, **asked: object) -> QuorumRecovery:
    """Return the plan for the nodes that are left; it takes this way."""
    wanted = str(way) if way is Way.VOTERS else None  # a stand-in is gentler
    answer = kcheck.recover_quorum(*nodes.arguments(*each), out=out, way=wanted, **asked)
    assert answer.refusals == ()
    assert answer.rescue is not None
    assert answer.rescue.way is way
    return answer


def started(nodes: Nodes, answer: QuorumRecovery, base: Path) -> None:
    """Do what a plan says, start its controller alone, then the brokers; all is as before, and works."""
    plan, target = Path(answer.folder), answer.rescue.target.node_id if answer.rescue else -1
    followed(nodes, answer)
    assert next_kind(nodes, plan, target) == ("next", "controller")
    leader = nodes[target]
    leader.start()
    wait_leads(leader)
    nodes.start(*BROKERS)
    same(nodes, base)
    wait_for("the end of the plan", lambda: next_kind(nodes, plan, target) == ("done", None))


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(STATIC))
def test_a_survivor_of_static_voters_leads_alone(version: str, base: Base, tmp_path: Path) -> None:
    """Only the configuration changes; up to 3.8 quorum-state does too."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        started(nodes, planned(nodes, 101, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=OTHERS), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(STATIC))
def test_static_voters_grow_from_one_to_three(version: str, base: Base, tmp_path: Path) -> None:
    """Each new one gets the log before its first start: whichever wins has everything."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=OTHERS) as nodes:
        answer = planned(nodes, 101, *BROKERS, way=Way.STATIC, out=tmp_path / "out", dead=OTHERS)
        started(nodes, answer, cluster)
        nodes.kill()
        grow(nodes, answer, 202, 203)
        for number in (101, 202, 203):
            nodes[number].spawn()
        wait_for("a leader", lambda: any(LEADS.search(nodes[each].log_since_start()) for each in (101, 202, 203)))
        nodes.start(*BROKERS)
        works(nodes, "latest")
        wait_for("the records", lambda: min(map(nodes.end, (202, 203))) >= nodes.end(1) - 3)


def grow(nodes: Nodes, answer: QuorumRecovery, *new: int) -> None:
    """Do what the last step of a plan says: copy the log to new controllers, and name them on every node."""
    (step,) = (step for step in answer.steps if step.title.startswith("Add controllers"))
    formatting, *copying = step.commands
    assert formatting.startswith("kafka-storage.sh format --cluster-id ")
    for number in new:
        nodes.add(number, voters=[101, *new])
        nodes.format(number)
        for command in copying:
            words = command.replace("NEW_LOG_DIR", str(nodes[number].log_dirs[0]))
            subprocess.run(words.split(), check=True)
    drops_votes = any("quorum-state of every node" in note for note in step.notes)
    for number in nodes.nodes:
        nodes.configure(number, [101, *new])
        if drops_votes:
            (nodes.metadata(number) / "quorum-state").unlink(missing_ok=True)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(STATIC))
def test_voters_of_an_old_state_get_the_copy_of_a_broker(version: str, base: Base, tmp_path: Path) -> None:
    """All are here, and a majority of them: started, they would cut what the brokers have."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=()) as nodes:
        for number in CONTROLLERS:
            cut(nodes, number, middle(nodes))
        answer = planned(nodes, *CONTROLLERS, *BROKERS, way=Way.COPY, out=tmp_path / "out")
        assert answer.loss is not None
        assert answer.loss.behind == CONTROLLERS
        started(nodes, answer, cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_voters_of_an_old_state_that_the_log_names_get_it_too(version: str, base: Base, tmp_path: Path) -> None:
    """And the record after it; then one of the others comes back as a new controller."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=()) as nodes:
        for number in CONTROLLERS:
            cut(nodes, number, middle(nodes))
        started(nodes, planned(nodes, *CONTROLLERS, *BROKERS, way=Way.COPY, out=tmp_path / "out"), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(STATIC))
def test_a_new_controller_gets_the_copy_of_a_broker(version: str, base: Base, tmp_path: Path) -> None:
    """All controllers of static voters are lost."""
    cluster = base(version, dynamic=False)
    with copied(cluster, tmp_path / "run", version, dynamic=False, lost=CONTROLLERS) as nodes:
        nodes.add(201, voters=[201])
        nodes.format(201)
        started(nodes, planned(nodes, 201, *BROKERS, way=Way.COPY, out=tmp_path / "out", dead=CONTROLLERS), cluster)


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_an_empty_node_stands_in_for_a_lost_voter(version: str, base: Base, tmp_path: Path) -> None:
    """Nothing is forged; then the other lost voter is removed. The survivor led last, and remembers it."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=OTHERS) as nodes:
        path = nodes.metadata(101) / "quorum-state"
        path.write_bytes(quorum_state.serialize(QuorumState(101, nodes.age(101)[0], -1, None, "A" * 22)))
        answer = planned(nodes, 101, *BROKERS, way=Way.IDENTITY, out=tmp_path / "out", dead=OTHERS)
        followed(nodes, answer)
        assert answer.rescue is not None
        (stand_in,) = answer.rescue.stand_ins
        nodes.add(stand_in.node_id)
        shutil.copytree(tmp_path / "out" / f"stand-in-{stand_in.node_id}", nodes[stand_in.node_id].log_dirs[0])
        nodes[101].spawn()
        wait_for("a candidate", lambda: CANDIDATE.search(nodes[101].log_since_start()) is not None)
        nodes.start(stand_in.node_id)
        wait_leads(nodes[101])
        nodes.start(*BROKERS)
        same(nodes, cluster)
        wait_for("the end of the plan", lambda: next_kind(nodes, tmp_path / "out", 101) == ("done", None))
        (removal,) = (command for step in answer.steps for command in step.commands if "remove-controller" in command)
        words = removal.replace("HOST:9092", nodes.bootstrap).split()[1:]
        wait_for("the removal", lambda: is_removed(nodes, words))


def is_removed(nodes: Nodes, words: list[str]) -> bool:
    """Remove the other lost voter, unless it is gone; a leader that has just changed refuses."""
    with suppress(AssertionError):
        nodes.tool(QUORUM, *words)
    return len(read_copy(LOCAL, str(nodes.metadata(1)), 1).voters) == 2


@pytest.mark.whole
@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_record_names_a_survivor_as_the_only_voter(version: str, base: Base, tmp_path: Path) -> None:
    """Then a new controller joins."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=OTHERS) as nodes:
        answer = planned(nodes, 101, *BROKERS, out=tmp_path / "out", way=Way.VOTERS, dead=OTHERS)
        started(nodes, answer, cluster)
        nodes.add(202, voters=[101])
        (formatting, addition) = (
            command.split() for step in answer.steps for command in step.commands if step.title.startswith("Add contr")
        )
        nodes.format(202, *(word for word in formatting if word == "--no-initial-controllers"))
        nodes.start(202)
        settings = str(nodes.dir / "node-202" / "server.properties")
        words = [settings if word == "controller.properties" else word for word in addition[1:]]
        nodes.tool(QUORUM, *(nodes.bootstrap if word == "HOST:9092" else word for word in words))
        wait_for("the new voter", lambda: read_copy(LOCAL, str(nodes.metadata(1)), 1).voters == {101, 202})
        works(nodes, "latest")


@pytest.mark.parametrize("version", sampled(DYNAMIC))
def test_a_new_controller_gets_the_copy_of_a_broker_and_the_record(version: str, base: Base, tmp_path: Path) -> None:
    """All controllers of dynamic voters are lost."""
    cluster = base(version, dynamic=True)
    with copied(cluster, tmp_path / "run", version, dynamic=True, lost=CONTROLLERS) as nodes:
        nodes.add(201, voters=[201])
        nodes.format(201, "--no-initial-controllers")
        started(nodes, planned(nodes, 201, *BROKERS, way=Way.COPY, out=tmp_path / "out", dead=CONTROLLERS), cluster)
