"""The four offset checkpoints of a log dir: `<topic> <partition> <offset>` a line (OffsetCheckpointFile 0.11 to 4.3.1,
OffsetCheckpoint 0.8.2 to 0.10.2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kcheck.formats._checkpoint_file import Framing, Lines
from kcheck.formats._checkpoint_file import parse as parse_lines
from kcheck.formats._checkpoint_file import reads as read_lines
from kcheck.formats._checkpoint_file import serialize as serialize_lines
from kcheck.formats._contract import Format
from kcheck.model.entries import Offset, OffsetEntry
from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.parsed import BrokerReads, Defect, Parsed
from kcheck.model.release import Release

_FRAMING = Framing(has_topic=True, names=("a partition number", "an offset"))


@dataclass(frozen=True, slots=True)
class OffsetCheckpoint:
    """An offset checkpoint as columns, one item a line in file order, repeated partitions included."""

    version: int | None
    topics: Sequence[str]
    partitions: Sequence[int]
    offsets: Sequence[int]

    @property
    def entries(self) -> Iterator[OffsetEntry]:
        """Every line as an entry."""
        for topic, partition, offset in zip(self.topics, self.partitions, self.offsets, strict=True):
            yield OffsetEntry(topic, partition, Offset(offset))

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.topics)

    def by_topic(self) -> dict[str, dict[int, Offset]]:
        """Return the offset of each partition; of a repeated one the last."""
        found: dict[str, dict[int, Offset]] = {}
        for topic, partition, offset in zip(self.topics, self.partitions, self.offsets, strict=True):
            found.setdefault(topic, {})[partition] = Offset(offset)
        return found


def parse(data: bytes) -> Parsed[OffsetCheckpoint]:
    """Return every line that can be read, and the defects; a repeated partition is one."""
    found = parse_lines(data, _FRAMING)
    value = _checkpoint(found.value)
    return Parsed(value=value, defects=(*found.defects, *_repeated(value)))


def serialize(value: OffsetCheckpoint) -> bytes:
    """Return the file as a broker writes it."""
    return serialize_lines(value.topics, value.partitions, value.offsets)


def broker_reads(data: bytes, release: Release) -> BrokerReads[tuple[OffsetEntry, ...]]:
    """Return the entries that the broker's reader returns (a repeated partition has its last offset), or its error."""
    found = read_lines(data, _FRAMING, release.reader, parse_lines(data, _FRAMING))
    if found.value is None:
        return BrokerReads(value=None, error=found.error)
    last = {(entry.topic, entry.partition): entry for entry in _checkpoint(found.value).entries}
    return BrokerReads(value=tuple(last.values()))


def _checkpoint(lines: Lines) -> OffsetCheckpoint:
    return OffsetCheckpoint(lines.version, lines.topics, lines.firsts, lines.seconds)


def _repeated(value: OffsetCheckpoint) -> tuple[Defect, ...]:
    seen: dict[str, set[int]] = {}
    for topic, partition in zip(value.topics, value.partitions, strict=True):
        seen.setdefault(topic, set()).add(partition)
    repeated = len(value) - sum(map(len, seen.values()))
    if not repeated:
        return ()
    return (Defect(message=f"{repeated} lines repeat a partition: the last one counts", position=0, line=3, column=1),)


def row(value: OffsetCheckpoint) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"version": value.version, "entries": entry_rows(value.entries)}


def entry_rows(entries: Iterator[OffsetEntry] | Sequence[OffsetEntry]) -> tuple[Mapping[str, object], ...]:
    """Return entries as JSON rows."""
    return tuple({"topic": e.topic, "partition": e.partition, "offset": e.offset} for e in entries)


FORMAT = Format(
    kind="offset-checkpoint",
    title="Offset checkpoint",
    matches=OFFSET_CHECKPOINTS.__contains__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=lambda value: {"entries": entry_rows(value)},
)
