"""leader-epoch-checkpoint of a partition directory: `<epoch> <start offset>` a line (LeaderEpochCheckpointFile 0.11 to
4.3.1).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kcheck.formats._checkpoint_file import Framing, Lines
from kcheck.formats._checkpoint_file import parse as parse_lines
from kcheck.formats._checkpoint_file import reads as read_lines
from kcheck.formats._checkpoint_file import serialize as serialize_lines
from kcheck.formats._contract import Format
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset
from kcheck.model.names import LEADER_EPOCHS
from kcheck.model.parsed import BrokerReads, Parsed
from kcheck.model.release import Release

_FRAMING = Framing(has_topic=False, names=("an epoch", "an offset"))


@dataclass(frozen=True, slots=True)
class LeaderEpochCheckpoint:
    """The lines in file order, whatever their order; `version` is None where its line is missing or no number."""

    version: int | None
    lines: Lines

    @property
    def entries(self) -> EpochEntries:
        """Every line as an entry."""
        return tuple(map(EpochEntry, map(Epoch, self.lines.firsts), map(Offset, self.lines.seconds)))


def parse(data: bytes) -> Parsed[LeaderEpochCheckpoint]:
    """Return every line that can be read, and the defects. Their order is not judged here."""
    found = parse_lines(data, _FRAMING)
    return Parsed(value=LeaderEpochCheckpoint(found.value.version, found.value), defects=found.defects)


def serialize(value: LeaderEpochCheckpoint) -> bytes:
    """Return the file as a broker writes it."""
    return serialize_lines((), value.lines.firsts, value.lines.seconds)


def broker_reads(data: bytes, release: Release) -> BrokerReads[EpochEntries]:
    """Return the lines that the broker's reader returns, before its cache orders them, or its error.

    Up to 0.10.2 no broker looks at the file: no entries.
    """
    if release.version < (0, 11):
        return BrokerReads(value=())
    found = read_lines(data, _FRAMING, release.reader, parse_lines(data, _FRAMING))
    if found.value is None:
        return BrokerReads(value=None, error=found.error)
    return BrokerReads(value=LeaderEpochCheckpoint(0, found.value).entries)


def row(value: LeaderEpochCheckpoint) -> Mapping[str, object]:
    """Return the fields of JSON."""
    return {"version": value.version, "entries": entry_rows(value.entries)}


def entry_rows(entries: Iterable[EpochEntry]) -> tuple[Mapping[str, object], ...]:
    """Return entries as JSON rows."""
    return tuple({"epoch": entry.epoch, "start_offset": entry.start_offset} for entry in entries)


FORMAT = Format(
    kind="leader-epoch-checkpoint",
    title="Leader epoch checkpoint",
    matches=LEADER_EPOCHS.__eq__,
    parse=parse,
    serialize=serialize,
    row=row,
    broker_reads=broker_reads,
    reads_row=lambda value: {"entries": entry_rows(value)},
)
