"""Clusters of real brokers that somebody brings back by the runbook of `kcheck recover`, and what they then have."""

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import kcheck
from kcheck.core.election.progress import PlanState
from kcheck.core.election.steps import RecoveryAction
from kcheck.disk.local import LOCAL
from kcheck.dumps.entries import crc32c_of
from kcheck.model.names import PARTITION_METADATA
from kcheck.plans.recover import ClusterRecovery
from kcheck.records.record import BODY_SIZE_MAX, Record, read_records
from kcheck.segments.batches import Walk
from tests.oracle.clusters.diverged import class_of
from tests.oracle.jars import java_command
from tests.oracle.kafka import Cluster, Process

TOOLS = ("leader-election", "reassign-partitions", "topics", "configs", "consumer-groups")
FENCED_AFTER = 6.0
"""Seconds after which a controller has fenced the brokers that it does not hear of: a session is 3 s."""
PATIENCE = 10
"""How often it is asked again whether a step is done."""
CORRUPT_MAX = 1000
"""So many offsets of a corrupt batch count: what it says of them may be wrong."""
_SUMMED_FROM = 21
Row = tuple[str, int, int | None, bytes | None, bytes | None]
"""Partition, offset, epoch, key and value of a record."""
Content = frozenset[Row]


class Followed(NamedTuple):
    """What a runbook led to."""

    printed: list[str]
    """Commands, what they printed, and how they ended."""
    progress: list[str]
    """What `--next` said after each step that was not that it is done."""


def follow(cluster: Cluster, answer: ClusterRecovery, settle: Callable[[Sequence[Process]], None]) -> Followed:
    """Do what the runbook says, step by step, in the folder of the cluster, and ask after each whether it is done.

    All but the processes of brokers is typed as it stands there; addresses are those of the brokers that run.
    `settle` returns when brokers that have just started do nothing more.
    """
    printed, progress = list[str](), list[str]()
    install(cluster)
    for at, (step, text) in enumerate(zip(answer.steps, answer.texts, strict=True)):
        if step.kind is RecoveryAction.START:
            for number in step.brokers:
                cluster[number].spawn()
            settle([cluster[number] for number in step.brokers])
        elif step.kind is RecoveryAction.STOP:
            for number in step.brokers:
                cluster[number].stop()
        elif step.kind is RecoveryAction.FOLLOW:
            (number,) = step.brokers
            cluster[number].stop()
            printed.append(typed(cluster, "\n".join(text.commands[1:-1])))  # Between the stop and the start.
            cluster[number].spawn()
            settle([cluster[number]])
        elif step.kind is RecoveryAction.FENCE:
            fence(cluster)
        else:
            printed.append(typed(cluster, "\n".join(text.commands)))
            settle([])
        progress += _progress(answer, at)
    return Followed(printed, progress)


def fence(cluster: Cluster) -> None:
    """Start the controller of a cluster, unless it runs; return when it has fenced brokers that do not."""
    if not cluster.beside.alive:
        cluster.beside.start()
    time.sleep(FENCED_AFTER)


def _progress(answer: ClusterRecovery, at: int) -> Iterator[str]:
    """Yield what `--next` says after a step, if that is not that it is done; a moment later, if it says to wait."""
    election = answer.election
    for _ in range(PATIENCE):
        now = kcheck.recovery_progress(
            answer.folder, *election.arguments, metadata=election.question.metadata, kafka=answer.release
        )
        place = now.at if now.then is None else now.then
        is_short = place is not None and place <= at  # What the controller has done by itself is done, too.
        if now.state is PlanState.STOP or not (is_short or now.state is PlanState.WAIT):
            break
        time.sleep(1)
    if now.state is PlanState.STOP or is_short:
        yield f"after step {at + 1}: {now.state}, at {now.at}: {' '.join(now.sentences)}"


def asked_next(cluster: Cluster, answer: ClusterRecovery) -> list[str]:
    """Return what `--next` says of a plan in the folder of a cluster that does not run: its state, and why."""
    election = answer.election
    with contextlib.chdir(cluster.dir):
        now = kcheck.recovery_progress(
            answer.folder, *election.arguments, metadata=election.question.metadata, kafka=answer.release
        )
    return [f"{now.state}, at {now.at}: {' '.join(now.sentences)}"]


def saved(folder: Path) -> Content:
    """Return the records in the saved files of plans below a folder."""
    return frozenset(
        (log.parent.parent.name, *row[1:])
        for log in folder.glob("DIR*/saved/*/broker-*/*.log")
        for row in of_logs([log]).records
    )


def install(cluster: Cluster) -> None:
    """Give the folder of a cluster what the commands name: Kafka's tools below bin/, and kcheck."""
    (cluster.dir / "bin").mkdir(exist_ok=True)
    commands = {"kcheck": [sys.executable, "-m", "kcheck"]}
    for tool in (*(f"kafka-{tool}" for tool in TOOLS), "zookeeper-shell"):
        main, *options = class_of(tool, cluster.version).split()
        commands[f"{tool}.sh"] = java_command(cluster.version, main, *options)
    for name, command in commands.items():
        words = " ".join(f"'{word}'" for word in command)
        yes = '[ "$1" = apply ] && set -- "$@" --yes\n' if name == "kcheck" else ""
        (cluster.dir / "bin" / name).write_text(f'#!/bin/sh\n{yes}exec {words} "$@"\n')
        (cluster.dir / "bin" / name).chmod(0o755)


def typed(cluster: Cluster, commands: str) -> str:
    """Type commands in a shell; return what they print, and how the last one ended: repair ends with 1 for findings."""
    alive = [f"127.0.0.1:{broker.port}" for broker in cluster.brokers.values() if broker.alive]
    text = re.sub(r"(--bootstrap-server) \S+", rf"\1 {','.join(alive)}", commands)
    text = re.sub(r"(--zookeeper|zookeeper-shell\.sh) \S+", rf"\1 127.0.0.1:{cluster.beside.port}", text)
    done = subprocess.run(
        ["bash", "-c", f'PATH="$PWD/bin:$PATH"\n{text}'],
        cwd=cluster.dir,
        capture_output=True,
        text=True,
        check=False,
    )
    return f"$ {text}\n{done.stdout}{done.stderr[-2000:]}[{done.returncode}]"


class Held(NamedTuple):
    """The records of some log dirs in whole batches, and where the corrupt ones are."""

    records: Content
    corrupt: frozenset[tuple[str, int]]
    """Partition and offset."""


def held(cluster: Cluster, former: Collection[bytes] = ()) -> Mapping[int, Held]:
    """Return what each broker has, of all of its partitions."""
    return {number: of_log_dirs(broker.log_dirs, former) for number, broker in cluster.brokers.items()}


def of_log_dirs(log_dirs: Sequence[Path], former: Collection[bytes] = ()) -> Held:
    """Return the records below some log dirs; `former` are the partition.metadata of topics that were deleted."""
    topics = ((log, log.parent / PARTITION_METADATA) for log_dir in log_dirs for log in log_dir.glob("*-*/*.log"))
    return of_logs(log for log, topic in topics if not (topic.is_file() and topic.read_bytes() in former))


def of_logs(logs: Iterable[Path]) -> Held:
    """Return the records of some `.log` files."""
    found = set[Row]()
    corrupt = set[tuple[str, int]]()
    for log in logs:
        name = log.parent.name
        with LOCAL.open(str(log)) as source:
            for batch in Walk(source, log.stat().st_size):
                end = batch.position + batch.size
                try:
                    is_whole = crc32c_of(source, batch.position + _SUMMED_FROM, end) == batch.crc
                except ValueError:
                    is_whole = False
                if not is_whole:
                    corrupt.update((name, at) for at in range(batch.base_offset, batch.last_offset + 1)[:CORRUPT_MAX])
                    continue
                for record in read_records(source.pread(batch.size, batch.position), BODY_SIZE_MAX):
                    assert isinstance(record, Record)
                    key, value = (None if data is None else bytes(data) for data in (record.key, record.value))
                    found.add((name, int(record.offset), batch.epoch, key, value))
    return Held(frozenset(found), frozenset(corrupt))
