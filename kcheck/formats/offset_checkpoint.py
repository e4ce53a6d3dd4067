"""The four offset checkpoints of a log dir, with one `<topic> <partition> <offset>` per line.

Kafka classes: OffsetCheckpointFile 0.11 to 4.3.1, OffsetCheckpoint 0.8.2 to 0.10.2.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kcheck.formats._checkpoint_file import Framing, Lines
from kcheck.formats._checkpoint_file import parse as parse_lines
from kcheck.formats._checkpoint_file import serialize as serialize_lines
from kcheck.formats._checkpoint_reader import read
from kcheck.formats._contract import Format
from kcheck.model.entries import Offset, OffsetEntry
from kcheck.model.mapped import Mapped
from kcheck.model.names import OFFSET_CHECKPOINTS
from kcheck.model.parsed import BrokerReads, Defect, Parsed
from kcheck.model.release import Release
from kcheck.words import agree, counted

_FRAMING = Framing(has_topic=True, number_names=("a partition number", "an offset"))


@dataclass(frozen=True, slots=True)
class OffsetCheckpoint:
    """An offset checkpoint as columns, one item per line.

    `parse` keeps file order and every line of a repeated partition. `broker_reads` keeps one line per partition.
    """

    version: int | None
    """The version line; None if it is missing or not a number."""
    topics: Sequence[str]
    """The topic of each line."""
    partitions: Sequence[int]
    """The partition number of each line."""
    offsets: Sequence[int]
    """The offset of each line."""

    def __iter__(self) -> Iterator[OffsetEntry]:
        """Yield every line as an entry."""
        return map(OffsetEntry._make, zip(self.topics, self.partitions, self.offsets, strict=True))

    def __getitem__(self, index: int) -> OffsetEntry:
        """Return one line as an entry."""
        return OffsetEntry(self.topics[index], self.partitions[index], Offset(self.offsets[index]))

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.topics)

    @property
    def entries(self) -> Iterator[OffsetEntry]:
        """Every line as an entry."""
        return iter(self)

    def by_topic(self, topics: Collection[str] | None = None) -> dict[str, dict[int, Offset]]:
        """Return the offset of each partition of these topics (None for all); the last line of a partition counts."""
        offsets: dict[str, dict[int, Offset]] = {}
        for topic, partition, offset in zip(self.topics, self.partitions, self.offsets, strict=True):
            if topics is None or topic in topics:
                offsets.setdefault(topic, {})[partition] = Offset(offset)
        return offsets


def parse(data: bytes) -> Parsed[OffsetCheckpoint]:
    """Return every readable line, and the defects; repeated partitions are a defect, because 0.10.2 refuses them."""
    lines = parse_lines(data, _FRAMING)
    value = _checkpoint(lines.value)
    repeated_count = _repeated_count(value)
    if not repeated_count:
        return Parsed(value=value, defects=lines.defects)
    repeats = f"{counted(repeated_count, 'line')} {agree(repeated_count, 'repeats', 'repeat')}"
    message = f"{repeats} a partition; the last line of a partition counts"
    return Parsed(value=value, defects=(*lines.defects, Defect(message=message, position=0, line=3, column=1)))


def serialize(value: OffsetCheckpoint) -> bytes:
    """Return the bytes that a broker writes."""
    return serialize_lines(value.version, value.topics, value.partitions, value.offsets)


def broker_reads(data: bytes, release: Release) -> BrokerReads[OffsetCheckpoint]:
    """Return the entries that the broker's reader returns, or the simple name of its exception.

    A repeated partition has the offset of its last line. The exceptions: IOException, MalformedInputException (from
    2.1), NumberFormatException (0.8.2, 0.9, and from 3.1), IllegalArgumentException and OutOfMemoryError (from 3.1).
    """
    lines = read(data, _FRAMING, release.reader)
    if lines.value is None:
        return BrokerReads(value=None, error=lines.error)
    value = _checkpoint(lines.value)
    if _repeated_count(value):
        last_lines = [(topic, *item) for topic, offsets in value.by_topic().items() for item in offsets.items()]
        value = OffsetCheckpoint(value.version, *zip(*last_lines, strict=True))
    return BrokerReads(value=value)


def _checkpoint(lines: Lines) -> OffsetCheckpoint:
    return OffsetCheckpoint(lines.version, lines.topics, lines.firsts, lines.seconds)


def _repeated_count(value: OffsetCheckpoint) -> int:
    if len(set(value.topics)) == len(value):
        return 0  # Every topic occurs once: no need for a set per topic, 100 times the size of the file.
    partitions: dict[str, set[int]] = {}
    for topic, partition in zip(value.topics, value.partitions, strict=True):
        partitions.setdefault(topic, set()).add(partition)
    return len(value) - sum(map(len, partitions.values()))


def row(value: OffsetCheckpoint) -> Mapping[str, object]:
    """Return the JSON fields."""
    return {"version": value.version, **_entries_row(value)}


def _entries_row(value: OffsetCheckpoint) -> Mapping[str, object]:
    return {"entries": Mapped(OffsetEntry._asdict, value)}


FORMAT = Format(
    kind="offset-checkpoint",
    title="Offset checkpoint",
    matches=OFFSET_CHECKPOINTS.__contains__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=_entries_row,
)
