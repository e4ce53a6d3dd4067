"""Finds the newest leader epoch that each log of a broker shows."""

from collections.abc import Iterable, Iterator

from kcheck.core.premises.age import epoch_shown
from kcheck.core.premises.facts import NewestEpoch
from kcheck.core.start.predictions import LoadedLog, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.disk.paths import join
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Epoch
from kcheck.model.names import TopicPartition
from kcheck.views.log_dir import LogDirs
from kcheck.views.partition import read_partition
from kcheck.views.targets import Target


def newest_epochs(
    starts: Iterable[tuple[Target, LogDirPrediction]], image: ClusterImage | None, log_dirs: LogDirs
) -> Iterator[NewestEpoch]:
    """Yield the newest leader epoch of each log that its broker serves.

    The last batch is read only where the cache has an epoch that the metadata do not know.
    """
    for target, start in starts:
        for row in start.partitions:
            directory, log = row.directory, row.replica_log
            is_served = row.outcome not in (Outcome.STRAY, Outcome.DELETED)
            if image is None or log is None or not log.leader_epochs or not is_served:
                continue
            topic = image.topics.get(directory.topic)
            known = None if topic is None else topic.partitions.get(directory.partition)
            epoch: Epoch | None = log.leader_epochs[-1].epoch
            if (
                known is not None
                and known.leader_epoch is not None
                and log.leader_epochs[-1].epoch > known.leader_epoch
            ):
                epoch = _shown(target, row, log, log_dirs)
            if epoch is not None:
                partition = TopicPartition(directory.topic, directory.partition)
                yield NewestEpoch(partition, start.path, epoch, log.log_end_offset)


def _shown(target: Target, row: PartitionPrediction, log: LoadedLog, log_dirs: LogDirs) -> Epoch | None:
    """Return the newest epoch that the cache of a log and its last batch agree on."""
    log_dir, directory = log_dirs.open(target), row.directory
    disk = target.tree.directory(join(target.path, row.dir))
    offsets = log_dir.checkpoints.of(directory.topic, directory.partition)
    view, _ = read_partition(
        disk, directory, log_dir.view.where._replace(dir=row.dir), log_dir=log_dir.view, offsets=offsets,
        walk_all=False, release=log_dirs.release,
    )  # fmt: skip
    batch = None if view.last_batch is None else view.last_batch.epoch
    return epoch_shown(log.leader_epochs, batch, log.log_start_offset, log.log_end_offset)
