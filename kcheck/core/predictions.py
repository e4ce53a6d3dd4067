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
    """What a file holds: `filled` bytes, then zeros up to `size`.

    The bytes are `data`, or where `path` is set those of that file from position `begin` on. `certain` is False where
    they depend on the clock or on other nodes. `patches` are of the file at `path`.
    """

    size: int
    path: str | None = None
    begin: int = 0
    filled: int = 0
    data: bytes = b""
    certain: bool = True
    patches: tuple[tuple[int, bytes], ...] = ()

    def resized(self, size: int) -> "Content":
        """Return the file cut, or with zeros behind it."""
        filled = min(self.filled, size)
        return self._replace(size=size, filled=filled, data=self.data[:filled])


def new_content(data: bytes, *, certain: bool = True) -> Content:
    """Return a file of these bytes."""
    return Content(len(data), filled=len(data), data=data, certain=certain)


class Changes(NamedTuple):
    """What a start does to the files of a directory, by their names; `renamed` are pairs of names.

    `unknown` are files whose new content depends on the clock or on other nodes.
    """

    created: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def any(self) -> bool:
        """Whether anything is different afterwards."""
        return any(self)


class LogCut(NamedTuple):
    """What a start takes from a log: a segment from a position on, to the end of its file as it lies.

    `end_offset` is where the batches end that stay.
    """

    path: str
    base_offset: Offset
    end_offset: Offset
    position: int
    size: int
    why: str


class LoadedLog(NamedTuple):
    """A log as the start leaves it. `rescanned` counts the bytes that are read on the way."""

    log_start_offset: Offset
    log_end_offset: Offset
    recovery_point: Offset
    leader_epochs: EpochEntries
    unstable: bool
    bases: tuple[int, ...]
    cuts: tuple[LogCut, ...] = ()
    rescanned: int = 0
    reasons: tuple[str, ...] = ()


class LostRecords(NamedTuple):
    """Records that stand in the files now and that the broker will not have.

    Offsets `start` to below `end`, None where they are not known; so is `records`. `bytes` are those cut or
    deleted, without zeros at the end. `below_high_watermark` counts the records that consumers may have read, None
    where that is not known.
    """

    start: Offset | None
    end: Offset | None
    records: int | None
    bytes: int
    below_high_watermark: int | None


def total_loss(losses: Iterable[LostRecords]) -> LostRecords | None:
    """Return several losses as one; None where no records are lost."""
    found = [each for each in losses if each.records != 0]
    if not found:
        return None
    return LostRecords(
        start=min((each.start for each in found if each.start is not None), default=None),
        end=max((each.end for each in found if each.end is not None), default=None),
        records=_sum([each.records for each in found]),
        bytes=sum(each.bytes for each in found),
        below_high_watermark=_sum([each.below_high_watermark for each in found]),
    )


def _sum(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(each or 0 for each in counts)


class PartitionPrediction(NamedTuple):
    """What becomes of one partition directory.

    `log` is None where it is not loaded. `after` are the files that stand there then. `queued`: its log dir is offline
    as soon as the broker runs. `uncertain` tells on what else the answer depends, where the files cannot tell.
    `touched` tells why the broker goes on to read the log or to rename its directory, None if it does not: that fails
    while the log dir waits to go offline. `unread` tells why we could not read the directory, None if we could.
    `promoted`: a future log that takes the place of the current one.
    """

    dir: str
    directory: PartitionDirectory
    outcome: Outcome
    reason: str | None
    log: LoadedLog | None = None
    high_watermark: Offset | None = None
    lost: LostRecords | None = None
    scan_bytes: int = 0
    changes: Changes = Changes()
    after: Mapping[str, Content] = {}
    queued: bool = False
    uncertain: str | None = None
    touched: str | None = None
    unread: Unreadable | None = None
    promoted: bool = False


class LogDirPrediction(NamedTuple):
    """What becomes of a log dir: `reasons` tell why it is not loaded, the first of them decides.

    `uncertain` is what else may happen, where the files cannot tell which. Log dirs of one `broker` (None: not known)
    belong together, whatever they say; their identities are those of `view`. `unread`: not all of it could be read.
    """

    path: str
    broker_id: int | None
    outcome: Outcome
    reasons: tuple[str, ...]
    clean: bool
    mode: Mode
    uncertain: str | None
    partitions: tuple[PartitionPrediction, ...]
    view: LogDirView | None = None
    broker: object = None
    unread: bool = False
