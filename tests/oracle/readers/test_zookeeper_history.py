"""The znodes as of a transaction, and the history of partitions: what the living cluster told in between.

`KCHECK_SWEEP` takes more releases.
"""

import re
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kcheck
from tests.oracle import histories
from tests.oracle.kafka import Cluster, wait_for
from tests.oracle.wire import States, states

pytestmark = pytest.mark.oracle

VERSIONS = ("2.8.2", "3.6.2", "3.9.2")


class Moment(NamedTuple):
    """What a broker told, after which transaction, and when."""

    zxid: int
    time: float
    states: States


def _last_zxid(cluster: Cluster) -> int:
    with socket.create_connection(("127.0.0.1", cluster.beside.port)) as connection:
        connection.sendall(b"srvr")
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    (zxid,) = re.findall(rb"Zxid: 0x([0-9a-f]+)", answer)
    return int(zxid, 16)


def _moment(cluster: Cluster, broker: int, condition: Callable[[States], bool]) -> Moment:
    """Return what the broker tells once a condition holds and ZooKeeper is at rest."""
    port = cluster[broker].port
    wait_for("the states", lambda: condition(states(port)))
    while True:
        before, moment = _last_zxid(cluster), time.time()
        time.sleep(0.5)
        told = states(port)
        if before == _last_zxid(cluster) and condition(told):
            return Moment(before, moment, told)


def _led(leader: int, *isr: int) -> Callable[[States], bool]:
    return lambda told: {(told[name][0], *sorted(told[name][3])) for name in told if name[0] == "t"} == {(leader, *isr)}


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_what_was_when(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Topics come and go, a broker stops, comes back, and the other one dies; ZooKeeper writes many snapshots."""
    config = {"auto.leader.rebalance.enable": "false"}
    cluster = start(version, 2, dir=tmp_path / "c", mode="zk", broker_config=config)
    cluster.beside.add_jvm_option("-Dzookeeper.preAllocSize=8")  # KiB
    cluster.beside.add_jvm_option("-Dzookeeper.snapCount=30")
    with cluster:
        histories.replicas(cluster, "create t 1:2,1:2", "create gone 1")
        moments = [_moment(cluster, 1, lambda told: len(told) == 3 and _led(1, 1, 2)(told))]
        cluster[1].stop()
        moments.append(_moment(cluster, 2, _led(2, 2)))
        cluster[1].start()
        moments.append(_moment(cluster, 1, _led(2, 1, 2)))
        histories.replicas(cluster, "delete gone")
        moments.append(_moment(cluster, 1, lambda told: "gone-0" not in told))
        histories.replicas(cluster, "create gone 2:1")
        moments.append(_moment(cluster, 1, lambda told: told.get("gone-0", ((),) * 4)[2] == [2, 1]))
        cluster[2].kill()
        moments.append(_moment(cluster, 1, _led(1, 1)))
    server = cluster.beside.dir
    assert len([*(server / "version-2").glob("snapshot.*")]) > 2
    for moment in moments:
        assert _by_kcheck(server, moment.zxid) == moment.states
    assert _by_kcheck(server, None) == moments[-1].states
    for name in ("t-0", "t-1", "gone-0"):
        rows = kcheck.cluster(server, history=name).to_dict()["history"]
        assert rows[0]["event"] == "created"
        assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
        for moment in moments:
            row = [row for row in rows if row["offset"] <= moment.zxid][-1]
            assert (None if row["event"] == "removed" else _state(row)) == moment.states.get(name)
            assert row["time"] <= 1000 * moment.time
            assert all(row["time"] > 1000 * moment.time for row in rows if row["offset"] > moment.zxid)
        assert ("removed" in [row["event"] for row in rows]) is (name == "gone-0")


def _by_kcheck(server: Path, zxid: int | None) -> States:
    rows = kcheck.cluster(server, at=zxid).to_dict()["partitions"]
    return {f"{row['topic']}-{row['partition']}": _state(row) for row in rows}


def _state(row: dict[str, Any]) -> tuple[int, int, list[int], list[int]]:
    return row["leader"], row["leader_epoch"], row["replicas"], row["isr"]
