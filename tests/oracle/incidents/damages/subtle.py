"""Damages that leave every checksum and every count right: what a careful adversary, or bad luck, does."""

import os
import shutil
import struct
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import HIGH_WATERMARK, MARKER, RECOVERY
from tests.oracle.incidents.damages.places import OTHER_USER
from tests.oracle.incidents.damages.site import Site, batches, lines_of, logs, place, set_property, write_lines


def _entries(site: Site, kind: str, size: int) -> tuple[Path, bytearray, int] | None:
    """Return an index of the target with entries, its bytes, and how many entries it has."""
    found = [
        path for at in site.partitions() if at.name[:2] != "__" for path in sorted(at.glob(f"*.{kind}"))
        if path.with_suffix(".log").exists() and any(path.read_bytes())
    ]  # fmt: skip
    if not found:
        return None
    path = site.random.choice(found)
    data = bytearray(path.read_bytes())
    return path, data, len(bytes(data).rstrip(b"\0")) // size + 1 if len(data) >= size else 0


def other_index_entry(site: Site) -> str | None:
    """Let an entry of an offset index name the place of a later batch."""
    if (found := _entries(site, "index", 8)) is None:
        return None
    path, data, _ = found
    places = batches(path.with_suffix(".log").read_bytes())
    entry = site.random.randrange(max(len(data) // 8, 1))
    relative, at = struct.unpack_from(">ii", data, 8 * entry)
    later = [begin for begin in places[:-1] if begin > at]
    if not later or at == 0:
        return None
    struct.pack_into(">ii", data, 8 * entry, relative, site.random.choice(later))
    path.write_bytes(data)
    return f"entry {entry} of {place(path)} names byte {struct.unpack_from('>ii', data, 8 * entry)[1]}, not {at}"


def foreign_index(site: Site) -> str | None:
    """Put the indexes of another segment in the place of a segment's own."""
    found = [path for at in site.partitions() for path in sorted(at.glob("*.index")) if path.stat().st_size >= 8]
    if len(found) < 2:
        return None
    source, target = site.random.sample(found, 2)
    for ending in site.random.choice(((".index",), (".timeindex",), (".index", ".timeindex"))):
        if source.with_suffix(ending).exists():
            shutil.copyfile(source.with_suffix(ending), target.with_suffix(ending))
    return f"{place(target)} or its time index is that of {place(source)}"


def old_time_index(site: Site) -> str | None:
    """Let every entry of a time index be of 2001."""
    found = [path for at in site.partitions() for path in sorted(at.glob("*.timeindex")) if path.stat().st_size >= 12]
    found = [path for path in found if any(path.read_bytes()) and path.parent.name[:2] != "__"]
    if not found:
        return None
    path = site.random.choice(found)
    data = bytearray(path.read_bytes())
    for at in range(0, len(data) - 11, 12):
        (now,) = struct.unpack_from(">q", data, at)
        if now:
            struct.pack_into(">q", data, at, 1_000_000_000_000 + at)
    path.write_bytes(data)
    return f"{place(path)} dates every entry in 2001"


def foreign_segment_whole(site: Site) -> str | None:
    """Put a segment of another partition, with its indexes and snapshot, in the place of one with the same offset."""
    pairs = [
        (theirs, mine)
        for one in site.partitions() for two in site.partitions() if one != two
        for theirs in logs(one) for mine in logs(two)
        if theirs.name == mine.name and theirs.read_bytes() != mine.read_bytes()
    ]  # fmt: skip
    if not pairs:
        return None
    theirs, mine = site.random.choice(pairs)
    for ending in (".log", ".index", ".timeindex", ".snapshot"):
        if theirs.with_suffix(ending).exists():
            shutil.copyfile(theirs.with_suffix(ending), mine.with_suffix(ending))
    return f"{place(theirs)} and its indexes copied over {place(mine)}"


def partition_over_other(site: Site) -> str | None:
    """Copy all files of a partition over those of another one of its topic."""
    pairs = [
        (one, two) for one in site.partitions() for two in site.partitions()
        if one != two and one.name.rpartition("-")[0] == two.name.rpartition("-")[0]
    ]  # fmt: skip
    if not pairs:
        return None
    one, two = site.random.choice(pairs)
    shutil.rmtree(two)
    shutil.copytree(one, two)
    return f"the files of {place(one)} copied over those of {place(two)}"


def exchange_in_topic(site: Site) -> str | None:
    """Let two partitions of one topic exchange their directories, with or without their checkpoint lines."""
    pairs = [
        (one, two) for one in site.partitions() for two in site.partitions()
        if one < two and one.name.rpartition("-")[0] == two.name.rpartition("-")[0]
    ]  # fmt: skip
    return _exchange(site, pairs)


def exchange_keyed(site: Site) -> str | None:
    """Let two partitions whose producers chose them by key exchange their directories."""
    found = [path for path in site.partitions() if path.name.startswith("spread-")]
    return _exchange(site, [(one, two) for one in found for two in found if one < two])


def _exchange(site: Site, pairs: list[tuple[Path, Path]]) -> str | None:
    """Exchange a pair of directories, with or without their checkpoint lines."""
    if not pairs:
        return None
    one, two = site.random.choice(pairs)
    aside = one.with_name("aside")
    shutil.move(one, aside)
    shutil.move(two, one)
    shutil.move(aside, two)
    if lines := one.parent == two.parent and site.random.random() < 0.5:
        keys = {f"{path.name.rpartition('-')[0]} {path.name.rpartition('-')[2]}": path for path in (one, two)}
        first, second = keys
        for path in one.parent.glob("*-offset-checkpoint"):
            if path.is_file():
                rows = [row.rpartition(" ") for row in lines_of(path)]
                new = {first: second, second: first}
                write_lines(path, [f"{new.get(key, key)} {offset}" for key, _, offset in rows])
    return f"{place(one)} and {place(two)} have each other's content{' and checkpoint lines' * lines}"


def tail_without_trace(site: Site) -> str | None:
    """Cut the end of a replica, and of everything on its disk that knows of it; another broker has the partition."""
    found = [path for path in site.partitions() if len(list(site.folder.glob(f"broker-*/data*/{path.name}"))) > 1]
    found = [path for path in found if len(batches(logs(path)[-1].read_bytes())) > 2]
    if not found:
        return None
    directory = site.random.choice(found)
    log = logs(directory)[-1]
    data = log.read_bytes()
    keep = site.random.choice(batches(data)[1:-1])
    end = int.from_bytes(data[keep : keep + 8], "big")
    log.write_bytes(data[:keep])
    for path in directory.glob("*.snapshot"):
        if int(path.stem) > end:
            path.unlink()
    for path in (log.with_suffix(".index"), log.with_suffix(".timeindex")):
        path.unlink(missing_ok=True)
    topic, _, partition = directory.name.rpartition("-")
    key = f"{topic} {partition}"
    for name in (RECOVERY, HIGH_WATERMARK):
        rows = [row.rpartition(" ") for row in lines_of(directory.parent / name)]
        write_lines(directory.parent / name, [f"{of} {min(int(at), end) if of == key else at}" for of, _, at in rows])
    return f"{place(log)} cut to {keep} of {len(data)} bytes, offset {end}, and no file of its disk knows more"


def power_loss(site: Site) -> str | None:
    """Cut the end of every active segment of the target, zero its indexes, and remove the marker of a clean stop."""
    cuts = []
    for directory in site.partitions():
        log = logs(directory)[-1]
        data = log.read_bytes()
        keep = site.random.choice((len(data), len(data), batches(data)[-2:][0], site.random.randrange(len(data))))
        if keep < len(data):
            log.write_bytes(data[:keep] + (bytes(len(data) - keep) if site.random.random() < 0.5 else b""))
            cuts.append(directory.name)
    for log_dir in site.log_dirs:
        (log_dir / MARKER).unlink(missing_ok=True)
    return f"power loss of {site.broker.name}: the ends of {', '.join(cuts)} are gone" if cuts else None


def zero_length_files(site: Site) -> str | None:
    """Empty every file of a partition that was written last, as a file system does that lost power."""
    directory = site.partition()
    if directory is None:
        return None
    log = logs(directory)[-1]
    emptied = [path for path in sorted(directory.iterdir()) if path.is_file() and path.stem == log.stem]
    if site.random.random() < 0.5:
        emptied += [path for path in sorted(directory.iterdir()) if path.is_file() and path.suffix != ".log"]
    for path in emptied:
        path.write_bytes(b"")
    return f"{', '.join(sorted({path.name for path in emptied}))} of {place(directory)} are empty"


def longer_future(site: Site) -> str | None:
    """Leave a whole copy as -future in the other log dir, and an older or cut log as the current one."""
    directory = site.partition()
    if directory is None or len(site.log_dirs) < 2:
        return None
    other = next(path for path in site.log_dirs if path != directory.parent)
    future = other / f"{directory.name}.0123456789abcdef0123456789abcdef-future"
    shutil.copytree(directory, future)
    log = logs(directory)[-1]
    data = log.read_bytes()
    log.write_bytes(data[: batches(data)[-2:][0]])
    return f"{place(future)} is whole, the last batch of {place(log)} is cut"


def read_only_path(site: Site) -> str | None:
    """Let a file or directory be read-only for the user of all disks."""
    directory = site.partition()
    if directory is None or os.geteuid():
        return None
    for each in (found for log_dir in site.folder.glob("*/data*") for found in (log_dir, *log_dir.rglob("*"))):
        os.chown(each, OTHER_USER, OTHER_USER)
    found = [directory, directory.parent, *directory.glob("*"), *directory.parent.glob("*-offset-checkpoint")]
    path = site.random.choice(sorted(found))
    path.chmod(0o555 if path.is_dir() else 0o444)
    return f"{place(path)} is read-only, all belongs to user {OTHER_USER}"


ODD = (
    ("log.roll.ms", "0"), ("inter.broker.protocol.version", "9.9"), ("inter.broker.protocol.version", "2.0"),
    ("log.cleanup.policy", "remove"), ("compression.type", "gz"), ("log.message.timestamp.type", "X"),
    ("no.such.setting", "1"), ("advertised.listeners", "PLAINTEXT://"), ("listeners", "PLAINTEXT//x"),
    ("log.retention.hours", "0"), ("log.retention.bytes", "0"), ("log.retention.bytes", "-2"),
    ("num.recovery.threads.per.data.dir", "0"), ("log.segment.bytes", "13"), ("log.index.size.max.bytes", "1"),
    ("broker.rack", ""), ("default.replication.factor", "0"), ("log.flush.interval.messages", "0"),
    ("metric.reporters", "no.such.Class"), ("authorizer.class.name", "no.such.Class"), ("node.id", "-1"),
    ("log.dirs", ""), ("replica.lag.time.max.ms", "-1"), ("offsets.topic.replication.factor", "0"),
    ("log.cleaner.dedupe.buffer.size", "1"), ("log.cleaner.threads", "0"), ("remote.log.storage.system.enable", "true"),
    ("controller.quorum.election.timeout.ms", "x"), ("min.insync.replicas", "9"), ("transaction.max.timeout.ms", "0"),
)  # fmt: skip
"""Settings with values that a release refuses, or takes, some of them at a price."""


def odd_setting(site: Site) -> str | None:
    """Set a value that a release may refuse, or that lets it delete records."""
    name, value = site.random.choice(ODD)
    set_property(site.broker / "server.properties", name, value)
    return f"{site.broker.name}/server.properties: {name}={value}"
