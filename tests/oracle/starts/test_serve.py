"""A real broker starts on what `kcheck apply` leaves, serves every record that the plan does not give up, and logs no
error.

The log dirs of many repairs become those of one broker: each has a prefix of its own before the names of its topics,
which are made part of the cluster's metadata, with ids of their own. Everything else lies as the repair has left it.
`KCHECK_SWEEP=1` takes all cases, without it a part of them.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kcheck.core.start.predictions import LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.apply import apply
from kcheck.dumps.filter import DumpDetail, Filter
from kcheck.formats import meta_properties, partition_metadata
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.model.names import CLEAN_SHUTDOWN, META_PROPERTIES, OFFSET_CHECKPOINTS, PARTITION_METADATA, DirectoryState
from kcheck.plans.repair import RepairPlan, repair
from kcheck.verbs.dump import dump
from tests.cases.build import shared_copy
from tests.damage import BROKERS
from tests.oracle.histories import topic_id
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster, Process
from tests.oracle.starts.test_repair import LOADED, METADATA, repaired
from tests.repairs.test_cases import RUNS, log_dirs, wish

pytestmark = pytest.mark.oracle

VERSION, KAFKA = "4.3.1", "4.3"
JAVA = Path(__file__).parents[1] / "java"
CONFIG = {"log.retention.ms": -1, "log.index.size.max.bytes": 1 << 16, "num.recovery.threads.per.data.dir": 1}
LEADER_EPOCH = 1000
"""Above every epoch in a case, as it is in the metadata of the cluster that a case was taken from."""

MARKER = b'{"version":0,"brokerEpoch":-1}'
"""The marker of a clean stop; the epoch of the broker in another cluster would be an error in this one."""

_ENTRY = re.compile(rb"^(?=[^ \n]+ [0-9]+ -?[0-9]+$)", re.MULTILINE)

Records = frozenset[tuple[int, str, str]]
"""Offset, key and value, as Consume.java writes them."""


class Replica(NamedTuple):
    """A log that is to be served from `start` to `end`, with these records; before the repair it had `before`.

    `lost` are the offsets that the plan says are lost. `name` tells where it comes from.
    """

    name: str
    start: int
    end: int
    records: Records
    before: Records
    lost: tuple[range, ...]


def sources(folder: Path) -> Iterator[tuple[str, list[str], bool]]:
    """Yield copies of the log dirs of a broker or a case, and whether a repair may discard records."""
    cases = [(shared_copy(case), loss) for case, _, loss in RUNS]
    found = [*cases, *((broker, True) for broker in sorted(BROKERS.glob("*/diverged/broker-1")))]
    for number, (source, loss) in enumerate(found):
        shutil.copytree(source, folder / str(number) / "before")
        yield str(source), log_dirs(str(folder / str(number) / "before")), loss


def records(partition_dir: Path) -> Records:
    """Return the records of the segments of a directory that can be read, those of transactions' ends left out."""
    paths = [str(path) for path in partition_dir.glob("*.log") if re.fullmatch(r"[0-9]{20}\.log", path.name)]
    body: Any = dump(paths, as_kind=None, wanted=Filter(), shown=DumpDetail(records=True, data="hex")).report().body
    return frozenset(
        (row["offset"], *("-" if row[name] is None else f"x{row[name]}" for name in ("key", "value")))
        for file in body["files"]
        for batch in file["batches"]
        for row in batch["records"]
        if row["control"] is None
    )


def loaded(start: LogDirPrediction) -> Iterator[PartitionPrediction]:
    """Yield what the plan says is there after the start."""
    for part in start.partitions:
        if part.log is not None and part.outcome in LOADED and part.directory.topic != METADATA:
            yield part


def replicas(
    name: str, made: RepairPlan, start: LogDirPrediction, before: dict[str, Records]
) -> Iterator[tuple[tuple[str, int], Replica]]:
    """Yield what is to be served of a log dir, by topic and partition."""
    for part in loaded(start):
        if part.directory.state is DirectoryState.CURRENT:
            assert part.log is not None
            begin, end = part.log.log_start_offset, part.log.log_end_offset
            path = Path(start.path).resolve() / part.dir
            given_up: list[Any] = [each.why.loses for each in made.plan.operations if Path(each.path).parent == path]
            lost = [range(row["from"], row["to"]) for row in given_up if row is not None]
            if part.lost is not None and part.lost.start is not None and part.lost.end is not None:
                lost.append(range(part.lost.start, part.lost.end))
            kept = frozenset(row for row in records(path) if begin <= row[0] < end)
            found = Replica(f"{name} {part.dir}", begin, end, kept, before[part.dir], tuple(lost))
            yield (part.directory.topic, part.directory.partition), found


def moved(start: LogDirPrediction, to: Path, prefix: str) -> Iterator[str]:
    """Move a repaired log dir to a formatted one, its topics renamed; yield the lines for Topics.java.

    The controller wants every partition of a topic from 0 on: those that are not here the broker makes.
    """
    for path in sorted(Path(start.path).iterdir()):
        if path.is_dir() and not path.name.startswith(METADATA):
            path.rename(to / f"{prefix}{path.name}")
        elif path.name in OFFSET_CHECKPOINTS:
            (to / path.name).write_bytes(_ENTRY.sub(prefix.encode(), path.read_bytes()))
        elif path.name == CLEAN_SHUTDOWN:
            (to / path.name).write_bytes(MARKER)
    counts: dict[str, int] = {}
    for part in loaded(start):
        topic = f"{prefix}{part.directory.topic}"
        metadata = partition_metadata.serialize(PartitionMetadata(0, topic_id(topic)))
        (to / f"{prefix}{part.dir}" / PARTITION_METADATA).write_bytes(metadata)
        counts[topic] = max(counts.get(topic, 0), part.directory.partition + 1)
    directory = meta_properties.parse((to / META_PROPERTIES).read_bytes()).value.properties["directory.id"]
    for topic, count in counts.items():
        for partition in range(count):
            yield f"{topic} {topic_id(topic)} {partition} 1 {directory} {LEADER_EPOCH} 1\n"


def served(cluster: Cluster, asked: dict[tuple[str, int], Replica]) -> dict[tuple[str, int], tuple[int, int, Records]]:
    """Return log start, log end and records of each partition, as a consumer gets them."""
    lines = "".join(f"{topic} {partition}\n" for topic, partition in asked)
    rows: dict[tuple[str, int], set[tuple[int, str, str]]] = {key: set() for key in asked}
    found: dict[tuple[str, int], tuple[int, int, Records]] = {}
    for line in run_java(VERSION, JAVA / "Consume.java", cluster.bootstrap, stdin=lines).splitlines():
        topic, partition, *words = line.removeprefix("= ").split()
        key = (topic, int(partition))
        if line.startswith("= "):
            found[key] = (int(words[0]), int(words[1]), frozenset(rows[key]))
        else:
            rows[key].add((int(words[0]), words[1], words[2]))
    return found


def disowned(broker: Process, folder: Path) -> None:
    """Give a log dir the meta.properties of another one, take that of a third away, and have both repaired.

    The broker then starts, and tells the controller where its partitions are now; the only replica of a partition may
    not lead before the start after that.
    """
    one, two, three = (path / META_PROPERTIES for path in broker.log_dirs[1:4])
    shutil.copyfile(one, two)
    three.unlink()
    paths, about = [str(broker.dir / "server.properties")], {"KC305", "KC306"}
    made = repair(paths, [], wish(KAFKA), accept_loss=False, keep=lambda rule, _: rule in about)
    apply(made.plan_bytes(), str(folder / "backup"))
    written = {(each.why.finding, str(Path(each.path).parent)) for each in made.plan.operations}
    assert {("KC305", str(three.parent)), ("KC306", str(two.parent))} == written


def errors(broker: Process) -> list[str]:
    """Return what a broker has logged as an error."""
    return [line for line in broker.log_since_start().splitlines() if "] ERROR " in line or "] FATAL " in line]


@pytest.mark.whole
def test_a_broker_serves_what_a_plan_leaves(tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Each log from its start to its end, and nothing is missing that the plan does not say is lost."""
    found: list[tuple[LogDirPrediction, dict[tuple[str, int], Replica]]] = []
    for number, (name, paths, accept_loss) in enumerate(sources(tmp_path)):
        before = {path: {each.name: records(each) for each in Path(path).iterdir() if each.is_dir()} for path in paths}
        made = repaired(paths, KAFKA, tmp_path / str(number), CONFIG, accept_loss=accept_loss)
        if made.plan.operations and all(each.outcome is Outcome.OK for each in made.starts):
            found += [(each, dict(replicas(name, made, each, before[each.path]))) for each in made.starts]
    cluster = start(VERSION, dir=tmp_path / "cluster", log_dirs=1 + len(found), broker_config=CONFIG)
    expected: dict[tuple[str, int], Replica] = {}
    lines: list[str] = []
    for number, (each, logs) in enumerate(found, 1):
        lines += moved(each, cluster[1].log_dirs[number], f"c{number}-")
        expected |= {(f"c{number}-{topic}", partition): log for (topic, partition), log in logs.items()}
    run_java(VERSION, JAVA / "Topics.java", str(cluster[1].log_dirs[0]), stdin="".join(lines))
    with cluster:
        answers = served(cluster, expected)
        assert errors(cluster[1]) == []
        cluster.stop()
        disowned(cluster[1], tmp_path)
        cluster.start()
        cluster.stop()
        cluster.start()
        assert served(cluster, expected) == answers
    for key, log in expected.items():
        assert (log.name, log.start, log.end, log.records) == (log.name, *answers[key])
        contents = {row[1:] for row in answers[key][2]}
        missing = {row[0] for row in log.before if row[0] >= log.start and row[1:] not in contents}
        assert (log.name, set()) == (log.name, {each for each in missing if not any(each in lost for lost in log.lost)})
    assert len(expected) > 10
