"""What the rules say of a broker's files by what ZooKeeper holds, and what real Kafka does with them."""

import shutil
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import kcheck
from tests.docs.incidents import FIRST
from tests.oracle import histories
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import states

pytestmark = pytest.mark.oracle

OTHER_ID = "AAAAAAAAAAAAAAAAAAAABQ"


@pytest.mark.whole
@pytest.mark.parametrize(("version", "serves"), [("2.8.2", True), ("3.6.2", False), ("3.9.2", False)])
def test_a_broker_whose_files_do_not_fit(
    version: str, serves: bool, tmp_path: Path, start: Callable[..., Cluster]
) -> None:
    """It renames and deletes nothing; only its own checks of topic ids refuse a partition.

    A leader whose log has lost its end loses it for all.
    """
    kafka = version.rpartition(".")[0]
    with start(version, 2, dir=tmp_path / "c", mode="zk", broker_config=histories.config(version)) as cluster:
        broker = cluster[1]
        histories.replicas(cluster, "create anew 1", "create follows 1:2", "create elsewhere 2", "create nameless 1")
        histories.replicas(cluster, "create lost 1:2 unclean.leader.election.enable=false")
        for topic in ("anew", "follows", "elsewhere", "nameless"):
            histories.load(cluster, f"send {topic} 0 0 9 none")
        histories.load(cluster, "send lost 0 0 3 none", "send lost 0 100 6 none")
        broker.stop()
        wait_for("the ISR", lambda: states(cluster[2].port)["lost-0"][3] == [2])
        cluster.stop()
        log_dir, other_dir = broker.log_dirs[0], cluster[2].log_dirs[0]
        whole, cut = (path / "lost-0" / FIRST for path in (log_dir, other_dir))
        cut.write_bytes(_first_batch(cut))
        identity = log_dir / "anew-0" / "partition.metadata"
        identity.write_text(f"version: 0\ntopic_id: {OTHER_ID}\n")
        shutil.copytree(other_dir / "elsewhere-0", log_dir / "elsewhere-0")
        (log_dir / "follows-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n50 5\n")
        nameless = log_dir / "nameless-0" / "partition.metadata"
        nameless.write_text("nothing\n")

        zookeeper = cluster.beside.dir
        ids = {row["topic"]: row["topic_id"] for row in kcheck.cluster(zookeeper).to_dict()["partitions"]}
        findings = kcheck.check(log_dir, metadata=[zookeeper], kafka=kafka).to_dict()["findings"]
        assert {(row["dir"], row["id"], row["severity"]) for row in findings if "KC235" <= row["id"] <= "KC239"} == {
            ("anew-0", "KC235", "error"),
            ("elsewhere-0", "KC236", "info"),
            ("follows-0", "KC238", "error"),
        }
        (predicted,) = kcheck.predict(log_dir, metadata=[zookeeper], kafka=kafka).to_dict()["log_dirs"]
        assert [row["dir"] for row in predicted["partitions"] if row["outcome"] == "stray"] == [
            *([] if serves else ["anew-0"]), "elsewhere-0",
        ]  # fmt: skip
        both = kcheck.check(f"1={log_dir}", f"2={other_dir}", metadata=[zookeeper], kafka=kafka).to_dict()["findings"]
        assert [(row["dir"], row["broker_id"], row["severity"], row["data"]["log_end_offset"])
            for row in both if row["id"] == "KC407"] == [("lost-0", 2, "error", 3)]  # fmt: skip
        assert "no other partition of nameless" in str(kcheck.repair(log_dir, kafka=kafka).to_dict())
        operations = kcheck.repair(log_dir, metadata=[zookeeper], kafka=kafka).to_dict()["operations"]
        (write,) = (row for row in operations if row["path"] == str(nameless))
        nameless.write_bytes(b64decode(write["content"]))
        assert nameless.read_text().split() == ["version:", "0", "topic_id:", ids["nameless"]]

        cluster.start()
        wait_for("the answer to LeaderAndIsr", lambda: "follows-0 broker=1] Log loaded" in broker.log_since_start())
        wait_for("the truncation", lambda: whole.read_bytes() == _first_batch(whole))
        names = {path.name for path in log_dir.iterdir()}
        assert {"anew-0", "elsewhere-0", "follows-0"} <= names
        assert not [name for name in names if name.endswith(("-stray", "-delete"))]
        assert ("[Partition anew-0 broker=1] Log loaded" in broker.log_since_start()) is serves
        assert "[Partition elsewhere-0 broker=1] Log loaded" not in broker.log_since_start()


def _first_batch(log: Path) -> bytes:
    data = log.read_bytes()
    return data[: 12 + int.from_bytes(data[8:12])]
