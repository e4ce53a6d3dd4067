"""Damages to ids and settings."""

import shutil
from pathlib import Path

from tests.oracle.incidents.damages.site import Site, place, property_of, set_property
from tests.oracle.incidents.shapes import OTHER_RELEASE, RELEASES


def _metas(site: Site) -> list[Path]:
    return [path / "meta.properties" for path in site.log_dirs if (path / "meta.properties").exists()]


def _settings(site: Site) -> Path:
    return site.broker / "server.properties"


def _id(site: Site) -> str:
    return "broker.id" if site.shape.mode == "zk" else "node.id"


def other_cluster(site: Site) -> str | None:
    """Write another cluster.id into every meta.properties of the target."""
    for path in (metas := _metas(site)):
        set_property(path, "cluster.id", "aaaaaaaaQaaaaaaaaaaaaa")
    return f"{', '.join(map(place, metas))} name another cluster" if metas else None


def other_node_on_disk(site: Site) -> str | None:
    """Write another node.id or broker.id into every meta.properties of the target."""
    for path in (metas := _metas(site)):
        set_property(path, _id(site), "77")
    return f"{', '.join(map(place, metas))} name {_id(site)} 77" if metas else None


def other_node_in_settings(site: Site) -> str | None:
    """Write another node.id or broker.id into the settings."""
    if site.shape.combined or site.shape.brokers == 1:
        return None
    set_property(_settings(site), _id(site), "77")
    return f"{place(_settings(site))} names {_id(site)} 77"


def remove_meta(site: Site) -> str | None:
    """Remove one meta.properties."""
    if not (metas := _metas(site)):
        return None
    path = site.random.choice(metas)
    path.unlink()
    return f"{place(path)} removed"


def remove_metas(site: Site) -> str | None:
    """Remove every meta.properties; with ZooKeeper let the broker choose its id."""
    if not (metas := _metas(site)):
        return None
    for path in metas:
        path.unlink()
    if site.shape.mode == "zk" and site.random.random() < 0.6:
        set_property(_settings(site), "broker.id", "-1")
        return f"{', '.join(map(place, metas))} removed, broker.id=-1"
    return f"{', '.join(map(place, metas))} removed"


def garbage_meta(site: Site) -> str | None:
    """Empty a meta.properties, or fill it with zeros."""
    if not (metas := _metas(site)):
        return None
    path = site.random.choice(metas)
    path.write_bytes(site.random.choice((b"", bytes(90), b"version=7\n")))
    return f"{place(path)} is {path.read_bytes()[:12]!r}"


def other_directory_id(site: Site) -> str | None:
    """Write another directory.id into a meta.properties."""
    found = [path for path in _metas(site) if property_of(path, "directory.id")]
    if not found:
        return None
    path = site.random.choice(found)
    set_property(path, "directory.id", "bbbbbbbbQbbbbbbbbbbbbA")
    return f"{place(path)} has another directory.id"


def directory_id_twice(site: Site) -> str | None:
    """Write one directory.id into both meta.properties."""
    found = [path for path in _metas(site) if property_of(path, "directory.id")]
    if len(found) < 2:
        return None
    set_property(found[1], "directory.id", property_of(found[0], "directory.id"))
    return f"{place(found[1])} has the directory.id of {place(found[0])}"


def cloned_disk(site: Site) -> str | None:
    """Let the target have a copy of another broker's disks, under its own node id."""
    if not site.others or not _metas(site):
        return None
    source = site.random.choice(site.others)
    own = property_of(_metas(site)[0], _id(site))
    for log_dir in site.log_dirs:
        shutil.rmtree(log_dir)
        shutil.copytree(source / log_dir.name, log_dir)
        set_property(log_dir / "meta.properties", _id(site), own)
    return f"the disks of {site.broker.name} are a copy of {source.name}'s, with its own id"


def other_topic_id(site: Site) -> str | None:
    """Write the topic id of another topic into partition.metadata."""
    found = [path for path in site.partitions() if (path / "partition.metadata").exists()]
    if not found:
        return None
    directory = site.random.choice(found)
    others = [path for path in found if path.name.rpartition("-")[0] != directory.name.rpartition("-")[0]]
    if not others:
        return None
    (directory / "partition.metadata").write_bytes((site.random.choice(others) / "partition.metadata").read_bytes())
    return f"{place(directory)} has the topic id of another topic"


def remove_topic_id(site: Site) -> str | None:
    """Remove partition.metadata, or empty it."""
    found = [path for path in site.partitions() if (path / "partition.metadata").exists()]
    if not found:
        return None
    path = site.random.choice(found) / "partition.metadata"
    if site.random.random() < 0.6:
        path.unlink()
        return f"{place(path)} removed"
    path.write_bytes(b"")
    return f"{place(path)} is empty"


def other_release(site: Site) -> str | None:
    """Start another release on the disks, a newer or an older one."""
    found = [release for release, mode in RELEASES if mode == site.shape.mode and release != site.shape.release]
    if site.shape.mode == "zk":
        found.append("4.3.1")
    chosen = site.random.choice(found)
    (site.folder / OTHER_RELEASE).write_text(chosen)
    return f"Kafka {chosen} is started on disks of {site.shape.release}"


def reverse_log_dirs(site: Site) -> str | None:
    """Reverse the order of log.dirs."""
    value = property_of(_settings(site), "log.dirs")
    if value is None or "," not in value:
        return None
    set_property(_settings(site), "log.dirs", ",".join(reversed(value.split(","))))
    return "log.dirs of the target reversed"


def shorter_log_dirs(site: Site) -> str | None:
    """Leave one log dir out of log.dirs."""
    value = property_of(_settings(site), "log.dirs")
    if value is None or "," not in value:
        return None
    left = site.random.choice(value.split(","))
    set_property(_settings(site), "log.dirs", left)
    return f"log.dirs of the target is only {left}"


def more_log_dirs(site: Site) -> str | None:
    """Add a log dir that is not there yet to log.dirs."""
    value = property_of(_settings(site), "log.dirs")
    if value is None:
        return None
    set_property(_settings(site), "log.dirs", f"{value},{site.broker.name}/data9")
    return "log.dirs of the target has one more"


def refused_setting(site: Site) -> str | None:
    """Set a value that newer releases refuse."""
    name, value = site.random.choice(
        (("log.segment.bytes", "16000"), ("log.cleaner.io.buffer.size", "0"), ("num.io.threads", "0"),
         ("log.message.format.version", "2.8"), ("log.retention.ms", "x"), ("min.insync.replicas", "0"))
    )  # fmt: skip
    set_property(_settings(site), name, value)
    return f"{place(_settings(site))}: {name}={value}"


def no_roles(site: Site) -> str | None:
    """Let the settings be those of a ZooKeeper broker."""
    if site.shape.mode != "kraft" or site.shape.beside is None:
        return None
    path = _settings(site)
    for name in ("process.roles", "controller.quorum.voters", "controller.listener.names"):
        set_property(path, name, None)
    set_property(path, "listener.security.protocol.map", "PLAINTEXT:PLAINTEXT")
    set_property(path, "broker.id", property_of(path, "node.id"))
    set_property(path, "node.id", None)
    set_property(path, "zookeeper.connect", "127.0.0.1:2181")
    return f"{place(path)} is a ZooKeeper broker's"


def unclean_allowed(site: Site) -> str | None:
    """Allow unclean elections everywhere."""
    for path in sorted(site.folder.glob("*/server.properties")):
        set_property(path, "unclean.leader.election.enable", "true")
    return "unclean.leader.election.enable=true"


def role_of_a_broker(site: Site) -> str | None:
    """Let a combined node be only a broker, though it stands among the voters."""
    path = _settings(site)
    if property_of(path, "process.roles") != "broker,controller" or site.shape.standalone:
        return None
    set_property(path, "process.roles", "broker")
    listeners = (property_of(path, "listeners") or "").split(",")
    set_property(path, "listeners", listeners[0])
    return f"{place(path)}: process.roles=broker"


def other_voters(site: Site) -> str | None:
    """Add a voter to controller.quorum.voters that never was there."""
    path = _settings(site)
    value = property_of(path, "controller.quorum.voters")
    if value is None:
        return None
    for each in [path] if site.random.random() < 0.5 else sorted(site.folder.glob("*/server.properties")):
        set_property(each, "controller.quorum.voters", f"{value},201@127.0.0.1:9,202@127.0.0.1:10")
    return "controller.quorum.voters has two more voters"
