"""Real brokers of all releases delete after a start what kcheck says that retention takes, and no more."""

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import kcheck
from tests.cli.command import kcheck as command
from tests.oracle import histories
from tests.oracle.admin_requests import delete_records
from tests.oracle.clusters import tiered
from tests.oracle.clusters.tiered import BATCH, stored
from tests.oracle.kafka import Cluster, Process, wait_for
from tests.oracle.wire import log_start

pytestmark = pytest.mark.oracle
Start = Callable[..., Cluster]
BATCHES = 9
"""Batches of each topic. A batch is a segment of about 150 bytes, the last one is active."""
SIZE = 600
CHANGES = {
    "size": f"retention.bytes={SIZE}",
    "both": f"retention.bytes={SIZE},local.retention.bytes={SIZE}",
    "lag": f"retention.bytes={SIZE}",
    "moved": f"retention.bytes={SIZE}",
    "old": "retention.ms=1000,local.retention.ms=1000",
    "young": "retention.ms=3600000",
    "kept": "",
}
"""What changes for each topic while no task of the broker runs. `both` has all segments on disk too."""
_LATER = 3_600_000


class Outcome(NamedTuple):
    """A topic after retention."""

    log_start: int
    """Its log start offset."""
    local_start: int
    """The base offset of its first local segment."""
    stored: set[int]
    """The first offsets of its segments in the store."""


def pause(broker: Process, *, goes_on: bool) -> None:
    """Let a stopped broker start its tasks about retention once, and then never or twice a second."""
    path = broker.dir / "server.properties"
    text = path.read_text()
    for name, usual in (("remote.log.manager.task.interval.ms", 500), ("log.retention.check.interval.ms", 1000)):
        text = re.sub(rf"(?m)^{re.escape(name)}=.*$", f"{name}={usual if goes_on else _LATER}", text)
    path.write_text(text)


def fill(cluster: Cluster, store: Path, flags: Path) -> None:
    """Copy eight segments of two leader epochs; of `lag` the first three alone. Then change the topics, and stop."""
    broker, topics = cluster[1], tuple(CHANGES)
    for topic in topics:
        tiered.create(cluster, topic)
    histories.replicas(cluster, "alter both local.retention.bytes=-1")
    tiered.send(cluster, topics, 4)
    for topic in topics:
        tiered.wait_copied(store, topic, 3)
    (flags / "copy.lag").touch()
    broker.stop()
    broker.start()
    tiered.send(cluster, topics, BATCHES - 4)
    for topic in topics:
        wait_for(f"copies of {topic}", partial(has_copies, store, topic, 3 if topic == "lag" else BATCHES - 1))
        if topic not in {"both", "lag"}:
            tiered.wait_local_start(cluster, 1, topic, (BATCHES - 1) * BATCH)
    broker.stop()
    pause(broker, goes_on=False)
    broker.start()
    time.sleep(5)  # The first pass of all tasks.
    histories.replicas(cluster, *(f"alter {topic} {change}" for topic, change in CHANGES.items() if change))
    delete_records(broker.port, "moved", 2 * BATCH + 2)
    broker.stop()
    pause(broker, goes_on=True)
    (flags / "copy.lag").unlink()


def has_copies(store: Path, topic: str, segments: int) -> bool:
    """Whether the store has so many segments of a topic; 3.6 copies some of them twice."""
    return len({row.start for row in stored(store, topic)}) == segments


def begins_above(cluster: Cluster, topic: str, offset: int) -> bool:
    """Whether the log start of a topic is above an offset."""
    return log_start(cluster[1].port, topic) > offset


def outcomes(cluster: Cluster, store: Path) -> dict[str, Outcome]:
    """Return the topics once nothing has changed for some seconds."""

    def now() -> dict[str, Outcome]:
        folder = cluster[1].log_dirs[0]
        return {
            topic: Outcome(
                log_start(cluster[1].port, topic),
                min(int(log.stem) for log in (folder / f"{topic}-0").glob("*.log")),
                {row.start for row in stored(store, topic)},
            )
            for topic in CHANGES
        }

    seen = now()
    same = 0
    while same < 8:
        time.sleep(1)
        again = now()
        same = same + 1 if again == seen else 0
        seen = again
    return seen


def wrong(row: dict[str, Any], seen: Outcome, now_ms: float) -> bool:
    """Return whether retention did something else with a topic than `kcheck tiered` said of its replica."""
    said = row["retention"]
    least, most = said["log_start_at_least"], said["log_start_at_most"]
    if now_ms >= said["first_expiry_ms"]:
        most = row["log_end_offset"]
    if now_ms >= said["last_expiry_ms"]:
        least = row["remote"]["remote_end_offset"]
    local = max(said["local_start_at_most"], seen.log_start)
    return not least <= seen.log_start <= most or not row["remote"]["local_start_offset"] <= seen.local_start <= local


@pytest.mark.sample(1)
@pytest.mark.parametrize("version", tiered.RELEASES)
def test_what_retention_deletes_after_a_start(version: str, tmp_path: Path, start: Start) -> None:
    """By size and by time, of segments in one place or both, copied or not, above the log start or below."""
    store, flags = tmp_path / "store", tmp_path / "flags"
    store.mkdir()
    flags.mkdir()
    config = tiered.config(version, store, 1, flags=flags)
    with start(version, 1, dir=tmp_path / "cluster", broker_config=config) as cluster:
        fill(cluster, store, flags)
        disk = cluster[1].log_dirs[0]
        rows = {row["topic"]: row for row in kcheck.tiered(str(disk)).to_dict()["replicas"]}
        told = command("predict", disk).out
        cluster[1].start()
        for topic in ("size", "both", "lag"):
            wait_for(f"retention of {topic}", partial(begins_above, cluster, topic, 0))
        seen = outcomes(cluster, store)
    now_ms = time.time() * 1000
    assert [
        (topic, rows[topic]["retention"], seen[topic]) for topic in CHANGES if wrong(rows[topic], seen[topic], now_ms)
    ] == []
    # What decides alone is said exactly, and it is seen.
    exact = {topic: rows[topic]["retention"]["log_start_at_most"] for topic in ("size", "moved", "young", "kept")}
    assert exact == {topic: seen[topic].log_start for topic in exact}
    assert min(exact["size"], exact["moved"], seen["both"].log_start, seen["lag"].log_start) > 0
    assert seen["old"].stored == set()
    assert seen["kept"].stored == {BATCH * number for number in range(BATCHES - 1)}
    assert ("\nnote: once broker" in told, "\nnote: from 20" in told) == (True, True)
