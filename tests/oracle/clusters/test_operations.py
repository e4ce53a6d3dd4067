"""What docs/operations advises, done to real clusters: the commands of the pages run where the brokers were stopped."""

import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from kcheck.core.election.progress import PlanState
from kcheck.disk.local import LOCAL
from kcheck.views.metadata_copy import read_copy
from tests.docs.examples import ROOT, examples, run
from tests.docs.incidents import RECOVERED, RESCUED
from tests.oracle import histories
from tests.oracle.clusters.page_plans import followed, played
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.scenes import FIXTURES, begun, recorded

pytestmark = pytest.mark.oracle

VERSION = "4.3.1"
METADATA = "__cluster_metadata-0"
SETTINGS = {**histories.config(VERSION), **histories.OUTRUN}
STRAY = re.compile(r"orders-0\.[0-9a-f]{32}-stray")


def commands(page: str) -> list[str]:
    """Return the commands of a page."""
    return [example.command for example in examples(f"docs/operations/{page}.md")]


STORAGE = "kafka-storage.sh"
TOOLS = {
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    STORAGE: "kafka.tools.StorageTool",
    "kafka-metadata-quorum.sh": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-leader-election.sh": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-reassign-partitions.sh": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
}
KAFKA = re.compile(r"^ *(kafka-\S+\.sh) (.+)$", re.MULTILINE)
ASSIGNMENT = re.compile(r"`(\{\"version\":1.+\})`")


def official(page: str, cluster: Cluster, broker: int, topic: str = "orders") -> list[str]:
    """Run the commands of a page that ask a broker, with Kafka's own tools; return what they print."""
    text = (ROOT / "docs" / "operations" / f"{page}.md").read_text("utf-8").replace("orders", topic)
    assignment = cluster.dir / "assignment.json"
    assignment.write_text("".join(ASSIGNMENT.findall(text)))
    printed = []
    for tool, words in KAFKA.findall(text):
        line = re.sub(r"\S+\.json", str(assignment), words.replace("HOST:9092", f"127.0.0.1:{cluster[broker].port}"))
        if tool != STORAGE:
            printed.append(run_java(cluster.version, TOOLS[tool], *line.split()))
    return printed


def formatted(page: str, cluster: Cluster, properties: Path) -> None:
    """Format a new disk by the command of a page."""
    text = (ROOT / "docs" / "operations" / f"{page}.md").read_text("utf-8")
    (words,) = (words for tool, words in KAFKA.findall(text) if tool == STORAGE)
    line = re.sub(r"--cluster-id \S+", f"--cluster-id {cluster.cluster_id}", words)
    run_java(cluster.version, TOOLS[STORAGE], *line.replace("server.properties", str(properties)).split())


def described(cluster: Cluster, topic: str, broker: int) -> tuple[int, tuple[int, ...]]:
    """Return the leader and the ISR of partition 0 of a topic, by the metadata that one broker has."""
    (metadata,) = (path / METADATA for path in cluster[broker].log_dirs if (path / METADATA).exists())
    partition = read_copy(LOCAL, str(metadata), broker).image.topics[topic].partitions[0]
    return partition.leader, partition.isr


def wait_in_sync(cluster: Cluster, topic: str, *members: int, broker: int) -> None:
    """Return when these brokers are the ISR of partition 0 of a topic, as one of them says."""
    wait_for("the ISR", lambda: sorted(described(cluster, topic, broker)[1]) == [*members])


def batches(cluster: Cluster, topic: str, brokers: Iterable[int]) -> dict[int, list[bytes]]:
    """Return the log of partition 0 of a topic on each broker."""
    return {
        number: [
            path.read_bytes() for path in sorted(histories.directories(cluster[number])[f"{topic}-0"].glob("*.log"))
        ]
        for number in brokers
    }


@pytest.mark.whole
def test_an_unclean_election_and_the_way_back(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """The best of two leaders is elected; then the stray of a third broker leads, elected cleanly.

    What is lost is what the pages say: first the 5 records that only broker 1 has, then the 4 that were written since.
    """
    kept = recorded(f"clusters/{VERSION}/outrun", tmp_path / "kept")
    with begun(start(VERSION, 3, dir=tmp_path / "cluster", broker_config=SETTINGS, begins_with=kept), 3, 2) as cluster:
        official("disk-full", cluster, 2)
        wanted = batches(cluster, "orders", [2])[2]
        *_, last = official("unclean-election", cluster, 2)
        assert re.search(r"Leader: 2\s", last) is not None
        wait_in_sync(cluster, "orders", 2, 3, broker=2)
        wait_for("the records", lambda: batches(cluster, "orders", (2, 3)) == {2: wanted, 3: wanted})
        histories.load(cluster, "send orders 0 300 4 none")
        cluster[1].start()
        data = cluster[1].log_dirs[0]
        wait_for("a stray", lambda: any(STRAY.fullmatch(path.name) for path in data.iterdir()))
        (stray,) = (path for path in data.iterdir() if STRAY.fullmatch(path.name))
        wanted = [path.read_bytes() for path in stray.glob("*.log")]
        official("stray-replica", cluster, 2)
        wait_in_sync(cluster, "orders", 1, 2, 3, broker=2)
        for number in (3, 2, 1):
            cluster[number].stop()
        for command in commands("stray-replica"):
            run(STRAY.sub(stray.name, command), "", cluster.dir)
        cluster[1].start()
        wait_for("a leader", lambda: described(cluster, "orders", 1) == (1, (1,)))
        cluster[2].start()
        cluster[3].start()
        wait_in_sync(cluster, "orders", 1, 2, 3, broker=1)
        assert batches(cluster, "orders", (1, 2, 3)) == dict.fromkeys((1, 2, 3), wanted)


@pytest.mark.whole
@pytest.mark.parametrize(
    "page",
    [name for path in sorted(RECOVERED.iterdir()) if (name := path.name.partition(".")[0]) not in RESCUED],
)
def test_the_plan_of_a_page_is_followed_to_done(page: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Real brokers come up in this order, elect whom the plan wants, and get in sync; the page shows each step."""
    _, said = played(page, tmp_path, start)
    assert [answer.state for answer in said] == [*[PlanState.NEXT] * len(said[0].steps), PlanState.DONE]
    text = " ".join((ROOT / "docs" / "operations" / f"{page}.md").read_text("utf-8").split())
    rows = [f"{at}. {step.title}." for at, step in enumerate(said[0].steps, 1)]
    rows += [command for step in said[0].steps for command in step.commands if "bin/kafka-" not in command]
    assert [row for row in (*rows, said[-1].sentences[0]) if row not in text] == []


@pytest.mark.whole
def test_one_controller_of_three_is_left(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """It leads alone; node 2 comes back as a broker with a new disk, and what it had comes from node 3."""
    kept = FIXTURES / "clusters" / VERSION / "quorum"
    quorum = start(VERSION, 3, dir=tmp_path / "cluster", broker_config=SETTINGS, combined=True, begins_with=kept)
    with begun(quorum) as cluster:
        wanted = batches(cluster, "voted", [3])[3]
        for number in (1, 2):
            shutil.rmtree(cluster[number].log_dirs[0])
        (command,) = (command for command in commands("lost-quorum") if command.startswith("kcheck recover quorum "))
        (voters,) = re.findall(r"controller\.quorum\.voters=\S+", run(command, "", cluster.dir))
        for number in (2, 3):
            properties = cluster[number].dir / "server.properties"
            text = re.sub(r"controller\.quorum\.voters=.+", voters, properties.read_text())
            if number == 2:
                text = re.sub(r",CONTROLLER://[^,\n]+", "", text).replace("broker,controller", "broker")
            properties.write_text(text)
        cluster[3].start()
        histories.quiet()
        official("lost-quorum", cluster, 3)  # if there is a leader, the tool leaves it
        formatted("lost-quorum", cluster, cluster[2].dir / "server.properties")
        cluster[2].start()
        histories.create(cluster, "later", "3:2")
        wait_in_sync(cluster, "voted", 2, 3, broker=3)
        assert described(cluster, "voted", 3)[0] == 3
        assert batches(cluster, "voted", (2, 3)) == {2: wanted, 3: wanted}


@pytest.mark.whole
def test_the_last_broker_in_sync_has_a_new_disk(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """If it starts first, it leads with an empty log, and the other broker deletes its own; else nothing is lost."""
    with start(VERSION, 2, dir=tmp_path / "kept", log_dirs={1: 2}, broker_config=SETTINGS) as cluster:
        histories.replicas(cluster, "create a 1:2", "create b 1:2")
        histories.load(cluster, "send a 0 0 9 none", "send b 0 0 9 none")
        histories.quiet()
        cluster[2].stop()
        cluster[1].stop()
    for others_first in (True, False):
        place = tmp_path / str(others_first)
        again = start(VERSION, 2, dir=place, log_dirs={1: 2}, broker_config=SETTINGS, begins_with=cluster.dir)
        with begun(again):
            _replace_disk(again, others_first=others_first)


def _replace_disk(cluster: Cluster, *, others_first: bool) -> None:
    """Replace the log dir of broker 1 without the metadata, and go on as the page says, or start broker 1 at once."""
    lost = next(path for path in cluster[1].log_dirs if not (path / METADATA).exists())
    (topic,) = (path.name.removesuffix("-0") for path in lost.glob("?-0"))
    wanted = batches(cluster, topic, [2])[2]
    shutil.rmtree(lost)
    lost.mkdir()
    if others_first:
        assert followed(cluster, 1)[-1].state is PlanState.DONE
        official("dead-disk", cluster, 2, topic)
        formatted("dead-disk", cluster, cluster[1].dir / "server.properties")
    else:
        cluster.beside.start()
        formatted("dead-disk", cluster, cluster[1].dir / "server.properties")
        assert f"  loss P302 {topic}-0 " in run("kcheck preflight broker-1/server.properties", "", cluster.dir)
        told = json.loads(run("kcheck elect 1=broker-1 2=broker-2 --format json", "", cluster.dir))
        assert {row["name"]: row["lost"].get("at_most") for row in told["scenarios"]}["start-all"] == 9
    cluster[1].start()
    if not others_first:
        cluster[2].start()
    wait_in_sync(cluster, topic, 1, 2, broker=2)
    left = wanted if others_first else [b""]
    wait_for("the records", lambda: batches(cluster, topic, (1, 2)) == {1: left, 2: left})
