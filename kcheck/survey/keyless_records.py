"""Finds records without key in logs that the cleaner has never cleaned, as its first run deletes them."""

from collections.abc import Iterable, Iterator

from kcheck.core.premises.facts import KeylessLog
from kcheck.core.start.topic_settings import is_compacted
from kcheck.disk.paths import join
from kcheck.disk.tree import Tree
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Location
from kcheck.model.names import COMPACTED, DirectoryState, PartitionDirectory, TopicPartition, log_name, segment_bases
from kcheck.model.release import Release
from kcheck.model.unreadable import UnreadableError
from kcheck.model.views import LogDir
from kcheck.segments.segment import read_segment

READ_SIZE_MAX = 256 << 20
"""kcheck reads at most this much of the logs of one broker, from their oldest segments on."""


class KeylessRecords:
    """Looks for records without key in the logs of one broker."""

    def __init__(self, release: Release, policy: str) -> None:
        """Take log.cleanup.policy of the broker's file, for topics without a policy in the metadata."""
        self._release, self._settings = release, {"log.cleanup.policy": policy}
        self._left = READ_SIZE_MAX

    def logs(self, tree: Tree, path: str, log_dir: LogDir, image: ClusterImage) -> Iterator[KeylessLog]:
        """Yield the logs of a log dir with records without key."""
        for name, directory in self._never_cleaned(log_dir, image):
            total, removed = 0, 0
            try:
                for count, is_active in self._counts(tree, join(path, name)):
                    total += count
                    removed += 0 if is_active else count
            except UnreadableError:
                continue  # The start is not known then.
            if total:
                yield KeylessLog(TopicPartition(directory.topic, directory.partition), path, total, removed)

    def _never_cleaned(self, log_dir: LogDir, image: ClusterImage) -> Iterable[tuple[str, PartitionDirectory]]:
        """Yield the compacted logs without an entry in cleaner-offset-checkpoint. A cleaned log has only keys."""
        owns = {place: config for place, config in image.configs.items() if place[0] == "topic"}
        # The cleaner starts before the broker applies its settings of the metadata (BrokerMetadataPublisher).
        policies = (image, image._replace(configs=owns))
        broker_id = log_dir.view.where.broker_id
        for name, directory in log_dir.directories:
            topic = directory.topic
            if directory.state is DirectoryState.CURRENT and topic not in COMPACTED and topic in image.topics:
                cleaned = log_dir.checkpoints.of(topic, directory.partition).cleaned
                if not cleaned and any(is_compacted(known, topic, broker_id, self._settings) for known in policies):
                    yield name, directory

    def _counts(self, tree: Tree, path: str) -> Iterator[tuple[int, bool]]:
        """Yield the number of records without key of each segment, and whether it is the active one."""
        files = tree.directory(path)
        sizes = files.entries().sizes
        bases = segment_bases(sizes)
        for base in bases:
            self._left -= sizes[log_name(base)]
            if self._left < 0:
                return
            view = read_segment(
                files, log_name(base), Location(), base, verify=False, decode=True, reads_zstd=self._release.reads_zstd
            )
            yield 0 if view.records is None else view.records.keyless, base == bases[-1]
