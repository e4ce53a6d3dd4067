"""What ZooKeeper knows of a cluster, as an answer and for the other commands: of files that real servers left."""

import json
import shutil
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.errors import UsageError
from kcheck.formats.producer_snapshot import ProducerSnapshot, serialize
from kcheck.model.finding import Severity
from kcheck.model.report import PartitionFilter
from tests.builders import epochs, flip_byte, log_dir, meta_properties, partition_dir, partition_metadata, run, write
from tests.oracle.incidents.kept import PLACE, unpacked
from tests.test_brokers import BROKERS
from tests.verbs.test_cluster import COORDINATORS, DIVERGED, answer, screen

ZOOKEEPER = BROKERS.parent / "zookeeper"


@pytest.mark.parametrize("scene", ["1.1.1", "3.9.2", "3.9.2-migration"])
def test_a_cluster_with_zookeeper(scene: str) -> None:
    """Its files say what kafka-topics --describe said, and more."""
    said, described = answer(ZOOKEEPER / scene), answer(ZOOKEEPER / scene / "describe.txt")
    assert (said["metadata"]["kind"], described["metadata"]["kind"]) == ("zookeeper", "export")
    assert (said["metadata"]["complete"], said["copies"], said["quorum"]["voters"]) == (True, [], [])
    fields = ("topic", "topic_id", "partition", "leader", "replicas", "isr")
    rows, theirs = ([[row[name] for name in fields] for row in each["partitions"]] for each in (said, described))
    assert rows == theirs != []
    assert {row["leader_epoch"] is None for row in said["partitions"]} == {False}
    assert {row["leader_epoch"] for row in described["partitions"]} == {None}
    assert [row["broker_id"] for row in said["brokers"]] == [2]
    assert (said["stopped"], described["stopped"], described["brokers"]) == (False, False, [])


def test_a_server_with_two_directories(tmp_path: Path) -> None:
    """DataDir and dataLogDir."""
    for name, pattern in (("data", "log.*"), ("logs", "snapshot.*")):
        shutil.copytree(ZOOKEEPER / "1.1.1", tmp_path / name, ignore=shutil.ignore_patterns(pattern, "describe.txt"))
    both = answer(tmp_path / "data", tmp_path / "logs")
    assert both["partitions"] == answer(ZOOKEEPER / "1.1.1")["partitions"]
    with pytest.raises(UsageError, match="name one export, or the dataDir and the dataLogDir"):
        answer(tmp_path / "data", tmp_path / "logs", ZOOKEEPER / "3.9.2")
    with pytest.raises(UsageError, match="name one export"):
        answer(tmp_path / "data", ZOOKEEPER / "1.1.1" / "describe.txt")
    with pytest.raises(UsageError, match="is not of ZooKeeper as the other paths are"):
        answer(tmp_path / "data", COORDINATORS)


def test_the_screen_of_a_history_that_zookeeper_keeps(tmp_path: Path) -> None:
    """A zxid as the files name it; the state of a snapshot has none."""
    shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / "z", ignore=shutil.ignore_patterns("log.1", "log.1e", "log.33"))
    lines = screen(tmp_path / "z", history="plain-0")
    assert "up to transaction 0x5b," in " ".join(lines)
    rows = [line.split() for line in lines[-4:]]
    assert [(row[0], row[-6]) for row in rows] == [
        ("zxid", "event"), ("-", "snapshot"), ("0x58", "changed"), ("0x5a", "changed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "path", "why"),
    [
        ({"at": 0x5C}, "", "at 0x5c: .* ends at transaction 0x5b"),
        ({"at": 9}, "version-2/log.49", "at 0x9: .* does not hold every transaction up to it"),
        ({"at": 9}, "describe.txt", "at: .* has no history; name the data directory of a ZooKeeper server"),
        ({"history": "plain-0"}, "describe.txt", "history: .* has no history"),
        ({"history": "plain-9"}, "", "history plain-9: .* knows no such partition"),
    ],
)
def test_what_zookeeper_does_not_know(asked: dict[str, Any], path: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        answer(ZOOKEEPER / "3.9.2" / path, **asked)


def test_truncation_by_what_zookeeper_says(tmp_path: Path) -> None:
    """An export of the state of a partition: broker 2 led it, and was alone in sync."""
    old = [f"{number}={BROKERS / '1.1.1' / 'diverged' / f'broker-{number}'}" for number in (1, 2)]
    state = '{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":9,"isr":[2]}'
    topic = '{"version":1,"partitions":{"0":[1,2]}}'
    (tmp_path / "export.json").write_text(json.dumps(
        {"/brokers/topics/diverged": topic, "/brokers/topics/diverged/partitions/0/state": state}
    ), "utf-8")  # fmt: skip
    wanted = PartitionFilter(topics=("diverged",))
    rows = kcheck.truncation(*old, metadata=[tmp_path / "export.json"], partitions=wanted).to_dict()["partitions"]
    assert {(row["leader"], row["election"], row["cluster"]["leader_epoch"]) for row in rows} == {
        (1, "unclean", 9), (2, "clean", 9),
    }  # fmt: skip
    with pytest.raises(UsageError, match=r"^metadata is of cluster"):
        kcheck.truncation(*DIVERGED, metadata=[ZOOKEEPER / "1.1.1"], partitions=wanted)


OF_ZOOKEEPER = {"plain": "H1UEX1ltRq6Ju088wyqT5A", "strict": "72fVXIXjSDGfm2t87AQPxg"}


SNAPSHOT = serialize(ProducerSnapshot(version=1, producers=()))


@pytest.fixture
def of_zookeeper(tmp_path: Path) -> Path:
    """Return the log dir of broker 1: of `plain` it has both replicas, `strict` names the id of `plain`."""
    log_dir(tmp_path / "d", cluster_id="OwpiZHdqTemlWFP7A4vi0w", clean=True)
    for name, topic in (("plain-0", "plain"), ("plain-1", "plain"), ("strict-0", "plain"), ("gone-0", "strict")):
        partition_dir(tmp_path / "d" / name, [run(0, 9)], epoch_entries=[(0, 0)])
        files = {"partition.metadata": partition_metadata(OF_ZOOKEEPER[topic]), f"{10:020}.snapshot": SNAPSHOT}
        write(tmp_path / "d" / name, files)
    write(tmp_path / "d", {"meta.properties": meta_properties(1, cluster_id="OwpiZHdqTemlWFP7A4vi0w", version=0)})
    write(tmp_path / "d" / "plain-0", {"leader-epoch-checkpoint": epochs((9, 0))})
    return tmp_path / "d"


def test_a_topic_id_that_only_zookeeper_names(of_zookeeper: Path) -> None:
    """2.8 and later: of a topic without another partition here."""
    write(of_zookeeper / "strict-0", {"partition.metadata": b"nothing\n"})

    def operations(*metadata: Path) -> list[str]:
        plan = kcheck.repair(of_zookeeper, metadata=metadata, kafka="3.9").to_dict()
        return [
            b64decode(row["content"]).decode()
            for row in plan["operations"]
            if row["path"].endswith("strict-0/partition.metadata")
        ]

    assert not operations()
    for source in ("", "describe.txt"):
        (text,) = operations(ZOOKEEPER / "3.9.2" / source)
        assert text.split() == ["version:", "0", "topic_id:", OF_ZOOKEEPER["strict"]]


def test_metadata_of_zookeeper_that_are_damaged_or_of_another_cluster(of_zookeeper: Path, tmp_path: Path) -> None:
    refused = kcheck.check(of_zookeeper, metadata=[ZOOKEEPER / "1.1.1"], kafka="3.9").findings
    assert ["KC315"] == [finding.id for finding in refused if finding.severity is Severity.FATAL]
    copy = shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / "z")
    flip_byte(copy / "version-2" / "log.49", 100)
    (unseen,) = [row for row in kcheck.predict(of_zookeeper, metadata=[copy], kafka="3.9").premises if row.provide]
    words = f"because the metadata in {copy} cannot be read in full ("
    assert (unseen.id, words in unseen.sentence, "log.49" in unseen.sentence) == ("P353", True, True)
    checked = kcheck.check(of_zookeeper, metadata=[copy], kafka="3.9").findings
    assert [Severity.ERROR] == [row.severity for row in checked if row.message == unseen.sentence]


def test_logs_without_snapshots_are_green_in_no_verb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ZooKeeper of 2.4 and later does not start with them, as real ones showed. No verb knows the next start then."""
    unpacked(PLACE / "2.4.1-zk-nothing-m1.tar.xz", tmp_path)
    monkeypatch.chdir(tmp_path)
    told: dict[str, Any] = {"metadata": ["zookeeper"], "kafka": "2.4"}
    settings, brokers = "broker-1/server.properties", ["broker-1", "broker-2"]

    def is_green() -> list[bool]:
        starts = kcheck.predict(settings, **told).severity, kcheck.overview(settings, **told).severity
        found = [row for row in kcheck.check(settings, **told).findings if row.severity.rank >= Severity.ERROR.rank]
        may_start = kcheck.preflight(settings, **told).may_start is True
        return [may_start, *(severity is Severity.INFO for severity in starts), not found]

    assert is_green() == [True] * 4
    for snapshot in tmp_path.glob("zookeeper/version-2/snapshot.*"):
        snapshot.unlink()
    assert is_green() == [False] * 4
    elected, recovered = kcheck.elect(*brokers, **told), kcheck.recover(*brokers, **told)
    for said in (elected.to_dict()["verdict"], recovered.to_dict()["verdict"]):
        assert "because no snapshot is next to its logs" in said
