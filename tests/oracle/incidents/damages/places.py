"""Damages to whole directories: lost, moved, doubled, renamed, of another owner."""

import os
import shutil
from pathlib import Path

from tests.oracle.incidents.damages.site import METADATA, Site, batches, lines_of, logs, place, write_lines

ANY_ID = "0123456789abcdef0123456789abcdef"
OTHER_USER = 1001


def remove_partition(site: Site) -> str | None:
    """Remove a partition directory of the target."""
    directory = site.partition()
    if directory is None:
        return None
    shutil.rmtree(directory)
    return f"{place(directory)} removed"


def remove_everywhere(site: Site) -> str | None:
    """Remove every copy of a partition, mostly of an internal topic."""
    found = site.partitions()
    wanted = [path for path in found if path.name.startswith("__")] if site.random.random() < 0.7 else found
    if not wanted:
        return None
    name = site.random.choice(wanted).name
    for path in site.folder.glob(f"broker-*/data*/{name}"):
        shutil.rmtree(path)
    return f"{name} removed everywhere"


def empty_partition(site: Site) -> str | None:
    """Remove all files of a partition directory, and leave it."""
    directory = site.partition()
    if directory is None:
        return None
    shutil.rmtree(directory)
    directory.mkdir()
    return f"{place(directory)} is empty"


def move_partition(site: Site) -> str | None:
    """Move a partition directory to the other log dir, without its checkpoint lines."""
    directory = site.partition()
    if directory is None or len(site.log_dirs) < 2:
        return None
    other = next(path for path in site.log_dirs if path != directory.parent)
    shutil.move(directory, other / directory.name)
    return f"{place(directory)} moved to {place(other)}"


def double_partition(site: Site) -> str | None:
    """Copy a partition directory into the other log dir."""
    directory = site.partition()
    if directory is None or len(site.log_dirs) < 2:
        return None
    other = next(path for path in site.log_dirs if path != directory.parent)
    shutil.copytree(directory, other / directory.name)
    return f"{place(directory)} copied into {place(other)}"


def foreign_partition(site: Site) -> str | None:
    """Copy a partition directory to a broker that is not assigned to it."""
    mine = {path.name for path in site.partitions()}
    theirs = [path for other in site.others for path in site.partitions(other) if path.name not in mine]
    log_dir = site.log_dir()
    if not theirs or log_dir is None:
        return None
    source = site.random.choice(theirs)
    shutil.copytree(source, log_dir / source.name)
    return f"{place(source)} copied to {place(log_dir)}"


def backup_beside(site: Site) -> str | None:
    """Leave a copy of a partition directory beside it, as people do before they touch it."""
    directory = site.partition()
    if directory is None:
        return None
    name = site.random.choice((f"{directory.name}.bak", f"{directory.name}-backup-20240101", f"old-{directory.name}"))
    shutil.copytree(directory, directory.with_name(name))
    return f"{place(directory)} copied to {name} beside it"


def _to(site: Site, kind: str, *, keep: bool, other_dir: bool) -> str | None:
    directory = site.partition()
    if directory is None:
        return None
    parent = next((path for path in site.log_dirs if path != directory.parent), None) if other_dir else directory.parent
    if parent is None:
        return None
    target = parent / f"{directory.name}.{ANY_ID}-{kind}"
    shutil.copytree(directory, target)
    if not keep:
        shutil.rmtree(directory)
    return f"{place(directory)} {'copied' if keep else 'renamed'} to {place(target)}"


def only_future(site: Site) -> str | None:
    """Rename a partition directory to -future, in either log dir."""
    return _to(site, "future", keep=False, other_dir=len(site.log_dirs) > 1 and site.random.random() < 0.5)


def future_beside(site: Site) -> str | None:
    """Copy a partition directory to -future beside itself, or in the other log dir."""
    return _to(site, "future", keep=True, other_dir=len(site.log_dirs) > 1 and site.random.random() < 0.5)


def to_stray(site: Site) -> str | None:
    """Rename a partition directory to -stray."""
    return _to(site, "stray", keep=False, other_dir=False)


def to_delete(site: Site) -> str | None:
    """Rename a partition directory to -delete."""
    return _to(site, "delete", keep=False, other_dir=False)


def lose_log_dir(site: Site) -> str | None:
    """Remove one of two log dirs."""
    if len(site.log_dirs) < 2:
        return None
    log_dir = site.random.choice(site.log_dirs)
    shutil.rmtree(log_dir)
    return f"{place(log_dir)} removed"


def empty_log_dir(site: Site) -> str | None:
    """Empty a log dir."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    _empty(log_dir)
    return f"{place(log_dir)} is empty"


def formatted_log_dir(site: Site) -> str | None:
    """Empty a log dir but for a meta.properties, as kafka-storage.sh format or kcheck repair leaves it."""
    log_dir = site.log_dir()
    if log_dir is None or not (log_dir / "meta.properties").exists():
        return None
    text = (log_dir / "meta.properties").read_text()
    _empty(log_dir)
    lines = [line for line in text.splitlines() if not line.startswith("directory.id=")]
    if site.shape.mode == "kraft" and site.shape.release >= "3.7":
        lines.append(f"directory.id={''.join(site.random.choices('abcdefghijkABCDEFGHIJK', k=21))}A")
    (log_dir / "meta.properties").write_text("\n".join([*lines, ""]))
    return f"{place(log_dir)} has only a new meta.properties"


def _empty(log_dir: Path) -> None:
    for path in log_dir.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def old_copy(site: Site) -> str | None:
    """Put an older copy of a broker's disks back, taken while it was stopped; not all disks of a cluster."""
    source = site.base / "old" / site.broker.name
    if not source.exists() or (not site.others and site.shape.beside is None):
        return None
    for log_dir in site.log_dirs:
        shutil.rmtree(log_dir)
        shutil.copytree(source / log_dir.name, log_dir)
    return f"the disks of broker {site.number} are an older copy"


def swap_disks(site: Site) -> str | None:
    """Swap the disks of two brokers."""
    if not site.others:
        return None
    other = site.random.choice(site.others)
    for log_dir in site.log_dirs:
        theirs, aside = other / log_dir.name, site.folder / "aside"
        theirs.rename(aside)
        log_dir.rename(theirs)
        aside.rename(log_dir)
    return f"the disks of {site.broker.name} and {other.name} are swapped"


def _by_root(site: Site, path: Path | None) -> str | None:
    """Give all disks to a user of their own, and one path back to root, as a copy made by root is."""
    if path is None or os.geteuid():
        return None
    for each in (found for log_dir in site.folder.glob("*/data*") for found in (log_dir, *log_dir.rglob("*"))):
        os.chown(each, OTHER_USER, OTHER_USER)
    os.chown(path, 0, 0)
    path.chmod(0o755 if path.is_dir() else 0o644)
    return f"{place(path)} belongs to root, all else to user {OTHER_USER}"


def segment_of_root(site: Site) -> str | None:
    """Let root own a segment."""
    directory = site.partition()
    return _by_root(site, site.random.choice(sorted(directory.glob("*.log"))) if directory else None)


def directory_of_root(site: Site) -> str | None:
    """Let root own a partition directory."""
    return _by_root(site, site.partition())


def checkpoint_of_root(site: Site) -> str | None:
    """Let root own a checkpoint."""
    names = [path for log_dir in site.log_dirs for path in sorted(log_dir.glob("*-offset-checkpoint"))]
    return _by_root(site, site.random.choice(names) if names else None)


def log_dir_of_root(site: Site) -> str | None:
    """Let root own a log dir."""
    return _by_root(site, site.log_dir())


def lose_metadata(site: Site) -> str | None:
    """Remove __cluster_metadata-0 of the target."""
    found = [path / METADATA for path in site.log_dirs if (path / METADATA).is_dir()]
    for path in found:
        shutil.rmtree(path)
    return f"{place(found[0])} removed" if found else None


def lose_controller(site: Site) -> str | None:
    """Format the disk of the only controller again."""
    log_dir = site.metadata
    if log_dir is None or not (log_dir / METADATA).is_dir():
        return None
    shutil.rmtree(log_dir / METADATA)
    for path in log_dir.iterdir():
        if path.is_file() and path.name != "meta.properties" and site.shape.beside == "controller":
            path.unlink()
    return f"{place(log_dir / METADATA)} removed, the controller's"


def old_controller(site: Site) -> str | None:
    """Cut the end of the controller's metadata log, as an older copy of its disk lacks it."""
    log_dir = site.metadata
    if log_dir is None or site.shape.beside != "controller":
        return None
    log = logs(log_dir / METADATA)[-1]
    data = log.read_bytes()
    places = batches(data)
    keep = places[len(places) * 2 // 3]
    log.write_bytes(data[:keep])
    for snapshot in (log_dir / METADATA).glob("*.checkpoint"):
        if int(snapshot.name.split("-")[0]) > 0:
            snapshot.unlink()
    return f"{place(log)} cut to {keep} of {len(data)} bytes, at a batch"


def empty_zookeeper(site: Site) -> str | None:
    """Empty ZooKeeper."""
    if site.shape.mode != "zk":
        return None
    for path in (site.folder / "zookeeper" / "version-2").iterdir():
        path.unlink()
    return "zookeeper is empty"


def old_zookeeper(site: Site) -> str | None:
    """Put an older copy of ZooKeeper's data back."""
    source = site.base / "old" / "zookeeper"
    if not source.exists():
        return None
    shutil.rmtree(site.folder / "zookeeper")
    shutil.copytree(source, site.folder / "zookeeper")
    return "zookeeper is an older copy"


def drop_checkpoint_lines(site: Site) -> str | None:
    """Leave out the lines of one partition in every checkpoint."""
    directory = site.partition()
    if directory is None:
        return None
    topic, _, partition = directory.name.rpartition("-")
    for path in directory.parent.glob("*-offset-checkpoint"):
        write_lines(path, [line for line in lines_of(path) if not line.startswith(f"{topic} {partition} ")])
    return f"no checkpoint of {place(directory.parent)} names {directory.name}"
