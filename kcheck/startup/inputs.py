"""The inputs of every step of a simulated start (settings, mode, release, and the values of the checkpoints)."""

from typing import NamedTuple

from kcheck.core.start.startup import Mode, Settings
from kcheck.core.start.strays import StrayDetector
from kcheck.core.start.zookeeper_replicas import ZookeeperReplicas
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.release import Release
from kcheck.model.views import CheckpointOffsets


class Context(NamedTuple):
    """The broker that starts."""

    settings: Settings
    """Its settings; for one partition, with the settings of its topic that its files show."""
    mode: Mode
    """The keeper of the metadata of its cluster (KRaft or ZooKeeper)."""
    release: Release
    """Its Kafka release."""
    stray_detector: StrayDetector | None = None
    """Finds replicas that the cluster does not place on this broker; None without a copy of the metadata."""
    zookeeper: ZookeeperReplicas | None = None
    """Finds replicas that no broker serves, where ZooKeeper has the metadata; None without them."""

    @property
    def image(self) -> ClusterImage | None:
        """The newest copy of the metadata in KRaft; None without one."""
        return None if self.stray_detector is None else self.stray_detector.copy.image


class LoadInputs(NamedTuple):
    """The broker's knowledge of a partition before it opens its directory."""

    clean: bool
    """True if the last shutdown was clean."""
    log_start: Offset | None = None
    """The entry of log-start-offset-checkpoint, None without one."""
    recovery_point: int = 0
    """The entry of recovery-point-offset-checkpoint, 0 without one."""
    high_watermark: int | None = None
    """The entry of replication-offset-checkpoint, None without one."""


class DirectoryLoad(NamedTuple):
    """The inputs for loading one directory."""

    inputs: LoadInputs
    """The values of the checkpoints that count for this directory."""
    context: Context
    """The broker, with the settings that count for this directory."""


def load_inputs(checkpoints: CheckpointOffsets, release: Release, *, clean: bool) -> LoadInputs:
    """Return the values that a broker of the release takes from the checkpoints."""
    log_start = checkpoints.log_start if release.has_log_start_checkpoint else None
    return LoadInputs(
        clean=clean, log_start=log_start, recovery_point=checkpoints.recovery_point or 0,
        high_watermark=checkpoints.high_watermark,
    )  # fmt: skip


def unstable(name: str) -> str:
    """Return why the broker reads a log again after the load, which is its open transaction."""
    return f"{name} has an open transaction"
