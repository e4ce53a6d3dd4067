"""The ends of sessions: the request of a client has a number, that of an expired session has none."""

from pathlib import Path

import pytest

from kcheck.model.znodes import CloseSession, CreateNode, Znode, ZookeeperTransaction
from kcheck.views.host_facts import stopped_at, written_at
from kcheck.views.zookeeper_copy import read_zookeeper
from kcheck.views.zookeeper_sessions import BrokerSessions
from tests.oracle.incidents import kept

MANY = CreateNode("/other", None, 5)


def test_the_last_session_of_each_broker_counts() -> None:
    """A later one that expired, or goes on, is no clean stop."""
    sessions = BrokerSessions()
    sessions.observe({"/k/brokers/ids/9": Znode(None, ephemeral_owner=9), "/other": Znode(None)}, None)
    changes = [
        (MANY, CreateNode("/brokers/ids/1", None, 1), CreateNode("/brokers/ids/2", None, 2)),
        (CreateNode("/brokers/ids/3", None, 3), CreateNode("/brokers/ids/x", None, 3)),
        (CloseSession(1, (), asked=True),), (CloseSession(2, ()),), (CloseSession(3, (), asked=True),),
        (CreateNode("/brokers/ids/3", None, 4),), (CloseSession(9, (), asked=True),),
    ]  # fmt: skip
    for zxid, of in enumerate(changes):
        sessions.observe({}, ZookeeperTransaction(0, zxid, 10 * zxid, of))
    assert (frozenset({1}), frozenset({9})) == (sessions.closed(""), sessions.closed("/k"))
    assert ({1: 0, 2: 0, 3: 50}, {}) == (sessions.registered_at(""), sessions.registered_at("/k"))
    sessions.observe({}, None)
    assert {} == sessions.registered_at("")
    assert frozenset() == sessions.closed("")


def test_the_last_change_of_a_broker_is_of_its_last_session() -> None:
    """Neither the end of a session counts, nor what the server or another client did, nor an earlier session."""
    sessions = BrokerSessions()
    sessions.observe({"/brokers/ids/9": Znode(None, ephemeral_owner=9)}, None)
    changes = [
        (1, (CreateNode("/brokers/ids/1", None, 1),)), (2, (CreateNode("/brokers/ids/2", None, 2),)), (1, ()), (7, ()),
        (1, (CloseSession(1, (), asked=True),)), (0, (CloseSession(2, ()),)), (2, ()),
        (3, (CreateNode("/brokers/ids/2", None, 3),)), (2, ()),
    ]  # fmt: skip
    for at, (session, of) in enumerate(changes, 1):
        sessions.observe({}, ZookeeperTransaction(0, at, 10 * at, of, session))
    assert ({1: 30, 2: 80}, {}) == (sessions.asked_at(""), sessions.asked_at("/k"))
    sessions.observe({}, ZookeeperTransaction(0, 10, 100, (), 9))
    assert sessions.asked_at("") == {1: 30, 2: 80, 9: 100}
    sessions.observe({}, None)
    assert {} == sessions.asked_at("")


def test_the_last_creation_of_a_topic() -> None:
    """A znode below the topic is none, nor is one of another cluster."""
    sessions = BrokerSessions()
    paths = ("/brokers/topics/t", "/brokers/topics/t/partitions", "/k/brokers/topics/t", "/brokers/topics/t")
    for zxid, path in enumerate(paths, 1):
        sessions.observe({}, ZookeeperTransaction(0, zxid, 10 * zxid, (CreateNode(path, None, 0),)))
    assert [{"t": 40}, {"t": 30}, {}] == [sessions.created_at(chroot) for chroot in ("", "/k", "/x")]
    sessions.observe({}, None)
    assert {} == sessions.created_at("")


def test_brokers_that_were_stopped_or_killed(tmp_path: Path) -> None:
    """Of two clusters of 3.9.2: one was shut down, of the other two brokers were killed, the third at the end."""
    ends = {}
    for name in ("3.9.2-zk-nothing-k7", "3.9.2-zk-remove-last-z9b"):
        folder = kept.unpacked(kept.PLACE / f"{name}.tar.xz", tmp_path / name).folder
        ends[name] = read_zookeeper(str(folder / "zookeeper")).closed
    assert [{1, 2}, set()] == [*map(set, ends.values())]


@pytest.mark.parametrize(
    ("name", "older"),
    [
        ("2.4.1-zk-nothing-m1", set()), ("2.8.2-zk-nothing-v1", set()), ("3.9.2-zk-nothing-k7", set()),
        ("3.9.2-zk-remove-marker-k7", set()), ("3.9.2-zk-old-copy-m2", {"broker-2/data1"}),
        ("3.9.2-zk-flip-active+old-log-dir-p8", {"broker-2/data1"}),
    ],
)  # fmt: skip
def test_a_broker_registers_after_it_removed_the_file_of_its_clean_stop(
    name: str, older: set[str], tmp_path: Path
) -> None:
    """So only old copies have files from before. The two of 3.9.2 lost records."""
    folder = kept.unpacked(kept.PLACE / f"{name}.tar.xz", tmp_path / name).folder
    registered = read_zookeeper(str(folder / "zookeeper")).registered_at
    assert registered
    times = {
        f"{path.parent.name}/{path.name}": (int(path.parent.name.removeprefix("broker-")), stopped_at(str(path)))
        for path in folder.glob("broker-?/data?")
    }
    stops = {name: registered[number] - time for name, (number, time) in times.items() if time is not None}
    assert stops
    assert older == {name for name, later in stops.items() if later > 1000}


@pytest.mark.parametrize(
    "name", ["2.4.1-zk-flip-active-k3", "2.8.2-zk-swap-partitions-n27", "3.9.2-zk-remove-last-z9b"]
)
def test_a_broker_that_runs_writes_its_checkpoints_again_and_again(name: str, tmp_path: Path) -> None:
    """These brokers were killed. Their settings have an interval of 500 ms."""
    folder = kept.unpacked(kept.PLACE / f"{name}.tar.xz", tmp_path / name).folder
    asked = read_zookeeper(str(folder / "zookeeper")).asked_at
    times = [
        (int(path.parent.name.removeprefix("broker-")), written_at(str(path))) for path in folder.glob("broker-?/data?")
    ]
    assert {number for number, _ in times} == set(asked)
    assert [] == [number for number, at in times if at is None or asked[number] - at > 500]
