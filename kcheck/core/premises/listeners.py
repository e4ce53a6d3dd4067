"""The listeners and voters that each release refuses."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.premises.facts import MIGRATION, enables_migration
from kcheck.core.premises.setting_relations import RefusedSetting
from kcheck.model.behaviour import is_between
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_int
from kcheck.model.release import Release

_LISTENERS, _ADVERTISED, _MAP = "listeners", "advertised.listeners", "listener.security.protocol.map"
_OF_CONTROLLERS, _BETWEEN_BROKERS = "controller.listener.names", "inter.broker.listener.name"
_PROTOCOL, _EARLY = "security.inter.broker.protocol", "early.start.listeners"
_VOTERS, _BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
_PLANE, _HOSTS = "control.plane.listener.name", ("advertised.host.name", "host.name")
_MECHANISM, _MECHANISMS = "sasl.mechanism.inter.broker.protocol", "sasl.enabled.mechanisms"
_AUTO_JOIN, _CORDONED = "controller.quorum.auto.join.enable", "cordoned.log.dirs"
_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_DEFAULT = "PLAINTEXT://:9092"
_PORT_MAX, _BYTE_MAX = 65535, 255
_NO_DOMAIN = ".invalid"
"""RFC 6761: no name server knows a name that ends so."""
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")
_CONNECT, _BAD_PORT = "zookeeper.connect", re.compile(r"^[^\[\]]*:[0-9]*[^0-9\s:][^:\]]*$")
_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - what Kafka refuses to advertise
_ANY_HOST = ("", _ANY_ADDRESS, "::")
_LISTENER = re.compile(r"(.*)://\[?([0-9a-zA-Z\-%._:]*)\]?:(-?[0-9]+)")
_HOST_AND_PORT = re.compile(r"(?:[0-9a-zA-Z\-%._]*://)?\[?[0-9a-zA-Z\-%._:]*\]?:[0-9]+")
_HOST = re.compile(r"[0-9a-zA-Z\-%._:]*")
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_VOTER = re.compile(r"-?[0-9]+@(?:[^@]*)")


class _Endpoint(NamedTuple):
    """A listener."""

    name: str
    """Its name, in capitals."""
    host: str
    """Its host; empty for every address."""
    port: str
    """Its port."""


def refused_listeners(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield refused listeners and voters (KafkaConfig.validateValues 0.10.2 to 4.3.1)."""
    names = (_LISTENERS, _ADVERTISED, _MAP, _OF_CONTROLLERS, _BETWEEN_BROKERS, _PROTOCOL, _EARLY, _VOTERS, _BOOTSTRAP)
    if any(PROVIDER in settings.get(name, "") for name in names):
        return
    yield from _refused_voters(settings, release)
    wrong = [*_wrong_form(settings, release)]
    yield from wrong
    if not wrong:
        yield from _contradictions(settings, release)


def listeners_of(settings: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the protocol of each listener of a node and its controllers."""
    own = [row.name for row in _endpoints(settings, _LISTENERS) or _parsed([_DEFAULT])]
    of_controllers = _entries(settings, _OF_CONTROLLERS) if _entries(settings, "process.roles") else []
    mapped = _protocols(settings, _parsed([f"{name}://:0" for name in own]), of_controllers)
    for name in dict.fromkeys((*own, *map(str.upper, of_controllers))):
        yield name, mapped.get(name, "").upper()


def hosts_of(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the hosts of the listeners of a node, in lower case."""
    return frozenset(row.host.lower() for name in (_LISTENERS, _ADVERTISED) for row in _endpoints(settings, name))


def address_of(settings: Mapping[str, str]) -> str | None:
    """Return HOST:PORT of the first listener for clients that names host and port; None without one.

    KafkaConfig.effectiveAdvertisedBrokerListeners 0.10.2 to 4.3.1.
    """
    of_controllers = {name.upper() for name in _entries(settings, _OF_CONTROLLERS)}
    for row in (*_endpoints(settings, _ADVERTISED), *_endpoints(settings, _LISTENERS)):
        if row.name not in of_controllers and row.host not in _ANY_HOST and row.port != "0":
            return f"{f'[{row.host}]' if ':' in row.host else row.host}:{row.port}"
    return None


def refused_ports(settings: Mapping[str, str]) -> Iterator[RefusedSetting]:
    """Yield ports that brokers cannot open, register or connect to."""
    roles = _entries(settings, "process.roles")
    for server in settings.get(_CONNECT, "").partition("/")[0].split(",") if not roles else ():
        if _BAD_PORT.search(server) and PROVIDER not in settings[_CONNECT]:
            yield RefusedSetting(_CONNECT, server.strip(), "accepts HOST:PORT")
    is_broker = "broker" in roles
    for name in (_LISTENERS, *((_ADVERTISED,) if is_broker else ())):
        for row in _endpoints(settings, name):
            if not 0 <= int(row.port) <= _PORT_MAX:
                yield RefusedSetting(name, f"{row.name}://{row.host}:{row.port}", f"accepts ports up to {_PORT_MAX}")


def refused_hosts(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield hosts that no name server or broker accepts (QuorumConfig 3.8 to 4.3.1, InetAddress)."""
    voters = [entry.strip() for entry in _entries(settings, _VOTERS)] if _entries(settings, "process.roles") else []
    for entry in voters if is_between(release, "3.8", None) else ():
        if entry.partition("@")[2].rpartition(":")[0] == _ANY_ADDRESS:
            yield RefusedSetting(_VOTERS, entry, "does not connect to 0.0.0.0")
    for row in _endpoints(settings, _LISTENERS):
        if row.host.lower().endswith(_NO_DOMAIN) or (_IPV4.fullmatch(row.host) and _is_no_address(row.host)):
            yield RefusedSetting(_LISTENERS, f"{row.name}://{row.host}:{row.port}", "needs an address of the host")


def _is_no_address(host: str) -> bool:
    return any(len(part) > 3 or int(part) > _BYTE_MAX for part in host.split("."))


def addresses_of(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the addresses that a node advertises or listens on, as HOST:PORT.

    Every node may listen on the same loopback address without advertising this address.
    """
    own, given = _endpoints(settings, _LISTENERS), _endpoints(settings, _ADVERTISED)
    taken = (row for row in own if not given or row.host.lower() not in _LOOPBACK)
    return _places((*given, *taken))


def addresses_in(endpoints: Iterable[str]) -> frozenset[str]:
    """Return the addresses of registered endpoints, as HOST:PORT."""
    return _places(_parsed([*endpoints]))


def _places(rows: Iterable[_Endpoint]) -> frozenset[str]:
    return frozenset(f"{row.host.lower()}:{row.port}" for row in rows if row.host not in _ANY_HOST and row.port != "0")


def listening_ports(settings: Mapping[str, str]) -> frozenset[str]:
    """Return the ports that a node listens on or advertises; none if one of them is 0."""
    ports = {row.port for name in (_LISTENERS, _ADVERTISED) for row in _endpoints(settings, name)}
    return frozenset() if "0" in ports else frozenset(ports)


def controller_addresses(settings: Mapping[str, str]) -> tuple[tuple[int | None, str], ...]:
    """Return the ports by which a node finds controllers, with the ids of voters."""
    voters = [entry.partition("@") for entry in _entries(settings, _VOTERS)]
    if voters:
        return tuple((java_int(number), place.rpartition(":")[2]) for number, _, place in voters)
    return tuple((None, entry.rpartition(":")[2]) for entry in _entries(settings, _BOOTSTRAP))


def unreached_controller(settings: Mapping[str, str]) -> RefusedSetting | None:
    """Return the only voter, a combined node, if its broker does not find the controller there; None otherwise.

    The broker takes the address from controller.quorum.voters (RaftControllerNodeProvider 3.3 to 4.3.1). On the same
    host only a listener of the node answers. The metadata must have no voter set.
    """
    voters, roles = _entries(settings, _VOTERS), _entries(settings, "process.roles")
    if len(voters) != 1 or not {"broker", "controller"} <= {*roles} or PROVIDER in settings.get(_LISTENERS, ""):
        return None
    host, _, port = voters[0].partition("@")[2].rpartition(":")
    names = {name.upper() for name in _entries(settings, _OF_CONTROLLERS)}
    own = [row for row in _endpoints(settings, _LISTENERS) if row.name in names]
    here = host.lower() in _LOOPBACK or any(host == row.host for row in own)
    if not here or not own or any(row.port in (port, "0") for row in own):
        return None
    ports = ", ".join(row.port for row in own)
    return RefusedSetting(_VOTERS, voters[0], f"does not reach the controller of the node, which listens on {ports}")


def other_servers(settings: Mapping[str, str]) -> list[str]:
    """Return the servers of ZooKeeper that a broker needs, or the controllers other than the node itself."""
    roles = _entries(settings, "process.roles")
    if not roles:
        servers = settings.get(_CONNECT, "").partition("/")[0].split(",")
        return [f"ZooKeeper at {server}" for server in filter(None, map(str.strip, servers))]
    node = settings.get("node.id", settings.get("broker.id", "")).strip()
    voters = [entry.partition("@") for entry in _entries(settings, _VOTERS)]
    others = [place for number, _, place in voters if "controller" not in roles or number.strip() != node]
    named = others if voters else _entries(settings, _BOOTSTRAP)
    return [f"the controller at {place}" for place in named]


def _wrong_form(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield endpoints, hosts and protocols of another form."""
    for name in _HOSTS if is_between(release, None, "3.0") else ():
        if not _HOST.fullmatch(settings.get(name, "").strip()) and (name == _HOSTS[0] or _LISTENERS not in settings):
            yield RefusedSetting(name, settings[name].strip(), "accepts a host")
    for name in (_LISTENERS, _ADVERTISED):
        for entry in _entries(settings, name):
            if not _LISTENER.fullmatch(entry):
                yield RefusedSetting(name, entry, "accepts NAME://HOST:PORT")
    for entry in _entries(settings, _MAP):
        name, colon, protocol = entry.rpartition(":")
        if not colon or protocol.strip().upper() not in _PROTOCOLS:
            yield RefusedSetting(_MAP, entry, f"accepts NAME:PROTOCOL, with {', '.join(_PROTOCOLS)}")


def _contradictions(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield the listeners that contradict each other, or the role of the node."""
    roles, of_controllers = _entries(settings, "process.roles"), _entries(settings, _OF_CONTROLLERS)
    own = _endpoints(settings, _LISTENERS) or _parsed([_DEFAULT])
    mapped = _protocols(settings, own, of_controllers if roles else [])
    yield from _refused_names(settings, own, mapped, release)
    if roles and not of_controllers and _is_whole(settings):
        yield RefusedSetting(_OF_CONTROLLERS, "", "needs the name of a listener")
    names, controllers = {row.name for row in own}, {name.upper() for name in of_controllers}
    lacking = sorted(controllers - names) if "controller" in roles else []
    if lacking:
        yield RefusedSetting(_OF_CONTROLLERS, ",".join(lacking), f"needs them in {_LISTENERS}")
    if roles == ["controller"]:
        other = sorted(names - controllers)
        if other and of_controllers:
            yield RefusedSetting(_LISTENERS, ",".join(other), f"accepts those in {_OF_CONTROLLERS} alone")
    elif roles == ["broker"]:
        shared = sorted(names & controllers)
        if shared:
            yield RefusedSetting(
                _LISTENERS, ",".join(shared), f"refuses those in {_OF_CONTROLLERS}: the node is a broker"
            )
        unmapped = sorted(controllers - mapped.keys())
        if unmapped:
            yield RefusedSetting(_OF_CONTROLLERS, ",".join(unmapped), f"needs them in {_MAP}")
    yield from _refused_advertised(settings, own, controllers if roles else set(), release)
    yield from _refused_between_brokers(settings, own, mapped, controllers, release)
    migrates = enables_migration(settings)
    if migrates and is_between(release, "3.4", "4.0"):
        yield from _refused_migration(settings, release)
    if not roles and of_controllers and not migrates and is_between(release, "3.1", None):
        yield RefusedSetting(_OF_CONTROLLERS, ",".join(of_controllers), "needs process.roles")
    known = names | (controllers if "controller" in roles else set())
    for name in _entries(settings, _EARLY):
        if name not in known:
            yield RefusedSetting(_EARLY, name, f"needs them in {_LISTENERS} or {_OF_CONTROLLERS}")


def _refused_migration(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield a migration to KRaft without one of its two sides."""
    if _entries(settings, "process.roles"):
        if "zookeeper.connect" not in settings:
            yield RefusedSetting(MIGRATION, "true", "needs zookeeper.connect")
        return
    servers = _entries(settings, _BOOTSTRAP) if is_between(release, "3.9", None) else []
    for name in (_OF_CONTROLLERS, *(() if servers else (_VOTERS,))):
        if not _entries(settings, name):
            yield RefusedSetting(MIGRATION, "true", f"needs {name}")


def _refused_names(
    settings: Mapping[str, str], own: list[_Endpoint], mapped: Mapping[str, str], release: Release
) -> Iterator[RefusedSetting]:
    """Yield listeners without a protocol, or with the name or the port of another listener."""
    for setting, rows in ((_LISTENERS, own), (_ADVERTISED, _endpoints(settings, _ADVERTISED))):
        unmapped = next((row.name for row in rows if row.name not in mapped), None)
        if unmapped is not None:
            yield RefusedSetting(setting, unmapped, f"needs them in {_MAP}")
        elif len({row.name for row in rows}) < len(rows):
            yield RefusedSetting(setting, settings[setting].strip(), "refuses a name twice")
        elif setting == _LISTENERS and _share_a_port(rows, release):
            yield RefusedSetting(setting, settings[setting].strip(), "refuses a port twice")


def _share_a_port(rows: Iterable[_Endpoint], release: Release) -> bool:
    """Return True if listeners share a port. An IPv4 and an IPv6 address may share one in 3.6 and later."""
    hosts: dict[str, list[str]] = {}
    for row in rows:
        hosts.setdefault(row.port, []).append("4" if _IPV4.fullmatch(row.host) else "6" if ":" in row.host else "")
    allowed = ["4", "6"] if is_between(release, "3.6", None) else None
    return any(len(at) > 1 and sorted(at) != allowed for port, at in hosts.items() if port != "0")


def _advertised(settings: Mapping[str, str], own: list[_Endpoint], controllers: Container[str]) -> list[_Endpoint]:
    return [row for row in _endpoints(settings, _ADVERTISED) or own if row.name not in controllers]


def _refused_advertised(
    settings: Mapping[str, str], own: list[_Endpoint], controllers: set[str], release: Release
) -> Iterator[RefusedSetting]:
    """Yield advertised listeners that lead nowhere."""
    is_broker = _entries(settings, "process.roles") != ["controller"]
    for name in (_LISTENERS, _ADVERTISED):
        if is_broker and name in settings and not _entries(settings, name) and is_between(release, None, "4.2"):
            yield RefusedSetting(name, settings[name].strip(), "needs a listener")
    given, rows = _endpoints(settings, _ADVERTISED), _advertised(settings, own, controllers)
    early = [row.name for row in given if not is_broker or row.name in controllers]
    if early and is_between(release, None, "3.9"):
        yield RefusedSetting(_ADVERTISED, ",".join(early), "advertises no listener of a controller")
    is_named = is_between(release, None, "3.0") and settings.get(_HOSTS[0], "").strip()
    for row in given or (rows if is_broker and not is_named else ()):
        if row.host == _ANY_ADDRESS:
            shown = _ADVERTISED if given else _LISTENERS
            yield RefusedSetting(shown, f"{row.name}://{row.host}:{row.port}", "does not advertise 0.0.0.0")
    unknown = sorted({row.name for row in rows} - {row.name for row in own})
    if unknown and is_broker:
        yield RefusedSetting(_ADVERTISED, ",".join(unknown), f"needs them in {_LISTENERS}")


def _refused_between_brokers(
    settings: Mapping[str, str], own: list[_Endpoint], mapped: Mapping[str, str], controllers: set[str],
    release: Release,
) -> Iterator[RefusedSetting]:  # fmt: skip
    """Yield a listener between brokers, or of the control plane, that is not advertised."""
    is_named, roles = _BETWEEN_BROKERS in settings, _entries(settings, "process.roles")
    setting = _BETWEEN_BROKERS if is_named else _PROTOCOL
    value = settings.get(setting, _PROTOCOLS[0]).strip()
    advertised = {row.name for row in _advertised(settings, own, controllers if roles else set())}
    if is_named and _PROTOCOL in settings:
        yield RefusedSetting(_BETWEEN_BROKERS, value, f"excludes {_PROTOCOL}")
    elif is_named and value.upper() not in mapped:
        yield RefusedSetting(setting, value, f"must be in {_MAP}")
    elif roles == ["controller"]:
        if is_named and value.upper() in controllers and is_between(release, "4.0", None):
            yield RefusedSetting(setting, value, f"refuses one in {_OF_CONTROLLERS}: the node is a controller")
    elif value.upper() not in advertised:
        yield RefusedSetting(setting, value, "must be among the advertised listeners")
    elif "SASL" in mapped.get(value.upper(), value).upper():
        yield from _refused_mechanism(settings, value.lower())
    plane = settings.get(_PLANE, "").strip()
    if _PLANE in settings and is_between(release, "2.2", "4.0") and plane.upper() not in advertised - {value.upper()}:
        yield RefusedSetting(_PLANE, plane, "needs another one of the advertised listeners")


def _refused_mechanism(settings: Mapping[str, str], listener: str) -> Iterator[RefusedSetting]:
    """Yield the mechanism between brokers if their listener has only other ones."""
    enabled = f"listener.name.{listener}.{_MECHANISMS}"
    enabled = enabled if enabled in settings else _MECHANISMS
    own = settings.get(_MECHANISM, "GSSAPI").strip()
    accepted = settings.get(enabled, "GSSAPI")
    if own not in map(str.strip, accepted.split(",")) and PROVIDER not in own + accepted:
        yield RefusedSetting(_MECHANISM, own, f"must be in {enabled}")


def _is_whole(settings: Mapping[str, str]) -> bool:
    """Return whether these can be all settings of a node."""
    return any(name in settings for name in (_LISTENERS, _OF_CONTROLLERS, _MAP, _VOTERS, _BOOTSTRAP))


def _protocols(settings: Mapping[str, str], own: list[_Endpoint], of_controllers: list[str]) -> Mapping[str, str]:
    """Return the protocol of each listener name; without a map, controllers use plain text if all do."""
    if _MAP in settings:
        pairs = (entry.rpartition(":") for entry in _entries(settings, _MAP))
        return {name.strip().upper(): protocol.strip() for name, _, protocol in pairs}
    is_plain = {*of_controllers, *(row.name for row in own)}.isdisjoint(_PROTOCOLS[1:])
    more = [name.upper() for name in of_controllers] if is_plain else []
    return dict.fromkeys(more, _PROTOCOLS[0]) | {name: name for name in _PROTOCOLS}


def _refused_voters(settings: Mapping[str, str], release: Release) -> Iterator[RefusedSetting]:
    """Yield voters of another form, and a place among them that contradicts the roles of the node."""
    roles = _entries(settings, "process.roles")
    for entry in _entries(settings, _VOTERS):
        _, _, place = entry.partition("@")
        if not _VOTER.fullmatch(entry) or not _HOST_AND_PORT.fullmatch(place) or _is_beyond(place):
            yield RefusedSetting(_VOTERS, entry, "accepts ID@HOST:PORT")
    servers = _entries(settings, _BOOTSTRAP) if is_between(release, "3.9", None) else []
    for entry in servers:
        place = entry if is_between(release, "4.0", None) else entry.rpartition("@")[2]
        if not _HOST_AND_PORT.fullmatch(place) or _is_beyond(place):
            yield RefusedSetting(_BOOTSTRAP, entry, "accepts HOST:PORT")
    if not roles and is_between(release, None, "4.0") and _CONNECT not in settings and _is_whole(settings):
        yield RefusedSetting(_CONNECT, "", "needs the servers of ZooKeeper")
    if roles and not _entries(settings, _VOTERS) and not servers and _is_whole(settings):
        yield RefusedSetting(_VOTERS, "", "needs a controller")
    voters = {java_int(entry.partition("@")[0]) for entry in _entries(settings, _VOTERS)}
    node = java_int(settings.get("node.id", settings.get("broker.id", "")).strip())
    if "controller" in roles and voters and node is not None and node not in voters:
        yield RefusedSetting(_VOTERS, settings[_VOTERS].strip(), f"must have node {node}, a controller")
    joins = settings.get(_AUTO_JOIN, "").strip().lower() == "true"
    if joins and roles and "controller" not in roles and is_between(release, "4.2", None):
        yield RefusedSetting(_AUTO_JOIN, "true", "is for controllers alone")
    places = {*_entries(settings, "log.dirs"), *_entries(settings, "log.dir")}
    cordoned = [name for name in _entries(settings, _CORDONED) if name not in places | {"*"}]
    if cordoned and "broker" in roles and is_between(release, "4.3", None):
        yield RefusedSetting(_CORDONED, ",".join(cordoned), "needs them in log.dirs")


def _is_beyond(place: str) -> bool:
    """Return whether the port of HOST:PORT is no port."""
    return int(place.rpartition(":")[2]) > _PORT_MAX


def _entries(settings: Mapping[str, str], name: str) -> list[str]:
    """Return the entries of a list."""
    return [*filter(None, map(str.strip, settings.get(name, "").split(",")))]


def _endpoints(settings: Mapping[str, str], name: str) -> list[_Endpoint]:
    return _parsed(_entries(settings, name))


def _parsed(entries: list[str]) -> list[_Endpoint]:
    rows = [match for entry in entries if (match := _LISTENER.fullmatch(entry)) is not None]
    return [_Endpoint(row[1].upper(), row[2], row[3]) for row in rows]
