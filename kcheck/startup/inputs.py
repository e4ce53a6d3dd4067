"""What every step of a simulated start needs to know: settings, mode, release, and what the checkpoints say."""

from typing import NamedTuple

from kcheck.core.cluster_copies import StrayDetector
from kcheck.core.startup import Mode, Settings
from kcheck.model.entries import Offset
from kcheck.model.release import Release
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


def unstable(name: str) -> str:
    """Return why the broker goes on to read a log: a transaction of it is open."""
    return f"{name} has a transaction that is not settled"
