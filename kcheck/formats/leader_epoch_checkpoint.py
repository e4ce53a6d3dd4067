"""leader-epoch-checkpoint of a partition directory: `<epoch> <start offset>` a line.

LeaderEpochCheckpointFile 0.11 to 4.3.1. What a broker's cache makes of the lines is in `kcheck.core.leader_epochs`.
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

_FRAMING = Framing(has_topic=False, names=("an epoch", "an offset"))


@dataclass(frozen=True, slots=True)
class LeaderEpochCheckpoint:
    """The lines as columns in file order, and as entries; `version` is None where its line is missing or no number."""

    version: int | None
    epochs: Sequence[int]
    start_offsets: Sequence[int]

    entries: EpochEntries = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Make the entries: whoever reads the file asks for them several times."""
        object.__setattr__(
            self, "entries", tuple(map(EpochEntry._make, zip(self.epochs, self.start_offsets, strict=True)))
        )

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.epochs)


@lru_cache(maxsize=1)
def parse(data: bytes) -> Parsed[LeaderEpochCheckpoint]:
    """Return every line that can be read, and the defects. The order of the epochs is not judged here.

    The last answer is kept, because `broker_reads` is asked next.
    """
    found = parse_lines(data, _FRAMING)
    return Parsed(value=_checkpoint(found.value), defects=found.defects)


def serialize(value: LeaderEpochCheckpoint) -> bytes:
    """Return the file as a broker writes it."""
    return serialize_lines(value.version, (), value.epochs, value.start_offsets)


def broker_reads(data: bytes, release: Release) -> BrokerReads[EpochEntries]:
    """Return the lines that the broker's reader returns, before its cache orders them, or its exception's simple name.

    Up to 0.10.2 no broker looks at the file: no entries. Otherwise as `offset_checkpoint.broker_reads`.
    """
    if not release.has_leader_epochs:
        return BrokerReads(value=())
    found = read(data, _FRAMING, release.reader)
    if found.value is None:
        return BrokerReads(value=None, error=found.error)
    known = parse(data).value  # The same entries in the usual file.
    value = known if known.epochs is found.value.firsts else _checkpoint(found.value)
    return BrokerReads(value=value.entries)


def _checkpoint(lines: Lines) -> LeaderEpochCheckpoint:
    return LeaderEpochCheckpoint(lines.version, lines.firsts, lines.seconds)


def row(value: LeaderEpochCheckpoint) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"version": value.version, **_entries_row(value.entries)}


def _entries_row(entries: EpochEntries) -> Mapping[str, object]:
    return {"entries": Mapped(EpochEntry._asdict, entries)}


def entry_rows(entries: Iterable[EpochEntry]) -> tuple[Mapping[str, object], ...]:
    """Return entries as JSON rows."""
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
