"""Damages that an operator does at night: other roles, addresses and settings, and a file of the quorum."""

from tests.oracle.incidents.damages.site import METADATA, Site, place, property_of, set_property

VOTERS, SERVERS = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


def spoil_quorum_state(site: Site) -> str | None:
    """Empty, cut or zero quorum-state of the target or of the controller."""
    log_dirs = {site.broker / "data1", *([site.metadata] if site.metadata else [])}
    found = [path / METADATA / "quorum-state" for path in sorted(log_dirs)]
    found = [path for path in found if path.is_file()]
    if not found:
        return None
    path = site.random.choice(found)
    data = path.read_bytes()
    path.write_bytes(site.random.choice((b"", data[: len(data) // 2], bytes(len(data)), b"{}\n")))
    return f"{place(path)} is {path.read_bytes()[:20]!r}"


def role_of_a_controller(site: Site) -> str | None:
    """Let a combined node be only a controller, with its replicas on its disk."""
    path = site.broker / "server.properties"
    if property_of(path, "process.roles") != "broker,controller":
        return None
    set_property(path, "process.roles", "controller")
    listeners = (property_of(path, "listeners") or "").split(",")
    set_property(path, "listeners", listeners[-1])
    set_property(path, "advertised.listeners", None)
    return f"{place(path)}: process.roles=controller"


def wrong_controller_port(site: Site) -> str | None:
    """Let the settings of the target name a port on which no controller listens."""
    path = site.broker / "server.properties"
    name = VOTERS if property_of(path, VOTERS) else SERVERS
    value = property_of(path, name)
    if value is None or site.shape.beside is None:
        return None
    set_property(path, name, f"{value.rpartition(':')[0]}:9")
    return f"{place(path)}: {name}={property_of(path, name)}"


def short_retention(site: Site) -> str | None:
    """Keep records for a second on all brokers."""
    for path in sorted(site.folder.glob("broker-*/server.properties")):
        set_property(path, "log.retention.ms", "1000")
    return "log.retention.ms=1000"
