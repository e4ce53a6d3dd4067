"""Which values of settings each release refuses: what its own configuration classes say."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kcheck.model.java import java_long
from kcheck.model.release import Release


class Limit(NamedTuple):
    """The lowest value of a setting."""

    name: str
    """The setting."""
    lowest: int
    """The lowest value that is accepted."""
    holds: Callable[[Release], bool]
    """Whether a release refuses less."""


_MIB = 1 << 20
BROKER_LIMITS = (
    Limit("log.segment.bytes", _MIB, lambda release: release.refuses_small_segments),
    Limit("log.segment.bytes", 14, lambda release: not release.refuses_small_segments),
    Limit("leader.imbalance.check.interval.seconds", 1, lambda release: release.refuses_no_leader_checks),
    Limit("log.cleaner.delete.retention.ms", 0, lambda release: release.refuses_low_settings_of_topics),
    Limit("log.cleaner.max.compaction.lag.ms", 1, lambda release: release.refuses_low_settings_of_topics),
    Limit("log.cleaner.min.compaction.lag.ms", 0, lambda release: release.refuses_low_settings_of_topics),
    Limit("metadata.log.segment.bytes", 8 * _MIB, lambda release: release.refuses_small_segments_of_topics),
    Limit("num.replica.fetchers", 1, lambda release: release.refuses_empty_list_entries),
)
"""The settings of a broker whose lowest value some release has raised (KafkaConfig, AbstractKafkaConfig)."""
TOPIC_LIMITS = (
    Limit("flush.messages", 1, lambda release: release.refuses_low_settings_of_topics),
    Limit("segment.bytes", _MIB, lambda release: release.refuses_small_segments_of_topics),
    Limit("segment.index.bytes", 4, lambda release: release.refuses_low_settings_of_topics),
)
"""The configurations of a topic whose lowest value some release has raised (LogConfig)."""
LISTS = ("log.dirs", "log.dir", "listeners", "advertised.listeners", "controller.listener.names")
"""Settings that may not contain an empty entry since 4.2, such as that after a trailing comma (ValidList)."""
GONE_AUTHORIZERS: Mapping[str, Callable[[Release], bool]] = {
    "kafka.security.auth.SimpleAclAuthorizer": lambda release: release.has_no_simple_acl_authorizer,
    "kafka.security.authorizer.AclAuthorizer": lambda release: release.has_no_zookeeper_authorizer,
}
"""The values of authorizer.class.name that Kafka has removed, and which releases lack them."""


class RefusedSetting(NamedTuple):
    """A setting that a release refuses."""

    name: str
    """The setting."""
    value: str
    """Its value."""
    why: str
    """What the release accepts, in words."""


def refused_settings(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield the settings of a server.properties that end the process of this release."""
    yield from refused_numbers(settings, BROKER_LIMITS, release)
    for name in LISTS if release.refuses_empty_list_entries else ():
        entries = settings.get(name, "").split(",")
        if len(entries) > 1 and not all(map(str.strip, entries)):
            yield RefusedSetting(name, settings[name].strip(), "refuses an empty entry")
    authorizer = settings.get("authorizer.class.name", "").strip()
    is_gone = GONE_AUTHORIZERS.get(authorizer)
    if is_gone is not None and is_gone(release):
        yield RefusedSetting("authorizer.class.name", authorizer, "has no such class")


def refused_numbers(
    settings: Mapping[str, str], limits: tuple[Limit, ...], release: Release
) -> Iterator[RefusedSetting]:
    """Yield the settings below the limits of a release; of one that is no number nothing is known."""
    for limit in limits:
        number = java_long(settings.get(limit.name, "").strip())
        if number is not None and number < limit.lowest and limit.holds(release):
            yield RefusedSetting(limit.name, str(number), f"refuses less than {limit.lowest}")
