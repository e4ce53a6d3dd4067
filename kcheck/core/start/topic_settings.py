"""The configurations of a topic, as in the metadata: UnifiedLog.isRemoteLogEnabled 3.6 to 4.3.1."""

from collections.abc import Mapping

from kcheck.core.start.segments import is_tiered, log_start_offset
from kcheck.model.cluster import RETENTION_MS, ClusterImage
from kcheck.model.names import COMPACTED
from kcheck.model.release import Release
from kcheck.model.views import PartitionView

_UNITS = ("ms", "minutes", "hours")
"""The units of a broker's retention, in order of precedence."""


def is_compacted(image: ClusterImage, topic: str, default: str = "") -> bool:
    """Whether the cleaner compacts a topic, as far as its own configuration says; `default` is that of the broker."""
    policies = image.configs.get(("topic", topic), {}).get("cleanup.policy", default).split(",")
    return topic in COMPACTED or any(policy.strip() == "compact" for policy in policies)


def expires(image: ClusterImage | None, topic: str, settings: Mapping[str, str] = {}) -> bool:
    """Whether retention by time deletes segments of a topic; `settings` are those of the broker, as far as known.

    log.retention.ms goes before log.retention.minutes, that before log.retention.hours (KafkaConfig 0.8.2 to 4.3.1).
    """
    config = {} if image is None else image.configs.get(("topic", topic), {})
    if not config and not settings:
        return topic not in COMPACTED
    default = "compact" if topic in COMPACTED else settings.get("log.cleanup.policy", "").strip() or "delete"
    policies = [policy.strip() for policy in config.get("cleanup.policy", default).split(",")]
    stated = (config.get(RETENTION_MS, ""), *(settings.get(f"log.retention.{unit}", "") for unit in _UNITS))
    retention = next((value.strip() for value in stated if value.strip()), "")
    return "delete" in policies and not retention.startswith("-")


def has_remote_storage(image: ClusterImage, topic: str) -> bool | None:
    """Return whether a topic has a part in remote storage; None if the metadata does not have the topic.

    A controller accepts the configuration only if remote storage is on.
    """
    if topic not in image.topics:
        return None
    enabled = image.configs.get(("topic", topic), {}).get("remote.storage.enable", "").strip().lower() == "true"
    return enabled and not is_compacted(image, topic)


def with_log_start(view: PartitionView, release: Release, *, remote_storage: bool | None) -> PartitionView:
    """Return a replica with the log start that its topic's configuration gives it, where the files alone mislead."""
    if remote_storage is None or not view.segments or not view.is_replica:
        return view
    checkpoint, first, files = view.log_start_checkpoint, view.segments[0].base_offset, view.files
    by_files = is_tiered(checkpoint, first, view.leader_epochs, files, release)
    tiered = is_tiered(checkpoint, first, view.leader_epochs, files, release, remote_storage=remote_storage)
    if tiered == by_files:
        return view
    return view._replace(log_start_offset=log_start_offset(checkpoint, first, tiered=tiered))
