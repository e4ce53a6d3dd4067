"""The settings that a release refuses because of others, or by rules that no definition of a setting has."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.core.releases.releases import Ibp, protocol
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_long
from kcheck.model.release import Release

_BOUNDS = (
    "replica.fetch.wait.max.ms 500 <= replica.socket.timeout.ms 30000 0.10.2 -",
    "replica.fetch.wait.max.ms 500 <= replica.lag.time.max.ms 10000 0.10.2 2.5",
    "replica.fetch.wait.max.ms 500 <= replica.lag.time.max.ms 30000 2.5 -",
    "connection.failed.authentication.delay.ms 100 < connections.max.idle.ms 600000 2.1 -",
    "group.consumer.min.heartbeat.interval.ms 5000 <= group.consumer.heartbeat.interval.ms 5000 3.5 -",
    "group.consumer.heartbeat.interval.ms 5000 <= group.consumer.max.heartbeat.interval.ms 15000 3.5 -",
    "group.consumer.min.session.timeout.ms 45000 <= group.consumer.session.timeout.ms 45000 3.5 -",
    "group.consumer.session.timeout.ms 45000 <= group.consumer.max.session.timeout.ms 60000 3.5 -",
    "group.consumer.heartbeat.interval.ms 5000 < group.consumer.session.timeout.ms 45000 4.0 -",
    "group.consumer.min.assignment.interval.ms 0 <= group.consumer.assignment.interval.ms 1000 4.3 -",
    "group.consumer.assignment.interval.ms 1000 <= group.consumer.max.assignment.interval.ms 15000 4.3 -",
    "group.share.min.heartbeat.interval.ms 5000 <= group.share.heartbeat.interval.ms 5000 3.9 -",
    "group.share.heartbeat.interval.ms 5000 <= group.share.max.heartbeat.interval.ms 15000 3.9 -",
    "group.share.min.session.timeout.ms 45000 <= group.share.session.timeout.ms 45000 3.9 -",
    "group.share.session.timeout.ms 45000 <= group.share.max.session.timeout.ms 60000 3.9 -",
    "group.share.heartbeat.interval.ms 5000 < group.share.session.timeout.ms 45000 4.0 -",
    "group.share.min.assignment.interval.ms 0 <= group.share.assignment.interval.ms 1000 4.3 -",
    "group.share.assignment.interval.ms 1000 <= group.share.max.assignment.interval.ms 15000 4.3 -",
    "group.share.min.record.lock.duration.ms 15000 <= group.share.record.lock.duration.ms 30000 3.9 -",
    "group.share.record.lock.duration.ms 30000 <= group.share.max.record.lock.duration.ms 60000 3.9 -",
    "group.share.min.partition.max.record.locks 100 <= group.share.partition.max.record.locks 2000 4.3 -",
    "group.share.partition.max.record.locks 2000 <= group.share.max.partition.max.record.locks 4000 4.3 -",
    "group.share.min.delivery.count.limit 2 <= group.share.delivery.count.limit 5 4.3 -",
    "group.share.delivery.count.limit 5 <= group.share.max.delivery.count.limit 10 4.3 -",
    "group.share.max.size 200 <= group.share.max.share.sessions 2000 4.1 -",
    "group.streams.min.heartbeat.interval.ms 5000 <= group.streams.heartbeat.interval.ms 5000 4.1 -",
    "group.streams.heartbeat.interval.ms 5000 <= group.streams.max.heartbeat.interval.ms 15000 4.1 -",
    "group.streams.min.session.timeout.ms 45000 <= group.streams.session.timeout.ms 45000 4.1 -",
    "group.streams.session.timeout.ms 45000 <= group.streams.max.session.timeout.ms 60000 4.1 -",
    "group.streams.heartbeat.interval.ms 5000 < group.streams.session.timeout.ms 45000 4.1 -",
    "group.streams.min.assignment.interval.ms 0 <= group.streams.assignment.interval.ms 1000 4.3 -",
    "group.streams.assignment.interval.ms 1000 <= group.streams.max.assignment.interval.ms 15000 4.3 -",
    "group.streams.num.standby.replicas 0 <= group.streams.max.standby.replicas 2 4.1 -",
)
"""A setting and its default, how they compare to another one and its default, and in which releases."""
_RETENTION = ("log.retention.ms", "log.retention.minutes", "log.retention.hours")
"""The first of them counts."""
_IDLE = "connections.max.idle.ms"
_CODECS = ("offsets.topic.compression.codec", "share.coordinator.state.topic.compression.codec")
_NEWEST_CODEC, _FIRST_WITH_ZSTD = 4, "2.1"
_CLEANER_BUFFER, _CLEANER_THREADS = ("log.cleaner.dedupe.buffer.size", "134217728"), ("log.cleaner.threads", "1")
_BUFFER_MIN = 1 << 20
"""A cleaner thread needs more than these bytes."""
_QUEUE, _REQUEST = ("queued.max.request.bytes", "-1"), ("socket.request.max.bytes", "104857600")
_ACKS, _OFFSETS_FACTOR = ("offsets.commit.required.acks", "-1"), ("offsets.topic.replication.factor", "3")
_PER_IP, _OVERRIDES = "max.connections.per.ip", "max.connections.per.ip.overrides"
_HOST_AND_NUMBER = re.compile(r"\s*[0-9a-zA-Z\-%._:]*\s*:\s*[+-]?[0-9]+\s*")
_PROTOCOLS_OF_GROUPS = "group.coordinator.rebalance.protocols"
_REMOTE, _PLUGIN = "remote.log.storage.system.enable", "remote.log.storage.manager.class.name"
_POOLS = ("remote.log.manager.copier.thread.pool.size", "remote.log.manager.expiration.thread.pool.size")
_SNAPSHOT = "share.coordinator.snapshot.update.records.per.snapshot"
_SNAPSHOT_MAX = 500
_VERSIONS = ("inter.broker.protocol.version", "log.message.format.version")
_FORMATS = ((0, 10, 0), (0, 11, 0))
"""The versions with a new format of records."""
_FIRST_OF_KRAFT: Ibp = ((3, 0), 1)


class RefusedSetting(NamedTuple):
    """A setting that a release refuses."""

    name: str
    """The setting."""
    value: str
    """Its value."""
    why: str
    """The accepted values, in words."""


def refused_beside_others(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield the settings that KafkaConfig.validateValues refuses, or the classes that it calls: 0.10.2 to 4.3.1."""
    yield from _out_of_bounds(settings, release)
    retention = next((name for name in _RETENTION if settings.get(name, "").strip()), "")
    if settings.get(retention, "").strip() == "0":
        yield RefusedSetting(retention, "0", "refuses 0")
    yield from _refused_memory(settings, release)
    newest = _NEWEST_CODEC if is_between(release, _FIRST_WITH_ZSTD, None) else _NEWEST_CODEC - 1
    ranges = [(name, 0, newest) for name in _CODECS]
    if is_between(release, "4.0", "4.1"):
        ranges.append((_SNAPSHOT, 0, _SNAPSHOT_MAX))
    if is_between(release, None, "4.0"):
        ranges.append((_ACKS[0], -1, _number(settings, *_OFFSETS_FACTOR) or 1))
    for name, low, high in ranges:
        number = _number(settings, name, "0")
        if number is not None and not low <= number <= high:
            yield RefusedSetting(name, str(number), f"accepts {low} to {high}")
    for name in _POOLS if is_between(release, "3.9", "4.0") else ():
        number = _number(settings, name, "-1")
        if number is not None and (number < -1 or number == 0):
            yield RefusedSetting(name, str(number), "accepts -1, or 1 and more")
    yield from _refused_connections(settings, release)
    protocols = settings.get(_PROTOCOLS_OF_GROUPS, "classic").split(",")
    if is_between(release, "3.7", None) and "classic" not in map(str.strip, protocols):
        yield RefusedSetting(_PROTOCOLS_OF_GROUPS, settings[_PROTOCOLS_OF_GROUPS].strip(), "needs classic")
    if "consumer" in map(str.strip, protocols) and not _has_roles(settings) and is_between(release, "3.7", "4.0"):
        yield RefusedSetting(_PROTOCOLS_OF_GROUPS, settings[_PROTOCOLS_OF_GROUPS].strip(), "needs process.roles")
    yield from _refused_lists(settings, release)
    if is_between(release, None, "4.0"):
        yield from _refused_versions(settings, release)
    yield from _refused_ids(settings, release)
    yield from _refused_remote_storage(settings, release)


def _refused_lists(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield log.dirs without an entry, and lists with an entry twice (LogManager, ConfigDef.ValidList)."""
    places = [*map(str.strip, settings.get("log.dirs", settings.get("log.dir", "/")).split(","))]
    if not any(places):
        yield RefusedSetting("log.dirs", "", "needs a log dir")
    for name in ("log.dirs", "process.roles") if is_between(release, None, "4.2") else ():
        entries = [*filter(None, map(str.strip, settings.get(name, "").split(",")))]
        if len({*entries}) < len(entries):
            yield RefusedSetting(name, settings[name].strip(), "refuses an entry twice")


def _out_of_bounds(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield the settings that contradict `_BOUNDS`."""
    for line in _BOUNDS:
        low, low_default, sign, high, high_default, since, until = line.split(" ")
        if {low, high}.isdisjoint(settings) or not is_between(release, since, None if until == "-" else until):
            continue
        least, most = _number(settings, low, low_default), _number(settings, high, high_default)
        if least is None or most is None or least + (sign == "<") <= most or (high == _IDLE and most < 0):
            continue
        more = " or as much" if sign == "<" else ""
        if high in settings:
            yield RefusedSetting(high, str(most), f"refuses less than {low}{more}, {least}")
        else:
            yield RefusedSetting(low, str(least), f"refuses more than {high}{more}, {most}")


def _refused_memory(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield a buffer of the cleaner that is too small for its threads, and a queue that holds no request."""
    size, threads = _number(settings, *_CLEANER_BUFFER), _number(settings, *_CLEANER_THREADS)
    if threads == 0:
        yield RefusedSetting(_CLEANER_THREADS[0], "0", "refuses 0")
    elif size is not None and threads is not None and threads > 0 and size // threads <= _BUFFER_MIN:
        yield RefusedSetting(
            _CLEANER_BUFFER[0], str(size), f"needs more than {_BUFFER_MIN} for each thread of {_CLEANER_THREADS[0]}"
        )
    queue, request = _number(settings, *_QUEUE), _number(settings, *_REQUEST)
    if is_between(release, "1.0", None) and queue is not None and request is not None and 0 < queue < request:
        yield RefusedSetting(_QUEUE[0], str(queue), f"refuses less than {_REQUEST[0]}, {request}")


def _refused_connections(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield limits of connections that allow none, or that are no HOST:NUMBER."""
    overrides = settings.get(_OVERRIDES, "").strip()
    if is_between(release, "2.0", None) and not overrides and _number(settings, _PER_IP, "1") == 0:
        yield RefusedSetting(_PER_IP, "0", f"refuses 0 without {_OVERRIDES}")
    entries = [] if PROVIDER in overrides else overrides.rstrip(", ").split(",")
    if any(entries) and not all(map(_HOST_AND_NUMBER.fullmatch, entries)):
        yield RefusedSetting(_OVERRIDES, overrides, "accepts HOST:NUMBER")


def _refused_remote_storage(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield remote storage without its plugin, of a broker (RemoteLogManager.createRemoteStorageManager)."""
    is_on = settings.get(_REMOTE, "").strip().lower() == "true" and is_between(release, "3.6", None)
    if is_on and settings.get("process.roles", "").strip() != "controller" and not settings.get(_PLUGIN, "").strip():
        yield RefusedSetting(_REMOTE, "true", f"needs {_PLUGIN}")


def _refused_versions(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield versions that the release does not know, and a protocol that is older than the format of the records."""
    versions = []
    for name in _VERSIONS:
        if name not in settings:
            versions.append(sum(is_between(release, first, None) for first in ("0.10", "0.11")))
            continue
        value = settings[name].strip()
        version = protocol(value, release)
        if PROVIDER in value:
            return
        if version is None:
            yield RefusedSetting(name, value, "accepts its own version and earlier ones, such as 0.11.0")
            return
        if name == _VERSIONS[0] and version < _FIRST_OF_KRAFT and _has_roles(settings):
            yield RefusedSetting(name, value, "refuses one below 3.0-IV1 with process.roles")
        versions.append(sum(version[0] >= first for first in _FORMATS))
    if versions[0] < versions[1]:
        yield RefusedSetting(_VERSIONS[0], settings[_VERSIONS[0]].strip(), f"refuses one older than {_VERSIONS[1]}")


def _refused_ids(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield ids of the node that contradict each other, or that are generated ones."""
    named, older = (_number(settings, name, "") for name in ("node.id", "broker.id"))
    if None not in (named, older) and named != older and is_between(release, "3.0", None):
        yield RefusedSetting("broker.id", str(older), f"needs the same as node.id, {named}")
    if _has_roles(settings) or older is None or not is_between(release, None, "4.0"):
        return
    generates = settings.get("broker.id.generation.enable", "true").strip().lower() != "false"
    reserved = _number(settings, "reserved.broker.max.id", "1000")
    low = -1 if generates else 0
    if older < low:
        yield RefusedSetting("broker.id", str(older), f"refuses less than {low}")
    elif generates and reserved is not None and older > reserved:
        yield RefusedSetting("broker.id", str(older), f"refuses more than reserved.broker.max.id, {reserved}")


def _has_roles(settings: Mapping[str, str]) -> bool:
    return bool(settings.get("process.roles", "").strip())


def _number(settings: Mapping[str, str], name: str, default: str) -> int | None:
    """Return a setting, or its default; None for any other text."""
    return java_long(settings.get(name, default).strip())
