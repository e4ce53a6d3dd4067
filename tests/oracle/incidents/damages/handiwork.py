"""Damages that people do by hand: with cp and mv, an editor, a link, a backup of brokers that ran."""

import gzip
import os
import shutil
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import EPOCHS
from tests.oracle.incidents.damages.places import OTHER_USER
from tests.oracle.incidents.damages.site import METADATA, Site, lines_of, logs, place, property_of, set_property

BOOTSTRAP = "bootstrap.checkpoint"
ELSEWHERE = "elsewhere"
"""A folder of the broker that is none of its log dirs."""


def nested_copy(site: Site) -> str | None:
    """Copy a partition directory into itself, as `cp -r` does if the target is there."""
    directory = site.partition()
    if directory is None:
        return None
    source = site.random.choice([directory, *site.partitions()])
    shutil.copytree(source, site.folder / "aside")
    (site.folder / "aside").rename(directory / source.name)
    return f"{place(source)} copied into {place(directory)}"


def linked_partition(site: Site) -> str | None:
    """Move a partition directory to another disk, and leave a link."""
    directory = site.partition()
    return None if directory is None else _linked(directory, site.broker / ELSEWHERE)


def linked_segment(site: Site) -> str | None:
    """Move a segment to another disk, and leave a link."""
    directory = site.partition()
    return None if directory is None else _linked(site.random.choice(logs(directory)), site.broker / ELSEWHERE)


def _linked(path: Path, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    path.rename(folder / path.name)
    path.symlink_to(os.path.relpath(folder / path.name, path.parent))
    return f"{place(path)} is a link to {place(folder / path.name)}"


def linked_log_dir(site: Site) -> str | None:
    """Mount a log dir elsewhere, and leave a link; another entry of log.dirs may lead there, too."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    what = _linked(log_dir, site.broker / ELSEWHERE)
    settings = site.broker / "server.properties"
    if twice := site.random.random() < 0.3:
        entry = place(site.broker / ELSEWHERE / log_dir.name)
        set_property(settings, "log.dirs", f"{property_of(settings, 'log.dirs')},{entry}")
    return f"{what}{', which log.dirs names as well' if twice else ''}"


def renamed_segment(site: Site) -> str | None:
    """Give a segment, with its indexes, the name of another offset."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    offset = int(log.stem) + site.random.choice((-1, 1, 2, 1000))
    if offset < 0 or (directory / f"{offset:020d}.log").exists():
        return None
    for path in sorted(directory.glob(f"{log.stem}.*")):
        if path.suffix != ".snapshot":
            path.rename(path.with_name(f"{offset:020d}{path.suffix}"))
    return f"{place(log)} and its indexes have the name {offset:020d}"


def second_name(site: Site) -> str | None:
    """Copy a partition directory to a name that Kafka reads as the same partition."""
    directory = site.partition()
    if directory is None:
        return None
    topic, _, partition = directory.name.rpartition("-")
    target = directory.with_name(f"{topic}-{site.random.choice(('0', '00', '+'))}{partition}")
    shutil.copytree(directory, target)
    return f"{place(directory)} copied to {target.name}"


def edited_checkpoint(site: Site) -> str | None:
    """Save a text file of a log dir with an editor: other line ends, blanks, a line more or less."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    found = [path for path in sorted(log_dir.glob("*-offset-checkpoint")) if lines_of(path)]
    found += [path / EPOCHS for path in site.partitions() if path.parent == log_dir and lines_of(path / EPOCHS)]
    found += [log_dir / "meta.properties"] if (log_dir / "meta.properties").is_file() else []
    if not found:
        return None
    path = site.random.choice(found)
    text = path.read_text()
    how, changed = site.random.choice((
        ("CR LF", text.replace("\n", "\r\n")), ("no last line end", text.rstrip("\n")), ("a blank line", f"{text}\n"),
        ("a blank after each line", text.replace("\n", " \n")), ("tabs", text.replace(" ", "\t")),
        ("the last line twice", text + text.split("\n")[-2] + "\n"), ("a byte order mark", f"\ufeff{text}"),
        ("half of it", text[: len(text) // 2]),
    ))  # fmt: skip
    path.write_text(changed, newline="")
    return f"{place(path)} was edited: {how}"


def lock_directory(site: Site) -> str | None:
    """Let .lock be a directory, or a file that only root may write."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    path = log_dir / ".lock"
    path.unlink(missing_ok=True)
    path.mkdir()
    return f"{place(path)} is a directory"


def spoil_bootstrap(site: Site) -> str | None:
    """Remove or spoil bootstrap.checkpoint of the target or of the controller."""
    log_dirs = {site.broker / "data1", *([site.metadata] if site.metadata else [])}
    found = [path / BOOTSTRAP for path in sorted(log_dirs) if (path / BOOTSTRAP).is_file()]
    if not found:
        return None
    path = site.random.choice(found)
    data = path.read_bytes()
    if len(data) < 9:
        return None
    how, data = site.random.choice((
        ("removed", b""), ("empty", b""), ("zeros", bytes(len(data))), ("cut", data[: len(data) // 2]),
        ("changed in one bit", data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]),
    ))  # fmt: skip
    path.unlink() if how == "removed" else path.write_bytes(data)
    return f"{place(path)} is {how}"


def log_dir_twice(site: Site) -> str | None:
    """Name a log dir twice in log.dirs, by one path or by two."""
    settings = site.broker / "server.properties"
    value = property_of(settings, "log.dirs")
    if value is None:
        return None
    first = value.split(",")[0]
    more = site.random.choice((first, f"{first}/", f" {first}", f"{site.broker.name}/./data1"))
    set_property(settings, "log.dirs", f"{value},{more}")
    return f"log.dirs of the target is {value},{more}"


def log_dirs_of_other(site: Site) -> str | None:
    """Let log.dirs name the log dirs of another broker, or the folder above the own."""
    settings = site.broker / "server.properties"
    value = property_of(settings, "log.dirs")
    if value is None:
        return None
    chosen = site.random.choice([*site.others, None])
    new = f"{site.broker.name}/." if chosen is None else value.replace(f"{site.broker.name}/", f"{chosen.name}/")
    set_property(settings, "log.dirs", new)
    return f"log.dirs of {site.broker.name} is {new}"


def other_chroot(site: Site) -> str | None:
    """Let zookeeper.connect name another path in ZooKeeper."""
    settings = site.broker / "server.properties"
    value = property_of(settings, "zookeeper.connect")
    if value is None:
        return None
    set_property(settings, "zookeeper.connect", f"{value}/other")
    return f"zookeeper.connect of {site.broker.name} has the path /other"


def no_directory_id(site: Site) -> str | None:
    """Take directory.id out of a meta.properties, or let it be a reserved one."""
    found = [path / "meta.properties" for path in site.log_dirs]
    found = [path for path in found if property_of(path, "directory.id")]
    if not found:
        return None
    path = site.random.choice(found)
    value = site.random.choice((None, None, "AAAAAAAAAAAAAAAAAAAAAA", "x"))
    set_property(path, "directory.id", value)
    return f"{place(path)} has directory.id {value}"


def old_times(site: Site) -> str | None:
    """Let all files of the target be modified in 2001, as a restore that keeps no times, or the wrong ones, does."""
    for path in (found for log_dir in site.log_dirs for found in log_dir.rglob("*")):
        os.utime(path, (1e9, 1e9))
    if site.random.random() < 0.5:
        for log in (log for path in site.partitions() for log in logs(path)):
            log.with_suffix(".timeindex").unlink(missing_ok=True)
        return f"all files of {site.broker.name} are of 2001, and no segment has a time index"
    return f"all files of {site.broker.name} are of 2001"


def later_snapshot(site: Site) -> str | None:
    """Copy a producer snapshot to an offset beyond the log end."""
    found = [path for at in site.partitions() for path in sorted(at.glob("*.snapshot"))]
    if not found:
        return None
    path = site.random.choice(found)
    last = max(int(log.stem) for log in path.parent.glob("*.log"))
    target = path.with_stem(f"{last + site.random.choice((100, 5000)):020d}")
    shutil.copyfile(path, target)
    return f"{place(path)} copied to {target.name}"


def leftovers(site: Site) -> str | None:
    """Leave files of writes that did not come to their end."""
    directory = site.partition()
    log_dir = site.log_dir()
    if directory is None or log_dir is None:
        return None
    files = {
        log_dir / "meta.properties.tmp": b"version", log_dir / "recovery-point-offset-checkpoint.tmp": b"0\n5\nor",
        directory / f"{EPOCHS}.tmp": b"0\n", directory / "partition.metadata.tmp": b"ver",
        directory / f"{logs(directory)[0].stem}.index.cleaned": b"x" * 7,
        directory / f"{logs(directory)[0].stem}.log.swap": b"",
    }  # fmt: skip
    chosen = site.random.sample(sorted(files), 3)
    for path in chosen:
        path.write_bytes(files[path])
    return f"left over: {', '.join(map(place, chosen))}"


def packed_segment(site: Site) -> str | None:
    """Let a script pack the oldest segment of a partition with gzip."""
    directory = site.partition()
    if directory is None:
        return None
    log = logs(directory)[0]
    log.with_name(f"{log.name}.gz").write_bytes(gzip.compress(log.read_bytes(), mtime=0))
    log.unlink()
    return f"{place(log)} is packed as {log.name}.gz"


def closed_path(site: Site) -> str | None:
    """Let a path have no mode at all for the user of all disks, the controller's too."""
    directory = site.partition()
    if directory is None or os.geteuid():
        return None
    for each in (found for log_dir in site.folder.glob("*/data*") for found in (log_dir, *log_dir.rglob("*"))):
        os.chown(each, OTHER_USER, OTHER_USER)
    found = [
        path for log_dir in site.log_dirs for path in (log_dir / "meta.properties", log_dir / ".kafka_cleanshutdown")
    ]
    found += [directory / EPOCHS, *directory.glob("*.index"), directory, *site.broker.glob(f"data1/{METADATA}/*")]
    found += [site.metadata / METADATA, *(site.metadata / METADATA).glob("*")] if site.metadata else []
    path = site.random.choice(sorted(path for path in found if path.exists()))
    path.chmod(0)
    return f"{place(path)} has the mode 000, all belongs to user {OTHER_USER}"


def spoil_zookeeper(site: Site) -> str | None:
    """Cut or flip the newest log of ZooKeeper, or remove its snapshots or its logs."""
    folder = site.folder / "zookeeper" / "version-2"
    written = sorted(folder.glob("log.*"), key=lambda path: int(path.suffix[1:], 16))
    snapshots = sorted(folder.glob("snapshot.*"), key=lambda path: int(path.suffix[1:], 16))
    if not written or not snapshots:
        return None
    match site.random.randrange(5):
        case 0:
            data = written[-1].read_bytes().rstrip(b"\0")
            keep = len(data) * site.random.choice((1, 2, 3)) // 4
            written[-1].write_bytes(data[:keep])
            return f"{place(written[-1])} cut from {len(data)} to {keep} bytes"
        case 1:
            bits = bytearray(written[-1].read_bytes())
            at = site.random.randrange(len(bytes(bits).rstrip(b"\0")))
            bits[at] ^= 1
            written[-1].write_bytes(bits)
            return f"a bit of byte {at} of {place(written[-1])} flipped"
        case 2:
            for path in snapshots:
                path.unlink()
            return "zookeeper has lost its snapshots"
        case 3:
            for path in written:
                path.unlink()
            return "zookeeper has lost its logs"
        case _:
            snapshots[-1].write_bytes(snapshots[-1].read_bytes()[:-20])
            return f"{place(snapshots[-1])} is cut"


def live_copy(site: Site) -> str | None:
    """Put a copy back that was made of the target while it ran; not of all disks of a cluster."""
    if site.shape.beside is None and not site.others:
        return None
    return f"{site.broker.name} is a copy of when it ran" if _live(site, [site.broker]) else None


def live_copies(site: Site) -> str | None:
    """Put the copies of all brokers back that were made while they ran, but not that of the controller."""
    if site.shape.beside is None:
        return None
    return "all brokers are copies of when they ran" if _live(site, [site.broker, *site.others]) else None


def live_controller(site: Site) -> str | None:
    """Put the copy of the controller or of ZooKeeper back that was made while all ran."""
    name = site.shape.beside
    return None if name is None or not _live(site, [site.folder / name]) else f"{name} is a copy of when it ran"


def _live(site: Site, folders: list[Path]) -> bool:
    copies = [(path, log_dir) for path in folders for log_dir in sorted((site.base / "live" / path.name).glob("*"))]
    for path, copy in copies:
        shutil.rmtree(path / copy.name, ignore_errors=True)
        shutil.copytree(copy, path / copy.name)
    return bool(copies)
