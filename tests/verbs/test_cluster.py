"""What the controllers know, as an answer: of directories that real nodes left."""

import io
import json
import shutil
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.renderers._contract import Options
from kcheck.renderers.text import render
from kcheck.views.metadata_copy import read_copy
from kcheck.views.zookeeper_copy import zookeeper_copy
from tests.builders import epochs, flip_byte, log_dir, meta_properties, partition_dir, partition_metadata, run, write
from tests.test_brokers import BROKERS

NEW = BROKERS / "4.3.1"
STOPPED = [NEW / "stopped" / f"broker-{number}" for number in (1, 2, 3)]
COORDINATORS = NEW / "coordinators" / "broker-1" / "data1"
METADATA = "__cluster_metadata-0"


def answer(*paths: Path | str, **asked: Any) -> dict[str, Any]:
    """Return the JSON document."""
    return kcheck.cluster(*paths, **asked).to_dict()


def screen(*paths: Path | str, **asked: Any) -> list[str]:
    """Return the lines of the text."""
    stream = io.StringIO()
    render(kcheck.cluster(*paths, **asked).report(), stream, Options())
    return stream.getvalue().splitlines()


def test_the_newest_of_several_copies_answers() -> None:
    """Broker 3 was stopped last: only its copy says that all are stopped."""
    said = answer(*STOPPED)
    assert said["schema"] == "kcheck.cluster/1"
    assert said["metadata"] == {
        "kind": "kraft", "path": f"{STOPPED[2]}/data1/{METADATA}", "end_offset": 373, "epoch": 1,
        "time": said["metadata"]["time"], "committed_to": None, "complete": True, "problems": [],
    }  # fmt: skip
    assert [(copy["node_id"], copy["end_offset"], copy["newest"], copy["kept_to"]) for copy in said["copies"]] == [
        (1, 353, False, 353), (2, 368, False, 368), (3, 373, True, 373),
    ]  # fmt: skip
    assert {copy["voter"] for copy in said["copies"]} == {False}
    assert (said["quorum"], said["stopped"]) == (
        {"leader": 100, "epoch": 1, "voters": [100], "voter_set": [], "committed_to": None}, True,
    )  # fmt: skip


def test_a_stop_leaves_no_leader_and_the_last_one_is_shown() -> None:
    """As ELR is on, the ISR is empty then."""
    said = answer(STOPPED[2])
    row = next(row for row in said["partitions"] if row["topic"] == "codecs")
    assert (row["leader"], row["last_leader"], row["leader_epoch"], row["isr"], row["elr"]) == (-1, 2, 6, [], [2])
    assert (row["health"], row["min_isr"]) == (["leaderless", "elr-only", "under-replicated"], 1)
    assert said["health"]["leaderless"] == len(said["partitions"]) == 10
    assert said["cluster_id"] == "88zWoqY2Sfi4TyCHn3P7GQ"


def test_brokers_and_what_their_software_is() -> None:
    rows = answer(STOPPED[0])["brokers"]
    assert [(row["broker_id"], row["fenced"], row["in_controlled_shutdown"], row["epoch"]) for row in rows] == [
        (1, True, True, 270), (2, False, False, 274), (3, False, False, 272),
    ]  # fmt: skip
    assert {(row["software"]["lowest"], row["software"]["highest"]) for row in rows} == {("4.3", "4.3")}
    assert [len(row["log_dirs"]) for row in rows] == [2, 1, 1]
    assert [(row["leads"], row["replicas"]) for row in rows] == [(0, 10), (10, 10), (0, 2)]
    assert [row["controller_id"] for row in answer(COORDINATORS)["controllers"]] == [1]


def test_only_some_partitions() -> None:
    said = answer(STOPPED[0], partitions=PartitionFilter(topics=("plain",), partitions=("1",)))
    assert [(row["topic"], row["partition"]) for row in said["partitions"]] == [("plain", 1)]
    some = answer(STOPPED[0], fetchers=2, partitions=PartitionFilter(topics=("plain",)))["fetchers"]
    assert sum(row["partitions"] for row in some) == 3


def test_the_metadata_as_of_an_offset() -> None:
    """The record at the offset counts; what is committed is known of the whole log."""
    said = answer(COORDINATORS, at=60)
    assert (said["metadata"]["end_offset"], said["metadata"]["committed_to"]) == (61, 133)
    assert {row["topic"] for row in said["partitions"]} == {"__consumer_offsets", "orders"}
    with pytest.raises(UsageError, match=f"--at 133: {COORDINATORS}/{METADATA} ends at offset 133"):
        answer(COORDINATORS, at=133)


def test_an_offset_below_what_is_left(tmp_path: Path) -> None:
    """Of a log that begins after it, without a snapshot from before."""
    path = shutil.copytree(COORDINATORS, tmp_path / "d") / METADATA
    (path / "00000000000000000000.log").rename(path / "00000000000000000086.log")
    with pytest.raises(UsageError, match=r"--at 20: 0*86.log: no snapshot holds what stood before 86"):
        answer(path, at=20)


def test_the_history_of_a_partition() -> None:
    """Created, handed over, the log dir changed; the topic removed in the end."""
    rows = answer(COORDINATORS, history="orders-0")["history"]
    assert [row["event"] for row in rows][:2] == ["created", "changed"]
    assert [row["offset"] for row in rows] == sorted(row["offset"] for row in rows)
    assert [row["leader_epoch"] for row in rows] == sorted(row["leader_epoch"] for row in rows)
    assert all(row["time"] > 10**12 for row in rows)
    assert rows[-1]["leader"] == -1
    removed = answer(NEW / "tiered" / "broker-1", history="gone-0")["history"]
    assert (removed[-1]["event"], removed[-1]["offset"]) == ("removed", 96)
    early = answer(COORDINATORS, history="orders-0", at=rows[1]["offset"])["history"]
    assert early == rows[:2]


def test_a_history_goes_on_from_a_snapshot(tmp_path: Path) -> None:
    """Its state has no offset and no time."""
    path = shutil.copytree(COORDINATORS, tmp_path / "d") / METADATA
    data = (path / "00000000000000000000.log").read_bytes()
    whole = answer(path, history="orders-0")["history"]
    (path / "00000000000000000000.log").unlink()
    for file in path.glob("*.checkpoint"):
        if not file.name.startswith("00000000000000000043"):
            file.unlink()
    (path / "00000000000000000043.log").write_bytes(data[_position(path, data, 43) :])
    rows = answer(path, history="orders-0")["history"]
    assert (rows[0]["event"], rows[0]["offset"], rows[0]["time"]) == ("snapshot", None, None)
    assert rows[1:] == [row for row in whole if row["offset"] >= 43]


def _position(path: Path, data: bytes, offset: int) -> int:
    """Return where the batch that begins at an offset stands."""
    (path / "all").write_bytes(data)
    batches = kcheck.dump(path / "all", as_kind="segment").to_dict()["files"][0]["batches"]
    return next(int(batch["position"]) for batch in batches if batch["base_offset"] == offset)


@pytest.mark.parametrize(("text", "why"), [("nothing-0", "knows no such partition"), ("orders", "write TOPIC-N")])
def test_a_history_of_nothing(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"--history {text}: .*{why}"):
        answer(COORDINATORS, history=text)


def test_fetcher_threads() -> None:
    said = answer(STOPPED[2], fetchers=2)
    assert said["num_replica_fetchers"] == 2
    first = said["fetchers"][0]
    assert (first["broker_id"], first["leader"], first["fetcher"], first["partitions"]) == (1, 2, 0, 4)
    assert first["names"] == ["compacted-0", "plain-0", "plain-2", "segments-0"]
    assert "fetchers" not in answer(STOPPED[2])


def test_tables() -> None:
    cluster = kcheck.cluster(STOPPED[2]).to_arrow()
    assert (cluster.num_rows, cluster["isr"][0].as_py()) == (10, "[]")
    assert kcheck.cluster(STOPPED[2], brokers=True).to_arrow()["broker_id"].to_pylist() == [1, 2, 3]
    history = kcheck.cluster(COORDINATORS, history="orders-0").to_arrow()
    assert history["offset"].to_pylist() == sorted(history["offset"].to_pylist())


def test_what_of_a_copy_cannot_be_read_is_told(tmp_path: Path) -> None:
    path = shutil.copytree(COORDINATORS, tmp_path / "d") / METADATA
    flip_byte(path / "00000000000000000000.log", 300)
    said = answer(path)
    assert (said["metadata"]["end_offset"], said["metadata"]["complete"]) == (86, False)
    assert [problem["place"] for problem in said["copies"][0]["problems"]] == ["00000000000000000000.log"]


def test_a_controller_that_has_heard_of_a_later_election(tmp_path: Path) -> None:
    """Its quorum-state names the leader, not the log."""
    path = shutil.copytree(COORDINATORS, tmp_path / "d") / METADATA
    state = path / "quorum-state"
    state.write_text(state.read_text("utf-8").replace('"leaderEpoch":2', '"leaderEpoch":9'), "utf-8")
    quorum = answer(path)["quorum"]
    assert (quorum["leader"], quorum["epoch"]) == (1, 9)


DIVERGED = [f"{number}={NEW / 'diverged' / f'broker-{number}'}" for number in (1, 2)]


def test_truncation_says_who_can_be_elected_cleanly() -> None:
    """By the metadata beside the replicas; a copy that is named counts as well, and the newest of them decides.

    Broker 2 leads and was killed: its restart costs it the place in the ELR.
    """
    beside = kcheck.truncation(*DIVERGED).to_dict()["partitions"]
    running = kcheck.truncation(*DIVERGED, live=True).to_dict()["partitions"]
    for rows, of_leader in ((beside, "unclean"), (running, "clean")):
        assert {(row["leader"], row["election"]) for row in rows if row["topic"] == "diverged"} == {
            (1, "unclean"), (2, of_leader),
        }  # fmt: skip
    assert beside[0]["cluster"] == {
        "leader": 2, "last_leader": 2, "leader_epoch": 4, "isr": [2], "elr": [], "replicas": [2, 1],
    }  # fmt: skip


def test_truncation_without_metadata(tmp_path: Path) -> None:
    """Unless they are named: then they count for the replicas in the arguments."""
    for number in (1, 2):
        path = shutil.copytree(NEW / "diverged" / f"broker-{number}" / "data1", tmp_path / str(number))
        shutil.rmtree(path / METADATA)
    paths = [f"{number}={tmp_path / str(number)}" for number in (1, 2)]
    without = kcheck.truncation(*paths).to_dict()["partitions"]
    assert {(row["election"], row["cluster"]) for row in without} == {(None, None)}
    named = kcheck.truncation(*paths, metadata=[NEW / "diverged" / "broker-2"], live=True).to_dict()["partitions"]
    assert {(row["leader"], row["election"]) for row in named} == {(1, "unclean"), (2, "clean")}
    assert {row["election"] for row in kcheck.truncation(*DIVERGED, kafka="2.8").to_dict()["partitions"]} == {None}


def test_metadata_that_are_named(tmp_path: Path) -> None:
    """Of another cluster, incomplete, or of an unknown one: refused."""
    data = shutil.copytree(NEW / "stopped" / "broker-2" / "data1", tmp_path / "d")
    newer = NEW / "stopped" / "broker-3"
    assert kcheck.predict(data, metadata=[newer]).severity == "info"
    with pytest.raises(UsageError, match=r"--metadata is of cluster rEdlymVTR8eFncPT93AD5g, the log dirs are of 88zW"):
        kcheck.predict(data, metadata=[COORDINATORS])
    with pytest.raises(UsageError, match=r"--metadata is of cluster rEdlymVTR8eFncPT93AD5g, the log dirs are of 88zW"):
        kcheck.truncation(f"2={data}", f"3={newer}", metadata=[COORDINATORS])
    other = shutil.copytree(newer / "data1" / METADATA, tmp_path / "m" / METADATA)
    with pytest.raises(UsageError, match=f"--metadata {other}: no meta.properties beside it"):
        kcheck.predict(data, metadata=[other])
    shutil.copy(newer / "data1" / "meta.properties", tmp_path / "m")
    flip_byte(other / "00000000000000000000.log", 300)
    with pytest.raises(UsageError, match=f"--metadata {other}: 0*.log: no valid batch begins at offset"):
        kcheck.check(data, metadata=[other])
    with pytest.raises(UsageError, match="codecs-0 is no cluster metadata, which are in"):
        kcheck.overview(data, metadata=[tmp_path / "d" / "codecs-0"])


def test_a_stray_that_a_controller_proves(tmp_path: Path) -> None:
    """A broker of its own copy of which the topic is gone; by the only controller nothing is uncertain."""
    data = shutil.copytree(NEW / "coordinators" / "broker-1" / "data1", tmp_path / "d")
    stranger = shutil.copytree(NEW / "tiered" / "broker-1" / "data1" / "whole-0", data / "whole-0")
    metadata = shutil.copytree(data, tmp_path / "controller")
    shutil.rmtree(data / METADATA)
    shutil.rmtree(metadata / "whole-0")
    without = kcheck.predict(data).to_dict()["log_dirs"][0]["partitions"]
    assert next(row for row in without if row["dir"] == stranger.name)["outcome"] != "stray"
    rows = kcheck.predict(data, metadata=[metadata]).to_dict()["log_dirs"][0]["partitions"]
    row = next(row for row in rows if row["dir"] == stranger.name)
    assert (row["outcome"], row["uncertain"]) == ("stray", None)


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


def test_what_only_zookeeper_knows() -> None:
    said = answer(ZOOKEEPER / "3.9.2-migration")
    assert said["quorum"]["leader"] == 100
    assert said["zookeeper"]["migration"]["controller_id"] == 100
    assert (said["zookeeper"]["isr_changes"], said["migration"], said["deleting"]) == ([], "migration", [])
    assert [row["migrating"] for row in said["brokers"]] == [True]
    assert answer(ZOOKEEPER / "3.9.2", fetchers=1)["fetchers"][0]["partitions"] == 3


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


def test_the_history_that_zookeeper_keeps(tmp_path: Path) -> None:
    """With the fields of a KRaft history; `offset` is the transaction."""
    said = answer(ZOOKEEPER / "3.9.2", history="gone-0")
    assert [(row["event"], row["offset"], row["leader"], row["leader_epoch"]) for row in said["history"]] == [
        ("created", 0x3F, -1, None), ("changed", 0x42, 1, 0), ("changed", 0x4A, -1, 1), ("changed", 0x4B, -1, 2),
        ("removed", 0x4C, -1, 2),
    ]  # fmt: skip
    assert said["history"][0].keys() == answer(COORDINATORS, history="orders-0")["history"][0].keys()
    assert said["zookeeper"]["zxid"] == 0x5B
    assert said["metadata"]["time"] > said["history"][-1]["time"] > 10**12
    early = answer(ZOOKEEPER / "3.9.2", history="gone-0", at=0x42)
    assert (early["history"], early["zookeeper"]["zxid"]) == (said["history"][:2], 0x42)
    assert [row["leader"] for row in early["partitions"] if row["topic"] == "gone"] == [1]
    for name, pattern in (("data", "log.*"), ("logs", "snapshot.*")):
        shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / name, ignore=shutil.ignore_patterns(pattern))
    assert answer(tmp_path / "data", tmp_path / "logs", history="gone-0")["history"] == said["history"]


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
        ({"at": 0x5C}, "", "--at 0x5c: .* ends at transaction 0x5b"),
        ({"at": 9}, "version-2/log.49", "--at 0x9: .* does not hold every transaction up to it"),
        ({"at": 9}, "describe.txt", "--at: .* has no history; name the data directory of a ZooKeeper server"),
        ({"history": "plain-0"}, "describe.txt", "--history: .* has no history"),
        ({"history": "plain-9"}, "", "--history plain-9: .* knows no such partition"),
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
    with pytest.raises(UsageError, match="--metadata is of cluster"):
        kcheck.truncation(*DIVERGED, metadata=[ZOOKEEPER / "1.1.1"], partitions=wanted)


OF_ZOOKEEPER = {"plain": "H1UEX1ltRq6Ju088wyqT5A", "strict": "72fVXIXjSDGfm2t87AQPxg"}


@pytest.fixture
def of_zookeeper(tmp_path: Path) -> Path:
    """Return the log dir of broker 1: of `plain` it has both replicas, `strict` names the id of `plain`."""
    log_dir(tmp_path / "d", cluster_id="OwpiZHdqTemlWFP7A4vi0w", clean=True)
    for name, topic in (("plain-0", "plain"), ("plain-1", "plain"), ("strict-0", "plain"), ("gone-0", "strict")):
        partition_dir(tmp_path / "d" / name, [run(0, 9)], epoch_entries=[(0, 0)])
        write(tmp_path / "d" / name, {"partition.metadata": partition_metadata(OF_ZOOKEEPER[topic])})
    write(tmp_path / "d", {"meta.properties": meta_properties(1, cluster_id="OwpiZHdqTemlWFP7A4vi0w", version=0)})
    write(tmp_path / "d" / "plain-0", {"leader-epoch-checkpoint": epochs((9, 0))})
    return tmp_path / "d"


@pytest.mark.parametrize("command", ["check", "overview"])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("", [("gone-0", "KC236", "info"), ("plain-0", "KC238", "error"), ("strict-0", "KC235", "error")]),
        ("describe.txt", [("strict-0", "KC235", "warning")]),
    ],
)
def test_what_zookeeper_says_of_replicas(
    command: str, source: str, expected: list[tuple[str, str, str]], of_zookeeper: Path
) -> None:
    """A description names no epochs, and perhaps not every topic. No start makes a stray."""
    metadata = [ZOOKEEPER / "3.9.2" / source]
    ask = kcheck.check if command == "check" else kcheck.overview
    findings = ask(of_zookeeper, metadata=metadata, kafka="3.9").to_dict()["findings"]
    rows = [(row["dir"], row["id"], row["severity"]) for row in findings if "KC235" <= row["id"] <= "KC239"]
    assert sorted(rows) == expected
    (start,) = kcheck.predict(of_zookeeper, metadata=metadata, kafka="3.9").to_dict()["log_dirs"]
    assert {row["outcome"] for row in start["partitions"]} == {"repaired"}


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
    with pytest.raises(UsageError, match="--metadata is of cluster"):
        kcheck.check(of_zookeeper, metadata=[ZOOKEEPER / "1.1.1"], kafka="3.9")
    copy = shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / "z")
    flip_byte(copy / "version-2" / "log.49", 100)
    with pytest.raises(UsageError, match=f"--metadata {copy}: "):
        kcheck.check(of_zookeeper, metadata=[copy], kafka="3.9")


@pytest.mark.parametrize("name", ["", "version-2", "version-2/log.49"])
def test_a_server_of_an_ensemble_may_be_behind(name: str, tmp_path: Path) -> None:
    copy = shutil.copytree(ZOOKEEPER / "3.9.2", tmp_path / "z")
    assert zookeeper_copy(str(copy / name)).is_only
    (copy / "version-2" / "currentEpoch").write_text("1")
    assert not zookeeper_copy(str(copy / name)).is_only


def three_controllers(tmp_path: Path) -> list[Path]:
    """Return the log of a controller, and two copies of it that end earlier."""
    paths = []
    log = (COORDINATORS / METADATA / "00000000000000000000.log").read_bytes()
    for number, offset in ((1, None), (2, 113), (3, 103)):
        path = tmp_path / str(number)
        shutil.copytree(COORDINATORS / METADATA, path / METADATA)
        for name in (path / METADATA).glob("*.checkpoint"):
            name.unlink()
        end = len(log) if offset is None else _position(path, log, offset)
        (path / METADATA / "00000000000000000000.log").write_bytes(log[:end])
        (path / METADATA / "quorum-state").unlink()
        identity = f"version=1\nnode.id={number}\ncluster.id=rEdlymVTR8eFncPT93AD5g\n"
        (path / "meta.properties").write_text(identity, "utf-8")
        paths.append(path)
    return paths


def test_what_an_election_can_take_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With three voters a majority holds what the second copy holds; the rest of the newest may go."""
    paths = three_controllers(tmp_path)
    read = read_copy

    def with_voters(*given: Any, **named: Any) -> Any:
        return read(*given, **named)._replace(voters=frozenset({1, 2, 3}))

    monkeypatch.setattr("kcheck.verbs.cluster.read_copy", with_voters)
    said = answer(*paths)
    assert said["metadata"]["committed_to"] == 113
    assert [copy["can_win"] for copy in said["copies"]] == [True, True, False]
    assert (said["uncommitted"]["from"], said["uncommitted"]["to"]) == (113, 133)
    assert said["uncommitted"]["records"]["PartitionChangeRecord"] > 0
    stream = io.StringIO()
    render(kcheck.cluster(*paths).report(), stream, Options(width=200))
    assert "if a controller without offsets 113 to 132 wins the next election, they are gone: " in stream.getvalue()
    assert "cannot win" in stream.getvalue()
