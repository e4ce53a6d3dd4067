"""What a simulated start is told of a partition directory, and what it makes of one."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.cluster_copies import StrayDetector
from kcheck.core.startup import Mode, Outcome, Settings
from kcheck.model.entries import EpochEntries, Offset
from kcheck.model.names import PartitionDirectory
from kcheck.model.release import Release
from kcheck.startup.virtual_files import Changes, Content
from kcheck.views.partition import CheckpointOffsets


class Context(NamedTuple):
    """What every step of a start needs to know; `judge` tells strays, None without metadata of the cluster."""

    settings: Settings
    mode: Mode
    release: Release
    judge: StrayDetector | None = None


class LoadInputs(NamedTuple):
    """What the checkpoints of the log dir say about a partition, and whether the stop before was clean."""

    clean: bool
    log_start: Offset | None = None
    recovery_point: int = 0
    high_watermark: int | None = None


def load_inputs(told: CheckpointOffsets, release: Release, *, clean: bool) -> LoadInputs:
    """Return what a broker of the release takes from the checkpoints."""
    log_start = told.log_start if release.has_log_start_checkpoint else None
    return LoadInputs(clean, log_start, told.recovery_point or 0, told.high_watermark)


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


class Loaded(NamedTuple):
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


class Lost(NamedTuple):
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


def summed(losses: Iterable[Lost]) -> Lost | None:
    """Return several losses as one; None where no records are lost."""
    found = [each for each in losses if each.records != 0]
    if not found:
        return None
    return Lost(
        start=min((each.start for each in found if each.start is not None), default=None),
        end=max((each.end for each in found if each.end is not None), default=None),
        records=_sum([each.records for each in found]),
        bytes=sum(each.bytes for each in found),
        below_high_watermark=_sum([each.below_high_watermark for each in found]),
    )


def _sum(counts: list[int | None]) -> int | None:
    return None if None in counts else sum(each or 0 for each in counts)


class Prediction(NamedTuple):
    """What becomes of one partition directory.

    `log` is None where it is not loaded. `after` are the files that stand there then. `queued`: its log dir is offline
    as soon as the broker runs. `uncertain` tells on what else the answer depends, where the files cannot tell.
    `touched` tells why the broker goes on to read the log or to rename its directory, None if it does not: that fails
    while the log dir waits to go offline. `unread`: we could not read what stands there.
    `promoted`: a future log that takes the place of the current one.
    """

    dir: str
    directory: PartitionDirectory
    outcome: Outcome
    reason: str | None
    log: Loaded | None = None
    high_watermark: Offset | None = None
    lost: Lost | None = None
    scan_bytes: int = 0
    changes: Changes = Changes()
    after: Mapping[str, Content] = {}
    queued: bool = False
    uncertain: str | None = None
    touched: str | None = None
    unread: bool = False
    promoted: bool = False


def unstable(name: str) -> str:
    """Return why the broker goes on to read a log: a transaction of it is open."""
    return f"{name} has a transaction that is not settled"
