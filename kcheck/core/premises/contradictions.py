"""The settings that Kafka refuses because of another setting (KafkaConfig.validateValues 0.10.2 to 4.3.1)."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from kcheck.core.releases.releases import Ibp, protocol
from kcheck.model.java import java_long
from kcheck.model.release import Release

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_VOTER = re.compile(r"[+-]?[0-9]+@\[?[0-9a-zA-Z\-%._:]+\]?:[0-9]+")
_MIB = 1 << 20
_NEWEST: Ibp = ((0, 11, 0), 0)
"""The format of records that is the default (KafkaConfig, LogConfig)."""
_OF_KRAFT: Ibp = ((3, 0), 1)
"""The first protocol of KRaft (MetadataVersion.MINIMUM_KRAFT_VERSION)."""
_FORMAT, _PROTOCOL = "log.message.format.version", "inter.broker.protocol.version"
_VOTERS, _CONTROLLERS, _MAP = "controller.quorum.voters", "controller.listener.names", "listener.security.protocol.map"
_LISTENERS, _ADVERTISED = "listeners", "advertised.listeners"
_OLD_ADVERTISED = ("advertised.host.name", "advertised.port")
_INTER, _SECURITY = "inter.broker.listener.name", "security.inter.broker.protocol"
_CONTROL_PLANE, _MIGRATION = "control.plane.listener.name", "zookeeper.metadata.migration.enable"
_ANY_HOST = re.compile(r"0(\.0){3}")
_ABOVE = (
    ("replica.fetch.wait.max.ms", 500, "replica.socket.timeout.ms", 30_000),
    ("offsets.commit.required.acks", -1, "offsets.topic.replication.factor", 3),
    *(
        row
        for kind in ("consumer", "share", "streams")
        for name, least, most in (("session.timeout.ms", 45_000, 60_000), ("heartbeat.interval.ms", 5_000, 15_000))
        for row in (
            (f"group.{kind}.min.{name}", least, f"group.{kind}.{name}", least),
            (f"group.{kind}.{name}", least, f"group.{kind}.max.{name}", most),
        )
    ),
)
"""Settings of which the first may not be above the second, each with its default."""


class RefusedSetting(NamedTuple):
    """A setting that a release refuses."""

    name: str
    """The setting."""
    value: str
    """Its value."""
    why: str
    """The accepted values, in words."""


class _BrokerSettings:
    """The settings of a server.properties. The values that a configuration provider gives are not known."""

    def __init__(self, settings: Mapping[str, str], names: Mapping[str, object], release: Release) -> None:
        self._settings = {name: value.strip() for name, value in settings.items() if name in names}
        self._names = names
        self.release = release
        self.roles = self.entries("process.roles")
        self.is_kraft = bool(self.roles) and release.kraft_is_production_ready
        self.is_broker = not self.is_kraft or "broker" in self.roles

    def shows(self, *names: str) -> bool:
        """Return whether no provider gives the value of one of these."""
        return not any("${" in self._settings.get(name, "") for name in names)

    def has(self, *names: str) -> bool:
        """Return whether the values of all of these are given."""
        return self.shows(*names) and self._settings.keys() >= {*names}

    def exists(self, *names: str) -> bool:
        """Return whether the release has all of these, and no provider gives their values."""
        return self.shows(*names) and self._names.keys() >= {*names}

    def text(self, name: str, default: str = "") -> str:
        """Return a value."""
        return self._settings.get(name, default)

    def number(self, name: str, default: int) -> int:
        """Return a number; the default for a value that is no number, which another rule refuses."""
        number = java_long(self.text(name, str(default)))
        return default if number is None else number

    def entries(self, name: str) -> list[str]:
        """Return the entries of a list, without empty ones."""
        return [entry for entry in map(str.strip, self.text(name).split(",")) if entry]

    def refused(self, name: str, why: str) -> RefusedSetting:
        """Return a setting that is refused."""
        return RefusedSetting(name, self.text(name), why)

    def endpoints(self, name: str) -> list[tuple[str, str, str]]:
        """Return the name, host and port of each listener."""
        found = map(LISTENER.fullmatch, self.entries(name))
        return [(match[1].upper(), match[2], match[3]) for match in found if match]

    def names(self, setting: str) -> set[str]:
        """Return the names of listeners."""
        return {name for name, _, _ in self.endpoints(setting)}

    @property
    def controllers(self) -> set[str]:
        """The names of the listeners of controllers."""
        return {name.upper() for name in self.entries(_CONTROLLERS)}

    @property
    def mapped(self) -> set[str]:
        """The names of listeners that have a security protocol."""
        if not self.has(_MAP):
            return {*_PROTOCOLS, *(self.controllers if self.is_kraft else ())}
        return {entry.partition(":")[0].strip().upper() for entry in self.entries(_MAP)}


def contradictions(
    settings: Mapping[str, str], names: Mapping[str, object], release: Release
) -> Iterator[RefusedSetting]:
    """Yield the settings that end the process because of another one; `names` are the settings of the release."""
    known = _BrokerSettings(settings, names, release)
    for check in (_ids, _directories, _cleaner, _order, _formats, _protocols, _inter_broker, _endpoints, _quorum):
        yield from check(known)


def _ids(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Compare broker.id with node.id, and with its range."""
    if not known.has("broker.id"):
        return
    number = known.number("broker.id", 0)
    if known.has("node.id") and known.release.kraft_is_production_ready:
        if known.number("node.id", number) != number:
            yield known.refused("broker.id", f"refuses another number than node.id, {known.text('node.id')}")
    elif not known.is_kraft and known.exists("broker.id.generation.enable", "reserved.broker.max.id"):
        least, most = -1, known.number("reserved.broker.max.id", 1000)
        if known.text("broker.id.generation.enable", "true").lower() == "false":
            least, most = 0, number
        if not least <= number <= most:
            yield known.refused(
                "broker.id", f"refuses less than {least}" if number < least else f"refuses more than {most}"
            )


def _directories(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for lists of log dirs without an entry, and for a cordoned log dir that no list has."""
    name = "log.dirs" if known.has("log.dirs") else "log.dir"
    for each in ("log.dirs", "log.dir") if known.release.refuses_empty_list_entries else (name,):
        if known.has(each) and not known.entries(each):
            yield known.refused(each, "refuses an empty list")
    places = known.entries("log.dirs")
    if known.has("log.dirs") and len({*places}) < len(places) and not known.release.refuses_empty_list_entries:
        yield known.refused("log.dirs", "refuses a log dir twice")
    cordoned = "cordoned.log.dirs"
    if known.has(cordoned, name) and not {*known.entries(cordoned)} <= {"*", *known.entries(name)}:
        yield known.refused(cordoned, f"accepts * or entries of {name}")


def _cleaner(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Divide the buffer of the cleaner by its threads; a disabled cleaner counts as well."""
    threads, size = "log.cleaner.threads", "log.cleaner.dedupe.buffer.size"
    if known.exists(threads, size):
        count = known.number(threads, 1)
        if count == 0:
            yield known.refused(threads, "refuses 0")
        elif count > 0 and known.number(size, 128 * _MIB) // count <= _MIB:
            name = size if known.has(size) else threads
            yield known.refused(name, f"accepts more than 1 MiB of {size} for each thread")


def _order(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for a number that is above its bound, which is a setting too."""
    for low, least, high, most in _ABOVE:
        if known.exists(low, high) and known.number(low, least) > known.number(high, most):
            name, why = (low, f"refuses more than {high}") if known.has(low) else (high, f"refuses less than {low}")
            yield known.refused(name, f"{why}, {known.number(high if known.has(low) else low, most)}")
    acks, limit, overrides = (
        "offsets.commit.required.acks",
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
    )
    if known.has(acks) and known.number(acks, -1) < -1:
        yield known.refused(acks, "refuses less than -1")
    if (
        known.exists(limit, overrides)
        and known.has(limit)
        and known.number(limit, 1) == 0
        and not known.text(overrides)
    ):
        yield known.refused(limit, f"refuses 0 without {overrides}")
    if any(java_long(entry.rpartition(":")[2]) is None or ":" not in entry for entry in known.entries(overrides)):
        yield known.refused(overrides, "accepts HOST:NUMBER")
    codec = "offsets.topic.compression.codec"
    if known.has(codec) and not 0 <= known.number(codec, 0) <= len(_PROTOCOLS):
        yield known.refused(codec, "accepts 0 to 4")
    rebalance = "group.coordinator.rebalance.protocols"
    if known.has(rebalance) and "classic" not in known.entries(rebalance):
        yield known.refused(rebalance, "needs classic")


def _formats(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for a protocol or format that the release does not know, and for a format that its protocol lacks."""
    found = {name: protocol(known.text(name), known.release) for name in (_PROTOCOL, _FORMAT) if known.has(name)}
    for name, version in found.items():
        if version is None and known.exists(name):
            yield known.refused(name, "does not know this version")
    own, of_records = found.get(_PROTOCOL), found.get(_FORMAT, _NEWEST)
    if own is None or of_records is None or not known.exists(_PROTOCOL, _FORMAT):
        return
    if known.is_kraft and own < _OF_KRAFT:
        yield known.refused(_PROTOCOL, "accepts 3.0-IV1 and later with process.roles")
    elif not known.is_kraft and _magic(own) < _magic(of_records):
        yield known.refused(_PROTOCOL, f"needs a {_FORMAT} that is as old")


def _magic(version: Ibp) -> int:
    """Return the magic of the records of a protocol or format (RecordVersion)."""
    return sum(version[0] >= first for first in ((0, 10, 0), (0, 11, 0)))


def _protocols(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for a security protocol that no release has, and for listeners without one."""
    if not known.shows(_MAP, _CONTROLLERS):
        return
    if any(entry.rpartition(":")[2].strip().upper() not in _PROTOCOLS for entry in known.entries(_MAP)):
        yield known.refused(_MAP, f"accepts NAME:PROTOCOL with {', '.join(_PROTOCOLS[:-1])} or {_PROTOCOLS[-1]}")
    if known.has(_SECURITY) and known.text(_SECURITY).upper() not in _PROTOCOLS:
        yield known.refused(_SECURITY, f"accepts {', '.join(_PROTOCOLS[:-1])} or {_PROTOCOLS[-1]}")
    named = {setting: [name for name, _, _ in known.endpoints(setting)] for setting in (_LISTENERS, _ADVERTISED)}
    named |= {name: [known.text(name).upper()] for name in (_INTER, _CONTROL_PLANE) if known.has(name)}
    named |= {_CONTROLLERS: sorted(known.controllers)} if known.is_kraft else {}
    for setting, names in named.items():
        missing = next((name for name in names if name not in known.mapped), None)
        if missing is not None:
            yield known.refused(setting, f"needs {missing or 'a name'} in {_MAP}")
        elif len({*names}) < len(names):
            yield known.refused(setting, "refuses a name twice")


def _inter_broker(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for the listener by which brokers talk to each other."""
    if known.has(_INTER, _SECURITY):
        yield known.refused(_INTER, f"refuses {_SECURITY} as well")
    elif known.is_broker and known.has(_LISTENERS) and known.shows(_ADVERTISED, _INTER, _SECURITY, _CONTROLLERS):
        names = known.names(_ADVERTISED) or known.names(_LISTENERS) - (known.controllers if known.is_kraft else set())
        wanted = known.text(_INTER, known.text(_SECURITY, _PROTOCOLS[0])).upper()
        if names and wanted not in names and (wanted in known.mapped or not known.has(_INTER)):
            setting = next((name for name in (_INTER, _SECURITY, _ADVERTISED) if known.has(name)), _LISTENERS)
            yield known.refused(setting, f"needs a listener {wanted} for the other brokers")


def _endpoints(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Look for addresses that clients cannot use, and for names that no listener has."""
    places = [(host, port) for _, host, port in known.endpoints(_LISTENERS) if int(port)]
    if len({*places}) < len(places):
        yield known.refused(_LISTENERS, "refuses an address twice")
    if not known.is_broker or not known.shows(_ADVERTISED, _CONTROLLERS, *_OLD_ADVERTISED):
        return
    setting = _ADVERTISED if known.entries(_ADVERTISED) else _LISTENERS
    named = [known.text(name) for name in _OLD_ADVERTISED if known.text(name)] if setting == _LISTENERS else []
    hidden = known.controllers if known.is_kraft else set()
    if not named and any(
        _ANY_HOST.fullmatch(host) and name not in hidden for name, host, _ in known.endpoints(setting)
    ):
        yield known.refused(setting, f"refuses 0.0.0.0 as an address for clients, so set {_ADVERTISED}")
    if known.has(_LISTENERS) and known.names(_LISTENERS) and not known.names(_ADVERTISED) <= known.names(_LISTENERS):
        yield known.refused(_ADVERTISED, f"accepts names of {_LISTENERS}")


def _quorum(known: _BrokerSettings) -> Iterator[RefusedSetting]:
    """Compare the roles, the voters and the listeners of controllers."""
    if any(not _VOTER.fullmatch(entry) for entry in known.entries(_VOTERS) if known.has(_VOTERS)):
        yield known.refused(_VOTERS, "accepts ID@HOST:PORT")
    if len({*known.roles}) < len(known.roles) and not known.release.refuses_empty_list_entries:
        yield known.refused("process.roles", "refuses a role twice")
    names = known.names(_LISTENERS)
    if names and not {*known.entries("early.start.listeners")} <= names:
        yield known.refused("early.start.listeners", f"accepts names of {_LISTENERS}")
    if known.is_kraft:
        yield from _of_controllers(known, names) if known.shows(_CONTROLLERS, _LISTENERS) else ()
    elif known.release.kraft_is_production_ready and known.controllers and known.text(_MIGRATION) != "true":
        yield known.refused(_CONTROLLERS, "needs process.roles")


def _of_controllers(known: _BrokerSettings, names: set[str]) -> Iterator[RefusedSetting]:
    """Compare the voters and the listeners of a KRaft node, which has listeners of these names."""
    if known.has(_VOTERS) and not known.entries(_VOTERS) and not known.entries("controller.quorum.bootstrap.servers"):
        yield known.refused(_VOTERS, "refuses an empty list")
    if known.has(_CONTROLLERS) and not known.controllers:
        yield known.refused(_CONTROLLERS, "refuses an empty list")
    if "controller" not in known.roles:
        if known.controllers & names:
            yield known.refused(_CONTROLLERS, f"refuses a name in {_LISTENERS} without the role of a controller")
    elif names and not known.controllers <= names:
        yield known.refused(_CONTROLLERS, f"accepts names of {_LISTENERS}")
    elif not known.is_broker and not names <= known.controllers:
        yield known.refused(_LISTENERS, f"accepts names of {_CONTROLLERS}")
