"""Damages that operators do in an outage: directories at a wrong broker, clean-ups, disks made ready by hand."""

import shutil
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import HIGH_WATERMARK, LOG_START, MARKER, RECOVERY
from tests.oracle.incidents.damages.site import (
    METADATA,
    Site,
    lines_of,
    logs,
    place,
    property_of,
    records,
    set_property,
    size,
    unlike_replicas,
    write_lines,
)
from tests.oracle.jars import numbers

META = "meta.properties"
CHECKPOINTS = (RECOVERY, LOG_START, HIGH_WATERMARK)
SWEPT = ("*checkpoint*", "*-checkpoint", "*.checkpoint", "*.snapshot", "*checkpoint*;*.snapshot", "*.lock;*.tmp")
"""Patterns of `find -delete`, as a script has them that cleans up."""


def _lines_too(source: Path, target: Path) -> None:
    """Give a directory the lines that the checkpoints beside its source have."""
    for name in CHECKPOINTS:
        mine = [line for line in lines_of(target.parent / name) if not line.startswith(_key(target))]
        theirs = [
            f"{_key(target)}{line.split()[2]}"
            for line in lines_of(source.parent / name)
            if line.startswith(_key(source))
        ]
        write_lines(target.parent / name, [*mine, *theirs])


def _key(directory: Path) -> str:
    return f"{' '.join(directory.name.rsplit('-', 1))} "


def _exchange(one: Path, two: Path, aside: Path) -> None:
    one.rename(aside)
    two.rename(one)
    aside.rename(two)


def swap_replicas(site: Site) -> str | None:
    """Let two brokers exchange their directories of one partition."""
    pairs = unlike_replicas(site)
    if not pairs:
        return None
    mine, theirs = site.random.choice(pairs)
    _exchange(mine, theirs, site.folder / "aside")
    return f"{place(mine)} and {place(theirs)} are swapped"


def swap_between(site: Site) -> str | None:
    """Let two brokers exchange two directories, each under its own name or under the name of the other."""
    names = {path.name for path in site.partitions()}
    pairs = [
        (mine, theirs)
        for mine in site.partitions()
        for other in site.others
        for theirs in site.partitions(other)
        if theirs.name != mine.name
    ]
    if not pairs:
        return None
    mine, theirs = site.random.choice(pairs)
    if site.random.random() < 0.5:
        _exchange(mine, theirs, site.folder / "aside")
        return f"{place(mine)} and {place(theirs)} have each other's content"
    here, there = mine.parent / theirs.name, theirs.parent / mine.name
    if theirs.name in names or any(theirs.parent.parent.glob(f"data*/{mine.name}")):
        return None
    mine.rename(there)
    theirs.rename(here)
    return f"{place(mine)} is at {place(there)}, and {place(theirs)} at {place(here)}"


def rsync_replica(site: Site) -> str | None:
    """Copy another broker's replica, as it is or as it was, over the target's, with or without --delete."""
    pairs = [
        (theirs, mine)
        for mine in site.partitions()
        for folder in (site.folder, site.base / "old", site.base / "live")
        for theirs in sorted(folder.glob(f"broker-*/data*/{mine.name}"))
        if theirs.parent.parent.name != site.broker.name and size(theirs) and records(theirs) != records(mine)
    ]
    if not pairs:
        return None
    theirs, mine = site.random.choice(pairs)
    whole = bool(site.random.getrandbits(1))
    with_lines = bool(site.random.getrandbits(1))
    if whole:
        shutil.rmtree(mine)
    shutil.copytree(theirs, mine, dirs_exist_ok=True)
    if with_lines:
        _lines_too(theirs, mine)
    of = theirs.relative_to(site.folder if theirs.is_relative_to(site.folder) else site.base)
    how = "with" if whole else "without"
    return f"rsync of {of} over {place(mine)} {how} --delete{', and its checkpoint lines' * with_lines}"


def freed_space(site: Site) -> str | None:
    """Remove the .log files of old segments, of one partition or of all, and leave their indexes."""
    found = [path for path in site.partitions() if len(logs(path)) > 1]
    if not found:
        return None
    chosen = found if site.random.random() < 0.4 else [site.random.choice(found)]
    gone = [log for path in chosen for log in logs(path)[: site.random.randrange(1, len(logs(path)))]]
    for log in gone:
        log.unlink()
    return f"rm {', '.join(place(log) for log in gone[:3])}: {len(gone)} old .log files of {len(chosen)} partitions"


def swept(site: Site) -> str | None:
    """Remove what a clean-up script takes for rubbish, by patterns, in all log dirs of the target."""
    patterns = site.random.choice(SWEPT).split(";")
    found = {path for at in site.log_dirs for of in patterns for path in at.rglob(of) if path.is_file()}
    for path in found:
        path.unlink()
    what = " -o ".join(f"-name '{of}'" for of in patterns)
    return f"find {what} -delete on {site.broker.name}, {len(found)} files" if found else None


def touched_marker(site: Site) -> str | None:
    """Touch .kafka_cleanshutdown by hand; .lock and the checkpoints of recovery points may be removed, too."""
    found = [log_dir / MARKER for log_dir in site.log_dirs]
    found = [path for path in found if not path.exists() or path.stat().st_size]
    if not found:
        return None
    more = site.random.choice(((), (RECOVERY,), (".lock",)))
    for path in found:
        path.write_bytes(b"")
        for name in more:
            (path.parent / name).unlink(missing_ok=True)
    return f"touch {', '.join(map(place, found))}{'; removed: ' * bool(more)}{', '.join(more)}"


def truncated_file(site: Site) -> str | None:
    """Truncate a file to nothing, as `truncate -s 0` or `> file` does."""
    directory = site.partition()
    if directory is None:
        return None
    ending = site.random.choice(("*.log", "*.index", "*.timeindex", "*.snapshot", "*.txnindex", "leader-epoch-*"))
    found = [path for path in sorted(directory.glob(ending)) if path.stat().st_size]
    if not found:
        return None
    chosen = found if site.random.random() < 0.3 else [site.random.choice(found)]
    for path in chosen:
        path.write_bytes(b"")
    return f"truncate -s 0 {', '.join(map(place, chosen))}"


def replaced_disk(site: Site) -> str | None:
    """Replace the disk of a log dir by an empty one, with a meta.properties that somebody made of another one."""
    log_dir = site.log_dir()
    if log_dir is None or not (log_dir / META).exists():
        return None
    own = [path / META for path in site.log_dirs if path != log_dir]
    theirs = [path for other in site.others for path in sorted(other.glob(f"data*/{META}"))]
    source = site.random.choice([*own, *own, *theirs, log_dir / META])
    text = source.read_text()
    for path in log_dir.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    meta = log_dir / META
    meta.write_text(text)
    how = []
    if source in theirs:
        name = "broker.id" if property_of(meta, "broker.id") is not None else "node.id"
        set_property(meta, name, str(site.number))
        how.append(f"{name} corrected")
    if property_of(meta, "directory.id") and site.random.random() < 0.4:
        set_property(meta, "directory.id", None)
        how.append("directory.id left out")
    return f"{place(log_dir)} is empty but for {META} of {place(source)}{', ' * bool(how)}{', '.join(how)}"


def formatted_again(site: Site) -> str | None:
    """Lose a meta.properties, and run kafka-storage format --ignore-formatted: a new one beside what is there."""
    found = [path / META for path in site.log_dirs if (path / META).exists()]
    if site.shape.mode != "kraft" or not found:
        return None
    path = site.random.choice(found)
    set_property(path, "directory.id", None)
    if numbers(site.shape.release) >= (3, 7):
        set_property(
            path, "directory.id", urlsafe_b64encode(uuid.UUID(int=site.random.getrandbits(128)).bytes)[:22].decode()
        )
    partitions = [each for each in site.partitions() if each.parent == path.parent]
    left = partitions[: site.random.randrange(len(partitions) + 1)]
    for each in left:
        shutil.rmtree(each)
    return f"{place(path)} formatted again, {len(left)} of {len(partitions)} partitions of it are missing"


def moved_log_dir(site: Site) -> str | None:
    """Move a log dir to a new path, and name that in log.dirs; the old path may be left in it, or be left behind."""
    settings, log_dir = site.broker / "server.properties", site.log_dir()
    value = property_of(settings, "log.dirs")
    if log_dir is None or value is None:
        return None
    target = log_dir.with_name("data7")
    names = [target.name if name == log_dir.name else name for name in (path.name for path in site.log_dirs)]
    how = site.random.choice(("moved", "copied", "moved, the old one still named", "moved, without its metadata log"))
    shutil.copytree(log_dir, target)
    if how != "copied":
        shutil.rmtree(log_dir)
    if how.endswith("metadata log"):
        shutil.rmtree(target / METADATA, ignore_errors=True)
    if how.endswith("named"):
        names.append(log_dir.name)
    set_property(settings, "log.dirs", ",".join(f"{site.broker.name}/{name}" for name in names))
    return f"{place(log_dir)} {how}: log.dirs is {property_of(settings, 'log.dirs')}"


def renumbered(site: Site) -> str | None:
    """Give the target another id, in its settings and on its disks."""
    name = "broker.id" if site.shape.mode == "zk" else "node.id"
    settings = site.broker / "server.properties"
    if site.shape.beside is None or site.shape.brokers == 1:
        return None
    number = site.random.choice(("77", *(other.name.removeprefix("broker-") for other in site.others)))
    set_property(settings, name, number)
    for log_dir in site.log_dirs:
        if (log_dir / META).exists():
            set_property(log_dir / META, name, number)
    return f"{site.broker.name} has {name} {number} in its settings and in {META}"


def dirs_of_another(site: Site) -> str | None:
    """Mount the data dirs of two brokers in each other's place, and correct the ids in meta.properties."""
    if not site.others:
        return None
    other = site.random.choice(site.others)
    name = "broker.id" if site.shape.mode == "zk" else "node.id"
    for log_dir in site.log_dirs:
        theirs = other / log_dir.name
        _exchange(log_dir, theirs, site.folder / "aside")
        for path, number in ((log_dir, site.number), (theirs, int(other.name.removeprefix("broker-")))):
            if (path / META).exists():
                set_property(path / META, name, str(number))
    return f"the disks of {site.broker.name} and {other.name} are swapped, each with the {name} of its new broker"
