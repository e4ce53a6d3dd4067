"""What the controllers know, as an answer: of directories that real nodes left."""

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

import kcheck
from kcheck.errors import UsageError
from kcheck.model.report import PartitionFilter
from kcheck.renderers import Options
from kcheck.renderers.text import render
from kcheck.views.metadata_copy import read_copy
from tests.builders import flip_byte
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
        {"leader": 100, "epoch": 1, "voters": [100], "voter_set": [], "committed_to": None, "voters_here": []}, True,
    )  # fmt: skip


def test_a_stop_leaves_no_leader_and_the_last_one_is_shown() -> None:
    """As ELR is on, the ISR is empty then."""
    said = answer(STOPPED[2])
    row = next(row for row in said["partitions"] if row["topic"] == "codecs")
    assert (row["leader"], row["last_leader"], row["leader_epoch"], row["isr"], row["elr"]) == (-1, 2, 6, [], [2])
    assert (row["health"], row["min_isr"]) == (["leaderless", "elr-only", "under-replicated"], 1)
    assert said["health"]["leaderless"] == len(said["partitions"]) == 10
    assert said["cluster_id"] == "88zWoqY2Sfi4TyCHn3P7GQ"


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
    with pytest.raises(UsageError, match=f"at 133: {COORDINATORS}/{METADATA} ends at offset 133"):
        answer(COORDINATORS, at=133)


def test_an_offset_below_what_is_left(tmp_path: Path) -> None:
    """Of a log that begins after it, without a snapshot from before."""
    path = shutil.copytree(COORDINATORS, tmp_path / "d") / METADATA
    (path / "00000000000000000000.log").rename(path / "00000000000000000086.log")
    with pytest.raises(UsageError, match=r"at 20: 0*86.log: no snapshot covers the offsets before 86"):
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
    with pytest.raises(UsageError, match=f"history {text}: .*{why}"):
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
    """Of another cluster, or of an unknown one: refused. Damaged: what they would say is not known."""
    data = shutil.copytree(NEW / "stopped" / "broker-2" / "data1", tmp_path / "d")
    newer = NEW / "stopped" / "broker-3"
    assert kcheck.predict(data, metadata=[newer]).severity == "info"
    (refuted,) = (row for row in kcheck.predict(data, metadata=[COORDINATORS]).premises if row.id == "P101")
    assert refuted.sentence.endswith("88zWoqY2Sfi4TyCHn3P7GQ, the cluster is rEdlymVTR8eFncPT93AD5g")
    with pytest.raises(UsageError, match=r"^metadata is of cluster rEdlymVTR8eFncPT93AD5g, the log dirs are of 88zW"):
        kcheck.truncation(f"2={data}", f"3={newer}", metadata=[COORDINATORS])
    other = shutil.copytree(newer / "data1" / METADATA, tmp_path / "m" / METADATA)
    with pytest.raises(UsageError, match=f"metadata {other}: no meta.properties next to it"):
        kcheck.predict(data, metadata=[other])
    shutil.copy(newer / "data1" / "meta.properties", tmp_path / "m")
    log = other / "00000000000000000000.log"
    log.write_bytes(log.read_bytes()[:-5])
    assert kcheck.predict(data, metadata=[other]).severity == "info"
    flip_byte(log, 300)
    (unseen,) = (row for row in kcheck.predict(data, metadata=[other]).premises if row.id == "P353")
    assert unseen.status == "not-seen"
    assert f"the metadata in {other} cannot be read in full (" in unseen.sentence
    assert kcheck.predict(data, metadata=[other]).severity == "error"
    with pytest.raises(UsageError, match="codecs-0: not cluster metadata, which is in"):
        kcheck.overview(data, metadata=[tmp_path / "d" / "codecs-0"])


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
    assert "offsets 113-132 may be lost with the next election of a controller: " in stream.getvalue()
    assert "cannot win" in stream.getvalue()
