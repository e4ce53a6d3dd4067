"""The configurations of a topic, as in the metadata: UnifiedLog.isRemoteLogEnabled 3.6 to 4.3.1."""

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from kcheck.core.start.segments import is_tiered, log_start_offset
from kcheck.model.cluster import (
    BROKER_DEFAULTS,
    CLEANUP_POLICY,
    DELETES_TOPICS,
    LOCAL_RETENTION_BYTES,
    LOCAL_RETENTION_MS,
    RETENTION_BYTES,
    RETENTION_MS,
    ClusterImage,
)
from kcheck.model.java import java_long
from kcheck.model.names import COMPACTED
from kcheck.model.release import Release
from kcheck.model.remote_log import Retention
from kcheck.model.views import PartitionView

_RETENTION_MS = 168 * 3_600_000
"""Default retention of a broker, in milliseconds."""
_ENDS = frozenset({"compact", "delete"})
_AS_ALL = -2
"""This value of local.retention.bytes means retention.bytes."""
_DEFAULTS = {
    RETENTION_MS: _RETENTION_MS, RETENTION_BYTES: -1, LOCAL_RETENTION_BYTES: _AS_ALL, LOCAL_RETENTION_MS: _AS_ALL
}  # fmt: skip


class StatedSetting(NamedTuple):
    """A value that counts for the logs of a topic on a broker."""

    name: str
    """The setting."""
    value: str
    """Its value."""
    unit: int
    """The factor of a number."""
    place: tuple[str, str] | None
    """Its key in the metadata, as in ClusterImage.configs; None for server.properties."""


def setting_of(
    image: ClusterImage | None, topic: str, name: str, broker_id: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> StatedSetting | None:  # fmt: skip
    """Return a configuration of a topic, from the topic, the broker, the cluster, or the file.

    None if no place has it. `settings` are from server.properties. A broker ignores invalid and static settings in the
    metadata (DynamicBrokerConfig.updateCurrentConfig 1.1 to 4.3.1).
    """
    configs = {} if image is None else image.configs
    names = BROKER_DEFAULTS[name]
    if configs:
        dynamic = dict(islice(names.items(), 1))
        for place, known in (
            (("topic", topic), {name: 1}), (("broker", str(broker_id)), dynamic), (("broker", ""), dynamic)
        ):  # fmt: skip
            found = _stated(configs.get(place), known, place)
            if found is not None:
                return found
    return _stated(settings, names, None)


def _stated(
    values: Mapping[str, str] | None, names: Mapping[str, int], place: tuple[str, str] | None
) -> StatedSetting | None:
    for own, unit in names.items() if values else ():
        value = (values or {}).get(own)
        if value is not None and _is_valid(own, value.strip()):
            return StatedSetting(own, value.strip(), unit, place)
    return None


def _is_valid(name: str, value: str) -> bool:
    if name == CLEANUP_POLICY:
        return True
    return _ends_of(value) <= _ENDS if name == "log.cleanup.policy" else java_long(value) is not None


def _ends_of(value: str) -> frozenset[str]:
    return frozenset(policy.strip() for policy in value.split(","))


def _number_of(
    image: ClusterImage | None, topic: str, name: str, broker_id: int | None, settings: Mapping[str, str] | None
) -> int | None:
    found = setting_of(image, topic, name, broker_id, settings)
    return None if found is None else int(found.value) * found.unit


def _policies(
    image: ClusterImage | None, topic: str, broker_id: int | None, settings: Mapping[str, str] | None
) -> frozenset[str]:
    """Return how logs of a topic end. Brokers make topics of COMPACTED with a policy of their own."""
    found = setting_of(image, topic, CLEANUP_POLICY, broker_id, settings)
    if topic in COMPACTED and (found is None or found.place != ("topic", topic)):
        return frozenset({"compact"})
    return frozenset({"delete"}) if found is None else _ends_of(found.value)


def is_compacted(
    image: ClusterImage | None, topic: str, broker_id: int | None = None, settings: Mapping[str, str] | None = None
) -> bool:
    """Return whether the cleaner of a broker compacts a topic, by the metadata and its settings."""
    return topic in COMPACTED or "compact" in _policies(image, topic, broker_id, settings)


def is_deleted(
    image: ClusterImage | None, topic: str, broker_id: int | None = None, settings: Mapping[str, str] | None = None
) -> bool:
    """Return whether retention deletes segments of a topic (UnifiedLog.deleteOldSegments)."""
    return "delete" in _policies(image, topic, broker_id, settings)


def being_deleted(image: ClusterImage | None, release: Release) -> frozenset[str]:
    """Return the topics that a ZooKeeper controller deletes as soon as all their replicas are online.

    The controller elects no leader for them, and refuses elections of a tool. With delete.topic.enable=false
    the marks are removed instead (TopicDeletionManager, KafkaController 0.8.2 to 3.9).
    """
    names = frozenset[str]() if image is None else frozenset(row.name for row in image.topics.values() if row.deleting)
    stated = None if image is None or not names else image.config("", DELETES_TOPICS)
    is_on = release.deletes_topics_by_default if stated is None else stated.lower() == "true"
    return names if is_on else frozenset()


def expires(image: ClusterImage | None, topic: str, broker_id: int | None = None) -> bool:
    """Return whether retention by time deletes segments of a topic, by the metadata."""
    return retention_ms(image, topic, broker_id) is not None


def retention_ms(
    image: ClusterImage | None, topic: str, broker_id: int | None = None, settings: Mapping[str, str] | None = None
) -> int | None:
    """Return the retention of a topic on a broker in milliseconds; None without a limit."""
    kept = _number_of(image, topic, RETENTION_MS, broker_id, settings)
    if not is_deleted(image, topic, broker_id, settings) or (kept is not None and kept < 0):
        return None
    return _RETENTION_MS if kept is None else kept


def stated_retention(
    image: ClusterImage | None, topic: str, broker_id: int | None, settings: Mapping[str, str] | None
) -> Retention:
    """Return the retention of a topic on a broker; `settings` is the complete server.properties, None without one."""
    if image is None or topic not in image.topics:
        return Retention()

    def stated(name: str) -> int | None:
        number = _number_of(image, topic, name, broker_id, settings)
        return _DEFAULTS[name] if number is None and settings is not None else number

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
