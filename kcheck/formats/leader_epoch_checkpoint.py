"""leader-epoch-checkpoint of a partition directory, with one `<epoch> <start offset>` per line.

Kafka class: LeaderEpochCheckpointFile 0.11 to 4.3.1. core/replication/leader_epochs.py decides which lines an epoch
cache keeps.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from kcheck.formats._checkpoint_file import Framing, Lines
from kcheck.formats._checkpoint_file import parse as parse_lines
from kcheck.formats._checkpoint_file import serialize as serialize_lines
from kcheck.formats._checkpoint_reader import read
from kcheck.formats._contract import Format
from kcheck.model.entries import EpochEntries, EpochEntry
from kcheck.model.mapped import Mapped
from kcheck.model.names import LEADER_EPOCHS
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release

_FRAMING = Framing(has_topic=False, number_names=("an epoch", "an offset"))


@dataclass(frozen=True, slots=True)
class LeaderEpochCheckpoint:
    """A leader-epoch-checkpoint: its lines in file order, as columns and as entries."""

    version: int | None
    """The version line; None if it is missing or not a number."""
    epochs: Sequence[int]
    """The epoch of each line."""
    start_offsets: Sequence[int]
    """The start offset of each line, which is the offset of the epoch's first record."""

    entries: EpochEntries = field(init=False, repr=False, compare=False)
    """The same lines as entries."""

    def __post_init__(self) -> None:
        """Make the entries once, as callers use them several times."""
        object.__setattr__(
            self, "entries", tuple(map(EpochEntry._make, zip(self.epochs, self.start_offsets, strict=True)))
        )

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.epochs)


@lru_cache(maxsize=1)
def parse(data: bytes) -> Parsed[LeaderEpochCheckpoint]:
    """Return every readable line, and the defects. The order of the epochs is not checked here.

    The last result is cached, because callers ask `broker_reads` next.
    """
    lines = parse_lines(data, _FRAMING)
    return Parsed(value=_checkpoint(lines.value), defects=lines.defects)


def serialize(value: LeaderEpochCheckpoint) -> bytes:
    """Return the bytes that a broker writes."""
    return serialize_lines(value.version, (), value.epochs, value.start_offsets)


def broker_reads(data: bytes, release: Release) -> BrokerReads[EpochEntries]:
    """Return the entries that the broker's reader returns, in file order, or the simple name of its exception.

    The epoch cache orders them later. Brokers of 0.10.2 and earlier do not read the file, so there are no entries.
    `offset_checkpoint.broker_reads` lists the exceptions.
    """
    if not release.has_leader_epochs:
        return BrokerReads(value=())
    lines = read(data, _FRAMING, release.reader)
    if lines.value is None:
        return BrokerReads(value=None, error=lines.error)
    parsed = parse(data).value  # In an undamaged file these are the same columns.
    value = parsed if parsed.epochs is lines.value.firsts else _checkpoint(lines.value)
    return BrokerReads(value=value.entries)


def _checkpoint(lines: Lines) -> LeaderEpochCheckpoint:
    return LeaderEpochCheckpoint(lines.version, lines.firsts, lines.seconds)


def row(value: LeaderEpochCheckpoint) -> Mapping[str, object]:
    """Return the JSON fields."""
    return {"version": value.version, **_entries_row(value.entries)}


def _entries_row(entries: EpochEntries) -> Mapping[str, object]:
    return {"entries": Mapped(EpochEntry._asdict, entries)}


def entry_rows(entries: Iterable[EpochEntry]) -> tuple[Mapping[str, object], ...]:
    """Return the entries as JSON objects."""
    return tuple(map(EpochEntry._asdict, entries))


FORMAT = Format(
    kind="leader-epoch-checkpoint",
    title="Leader epoch checkpoint",
    matches=LEADER_EPOCHS.__eq__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=_entries_row,
)
