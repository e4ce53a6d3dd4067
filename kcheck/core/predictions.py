"""What a start makes of a log dir and of each partition directory in it: the values of a prediction.

`kcheck.startup` fills them in; predict, truncation, repair and the fleet read them.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.startup import Mode, Outcome
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.names import PartitionDirectory
from kcheck.model.unreadable import Unreadable
from kcheck.model.views import LogDirView


class Content(NamedTuple):
    """What a file of a simulated directory holds: `filled` bytes, then zeros up to `size`."""

    size: int
    """The size of the file in bytes."""
    path: str | None = None
    """The real file that has the bytes; None: they are `data`."""
    begin: int = 0
    """The position in the real file where the bytes begin."""
    filled: int = 0
    """How many bytes come from the real file or from `data`; zeros follow."""
    data: bytes = b""
    """The bytes, where `path` is None."""
    certain: bool = True
    """False where the bytes depend on the clock or on other nodes."""
    patches: tuple[tuple[int, bytes], ...] = ()
    """Positions in the real file, and the bytes that replace those there."""

    def resized(self, size: int) -> "Content":
        """Return the file truncated to a size, or extended with zeros."""
        filled = min(self.filled, size)
        return self._replace(size=size, filled=filled, data=self.data[:filled])


def new_content(data: bytes, *, certain: bool = True) -> Content:
    """Return a file of these bytes."""
    return Content(len(data), filled=len(data), data=data, certain=certain)


class Changes(NamedTuple):
    """What a start does to the files of a directory, by name."""

    created: tuple[str, ...] = ()
    """Files that did not exist before."""
    changed: tuple[str, ...] = ()
    """Files with other bytes than before."""
    removed: tuple[str, ...] = ()
    """Files that no longer exist."""
    renamed: tuple[tuple[str, str], ...] = ()
    """Old and new names."""
    unknown: tuple[str, ...] = ()
    """Files whose new bytes depend on the clock or on other nodes."""

    @property
    def any(self) -> bool:
        """Whether the start changes anything."""
        return any(self)


class LogCut(NamedTuple):
    """What a start removes from a segment: all bytes from a position to the end of its file."""

    path: str
    """The path of the `.log` before the start."""
    base_offset: Offset
    """The base offset of the segment."""
    end_offset: Offset
    """The offset after the last batch that stays; the base offset where none stays."""
    position: int
    """The position of the first byte that is removed."""
    size: int
    """The size of the file before the start, in bytes."""
    why: str
    """Why the broker removes the bytes."""


class LoadedLog(NamedTuple):
    """A log as the start leaves it (UnifiedLog)."""

    log_start_offset: Offset
    """The first offset that consumers can read."""
    log_end_offset: Offset
    """The offset of the next record."""
    recovery_point: Offset
    """The offset below which the broker takes the log as flushed."""
    leader_epochs: EpochEntries
    """The entries of the leader epoch cache."""
    unstable: bool
    """Whether it has an open transaction, or one that ended in the part that the start replayed."""
    bases: tuple[int, ...]
    """The base offsets of its segments, ascending."""
    cuts: tuple[LogCut, ...] = ()
    """What the start removed from its segments."""
    rescanned: int = 0
    """How many bytes the start read."""
    reasons: tuple[str, ...] = ()
    """What the start repaired, and why."""


class LostRecords(NamedTuple):
    """Records that the files hold now and that the broker will not have."""

    start: Offset | None
    """The first lost offset, None where it is not known."""
    end: Offset | None
    """The offset after the last lost record, None where it is not known."""
    records: int | None
    """How many records, None where it is not known."""
    bytes: int
    """How many bytes are truncated or deleted, without zeros at the end."""
    below_high_watermark: int | None
    """How many of the records consumers may have read, None where it is not known."""


def total_loss(losses: Iterable[LostRecords]) -> LostRecords | None:
    """Return several losses as one; None where no records are lost."""
    parts = [loss for loss in losses if loss.records != 0]
    if not parts:
        return None
    return LostRecords(
        start=min((loss.start for loss in parts if loss.start is not None), default=None),
        end=max((loss.end for loss in parts if loss.end is not None), default=None),
        records=_sum([loss.records for loss in parts]),
        bytes=sum(loss.bytes for loss in parts),
        below_high_watermark=_sum([loss.below_high_watermark for loss in parts]),
    )


def _sum(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(count or 0 for count in counts)


class PartitionPrediction(NamedTuple):
    """What becomes of one partition directory."""

    dir: str
    """The name of the directory."""
    directory: PartitionDirectory
    """The name, parsed."""
    outcome: Outcome
    """What the start makes of it."""
    reason: str | None
    """Why, or what the start repairs; None where it loads the log and repairs nothing."""
    log: LoadedLog | None = None
    """The loaded log, None where the start loads none."""
    high_watermark: Offset | None = None
    """The high watermark after the start, None where it is not known."""
    lost: LostRecords | None = None
    """The records that the start loses, None where it loses none."""
    scan_bytes: int = 0
    """How many bytes of segments the start reads."""
    changes: Changes = Changes()
    """What the start does to the files."""
    after: Mapping[str, Content] = {}
    """The files after the start, by name."""
    queued: bool = False
    """Whether a failed read queues its log dir, which goes offline as soon as the broker runs."""
    uncertain: str | None = None
    """What else the outcome depends on, where the files cannot tell; None where they can."""
    touched: str | None = None
    """Why the broker reads the log again or renames its directory, None where it does neither.

    That fails once the log dir is queued to go offline, and then aborts the start.
    """
    unread: Unreadable | None = None
    """Why kcheck could not read the directory, None where it could."""
    promoted: bool = False
    """Whether it is a future log that replaces the current one."""


class LogDirPrediction(NamedTuple):
    """What becomes of a log dir."""

    path: str
    """The path of the log dir."""
    broker_id: int | None
    """The broker id in meta.properties, None where it is not known."""
    outcome: Outcome
    """ABORT, OFFLINE, or OK where the log dir is loaded."""
    reasons: tuple[str, ...]
    """Why it is not loaded; the first reason decides."""
    clean: bool
    """Whether the last shutdown counts as clean."""
    mode: Mode
    """Who keeps the metadata of its cluster."""
    uncertain: str | None
    """What else may happen, where the files cannot tell; None where they can."""
    partitions: tuple[PartitionPrediction, ...]
    """The partition directories that the start loads, or fails to load."""
    view: LogDirView | None = None
    """The log dir as it is before the start, None where only one unreadable directory was asked for."""
    broker: object = None
    """What the log dirs of one broker have in common, whatever they say of it; None where that is not known."""
    unread: bool = False
    """Whether kcheck could not read all of it."""
