"""Damages that scripts on a host make, and moves of disks between hosts."""

import gzip
import os
import shutil
from itertools import pairwise
from pathlib import Path

from kcheck.records.batch import crc32c
from tests.oracle.incidents.damages.checkpoints import EPOCHS, MARKER
from tests.oracle.incidents.damages.site import METADATA, Site, batches, logs, place, property_of, set_property

META = "meta.properties"
CLEANED = (".index", ".timeindex", ".snapshot", ".txnindex", ".metadata", EPOCHS, "-offset-checkpoint", MARKER)
"""Endings that somebody takes for files which Kafka can do without."""
CHECKPOINTS = ("recovery-point-offset-checkpoint", "replication-offset-checkpoint", "log-start-offset-checkpoint")


def _empty(log_dir: Path, keep: str = "") -> None:
    for path in log_dir.iterdir():
        if path.name != keep:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def cleaned_up(site: Site) -> str | None:
    """Remove all files of one ending, as `find -name '*.index' -delete` does; the metadata log may be among them."""
    ending = site.random.choice(CLEANED)
    found = [path for log_dir in site.log_dirs for path in sorted(log_dir.rglob(f"*{ending}")) if path.is_file()]
    if spared := site.random.random() < 0.5:
        found = [path for path in found if METADATA not in path.parts]
    for path in found:
        path.unlink()
    how = " but for the metadata log" * spared
    return f"{len(found)} files *{ending} of {site.broker.name} removed{how}" if found else None


def rotated(site: Site) -> str | None:
    """Let logrotate take segments for logs of a program: copied and emptied, or renamed; packed perhaps."""
    directory = site.partition()
    if directory is None:
        return None
    chosen = logs(directory) if site.random.random() < 0.5 else logs(directory)[-1:]
    emptied, packed = site.random.random() < 0.5, site.random.random() < 0.5
    for log in chosen:
        data = log.read_bytes()
        log.with_name(f"{log.name}.1{'.gz' * packed}").write_bytes(gzip.compress(data, mtime=0) if packed else data)
        log.write_bytes(b"") if emptied else log.unlink()
    how = "emptied" if emptied else "renamed"
    return f"{', '.join(log.name for log in chosen)} of {place(directory)} {how} by logrotate{', packed' * packed}"


def joined_segments(site: Site) -> str | None:
    """Append a segment to the one before it, and remove it, as somebody does who wants fewer files."""
    found = [path for path in site.partitions() if len(logs(path)) > 1]
    if not found:
        return None
    segments = logs(site.random.choice(found))
    at = site.random.randrange(len(segments) - 1)
    one, two = segments[at : at + 2]
    one.write_bytes(one.read_bytes() + two.read_bytes())
    for path in two.parent.glob(f"{two.stem}.*"):
        if path.suffix != ".snapshot":
            path.unlink()
    return f"{place(two)} appended to {one.name} and removed"


def moved_segments(site: Site) -> str | None:
    """Move the oldest segments of a replica to another broker's replica of the partition, to free space."""
    pairs = [
        (mine, theirs)
        for mine in site.partitions()
        for other in site.others
        for theirs in site.partitions(other)
        if theirs.name == mine.name and len(logs(mine)) > 1
    ]
    if not pairs:
        return None
    mine, theirs = site.random.choice(pairs)
    segments = logs(mine)[: site.random.randrange(1, len(logs(mine)))]
    for path in [path for log in segments for path in sorted(mine.glob(f"{log.stem}.*"))]:
        path.replace(theirs / path.name)
    return f"{len(segments)} oldest segments of {place(mine)} moved to {place(theirs)}"


def removed_topic(site: Site) -> str | None:
    """Remove all directories of a topic, on one broker or on all of them, and no metadata."""
    directory = site.partition()
    if directory is None:
        return None
    topic = directory.name.rpartition("-")[0]
    everywhere = site.random.random() < 0.5
    folders = [site.broker, *(site.others if everywhere else [])]
    found = [path for folder in folders for path in sorted(folder.glob(f"data*/{topic}-*")) if path.is_dir()]
    for path in found:
        shutil.rmtree(path)
    return f"rm -rf {topic}-* on {'every broker' if everywhere else site.broker.name}, {len(found)} directories"


def same_size_kept(site: Site) -> str | None:
    """Copy a broker while it runs, then once more with rsync --size-only: what kept its size is not copied again."""
    copies = sorted((site.base / "live" / site.broker.name).glob("*"))
    pairs = [
        (path, old)
        for copy in copies
        for old in sorted(copy.rglob("*"))
        if (path := site.broker / copy.name / old.relative_to(copy)).is_file() and old.is_file()
    ]
    stale = [
        (path, old)
        for path, old in pairs
        if path.stat().st_size == old.stat().st_size and path.read_bytes() != old.read_bytes()
    ]
    for path, old in stale:
        shutil.copyfile(old, path)
    left = 0
    if site.random.random() < 0.5:  # without --delete
        for copy in copies:
            for old in sorted(copy.rglob("*")):
                path = site.broker / copy.name / old.relative_to(copy)
                if old.is_file() and not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(old, path)
                    left += 1
    what = f"{', '.join(place(path) for path, _ in stale)} as when it ran, {left} files that were deleted since"
    return what if stale or left else None


def new_hardware(site: Site) -> str | None:
    """Give the id of the target to a new host: its log dirs are formatted, or empty."""
    metas = [path / META for path in site.log_dirs if (path / META).exists()]
    if not metas:
        return None
    formatted = site.random.random() < 0.7
    for path in metas:
        _empty(path.parent, META)
        if not formatted:
            path.unlink()
        elif property_of(path, "directory.id"):
            set_property(path, "directory.id", f"{''.join(site.random.choices('abcdefghijkABCDEFGHIJK', k=21))}A")
    return f"all log dirs of {site.broker.name} are {'formatted anew' if formatted else 'empty'}"


def volumes_lost(site: Site) -> str | None:
    """Lose the volumes of all brokers but one, as containers without named volumes do."""
    if not site.others:
        return None
    for folder in site.others:
        for log_dir in sorted(folder.glob("data*")):
            _empty(log_dir, META)
    return f"only {site.broker.name} has its volumes, the others have {META} alone"


def disk_of_dead(site: Site) -> str | None:
    """Mount a log dir of another broker, which is dead, on the target, and name it in log.dirs."""
    settings = site.broker / "server.properties"
    value, found = property_of(settings, "log.dirs"), [path for other in site.others for path in other.glob("data*")]
    if value is None or not found:
        return None
    source, target = site.random.choice(sorted(found)), site.broker / "data8"
    gone, own_id = site.random.random() < 0.5, site.random.random() < 0.7
    shutil.copytree(source, target)
    if gone:
        _empty(source, META)
    name = "broker.id" if site.shape.mode == "zk" else "node.id"
    if own_id and (target / META).exists():
        set_property(target / META, name, str(site.number))
    set_property(settings, "log.dirs", f"{value},{place(target)}")
    how = f"with {name} {site.number}" if own_id else "as it was"
    return f"{place(source)} {'moved' if gone else 'copied'} to {place(target)} {how}, which log.dirs names as well"


def full_disk(site: Site) -> str | None:
    """Fill the disk under load, then kill: last batches are half there, checkpoints older, new files empty."""
    torn = []
    for directory in site.partitions():
        log = logs(directory)[-1]
        data = log.read_bytes()
        if site.random.random() < 0.4 and (last := batches(data)[-2:][0]) < len(data):
            log.write_bytes(data[: site.random.randrange(last, len(data))])
            torn.append(directory.name)
    for log_dir in site.log_dirs:
        (log_dir / MARKER).unlink(missing_ok=True)
        for name in CHECKPOINTS:
            live = site.base / "live" / site.broker.name / log_dir.name / name
            if live.is_file() and (log_dir / name).is_file():
                shutil.copyfile(live, log_dir / name)
            (log_dir / f"{name}.tmp").write_bytes(b"")
    return f"{site.broker.name} had no space left: {', '.join(torn)} are torn" if torn else None


def clock_set_back(site: Site) -> str | None:
    """Date the newest batches of each partition of the target a year before, as a host whose clock is set back does."""
    year, changed = 365 * 86_400_000, 0
    for directory in site.partitions():
        log = logs(directory)[-1]
        data = bytearray(log.read_bytes())
        places = batches(bytes(data))
        for at, end in list(pairwise(places))[len(places) // 2 :]:
            if data[at + 16] == 2:
                for field in (at + 27, at + 35):
                    data[field : field + 8] = (int.from_bytes(data[field : field + 8], "big") - year).to_bytes(8, "big")
                data[at + 17 : at + 21] = crc32c(bytes(data[at + 21 : end])).to_bytes(4, "big")
                changed += 1
        log.write_bytes(data)
        log.with_suffix(".timeindex").unlink(missing_ok=True)
        os.utime(log, (log.stat().st_atime, log.stat().st_mtime - year / 1000))
    return f"{changed} newest batches of {site.broker.name} are a year older, without time index" if changed else None


def cluster_id_everywhere(site: Site) -> str | None:
    """Write another cluster.id into every meta.properties of all nodes, by a script that formats them."""
    found = sorted(site.folder.glob(f"*/data*/{META}"))
    for path in found:
        set_property(path, "cluster.id", "ccccccccQcccccccccccca")
    return f"cluster.id of {len(found)} {META} is another one" if found else None


def unmounted(site: Site) -> str | None:
    """Start before the disks are mounted: all log dirs of the target are empty folders, or not there."""
    gone = site.random.random() < 0.5
    for log_dir in site.log_dirs:
        shutil.rmtree(log_dir)
        if not gone:
            log_dir.mkdir()
    return f"all log dirs of {site.broker.name} are {'not there' if gone else 'empty folders'}"


def alone_of_snapshot(site: Site) -> str | None:
    """Restore nothing of the metadata but its newest snapshot: no segment, no quorum-state, no epochs."""
    log_dirs = [path for path in {site.broker / "data1", site.metadata} if path is not None]
    found = [path / METADATA for path in sorted(log_dirs) if list((path / METADATA).glob("*.checkpoint"))]
    if not found:
        return None
    directory = site.random.choice(found)
    newest = max(directory.glob("*.checkpoint"))
    for path in directory.iterdir():
        if path != newest:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return f"{place(newest)} is all that {place(directory)} has"
