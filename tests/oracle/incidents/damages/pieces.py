"""Damages by pieces that are whole, but older, of another place, or under another name."""

import shutil
from pathlib import Path

from tests.oracle.incidents.damages.checkpoints import EPOCHS
from tests.oracle.incidents.damages.site import Site, batches, logs, place, records, unlike_replicas


def _older(site: Site) -> list[tuple[Path, Path]]:
    """Return the partition directories of the target whose older copy is there and differs, with that copy."""
    pairs = [(path, site.base / "old" / place(path)) for path in site.partitions()]
    return [(now, old) for now, old in pairs if old.is_dir() and records(now) != records(old)]


def _replace(directory: Path, source: Path) -> None:
    shutil.rmtree(directory)
    shutil.copytree(source, directory)


def old_partition(site: Site) -> str | None:
    """Put an older copy of one partition directory back."""
    if not (found := _older(site)):
        return None
    now, old = site.random.choice(found)
    _replace(now, old)
    return f"{place(now)} is an older copy"


def old_log_dir(site: Site) -> str | None:
    """Put an older copy of one of two log dirs back."""
    log_dir = site.log_dir()
    if log_dir is None or not (source := site.base / "old" / place(log_dir)).is_dir():
        return None
    _replace(log_dir, source)
    return f"{place(log_dir)} is an older copy"


def old_epochs(site: Site) -> str | None:
    """Put an older copy of a leader-epoch-checkpoint back."""
    found = [(now / EPOCHS, old / EPOCHS) for now, old in _older(site)]
    found = [(now, old) for now, old in found if now.exists() and old.exists() and now.read_text() != old.read_text()]
    if not found:
        return None
    now, old = site.random.choice(found)
    shutil.copyfile(old, now)
    return f"{place(now)} is an older copy"


def old_checkpoints(site: Site) -> str | None:
    """Put older copies of all checkpoints of a log dir back."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    copies = sorted((site.base / "old" / place(log_dir)).glob("*-offset-checkpoint"))
    copies = [path for path in copies if not (log_dir / path.name).is_dir()]
    if all(
        (log_dir / path.name).exists() and (log_dir / path.name).read_bytes() == path.read_bytes() for path in copies
    ):
        return None
    for path in copies:
        shutil.copyfile(path, log_dir / path.name)
    return f"the checkpoints of {place(log_dir)} are older copies"


def swap_partitions(site: Site) -> str | None:
    """Let two partition directories exchange their names."""
    found = site.partitions()
    if len(found) < 2:
        return None
    one, two = site.random.sample(found, 2)
    aside = one.with_name("aside")
    shutil.move(one, aside)
    shutil.move(two, one)
    shutil.move(aside, two)
    return f"{place(one)} and {place(two)} have each other's name"


def rename_partition(site: Site) -> str | None:
    """Rename a partition directory to a number that the topic does not have, or to another topic."""
    directory = site.partition()
    if directory is None:
        return None
    topic, _, number = directory.name.rpartition("-")
    name = site.random.choice((f"{topic}-{int(number) + 10}", f"{topic}_2-{number}"))
    directory.rename(directory.with_name(name))
    return f"{place(directory)} renamed to {name}"


def replica_copy(site: Site) -> str | None:
    """Put a copy of another replica in the place of the target's, where they differ."""
    pairs = unlike_replicas(site)
    if not pairs:
        return None
    mine, source = site.random.choice(pairs)
    _replace(mine, source)
    return f"{place(mine)} is a copy of {place(source)}"


def merge_log_dirs(site: Site) -> str | None:
    """Move all partitions of one log dir into the other, and leave the checkpoints."""
    if len(site.log_dirs) < 2:
        return None
    source, target = site.random.sample(site.log_dirs, 2)
    found = [path for path in site.partitions() if path.parent == source]
    for path in found:
        shutil.move(path, target / path.name)
    return f"the partitions of {place(source)} moved to {place(target)}" if found else None


def cut_batches(site: Site) -> str | None:
    """Cut whole batches off the end of a segment that is not the last, or of the last."""
    found = [log for path in site.partitions() for log in logs(path) if len(batches(log.read_bytes())) > 2]
    if not found:
        return None
    log = site.random.choice(found)
    data = log.read_bytes()
    keep = site.random.choice(batches(data)[1:-1])
    log.write_bytes(data[:keep])
    return f"{place(log)} cut from {len(data)} to {keep} bytes, at a batch"


def drop_batch(site: Site) -> str | None:
    """Take a batch out of the midst of a segment."""
    found = [log for path in site.partitions() for log in logs(path) if len(batches(log.read_bytes())) > 3]
    if not found:
        return None
    log = site.random.choice(found)
    data = log.read_bytes()
    places = batches(data)
    at = site.random.randrange(1, len(places) - 2)
    log.write_bytes(data[: places[at]] + data[places[at + 1] :])
    return f"batch {at} of {len(places) - 1} of {place(log)} is taken out"


def drop_head_batch(site: Site) -> str | None:
    """Take the first batch out of a log."""
    found = [logs(path)[0] for path in site.partitions() if logs(path) and len(batches(logs(path)[0].read_bytes())) > 2]
    if not found:
        return None
    log = site.random.choice(found)
    data = log.read_bytes()
    log.write_bytes(data[batches(data)[1] :])
    return f"the first batch of {place(log)} is taken out"


def zero_middle(site: Site) -> str | None:
    """Fill a block in the midst of a segment with zeros."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    data = bytearray(log.read_bytes())
    at = site.random.randrange(len(data))
    count = min(site.random.choice((61, 512)), len(data) - at)
    data[at : at + count] = bytes(count)
    log.write_bytes(data)
    return f"{count} bytes from {at} of {len(data)} of {place(log)} are zeros"


def other_suffix(site: Site) -> str | None:
    """Rename a segment as the cleaner, a split or a deletion leaves it."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    suffix = site.random.choice((".swap", ".cleaned", ".deleted", ".bak"))
    for path in log.parent.glob(f"{log.stem}.*"):
        if path == log or (suffix != ".bak" and path.suffix != ".snapshot"):
            path.rename(path.with_name(path.name + suffix))
    return f"{place(log)} has the ending {suffix}"


def second_segment(site: Site) -> str | None:
    """Leave a copy of the last segment under a higher base offset."""
    directory = site.partition()
    if directory is None:
        return None
    log = logs(directory)[-1]
    copy = log.with_stem(f"{int(log.stem) + site.random.choice((1, 1000)):020d}")
    if copy.exists():
        return None
    shutil.copyfile(log, copy)
    return f"{place(log)} copied to {copy.name}"


def cut_everywhere(site: Site) -> str | None:
    """Cut the last batch of a partition on every broker, as power that fails does to disks that lie about syncs."""
    directory = site.partition()
    if directory is None:
        return None
    cuts = []
    for path in sorted(site.folder.glob(f"broker-*/data*/{directory.name}")):
        if logs(path):
            log = logs(path)[-1]
            data = log.read_bytes()
            log.write_bytes(data[: max(batches(data)[-1] - site.random.choice((1, 30)), 0)])
            cuts.append(place(log))
    return f"the last batch of {', '.join(cuts)} is cut" if cuts else None
