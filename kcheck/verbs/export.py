"""`kcheck export`: the records of logs in a form that a producer takes."""

from collections.abc import Callable, Mapping

from kcheck.arrow import text
from kcheck.core.releases.releases import NEWEST_TESTED
from kcheck.documents.answer import Answer
from kcheck.errors import UsageError
from kcheck.exports.left_out import UNWANTED
from kcheck.exports.lines import produce_command
from kcheck.exports.records import ExportChoice, LogExport
from kcheck.exports.sources import Skipped, Sources, sources
from kcheck.exports.write import Write, Written, write_logs
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Location
from kcheck.model.names import is_legal_topic
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.rules import kc001_unreadable
from kcheck.survey.selection import require_match
from kcheck.words import counted, some_of

Committed = Callable[[str], tuple[Mapping[tuple[str, int], Offset], bool]]
"""Returns the committed offsets of a group by topic and partition, and whether all of them could be read."""


class Export(Answer):
    """The answer of `kcheck export`; the records of each log can be read once."""

    __slots__ = ("checked", "collected", "committed", "group", "knows_offsets", "logs", "skipped", "wanted")

    def __init__(
        self, located: Sources, wanted: ExportChoice, group: str | None, committed: Mapping[tuple[str, int], Offset], *,
        knows_offsets: bool,
    ) -> None:  # fmt: skip
        """Take what the paths hold, and the committed offsets of a group."""
        self.logs: tuple[LogExport, ...] = tuple(LogExport(log, wanted) for log in located.logs)
        """The logs, by topic and partition."""
        self.skipped: tuple[Skipped, ...] = located.skipped
        """The directories that are not exported."""
        self.wanted: ExportChoice = wanted
        """The wanted records."""
        self.group: str | None = group
        """The consumer group whose offsets are translated."""
        self.committed: Mapping[tuple[str, int], Offset] = committed
        """Its committed offsets, by topic and partition."""
        self.knows_offsets: bool = knows_offsets
        """True if all committed offsets could be read; otherwise newer offsets may exist."""
        self.collected: list[Finding] = list(located.findings)
        """Unreadable parts; complete after all records have been read."""
        self.checked: tuple[str, ...] = located.checked
        """The paths that are read."""

    def __str__(self) -> str:
        """Return the logs to export, a line each, and the directories that are not exported."""
        left = (f"not exported: {row.path}: {row.why}" for row in self.skipped)
        return "\n".join((counted(len(self.logs), "log"), *(f"  {row.log.path}" for row in self.logs), *left))

    def written(self) -> list[Written]:
        """Return the logs to write, each with the committed offset of the group."""
        return [Written(log, self.committed.get((log.log.topic or "", log.log.partition or 0))) for log in self.logs]

    def write(self, logs: list[Written], style: str, write: Write) -> None:
        """Write some of the logs, one after the other."""
        write_logs(logs, style, write)
        for log in logs:
            self.collected.extend(
                kc001_unreadable.finding(Location(file=path), why) for path, why in log.export.unreadable
            )

    def report(self) -> Report:
        """Return the logs to export, before their records are read."""
        return self.summary(self.written(), "ndjson", {})

    def rows(self, logs: list[Written], style: str, files: Mapping[str, str]) -> tuple[Row, ...]:
        """Return a row for each log."""
        return tuple(_row(log, style, files.get(log.export.log.path)) for log in logs)

    def summary(self, logs: list[Written], style: str, files: Mapping[str, str]) -> Report:
        """Return the written and the left-out records; `files` are the outputs, by the path of each log."""
        return self.as_report(
            "export",
            NEWEST_TESTED,
            body={
                "format": style,
                "committed": self.wanted.committed,
                "from": self.wanted.start,
                "to": self.wanted.end,
                "group": self.group,
                "group_offsets_complete": None if self.group is None else self.knows_offsets,
                "partitions": self.rows(logs, style, files),
                "skipped": tuple({"path": skipped.path, "why": skipped.why} for skipped in self.skipped),
            },
            collected=self.collected,
            kinds={"partitions": "partition", "left_out": "left-out", "damage": "damage"},
            checked=self.checked,
        )


def export(
    paths: list[str], *, wanted: ExportChoice, partitions: PartitionFilter, group: str | None = None,
    committed: Committed | None = None,
) -> Export:  # fmt: skip
    """Return the logs of paths, before any record is read; UsageError if the paths have no log."""
    if wanted.start is not None and wanted.end is not None and wanted.start >= wanted.end:
        raise UsageError(f"--from {wanted.start} --to {wanted.end}: no offset is between them")
    located = sources(paths, partitions)
    if not located.logs:
        require_match(located.targets, partitions)
    if not located.logs and not located.findings:
        hint = f"; only {some_of([skipped.path for skipped in located.skipped])}" if located.skipped else ""
        raise UsageError(f"{some_of(paths)}: no partition to export{hint}")
    offsets, knows_offsets = ({}, True) if group is None or committed is None else committed(group)
    named = {(log.topic, log.partition) for log in located.logs}
    of_logs = {key: offset for key, offset in offsets.items() if key in named}
    if group is not None and not of_logs:
        raise UsageError(
            f"group {group}: no committed offset of these partitions in the given log dirs; --offsets names more"
        )
    return Export(located, wanted, group, of_logs, knows_offsets=knows_offsets)


def reset_file(logs: list[Written]) -> bytes:
    """Return the offsets as `kafka-consumer-groups.sh --reset-offsets --from-file` takes them.

    Each has topic, partition, and the offset after the records were produced to empty partitions.
    """
    rows = [
        (log.export.log, log.before)
        for log in logs
        if log.committed is not None and is_legal_topic(log.export.log.topic or "")
    ]
    return "".join(f"{log.topic},{log.partition},{offset}\n" for log, offset in rows).encode()


def lacks_some(logs: list[Written]) -> bool:
    """Return whether records are missing that the user did not ask to leave out."""
    return any(row.why in UNWANTED for log in logs for row in log.export.left_out.rows())


def _row(log: Written, style: str, file: str | None) -> Row:
    """Return one log as JSON shows it."""
    of_log, export = log.export.log, log.export
    topic = None if of_log.topic is None else text(of_log.topic)
    return {
        "topic": topic,
        "partition": of_log.partition,
        "state": str(of_log.state),
        "path": of_log.path,
        "file": file,
        "records": log.records,
        "from": log.start,
        "to": log.end,
        "transactional": export.transactional,
        "left_out": tuple(row.row() for row in export.left_out.rows()),
        "damage": tuple(place._asdict() for place in export.damage),
        "group_offset": None if log.committed is None else {"committed": log.committed, "translated": log.before},
        "produce": None
        if file is None or topic is None or of_log.partition is None
        else produce_command(style, topic, of_log.partition, file, log.longest),
    }
