"""The four offset checkpoints of a log dir: `<topic> <partition> <offset>` a line.

OffsetCheckpointFile 0.11 to 4.3.1, OffsetCheckpoint 0.8.2 to 0.10.2.
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

_FRAMING = Framing(has_topic=True, names=("a partition number", "an offset"))


@dataclass(frozen=True, slots=True)
class OffsetCheckpoint:
    """An offset checkpoint as columns, one item a line in file order.

    `version` is None where its line is missing or no number. What was read from a file holds repeated partitions as
    often as the file does; what a broker reads of it holds them once.
    """

    version: int | None
    topics: Sequence[str]
    partitions: Sequence[int]
    offsets: Sequence[int]

    def __iter__(self) -> Iterator[OffsetEntry]:
        """Return every line as an entry."""
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
        """Return the offset of each partition, of a repeated one the last; of these topics, None for all."""
        found: dict[str, dict[int, Offset]] = {}
        for topic, partition, offset in zip(self.topics, self.partitions, self.offsets, strict=True):
            if topics is None or topic in topics:
                found.setdefault(topic, {})[partition] = Offset(offset)
        return found


def parse(data: bytes) -> Parsed[OffsetCheckpoint]:
    """Return every line that can be read, and the defects; repeated partitions are one, because 0.10.2 refuses them."""
    found = parse_lines(data, _FRAMING)
    value = _checkpoint(found.value)
    repeated = _repeated_count(value)
    if not repeated:
        return Parsed(value=value, defects=found.defects)
    message = f"{repeated} lines repeat a partition: the last one counts"
    return Parsed(value=value, defects=(*found.defects, Defect(message=message, position=0, line=3, column=1)))


def serialize(value: OffsetCheckpoint) -> bytes:
    """Return the file as a broker writes it."""
    return serialize_lines(value.version, value.topics, value.partitions, value.offsets)


def broker_reads(data: bytes, release: Release) -> BrokerReads[OffsetCheckpoint]:
    """Return the entries that the broker's reader returns, or the simple name of its exception.

    A repeated partition has the offset of its last line. IOException, MalformedInputException (from 2.1),
    NumberFormatException (0.8.2, 0.9, and from 3.1), IllegalArgumentException and OutOfMemoryError (from 3.1).
    """
    found = read(data, _FRAMING, release.reader)
    if found.value is None:
        return BrokerReads(value=None, error=found.error)
    value = _checkpoint(found.value)
    if _repeated_count(value):
        last = [(topic, *item) for topic, found_there in value.by_topic().items() for item in found_there.items()]
        value = OffsetCheckpoint(value.version, *zip(*last, strict=True))
    return BrokerReads(value=value)


def _checkpoint(lines: Lines) -> OffsetCheckpoint:
    return OffsetCheckpoint(lines.version, lines.topics, lines.firsts, lines.seconds)


def _repeated_count(value: OffsetCheckpoint) -> int:
    if len(set(value.topics)) == len(value):
        return 0  # A set for each of a million topics would be a hundred times the file.
    seen: dict[str, set[int]] = {}
    for topic, partition in zip(value.topics, value.partitions, strict=True):
        seen.setdefault(topic, set()).add(partition)
    return len(value) - sum(map(len, seen.values()))


def row(value: OffsetCheckpoint) -> Mapping[str, object]:
    """Return the fields of JSON."""
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
