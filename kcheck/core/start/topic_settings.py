"""The configurations of a topic, as in the metadata: UnifiedLog.isRemoteLogEnabled 3.6 to 4.3.1."""

from collections.abc import Mapping

from kcheck.core.start.segments import is_tiered, log_start_offset
from kcheck.model.cluster import (
    BROKER_RETENTION,
    DELETES_TOPICS,
    LOCAL_RETENTION_BYTES,
    LOCAL_RETENTION_MS,
    RETENTION_BYTES,
    RETENTION_MS,
    ClusterImage,
)
from kcheck.model.names import COMPACTED
from kcheck.model.release import Release
from kcheck.model.remote_log import Retention
from kcheck.model.views import PartitionView

_RETENTION_MS = 168 * 3_600_000
"""Default retention of a broker, in milliseconds."""
_AS_ALL = -2
"""This value of local.retention.bytes means retention.bytes."""
_DEFAULTS = {
    RETENTION_MS: _RETENTION_MS, RETENTION_BYTES: -1, LOCAL_RETENTION_BYTES: _AS_ALL, LOCAL_RETENTION_MS: _AS_ALL
}  # fmt: skip


def is_compacted(image: ClusterImage, topic: str, default: str = "") -> bool:
    """Return whether the cleaner compacts a topic, by its own configuration; `default` is the policy of the broker."""
    policies = image.configs.get(("topic", topic), {}).get("cleanup.policy", default).split(",")
    return topic in COMPACTED or any(policy.strip() == "compact" for policy in policies)


def being_deleted(image: ClusterImage | None, release: Release) -> frozenset[str]:
    """Return the topics that a ZooKeeper controller deletes as soon as all their replicas are online.

    The controller elects no leader for them, and refuses elections of a tool. With delete.topic.enable=false
    the marks are removed instead (TopicDeletionManager, KafkaController 0.8.2 to 3.9).
    """
    names = frozenset[str]() if image is None else frozenset(row.name for row in image.topics.values() if row.deleting)
    stated = None if image is None or not names else image.config("", DELETES_TOPICS)
    is_on = release.deletes_topics_by_default if stated is None else stated.lower() == "true"
    return names if is_on else frozenset()


def expires(image: ClusterImage | None, topic: str) -> bool:
    """Return whether retention by time deletes segments of a topic, by its own configuration."""
    return retention_ms(image, topic) is not None


def retention_ms(image: ClusterImage | None, topic: str, settings: Mapping[str, str] = {}) -> int | None:
    """Return the retention of a topic in milliseconds; None without a limit.

    `settings` are the known settings of the broker. log.retention.ms goes before log.retention.minutes, and this before
    log.retention.hours (KafkaConfig 0.8.2 to 4.3.1).
    """
    config = {} if image is None else image.configs.get(("topic", topic), {})
    if not config and not settings:
        return None if topic in COMPACTED else _RETENTION_MS
    default = "compact" if topic in COMPACTED else settings.get("log.cleanup.policy", "").strip() or "delete"
    policies = [policy.strip() for policy in config.get("cleanup.policy", default).split(",")]
    of_broker = ((settings.get(name, ""), size) for name, size in BROKER_RETENTION[RETENTION_MS].items())
    stated = ((config.get(RETENTION_MS, ""), 1), *of_broker)
    value, unit = next(((value.strip(), unit) for value, unit in stated if value.strip()), ("", 1))
    if "delete" not in policies or value.startswith("-"):
        return None
    return int(value) * unit if value.isdecimal() else _RETENTION_MS


def stated_retention(
    image: ClusterImage | None, topic: str, broker_id: int | None, settings: Mapping[str, str] | None
) -> Retention:
    """Return the retention of a topic on a broker, from its own configuration, the broker's, the cluster's or a file.

    `settings` is the complete server.properties of the broker, None without one
    (KafkaConfig, DynamicBrokerConfig 1.1 to 4.3.1).
    """
    if image is None or topic not in image.topics:
        return Retention()
    configs = image.configs
    dynamic = (configs.get(("broker", name), {}) for name in (str(broker_id), ""))
    places = (*dynamic, settings or {})

    def stated(name: str) -> int | None:
        of_broker = ((place.get(own), unit) for place in places for own, unit in BROKER_RETENTION[name].items())
        for value, unit in ((configs.get(("topic", topic), {}).get(name), 1), *of_broker):
            if value is not None and value.strip().lstrip("-").isdecimal():
                return int(value) * unit
        return None if settings is None else _DEFAULTS[name]

    size, kept_ms = stated(RETENTION_BYTES), stated(RETENTION_MS)
    local, local_ms = stated(LOCAL_RETENTION_BYTES), stated(LOCAL_RETENTION_MS)
    return Retention(kept_ms, size, size if local == _AS_ALL else local, kept_ms if local_ms == _AS_ALL else local_ms)


def has_remote_storage(image: ClusterImage, topic: str) -> bool | None:
    """Return whether a topic has a part in remote storage; None if the metadata does not have the topic.

    A controller accepts the configuration only if remote storage is on.
    """
    if topic not in image.topics:
        return None
    enabled = image.configs.get(("topic", topic), {}).get("remote.storage.enable", "").strip().lower() == "true"
    return enabled and not is_compacted(image, topic)


def with_log_start(
    view: PartitionView, release: Release, *, remote_storage: bool | None, of_topic: bool = False
) -> PartitionView:
    """Return a replica with the log start that its topic's configuration gives it, where the files alone mislead."""
    if remote_storage is None or not view.segments or not view.is_replica:
        return view
    checkpoint, first, files = view.log_start_checkpoint, view.segments[0].base_offset, view.files
    by_files = is_tiered(checkpoint, first, view.leader_epochs, files, release)
    tiered = is_tiered(
        checkpoint, first, view.leader_epochs, files, release, remote_storage=remote_storage, of_topic=of_topic
    )
    if tiered == by_files:
        return view
    return view._replace(log_start_offset=log_start_offset(checkpoint, first, tiered=tiered))
