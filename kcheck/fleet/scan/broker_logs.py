"""The logs of the brokers of a fleet, with their owners, and their messages as files of a run's table."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from kcheck.arrow import batch_of, to_bytes
from kcheck.core.releases.release_evidence import EvidenceKind
from kcheck.disk.output import make_directory
from kcheck.disk.package_data import log_catalogue
from kcheck.disk.paths import join
from kcheck.disk.tree import real_path, tree_of
from kcheck.documents.explain import line_row
from kcheck.errors import KcheckError, StoreFailedError, UsageError
from kcheck.fleet.run_output import TableOutput, WrittenFile
from kcheck.fleet.scan.identify import Identified
from kcheck.fleet.scan.layouts import Disks, layout_of, matching_files
from kcheck.fleet.scan.rows import findings_batch
from kcheck.jobs.threads import Threads
from kcheck.jobs.workers import Limits, Task, Workers
from kcheck.messages.lines import LogEvent
from kcheck.model.finding import Finding, Location
from kcheck.model.unreadable import UnreadableError
from kcheck.rules import kc001_unreadable
from kcheck.tables import log_events
from kcheck.verbs.explain_log import BrokerLog, broker_log, messages_of

_NAMES = ("cluster", "broker")
_BATCH_COUNT = 10_000
"""Messages that are held at once."""
_TASK_SIZE, _TASK_COUNT = 64 << 20, 64
"""Bytes, and logs, that one task reads, at most; a larger log is a task of its own."""


class FleetLog(NamedTuple):
    """A broker's log. Its other facts come from `look_at_log`. The layout gives cluster and broker."""

    path: str
    cluster: str | None = None
    broker: str | None = None
    broker_id: int | None = None
    version: str | None = None
    """The version of the last start in it."""
    line: str | None = None
    """Its line of releases."""
    begin: int = 0
    """The time of its first message, in ms since 1970; 0 if it is not known."""
    size: int = 0


class WrittenMessages(NamedTuple):
    """The output of a task (the files of the table log_events, and findings)."""

    parts: tuple[WrittenFile, ...]
    findings: tuple[bytes, ...]
    """Rows."""


class FoundLogs(NamedTuple):
    """Logs, sorted by path, and a finding for each directory above them that cannot be listed."""

    logs: tuple[FleetLog, ...]
    findings: tuple[Finding, ...]


def find_logs(patterns: Sequence[str], limits: Limits | None = None) -> FoundLogs:
    """Return the files that match the patterns, each once.

    UsageError: a pattern is invalid, or nothing matches it.
    """
    findings: list[Finding] = []
    by_path: dict[str, FleetLog] = {}
    with Workers(1, limits=None if any(tree_of(pattern).is_remote for pattern in patterns) else limits) as workers:
        disks = Disks(workers, findings)
        for pattern in patterns:
            count = len(findings)
            layout = layout_of(pattern, _NAMES)
            if not tree_of(layout.start).is_directory(layout.start):
                raise UsageError(f"--server-logs {pattern}: {layout.start}: not a directory")
            matched = matching_files(layout, disks) if layout.patterns else _named(pattern)
            paths = disks.ask(real_path, [path for path, _ in matched])
            for (path, names), resolved in zip(matched, paths, strict=True):
                log = FleetLog(path, names.get("cluster"), names.get("broker"))
                by_path.setdefault(resolved or path, log)
            if not matched and len(findings) == count:
                raise UsageError(f"--server-logs {pattern}: no file matches")
    return FoundLogs(tuple(sorted(by_path.values())), tuple(findings))


def _named(path: str) -> list[tuple[str, Mapping[str, str]]]:
    tree = tree_of(path)
    return [(path, {})] if tree.exists(path) and not tree.is_directory(path) else []


def look_at_log(log: FleetLog) -> FleetLog | Finding:
    """Return a log with its facts about the broker, or a finding if it cannot be read."""
    try:
        known = broker_log(log.path)
        with tree_of(log.path).open(log.path, follow=True) as source:
            size = source.size
    except UnreadableError as error:
        return kc001_unreadable.finding(Location(file=log.path), error.why)
    facts = known.facts
    return log._replace(broker_id=facts.broker_id, version=facts.version, line=facts.line, begin=known.begin, size=size)


def with_brokers(logs: Iterable[FleetLog], log_dirs: Sequence[Identified]) -> tuple[list[FleetLog], list[Identified]]:
    """Return logs with the names of their brokers, sorted, and log dirs with the release in the logs.

    A log belongs to the broker of its name in the layout, or else of the id in it. Of several logs of a broker the
    latest one counts, by its beginning.
    """
    owners = _Owners(log_dirs)
    placed: list[FleetLog] = []
    newest: dict[tuple[str, str], FleetLog] = {}
    for log in logs:
        owner = owners.of(log)
        if owner is None:
            known_id = None if log.broker_id is None else str(log.broker_id)
            placed.append(log._replace(broker=log.broker or known_id))
            continue
        broker_id = owner.broker_id if log.broker_id is None else log.broker_id
        placed.append(log._replace(cluster=owner.cluster, broker=owner.broker, broker_id=broker_id))
        before = newest.get(owner.group)
        if log.line is not None and (before is None or (before.begin, before.path) < (log.begin, log.path)):
            newest[owner.group] = log
    informed = [
        log_dir._replace(clues=(*log_dir.clues, (str(EvidenceKind.BROKER_LOG), last.line, last.line)))
        if (last := newest.get(log_dir.group)) is not None
        else log_dir
        for log_dir in log_dirs
    ]
    return sorted(placed, key=_order), informed


def _order(log: FleetLog) -> tuple[object, ...]:
    return (log.cluster or "", log.broker or "", log.begin, log.path)


class _Owners:
    """The brokers of log dirs, by their names and ids."""

    def __init__(self, log_dirs: Iterable[Identified]) -> None:
        self._by_name: dict[tuple[str | None, str | None], dict[tuple[str, str], Identified]] = {}
        self._by_id: dict[tuple[str | None, int | None], dict[tuple[str, str], Identified]] = {}
        for log_dir in log_dirs:
            for cluster in {log_dir.cluster, None}:
                self._by_name.setdefault((cluster, log_dir.broker), {})[log_dir.group] = log_dir
                self._by_id.setdefault((cluster, log_dir.broker_id), {})[log_dir.group] = log_dir

    def of(self, log: FleetLog) -> Identified | None:
        """Return a log dir of the broker that wrote a log; None without one, or if it is ambiguous."""
        some: Mapping[tuple[str, str], Identified] = {}
        if log.broker is not None:
            some = self._by_name.get((log.cluster, log.broker), {})
        if not some and log.broker_id is not None:
            some = self._by_id.get((log.cluster, log.broker_id), {})
        return next(iter(some.values())) if len(some) == 1 else None


def in_tasks(logs: Iterable[FleetLog]) -> Iterator[tuple[FleetLog, ...]]:
    """Yield the logs that one task reads, in order."""
    held: list[FleetLog] = []
    size = 0
    for log in logs:
        if held and (size + log.size > _TASK_SIZE or len(held) == _TASK_COUNT):
            yield tuple(held)
            held, size = [], 0
        held.append(log)
        size += log.size
    if held:
        yield tuple(held)


def read_logs(logs: Sequence[FleetLog], folder: str, about: Mapping[str, str]) -> WrittenMessages | str:
    """Write the messages of logs as files of the table log_events into a new folder, in constant memory.

    Return the reason if the files cannot be written.
    """
    failed: list[bytes] = []
    try:
        make_directory(folder)
        output = TableOutput(folder, log_events.TABLE, about)
        for log in logs:
            collected: list[Finding] = []
            messages = messages_of(_broker_log(log), collected)
            while part := [*islice(messages, _BATCH_COUNT)]:
                output.write(batch_of([_row(log, event) for event in part], log_events.TABLE.run_columns))
            if collected:
                failed.append(to_bytes(findings_batch((log.cluster, log.broker), collected)))
        return WrittenMessages(tuple(output.parts()) if output.count else (), tuple(failed))
    except StoreFailedError:
        raise
    except KcheckError as error:
        return str(error)


def looked_at(workers: Workers | Threads, logs: Iterable[FleetLog]) -> Iterator[FleetLog | Finding]:
    """Yield logs with their facts about brokers, in order."""
    tasks = ((None, (Task(partial(look_at_log, log), Location(file=log.path), 0),)) for log in logs)
    for _, (answer,) in workers.run(tasks):
        if answer is not None:
            yield answer


def written(
    workers: Workers | Threads, tasks: Iterable[Sequence[FleetLog]], folder: str, about: Mapping[str, str]
) -> Iterator[WrittenMessages]:
    """Yield the output of the logs of each task, in order; logs that failed together are read one by one.

    The files are below `folder`. No output names the files of a failed task.
    """
    named = ((logs, join(folder, str(number))) for number, logs in enumerate(tasks))
    for (logs, own), (answer,) in workers.run((pair, (_task(*pair, about),)) for pair in named):
        if isinstance(answer, str):
            raise KcheckError(answer)
        if isinstance(answer, WrittenMessages):
            yield answer
        elif isinstance(answer, Finding) and len(logs) == 1:
            (log,) = logs
            where = Location(broker_id=log.broker_id, file=log.path)
            yield WrittenMessages(
                (), (to_bytes(findings_batch((log.cluster, log.broker), (answer._replace(where=where),))),)
            )
        elif answer is not None:
            yield from written(workers, [(log,) for log in logs], own, about)


def _task(logs: Sequence[FleetLog], folder: str, about: Mapping[str, str]) -> Task[WrittenMessages | str]:
    where, size = Location(file=logs[0].path), sum(log.size for log in logs)
    return Task(partial(read_logs, tuple(logs), folder, about), where, size)


def _broker_log(log: FleetLog) -> BrokerLog:
    known = BrokerLog(log.path)
    return known._replace(facts=known.facts._replace(broker_id=log.broker_id))


def _row(log: FleetLog, event: LogEvent) -> tuple[object, ...]:
    row = line_row(event, log.path, log_catalogue())
    values, findings = json.dumps(row["values"]), json.dumps(row["findings"])
    return (log.cluster, log.broker, *{**row, "values": values, "findings": findings}.values())
