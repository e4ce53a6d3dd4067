"""Real brokers, repaired as `kcheck elect` says and started by its plan.md, all lead, and lose what it says.

Both clusters were damaged by hand after real 4.3.1 brokers had ended (fixtures/README.md). As they lie, broker 3 of
`power-loss` does not start, nor do brokers 1 and 2 of `directories-moved`.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import kcheck
from kcheck.disk.local import LOCAL
from kcheck.dumps.entries import crc32c_of
from kcheck.model.cluster import NO_LEADER, PartitionRegistration
from kcheck.model.names import CLUSTER_METADATA
from kcheck.records.record import BODY_SIZE_MAX, Record, read_records
from kcheck.segments.batches import Walk
from kcheck.views.metadata_copy import read_copy
from tests.cli.command import kcheck as command
from tests.oracle import diverged
from tests.oracle.kafka import Cluster
from tests.oracle.scenes import unpacked

pytestmark = pytest.mark.oracle

VERSION = "4.3.1"
SCENES = {"power-loss": (3,), "directories-moved": (1, 2)}
"""The brokers that are to be repaired first."""
LOST: Mapping[str, Mapping[str, int]] = {"power-loss": {"orders-1": 20}, "directories-moved": {}}
"""The records that the course of plan.md loses, by partition."""
COSTS = {
    "power-loss": "With this plan 1 partition (orders-1) loses 20 records; 20 of them committed.",
    "directories-moved": "With this plan no partition loses a record that is here.",
}
"""What plan.md says of that."""
CONFIG: Mapping[str, object] = {
    "log.retention.ms": -1,
    "log.cleaner.enable": "false",
    "group.initial.rebalance.delay.ms": 0,
    "auto.create.topics.enable": "false",
}
LASTING = 3.0
"""Seconds for which nobody else comes to lead: then a start has settled."""
_SUMMED_FROM = 21
Content = frozenset[tuple[str, int, int | None, bytes | None, bytes | None]]
"""Partition, offset, epoch, key and value of records."""


@pytest.mark.parametrize("scene", SCENES)
def test_repaired_brokers_lose_what_the_plan_says(
    scene: str, tmp_path: Path, start: Callable[..., Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every partition has a leader in the end; all other whole records of the disks are in the leaders' logs."""
    unpacked(f"clusters/{VERSION}/{scene}", tmp_path / "kept")
    cluster = start(
        VERSION, 3, dir=tmp_path / "played", log_dirs=2, broker_config=CONFIG, begins_with=tmp_path / "kept"
    )
    monkeypatch.chdir(tmp_path)
    paths = [f"{number}=played/broker-{number}" for number in (1, 2, 3)]
    metadata = ["played/controller"]
    answer = kcheck.elect(*paths, metadata=metadata, out=tmp_path / "plan", save_lost=tmp_path / "saved")
    assert SCENES[scene] == tuple(repair.broker_id for repair in answer.repairs)
    best = next(row for row in answer.scenarios if row.name == "best")
    assert (best.lost.records, best.offline_partitions) == (0, 0)
    before = {number: held(cluster, number) for number in (1, 2, 3)}
    repair(tmp_path / "plan" / "plan.md")
    again = kcheck.elect(*paths, metadata=metadata)
    assert again.repairs == ()
    assert [row.leaders for row in again.partitions] == [row.leaders for row in answer.partitions]
    try:
        follow(cluster, tmp_path / "plan", answer.order.brokers)
        leaders = {name: row.leader for name, row in registrations(cluster).items()}
    finally:
        cluster.kill()
    assert {row.best for row in answer.partitions} & {NO_LEADER, None} == set()
    assert {name for name, leader in leaders.items() if leader == NO_LEADER} == set()
    after = {number: held(cluster, number) for number in (1, 2, 3)}
    kept = {record for name, leader in leaders.items() for record in after[leader] if record[0] == name}
    of_cluster = {record for records in before.values() for record in records if record[0] in leaders}
    assert LOST[scene] == Counter(name for name, *_ in of_cluster - kept)
    costs = (tmp_path / "plan" / "plan.md").read_text("utf-8").partition("## What it costs\n\n")[2].partition("\n")[0]
    assert COSTS[scene] == costs


def repair(plan: Path) -> None:
    """Type the commands of the first part of plan.md."""
    text = plan.read_text("utf-8").partition(" first\n")[2].partition("\n## ")[0]
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            program, verb, *words = shlex.split(line)
            assert program == "kcheck"
            assert command(verb, *words, *(["--yes"] if verb == "apply" else ["--fail-on", "fatal"])).code == 0


def follow(cluster: Cluster, plan: Path, order: tuple[int, ...]) -> None:
    """Start the brokers, and elect as plan.md says."""
    cluster.beside.start()
    for number in order:
        if (plan / f"election-before-{number}.json").exists():
            diverged.run_plan(cluster, plan, order[0], f"Before broker {number} starts")
        cluster[number].start()
        seen: list[dict[str, int]] = []

        def is_same(seen: list[dict[str, int]] = seen) -> bool:
            seen.append({name: row.leader for name, row in registrations(cluster).items()})
            return len(seen) > 1 and seen[-2] == seen[-1]

        assert diverged.settled(is_same, lasting=LASTING)
    if (plan / "election.json").exists():
        diverged.run_plan(cluster, plan, order[0])

    def are_in_sync() -> bool:
        rows = registrations(cluster).values()
        return all(row.leader != NO_LEADER and {*row.replicas} == {*row.isr} for row in rows)

    assert diverged.settled(are_in_sync)


def registrations(cluster: Cluster) -> dict[str, PartitionRegistration]:
    """Return what the controller has written of the partitions, by name."""
    image = read_copy(LOCAL, str(cluster.beside.log_dirs[0] / f"{CLUSTER_METADATA}-0"), 100).image
    return {f"{topic.name}-{number}": row for topic, number, row in image.partitions()}


def held(cluster: Cluster, number: int) -> Content:
    """Return the records of a broker in whole batches, of all of its partitions."""
    found = set()
    for log in (log for log_dir in cluster[number].log_dirs for log in log_dir.glob("*-*/*.log")):
        with LOCAL.open(str(log)) as source:
            for batch in Walk(source, log.stat().st_size):
                end = batch.position + batch.size
                if crc32c_of(source, batch.position + _SUMMED_FROM, end) != batch.crc:
                    continue
                for record in read_records(source.pread(batch.size, batch.position), BODY_SIZE_MAX):
                    assert isinstance(record, Record)
                    key, value = (None if data is None else bytes(data) for data in (record.key, record.value))
                    found.add((log.parent.name, int(record.offset), batch.epoch, key, value))
    return frozenset(found)
