"""Real brokers follow a leader whose log is another one, and do what `kcheck truncation` says.

Hundreds of pairs of logs become partitions of two brokers, of which the first leads all; the second starts behind it.
By default one release is asked; `KCHECK_SWEEP=1 .venv/bin/pytest tests/oracle/clusters/test_truncation.py` asks all of
RELEASES, and KCHECK_SEED (0) chooses other pairs.
"""

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_epochs import read_lines
from kcheck.disk.local import LOCAL
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.names import log_name
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.loss import batches_of
from kcheck.replicas.replica import LogFile
from kcheck.replicas.truncation import truncation
from tests.oracle.ask import IS_WHOLE, SEED
from tests.oracle.clusters.pairs import Log, pair, write_logs
from tests.oracle.histories import epoch_lines
from tests.oracle.jars import numbers
from tests.oracle.kafka import Cluster
from tests.oracle.partitions import Led, make_known

pytestmark = pytest.mark.oracle

SAMPLED = ("4.3.1",)
RELEASES = (
    *SAMPLED, "1.1.1", "0.11.0.2", "0.11.0.3", "1.0.2", "1.1.0", "2.0.0", "2.0.1", "2.2.2", "2.4.1", "2.6.3", "2.7.2",
    "2.8.0", "2.8.2", "3.0.2", "3.4.1", "3.9.2", "4.0.2", "4.1.2", "4.2.1",
)  # fmt: skip
COUNT = 120 if IS_WHOLE else 40
FETCHERS = 60
"""A thread that dies takes its partitions along: so many, that few share one."""
LOOP = 20
"""A follower that is cut more often is cut again and again."""
CONFIG: dict[str, object] = {
    "unclean.leader.election.enable": "true", "auto.leader.rebalance.enable": "false", "log.retention.ms": -1,
    "log.index.size.max.bytes": 4096, "num.replica.fetchers": FETCHERS, "replica.fetch.wait.max.ms": 100,
}  # fmt: skip
LOGS = ("kafka.log.Log", "kafka.log.UnifiedLog", "kafka.log.LocalLog", "org.apache.kafka.storage.internals.log")
_CUT = re.compile(r"Truncat(ing|e) .*?offset (\d+)")
_PARTITION = re.compile(r"\b(p\d+)-0\b")


class Followed(NamedTuple):
    """What became of a follower: how it ended, and the offsets to which it was cut. If well, also from where on it
    differs from its leader below the log end that it was cut to, and its epochs there.
    """

    status: str
    cuts: list[int]
    differs_at: int | None = None
    epochs: Sequence[tuple[int, int]] = ()


@pytest.mark.parametrize("version", RELEASES if IS_WHOLE else SAMPLED)
def test_a_follower_does_what_was_planned(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Each truncation, whether fetching fails, where the logs differ in the end, and the epochs that are left."""
    pairs = {f"p{number}": pair(f"{SEED}/{number}") for number in range(COUNT)}
    cluster = start(
        version, 2, dir=tmp_path / "cluster", mode="kraft" if numbers(version) >= (4,) else "zk",
        broker_config=CONFIG, loggers=dict.fromkeys(LOGS, "DEBUG"),
    )  # fmt: skip
    for number, broker in cluster.brokers.items():
        logs = {topic: each[number - 1] for topic, each in pairs.items()}
        write_logs(broker.log_dirs[0], logs, clean=Random(f"{SEED} {version} {number}").random() < 0.6)
        shutil.copytree(broker.log_dirs[0], tmp_path / f"before-{number}")
    kafka, before = release(version), tmp_path / "before-2"
    named = [f"{number}={tmp_path}/before-{number}" for number in cluster.brokers]
    body: Any = truncation(named, Election(leader="1"), wanted=PartitionFilter(), release=kafka).report().body
    planned = {row["topic"]: row["followers"][0] for row in body["partitions"]}
    for topic in [topic for topic, row in planned.items() if row["problem"] is not None]:
        assert "the broker aborts" in planned[topic]["problem"]
        for broker in cluster.brokers.values():
            shutil.rmtree(broker.log_dirs[0] / f"{topic}-0")
        del pairs[topic]
    try:
        make_known(cluster, {topic: Led((1, 2), each.leader_epoch) for topic, each in pairs.items()})
        for broker in cluster.brokers.values():
            broker.start()
            broker.wait_quiet()
        said = cluster[2].log_since_start()
    finally:
        cluster.kill()
    failed = set(re.findall(r"rror .*processing data for partition \[?(p\d+)", said))
    dead = {_thread(topic) for topic in failed} if numbers(version) < (2, 3) else set()
    known = [topic for topic in pairs if topic in failed or _thread(topic) not in dead]
    cuts = _cuts(said)
    differ = []
    for topic in known:
        row, leader = planned[topic], pairs[topic].leader
        ours = _planned(row, leader)
        cut = _effective(cuts.get(topic, []), row["log_end_offset_before"])
        if topic in failed or len(cuts.get(topic, [])) > LOOP:
            theirs = Followed("fetch_fails" if topic in failed else "never_completes", cut[: len(ours.cuts)])
        else:
            paths = [each.log_dirs[0] / f"{topic}-0" for each in cluster.brokers.values()]
            begin = max(min(_bases(path)) for path in paths)  # A retention may have been faster.
            theirs = Followed("ok", cut, *_left([*paths, before / f"{topic}-0"], begin, row, leader, kafka))
            if ours.differs_at is not None:
                ours = ours._replace(differs_at=max(begin, ours.differs_at))
            elif row["lost"] and not row["lost"]["certain"]:
                theirs = theirs._replace(differs_at=None)  # Of messages in compacted logs it is not known.
        if ours != theirs:
            differ.append(f"{topic}: {ours}, not {theirs}\n{pairs[topic]}\n{row['steps']}")
    assert not differ, "\n".join(differ)
    assert len(known) > 0.7 * COUNT  # Before 2.3 a thread that dies leaves its other partitions untold.


def _thread(topic: str) -> int:
    """Return which fetcher thread has the partition (AbstractFetcherManager.getFetcherId)."""
    code = 0
    for character in topic:
        code = 31 * code + ord(character)
    return abs((31 * code + 2**31) % 2**32 - 2**31) % FETCHERS


def _cuts(said: str) -> dict[str, list[tuple[bool, int]]]:
    """Return for each topic whether the log was emptied, and to which offset it was cut, as the broker logs it."""
    found: dict[str, list[tuple[bool, int]]] = {}
    for line in said.splitlines():
        if (cut := _CUT.search(line)) and (partition := _PARTITION.search(line)):
            found.setdefault(partition[1], []).append((cut[1] == "e", int(cut[2])))
    return found


def _effective(cuts: Iterable[tuple[bool, int]], end: int) -> list[int]:
    """Return the offsets that changed the log end."""
    found = []
    for empties, to in cuts:
        if to < end or (empties and to != end):
            found.append(to)
            end = to
    return found


def _planned(row: Mapping[str, Any], leader: Log) -> Followed:
    assert row["problem"] is None
    end, steps = row["log_end_offset_before"], []
    for step in row["steps"]:
        end = (step["request"] or {}).get("fetch_offset", end)  # It may have fetched before.
        if (to := step["truncate_to"]) is not None and to != end:
            steps.append((to > end, to))
            end = to
    cuts = _effective(steps, row["log_end_offset_before"])
    if row["status"] != "ok":
        return Followed(row["status"], cuts)
    epochs = [(entry["epoch"], entry["start_offset"]) for entry in row["leader_epochs_after"]]
    return Followed("ok", cuts, row["diverges_silently_at"], _between(epochs, leader, row))


def _left(
    paths: Sequence[Path], begin: int, row: Mapping[str, Any], leader: Log, kafka: Release
) -> tuple[int | None, list[tuple[int, int]]]:
    """Return where the logs of leader and follower differ from `begin` to the log end that was planned, and epochs.

    The third path is what the follower had before. Compaction takes records from either, which makes no difference.
    """
    leads, follows, followed = (_epochs_of(path) for path in paths)
    both = {offset for offset in leads.keys() & followed.keys() if begin <= offset < row["log_end_offset_after"]}
    differs_at = min((offset for offset in both if leads[offset] != follows.get(offset)), default=None)
    lines = [EpochEntry(Epoch(epoch), Offset(offset)) for epoch, offset in epoch_lines(paths[1])]
    return differs_at, _between(read_lines(lines, kafka), leader, row)


def _between(epochs: Iterable[tuple[int, int]], leader: Log, row: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the entries that fetching leaves as they are: above the leader's log start, below the log end.

    A batch of a lower epoch than those before it may remove any.
    """
    if any(each.shown not in (None, each.epoch) for segment in leader.segments for each in segment):
        return []
    start = leader.first if leader.log_start is None else leader.log_start
    return [(epoch, offset) for epoch, offset in epochs if start < offset < row["log_end_offset_after"]]


def _bases(path: Path) -> list[int]:
    return sorted(int(log.stem) for log in path.glob("*.log"))


def _epochs_of(path: Path) -> dict[int, tuple[int, int]]:
    """Return the epoch of each offset for which there is a record, the CRC of messages."""
    names = [(str(path / log_name(Offset(base))), Offset(base)) for base in _bases(path)]
    logs = tuple(LogFile(name, base, Path(name).stat().st_size, LOCAL.directory(str(path))) for name, base in names)
    return {
        offset: (batch.magic, batch.crc if batch.epoch is None else batch.epoch)
        for batch in batches_of(logs)
        for offset in range(batch.base_offset, batch.last_offset + 1)
    }
