"""`kcheck explain` of lines, logs or a pipe of a broker, and the directories to compare with them."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from kcheck.core.releases.release_evidence import Clue, EvidenceKind, evidence
from kcheck.core.releases.releases import release as release_of
from kcheck.disk.log_text import BROKEN_TEXT, LogText, parts_of_stream, text_of
from kcheck.disk.package_data import log_catalogue
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import Answer
from kcheck.documents.explain import cause_row, comparison_row, line_block, place_row
from kcheck.documents.inspection import InspectDetail, InspectedLogDir, InspectedPartition
from kcheck.messages.comparison import LogComparison, LogOnDisk, Statements, epochs_of
from kcheck.messages.lines import LogEvent, events, pasted
from kcheck.messages.timeline import Timeline
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Finding
from kcheck.model.release import Release
from kcheck.model.report import Block, PartitionFilter, Report, Row, Rows
from kcheck.model.unreadable import Unreadable, UnreadableCause, UnreadableError
from kcheck.rules import kc001_unreadable
from kcheck.tables import log_events
from kcheck.verbs.inspect import inspect
from kcheck.views.named_evidence import BrokerLogFacts, broker_log_facts, facts_in
from kcheck.views.release_evidence import release_ranges
from kcheck.views.targets import replica_targets

STDIN = "-"
_BLOCK_COUNT = 512
"""Messages whose rows are made together."""
_PEEKED = 200
"""Lines of a log that are looked at for its first time."""


class BrokerLog(NamedTuple):
    """A file, stdin or pasted text to read as a log."""

    path: str | None
    """None for text that was pasted, `-` for stdin."""
    text: str = ""
    """The pasted text."""
    facts: BrokerLogFacts = BrokerLogFacts()
    parts: Iterator[bytes] = iter(())
    """The bytes of stdin, part by part."""
    begin: int = 0
    """The time of its first message, in ms since 1970; 0 if it is not known."""


class LogReading:
    """Reads logs, oldest first; what it has gathered is complete after all messages have been read."""

    def __init__(
        self, logs: tuple[BrokerLog, ...], since: int | None, collected: list[Finding], *, compares: bool
    ) -> None:
        """Take the logs; earlier messages than `since`, in ms since 1970, are left out.

        `compares`: there are directories to compare with the logs.
        """
        self._logs, self._since, self._compares = logs, since, compares
        self.collected = collected
        """The findings about logs that could not be read."""
        self.timeline: Timeline = Timeline()
        """The events in brief."""
        self.statements: Statements = Statements()
        """The statements of the logs about partitions."""

    def messages(self) -> Iterator[tuple[int, LogEvent]]:
        """Yield each message with the number of its log."""
        for number, log in enumerate(self._logs):
            for event in messages_of(log, self.collected):
                if self._since is not None and (event.time is None or event.time < self._since):
                    continue
                self.timeline.add(event, number)
                if self._compares:
                    self.statements.add(event)
                yield number, event


def messages_of(log: BrokerLog, collected: list[Finding]) -> Iterator[LogEvent]:
    """Yield the messages of a log; `collected` gets a finding where it cannot be read to its end."""
    for event in _events_of(log, collected):
        if log.facts.broker_id is not None and event.place.broker is None:
            event = event._replace(place=event.place._replace(broker=log.facts.broker_id))  # noqa: PLW2901 - the same event
        yield event


def _events_of(log: BrokerLog, collected: list[Finding]) -> Iterator[LogEvent]:
    if log.path is None:
        yield from pasted(log_catalogue(), log.text)
        return
    try:
        if log.path == STDIN:
            yield from _of_text(log.path, LogText(log.parts), collected)
            return
        with tree_of(log.path).open(log.path, follow=True) as source:
            yield from _of_text(log.path, text_of(source), collected)
    except UnreadableError as error:
        collected.append(kc001_unreadable.log_finding(log.path, error.why))


def _of_text(path: str, text: LogText, collected: list[Finding]) -> Iterator[LogEvent]:
    yield from events(log_catalogue(), text.lines())
    if text.problem is not None:
        why = Unreadable(UnreadableCause.REFUSED, text.problem)
        collected.append(kc001_unreadable.log_finding(path, why))


@dataclass(frozen=True, slots=True, kw_only=True)
class LogExplanation(Answer):
    """The answer of `kcheck explain` about messages of brokers."""

    release: Release
    """The release of the broker, as its log and the directories say."""
    logs: tuple[BrokerLog, ...]
    """The logs, the oldest first."""
    messages: Iterator[tuple[int, LogEvent]]
    """Each message with the number of its log; read once."""
    reading: LogReading
    """The facts from these messages."""
    directories: tuple[str, ...]
    """The directories to compare with the logs."""

    @property
    def software(self) -> BrokerLogFacts:
        """The version in the last log that names one."""
        return next((log.facts for log in reversed(self.logs) if log.facts.version is not None), BrokerLogFacts())

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """The brokers whose logs these are."""
        return tuple(sorted({log.facts.broker_id for log in self.logs if log.facts.broker_id is not None}, key=str))

    def read_all(self) -> None:
        """Read the remaining messages, so that `reading` is complete."""
        for _ in self.messages:
            pass

    def compared(self) -> Iterator[LogComparison]:
        """Yield the statements of the logs with the state of the directories, after all messages have been read."""
        if self.directories:
            on_disk = _on_disk(list(self.directories), self.release, self.reading.collected)
            yield from self.reading.statements.compared(on_disk)

    def report(self) -> Report:
        """Return the answer as rows."""
        paths = tuple(None if log.path == STDIN else log.path for log in self.logs)
        catalogue, timeline = log_catalogue(), self.reading.timeline

        def places() -> Iterator[Row]:
            self.read_all()
            yield from (place_row(place, paths, catalogue) for place in timeline.places())

        def causes() -> Iterator[Row]:
            self.read_all()
            yield from (cause_row(cause, paths[cause.file]) for cause in timeline.causes())

        def compared() -> Iterator[Row]:
            self.read_all()
            yield from map(comparison_row, self.compared())

        return self.as_report(
            "explain",
            self.release.name,
            evidence=self.release.evidence,
            body={
                "lines": Rows(self._blocks(paths)),
                "release": {
                    "version": self.software.version,
                    "kafka": self.software.line,
                    "broker_ids": self.broker_ids,
                },
                "causes": causes(),
                "timeline": places(),
                "compared": compared(),
            },
            collected=self.reading.collected,
            table="lines",
            columns=log_events.TABLE.columns,
            kinds={"lines": "line", "causes": "cause", "timeline": "place", "compared": "comparison"},
            checked=tuple(log.path for log in self.logs if log.path is not None),
        )

    def _blocks(self, paths: Sequence[str | None]) -> Iterator[Block]:
        """Yield the messages as rows, many at once."""
        while some := [*islice(self.messages, _BLOCK_COUNT)]:
            yield line_block(some, paths, log_catalogue())


def explain_log(
    logs: Iterable[str], texts: Iterable[str], directories: Iterable[str], *, kafka: str, since: int | None
) -> LogExplanation:
    """Return the meaning of logs, pasted texts and stdin (`-`), in order of time, compared with the directories."""
    collected: list[Finding] = []
    some = [_looked_at(path, collected) for path in logs]
    readable = sorted((log for log in some if log is not None), key=lambda log: log.begin)
    named = (*readable, *(BrokerLog(None, text) for text in texts))
    paths = tuple(directories)
    reading = LogReading(named, since, collected, compares=bool(paths))
    return LogExplanation(
        release=_release(named, paths, kafka),
        logs=named,
        messages=reading.messages(),
        reading=reading,
        directories=paths,
    )


def _looked_at(path: str, collected: list[Finding]) -> BrokerLog | None:
    """Return a log with the facts about its broker; None with a finding if it cannot be read."""
    if path == STDIN:
        return _stdin(collected)
    try:
        return broker_log(path)
    except UnreadableError as error:
        collected.append(kc001_unreadable.log_finding(path, error.why))
        return None


def broker_log(path: str) -> BrokerLog:
    """Return a log with the facts about its broker; UnreadableError if it cannot be read."""
    facts = broker_log_facts(path)
    with tree_of(path).open(path, follow=True) as source:
        first = events(log_catalogue(), islice(text_of(source).lines(), _PEEKED))
        begin = next((event.time for event in first if event.time is not None), 0)
    return BrokerLog(path, facts=facts, begin=begin)


def _stdin(collected: list[Finding]) -> BrokerLog:
    """Return stdin with the facts about its broker in the first part."""
    parts, first = parts_of_stream(sys.stdin.buffer), b""
    try:
        first = next(parts, b"")
    except BROKEN_TEXT:
        why = Unreadable(UnreadableCause.REFUSED, "gzip data is corrupt")
        collected.append(kc001_unreadable.log_finding(STDIN, why))
    return BrokerLog(STDIN, facts=facts_in([first]), parts=chain([first], parts))


def _release(logs: Iterable[BrokerLog], directories: tuple[str, ...], kafka: str) -> Release:
    """Return the release that the user names, or that the logs and directories prove."""
    clues = [
        Clue(EvidenceKind.BROKER_LOG, log.path, log.facts.broker_id, first=log.facts.line, last=log.facts.line)
        for log in logs
        if log.path is not None and log.facts.line is not None
    ]
    given = None if kafka == AUTO else release_of(kafka)
    if not clues and not directories:
        return given or release_of()
    ranges = release_ranges(replica_targets(list(directories)) if directories else (), clues[-1:])
    proved = evidence(ranges, None if given is None else kafka)
    return (given or release_of(proved.used))._replace(evidence=proved)


def _on_disk(
    directories: list[str], release: Release, collected: list[Finding]
) -> dict[tuple[str, int], tuple[LogOnDisk, ...]]:
    """Return the partition directories by partition."""
    answer = inspect(directories, as_kind=None, wanted=PartitionFilter(), detail=InspectDetail(), release=release)
    logs: dict[tuple[str, int], tuple[LogOnDisk, ...]] = {}
    for item in answer.items:
        views = (
            item.partitions
            if isinstance(item, InspectedLogDir)
            else [item]
            if isinstance(item, InspectedPartition)
            else []
        )
        for partition in views:
            view = partition.view
            log = LogOnDisk(
                view.log_start_offset,
                view.log_end_offset,
                view.high_watermark,
                epochs_of(view.leader_epochs),
                view.where.dir or partition.path,
            )
            logs[view.topic, view.partition] = (*logs.get((view.topic, view.partition), ()), log)
    collected.extend(finding for finding in answer.collected if finding.id.startswith("KC00"))
    return logs
