"""What happens when the brokers of an incident start: who is up, what is offline, what no consumer can read."""

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.oracle.incidents import shapes
from tests.oracle.incidents.client import Client
from tests.oracle.incidents.damages.site import METADATA, batches, logs, place
from tests.oracle.incidents.shapes import Shape
from tests.oracle.incidents.workload import Known
from tests.oracle.jars import numbers
from tests.oracle.kafka import AGELESS, BROKER_STARTED, ZOOKEEPER_SESSION, Cluster, Process

QUIET = 4.0
"""Seconds without a line in any log after which nothing more is expected of brokers that have started or died."""
NOISE = 15.0
"""Seconds after which brokers that go on to log are not waited for."""
HANG = 40.0
"""Seconds after which a broker that has neither started nor died is taken to hang."""
LONGEST = 75.0
SLOWEST = 3.0
"""How many times as long all of these are on a machine that is busy otherwise, at most."""
FIRST_CHECK = {"log.retention.check.interval.ms": "1000", "log.segment.delete.delay.ms": "1000"}
"""Settings of the brokers that are started: retention and the end of `-delete` directories come while we look."""
INITIAL_DELAY = 30.0
"""Seconds from a start to the first of both up to 3.7 (LogManager); later releases have a setting."""

OFFLINE = re.compile(r"Stopping serving (?:replicas|logs) in dir ([^\s]+)|Disk error while .* in dir ([^\s]+)")
LOADED = re.compile(r"Completed load of Log\(dir=(\S+?), .*?logStartOffset=(\d+), logEndOffset=(\d+)")
LOADED_OLD = re.compile(
    r"Log partition=(\S+), dir=(\S+)\] Completed load of log .*? log start offset (\d+) and log end offset (\d+)"
)
"""Up to 2.7."""
EXPIRED = re.compile(r"partition=(\S+), dir=(\S+?)\] (?:Found deletable|Deleting) segments?\b.* due to .*retention")
PORT_TAKEN = re.compile(r"BindException: Address already in use|ids/\d+ with return code: SESSIONEXPIRED")
"""The second of a broker that registers in ZooKeeper too late for its session, on a busy machine."""
TELLING = re.compile(r"FATAL|ERROR|Exiting|Halting|stray|truncat|Truncat|WARN .*(?:orrupt|offline|recover)")


class PortTakenError(Exception):
    """Another process has the port of a broker, or the machine is too busy: its end says nothing of the disks."""


class Truth(NamedTuple):
    """What became of an incident."""

    started: dict[str, bool]
    """Of each process, whether it said so and still runs."""
    offline_dirs: dict[str, list[str]]
    loaded: dict[str, list[int]]
    """Log start and log end of each log as its broker loaded it, by the path in the incident."""
    cut: list[str]
    """The logs that lack something at their load that they had before the damage, or that were not loaded at all."""
    strays: list[str]
    """Directories that the brokers have set aside."""
    first: dict[str, int]
    """Who leads each partition before any election by hand; -1: nobody."""
    leaders: dict[str, int]
    ends: dict[str, list[int]]
    """Log start and log end of each leader at last."""
    lost: dict[str, list[int]]
    """Offsets of acknowledged records that no consumer can read, of partitions with a leader."""
    groups_lost: list[str]
    said: dict[str, list[str]]
    """Lines of each broker's log that tell what went wrong."""
    seconds: float
    expired: Sequence[str] = ()
    """The logs of which retention deleted segments, though no record of an incident is as old as that."""

    @property
    def offline(self) -> list[str]:
        """The partitions without a leader."""
        return sorted(name for name, leader in self.leaders.items() if leader < 0)


def prepared(folder: Path, base: Path, shape: Shape, work: Path, *, is_fresh: bool = False) -> Cluster:
    """Return a cluster, not started, with the disks and the changed settings of an incident.

    Retention works on fresh disks. Recorded ones are older than what brokers keep by default.
    """
    of = shapes.cluster(shape, work, begins_with=base / "now")
    if (release := shapes.started(shape, folder)) != shape.release:
        for process in (*of.brokers.values(), *([of.beside] if shape.mode == "kraft" else [])):
            process.install(release)
    ports: dict[str, str] = {}
    for name in shape.nodes:
        texts = ((path / name / "server.properties").read_text() for path in (base / "now", of.dir))
        ports |= dict(zip(*map(shapes.ports, texts), strict=True))
    for name in shape.nodes:
        old, changed = (_properties(path / name / "server.properties") for path in (base / "now", folder))
        properties = of.dir / name / "server.properties"
        now = _properties(properties)
        for key in old.keys() | changed.keys():
            if old.get(key) != changed.get(key):
                now.pop(key, None)
                if key in changed:
                    now[key] = _placed(changed[key], ports, of.dir)
        if is_fresh:
            now = {key: value for key, value in now.items() if key not in AGELESS or key in changed}
        now = FIRST_CHECK | now
        properties.write_text("".join(f"{key}={value}\n" for key, value in now.items()))
    for name in (*shape.nodes, *(["zookeeper"] if shape.mode == "zk" else [])):
        for path in (of.dir / name).iterdir():
            if path.is_dir():
                shutil.rmtree(path)
        for path in (folder / name).iterdir() if (folder / name).is_dir() else ():
            if path.is_symlink():
                (of.dir / name / path.name).symlink_to(path.readlink())
            elif path.is_dir():
                _copied(path, of.dir / name / path.name)
    return of


def _copied(source: Path, target: Path) -> None:
    """Copy a folder with its owners."""
    shutil.copytree(source, target, symlinks=True)
    if os.geteuid() == 0:
        for path in (source, *source.rglob("*")):
            found = path.lstat()
            os.chown(target / path.relative_to(source), found.st_uid, found.st_gid, follow_symlinks=False)


def _placed(value: str, ports: dict[str, str], folder: Path) -> str:
    for old, new in ports.items():
        value = value.replace(f"127.0.0.1:{old}", f"127.0.0.1:<{new}>")
    value = value.replace("<", "").replace(">", "")
    return re.sub(r"\b(broker-\d+|controller)/", rf"{folder}/\1/", value)


def _properties(path: Path) -> dict[str, str]:
    rows = (line.partition("=") for line in path.read_text().splitlines() if "=" in line)
    return {key: value for key, _, value in rows}


def spans(folder: Path) -> dict[str, list[int]]:
    """Return where each log below a folder begins and ends."""
    found = {}
    for directory in sorted(folder.glob("broker-*/data*/*-*")):
        if logs(directory) and directory.name != METADATA:
            data = logs(directory)[-1].read_bytes()
            at = (batches(data)[-2:] or [0])[0]
            more = int.from_bytes(data[at + 23 : at + 27], "big") if data[at + 16] > 1 else 0
            end = int.from_bytes(data[at : at + 8], "big") + more + 1
            found[place(directory)] = [int(min(directory.glob("*.log")).stem), end]
    return found


Processes = dict[str, Process]
"""By name."""


def in_groups(order: tuple[tuple[str, ...], ...], processes: Processes) -> None:
    """Start processes in groups."""
    for group in order:
        for name in group:
            processes[name].spawn()
        settled({name: processes[name] for name in group})


def happened(
    of: Cluster,
    shape: Shape,
    known: Known,
    play: Callable[[Processes], None],
    then: str,
    before: dict[str, list[int]],
    *,
    rest: float = 0.0,
) -> Truth:
    """Play a course on brokers; then let the preferred, or unclean, replicas be elected; read everything.

    `rest`: seconds for which the controller beside the brokers runs before. PortTakenError: nothing was learnt.
    """
    begin = time.monotonic()
    processes = {name: of.beside if name == "controller" else of[int(name.split("-")[1])] for name in shape.nodes}
    if user := max(
        (path.lstat().st_uid for log_dir in of.dir.glob("*/data*") for path in log_dir.rglob("*")), default=0
    ):
        for path in (of.dir, *of.dir.parents):
            path.chmod(path.stat().st_mode | 0o001)  # a temporary folder is its owner's: the user could not enter it
        for process in processes.values():
            process.run_as(user)
    try:
        if shape.mode == "zk":
            with contextlib.suppress(RuntimeError):  # it does not start, and no broker will
                of.beside.start()
            time.sleep(ZOOKEEPER_SESSION + 1)  # the sessions of killed brokers end; else NodeExists
        elif shape.beside == "controller":
            of.beside.spawn()
            if rest:
                with contextlib.suppress(RuntimeError):  # it does not start
                    of.beside.wait_started()
                time.sleep(rest)
        play(processes)
        if any(process.log.exists() and PORT_TAKEN.search(process.log_since_start()) for process in processes.values()):
            raise PortTakenError
        brokers = {name: process for name, process in processes.items() if name != "controller"}
        if any(numbers(process.version) < (3, 8) for process in brokers.values()):
            time.sleep(INITIAL_DELAY)
        up = {name: process for name, process in brokers.items() if process.alive and _says_started(process)}
        loaded = _loaded(brokers, of.dir)
        told = _read(of, up, known, then, processes) if up else ({}, {}, {}, {}, [])
        return Truth(
            started={
                name: process.alive and (name == "controller" or _says_started(process))
                for name, process in processes.items()
            },
            offline_dirs={name: _offline(process, of.dir) for name, process in brokers.items()},
            loaded=loaded,
            cut=[
                path for path, (start, end) in before.items()
                if path not in loaded or loaded[path][1] < end or loaded[path][0] > start
            ],
            strays=sorted(place(path) for path in of.dir.glob("broker-*/data*/*-stray")),
            first=told[0], leaders=told[1], ends=told[2], lost=told[3], groups_lost=told[4],
            said={name: _telling(process, of.dir) for name, process in processes.items()},
            seconds=round(time.monotonic() - begin, 1),
            expired=_expired(brokers, of.dir),
        )  # fmt: skip
    finally:
        of.kill()


def _says_started(process: Process) -> bool:
    return BROKER_STARTED.search(process.log_since_start()) is not None


def settled(processes: Processes) -> None:
    """Return when all have started or died and log nothing more, or go on and on; or when they hang."""
    begin = changed = decided = time.monotonic()
    sizes: dict[str, int] = {}
    while True:
        slow = min(max(os.getloadavg()[0] / (2 * (os.cpu_count() or 1)), 1.0), SLOWEST)
        now = {name: process.log.stat().st_size for name, process in processes.items() if process.log.exists()}
        at = time.monotonic()
        if now != sizes:
            sizes, changed = now, at
        if any(
            process.alive and not _says_started(process) for name, process in processes.items() if name != "controller"
        ):
            decided = at
        quiet, since = at - changed > slow * QUIET, (at - begin) / slow
        if since > LONGEST or (quiet and (decided < at or since > HANG)) or at - decided > slow * NOISE:
            return
        time.sleep(0.5)


Read = tuple[dict[str, int], dict[str, int], dict[str, list[int]], dict[str, list[int]], list[str]]


def _read(of: Cluster, up: dict[str, Process], known: Known, then: str, processes: dict[str, Process]) -> Read:
    first: dict[str, int] = {}
    leaders: dict[str, int] = {}
    ends: dict[str, list[int]] = {}
    lost: dict[str, list[int]] = {}
    groups: list[str] = []
    with Client(",".join(f"127.0.0.1:{process.port}" for process in up.values())) as client:
        first = {f"{row[1]}-{row[2]}": int(row[3]) for row in client.ask("leaders")}
        if then:
            client.ask(f"elect {then}")
            settled(processes)
        for row in client.ask("leaders"):
            leaders[f"{row[1]}-{row[2]}"] = int(row[3])
        for name, records in known.records.items():
            if leaders.setdefault(name, -1) < 0:
                continue
            topic, _, partition = name.rpartition("-")
            rows = client.ask(f"read {topic} {partition}")
            values = {int(row[3]): row[4] for row in rows if row[0] == "r" and len(row) > 4}
            ends[name] = next(([int(row[4]), int(row[5])] for row in rows if row[0] == "p"), [-1, -1])
            if gone := [at for at, value in records.items() if values.get(at) != value]:
                lost[name] = sorted(gone)
        for group in {key.split()[0] for key in known.groups}:
            now = {" ".join(row[1:4]): int(row[4]) for row in client.ask(f"group {group}")}
            groups += [key for key, at in known.groups.items() if key.split()[0] == group and now.get(key) != at]
    with contextlib.suppress(OSError):
        (of.dir / "client.txt").write_text("\n".join(client.said))
    return first, leaders, ends, lost, groups


def _offline(process: Process, folder: Path) -> list[str]:
    if not process.log.exists():
        return []
    found = {one or two for one, two in OFFLINE.findall(process.log_since_start())}
    return sorted({path.rstrip(".,").replace(f"{folder}/", "") for path in found})


def _loaded(brokers: dict[str, Process], folder: Path) -> dict[str, list[int]]:
    loaded: dict[str, list[int]] = {}
    for process in brokers.values():
        text = process.log_since_start() if process.log.exists() else ""
        rows = LOADED.findall(text)
        rows += [(f"{log_dir}/{name}", start, end) for name, log_dir, start, end in LOADED_OLD.findall(text)]
        for path, start, end in rows:
            loaded.setdefault(path.replace(f"{folder}/", ""), [int(start), int(end)])
    return loaded


def _expired(brokers: dict[str, Process], folder: Path) -> list[str]:
    texts = [process.log_since_start() for process in brokers.values() if process.log.exists()]
    found = {f"{log_dir}/{name}" for text in texts for name, log_dir in EXPIRED.findall(text)}
    return sorted(path.replace(f"{folder}/", "") for path in found)


def _telling(process: Process, folder: Path) -> list[str]:
    if not process.log.exists():
        return []
    lines = process.log_since_start().replace(f"{folder}/", "").splitlines()
    found = [line[:400] for line in lines if TELLING.search(line) and "Reconfiguration failed" not in line]
    return found[:12] + found[12:][-8:]
