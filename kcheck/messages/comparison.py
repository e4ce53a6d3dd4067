"""Compares the statements of a log about a broker's files with the files on disk now."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.messages.lines import LogEvent
from kcheck.model.entries import EpochEntry

_PARTITIONS_MAX = 100_000
_KEPT = ("L003", "L008", "L012", "L013", "L034", "L047", "L064", "L088")
"""Rules that give the state of a partition after them."""
_DIRECTORIES = ("L045", "L047")
"""Rules that rename a directory."""


class LogOnDisk(NamedTuple):
    """A partition directory now."""

    log_start_offset: int | None
    log_end_offset: int | None
    high_watermark: int | None
    epochs: Mapping[int, int]
    """Start offsets by epoch."""
    directory: str
    """Its name."""


class LogComparison(NamedTuple):
    """A statement of the log, and the file it is about."""

    event: LogEvent
    says: str
    now: str
    agrees: bool | None
    """None if the files neither confirm nor deny it."""


class Statements:
    """Keeps the last message of each rule about each partition."""

    def __init__(self) -> None:
        """Begin without any."""
        self._last: dict[tuple[str, int], dict[str, LogEvent]] = {}

    def add(self, event: LogEvent) -> None:
        """Take the next message."""
        rule, where = event.rule, event.place
        if rule is None or where.topic is None or where.partition is None:
            return
        if rule.id not in _KEPT and rule.id not in _DIRECTORIES:
            return
        partition = where.topic, where.partition
        if partition not in self._last and len(self._last) >= _PARTITIONS_MAX:
            return
        events = self._last.setdefault(partition, {})
        has_offset = isinstance(event.values.get("offset"), int) or rule.id != "L064"
        if rule.id == "L003":
            events.clear()  # A start loads what is there; what was before it no longer counts.
        if has_offset:
            events[rule.id] = event

    def compared(self, logs: Mapping[tuple[str, int], tuple[LogOnDisk, ...]]) -> Iterator[LogComparison]:
        """Yield the statements of the log about each partition, and its present directories; by partition."""
        for partition, events in sorted(self._last.items()):
            here = logs.get(partition)
            if here is None:
                continue
            current = next((log for log in here if log.directory == f"{partition[0]}-{partition[1]}"), None)
            for event in events.values():
                yield from _of_directory(event, here)
                if current is not None:
                    yield from _of_log(event, current)


def _of_directory(event: LogEvent, here: Iterable[LogOnDisk]) -> Iterator[LogComparison]:
    renamed = event.values.get("renamed_to")
    if isinstance(renamed, str):
        name = renamed.replace("\\", "/").rstrip("/").rpartition("/")[2]
        is_there = any(log.directory == name for log in here)
        yield LogComparison(event, f"renamed to {name}", "it is there" if is_there else "it is gone", is_there)


def _of_log(event: LogEvent, log: LogOnDisk) -> Iterator[LogComparison]:
    assert event.rule is not None
    values, end = event.values, log.log_end_offset
    said_end = values.get("log_end_offset")
    if event.rule.id == "L003" and isinstance(said_end, int) and end is not None:
        words = f"log end {end}" + (f", {said_end - end} less: truncated or lost since" if end < said_end else "")
        yield LogComparison(event, f"loaded with log end {said_end}", words, end >= said_end)
    offset = values.get("offset")
    if event.rule.id in ("L008", "L064") and isinstance(offset, int) and end is not None:
        words = f"log end {end}" + (": below it" if end < offset else "")
        yield LogComparison(event, f"truncated to {offset}", words, end >= offset)
    epoch = values.get("epoch")
    if event.rule.id == "L088" and isinstance(epoch, int) and event.message.partition("] ")[2].startswith("Leader"):
        start = log.epochs.get(epoch)
        words = (
            "no entry of this epoch in leader-epoch-checkpoint" if start is None else f"epoch {epoch} starts at {start}"
        )
        agrees = start == offset if start is not None else None
        yield LogComparison(event, f"epoch {epoch} starts at {offset}", words, agrees)
    mark = values.get("high_watermark")
    if event.rule.id == "L034" and isinstance(mark, int) and log.high_watermark is not None:
        words = f"replication-offset-checkpoint has {log.high_watermark}"
        yield LogComparison(event, f"initial high watermark {mark}", words, log.high_watermark >= mark)


def epochs_of(entries: Iterable[EpochEntry]) -> dict[int, int]:
    """Return the start offsets by epoch."""
    return {entry.epoch: entry.start_offset for entry in entries}
