"""Damages to segments, indexes and producer snapshots."""

import shutil
from pathlib import Path

from tests.oracle.incidents.damages.site import Site, batches, logs, place


def _last(site: Site) -> Path | None:
    directory = site.partition()
    return logs(directory)[-1] if directory else None


def cut_tail(site: Site) -> str | None:
    """Cut some bytes off the last segment, or a whole batch."""
    if (log := _last(site)) is None:
        return None
    data = log.read_bytes()
    places = batches(data)
    last = places[-2] if len(places) > 1 else 0
    keep = site.random.choice((len(data) - 1, last, last + 20, site.random.randrange(len(data)), last + 61))
    log.write_bytes(data[:keep])
    return f"{place(log)} cut from {len(data)} to {min(keep, len(data))} bytes, its last batch begins at {last}"


def zero_tail(site: Site) -> str | None:
    """Zero the last bytes, as a power failure does."""
    if (log := _last(site)) is None:
        return None
    data = log.read_bytes()
    count = min(len(data), site.random.choice((7, 60, 200, 1000)))
    log.write_bytes(data[:-count] + bytes(count))
    return f"the last {count} of {len(data)} bytes of {place(log)} are zeros"


def zeros_behind(site: Site) -> str | None:
    """Add zeros behind the last batch, as preallocation leaves them."""
    if (log := _last(site)) is None:
        return None
    log.write_bytes(log.read_bytes() + bytes(site.random.choice((10, 100, 4096))))
    return f"zeros behind the last batch of {place(log)}"


def zero_in_last(site: Site) -> str | None:
    """Zero 100 bytes within the last batch."""
    if (log := _last(site)) is None:
        return None
    data = bytearray(log.read_bytes())
    places = batches(bytes(data))
    at = (places[-2] if len(places) > 1 else 0) + site.random.choice((0, 12, 61))
    data[at : at + 100] = bytes(len(data[at : at + 100]))
    log.write_bytes(data)
    return f"100 bytes from {at} of {place(log)} are zeros"


def empty_log(site: Site) -> str | None:
    """Empty a segment and keep its indexes."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    log.write_bytes(b"")
    return f"{place(log)} is empty"


def flip_middle(site: Site) -> str | None:
    """Flip a byte of a batch that is not in the last segment, or not the last batch."""
    directory = site.partition()
    if directory is None:
        return None
    found = logs(directory)
    log = site.random.choice(found[:-1] or found)
    return _flip(site, log, site.random.randrange(log.stat().st_size))


def flip_active(site: Site) -> str | None:
    """Flip a byte of the last segment."""
    log = _last(site)
    return None if log is None else _flip(site, log, site.random.randrange(log.stat().st_size))


def flip_header(site: Site) -> str | None:
    """Flip a byte of the header of a batch."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    return _flip(site, log, site.random.choice(batches(log.read_bytes())[:-1] or [0]) + site.random.randrange(61))


def _flip(site: Site, log: Path, at: int) -> str | None:
    data = bytearray(log.read_bytes())
    if at >= len(data):
        return None
    data[at] ^= 1 << site.random.randrange(8)
    log.write_bytes(data)
    return f"a bit of byte {at} of {place(log)} flipped, {len(data)} bytes"


def remove_segment(site: Site, which: str) -> str | None:
    """Remove the first, a middle or the last segment, with its indexes."""
    found = [path for path in site.partitions() if len(logs(path)) > (2 if which == "middle" else 1)]
    if not found:
        return None
    segments = logs(site.random.choice(found))
    log = {"first": segments[0], "last": segments[-1], "middle": segments[len(segments) // 2]}[which]
    for path in log.parent.glob(f"{log.stem}.*"):
        if path.suffix != ".snapshot":
            path.unlink()
    return f"{place(log)} removed with its indexes, {len(segments) - 1} are left"


def remove_first(site: Site) -> str | None:
    """Remove the first segment."""
    return remove_segment(site, "first")


def remove_middle(site: Site) -> str | None:
    """Remove a middle segment."""
    return remove_segment(site, "middle")


def remove_last(site: Site) -> str | None:
    """Remove the last segment."""
    return remove_segment(site, "last")


def remove_log_alone(site: Site) -> str | None:
    """Remove a .log and leave its indexes."""
    directory = site.partition()
    if directory is None:
        return None
    log = site.random.choice(logs(directory))
    log.unlink()
    return f"{place(log)} removed, its indexes are left"


def repeat_batch(site: Site) -> str | None:
    """Append a copy of an older batch."""
    found = [log for path in site.partitions() if len(batches((log := logs(path)[-1]).read_bytes())) > 2]
    if not found:
        return None
    log = site.random.choice(found)
    data = log.read_bytes()
    places = batches(data)
    at = site.random.randrange(len(places) - 2)
    log.write_bytes(data + data[places[at] : places[at + 1]])
    return f"batch {at} appended once more to {place(log)}"


def overlap(site: Site) -> str | None:
    """Rename a segment to a lower base offset."""
    last = [logs(path)[-1] for path in site.partitions() if len(logs(path)) > 1]
    found = [log for log in last if not log.with_stem(f"{int(log.stem) - 1:020d}").exists()]
    if not found:
        return None
    log = site.random.choice(found)
    base = f"{int(log.stem) - 1:020d}"
    for path in log.parent.glob(f"{log.stem}.*"):
        path.rename(path.with_stem(base))
    return f"{place(log)} renamed to {base}.log, with its indexes"


def remove_indexes(site: Site) -> str | None:
    """Remove all offset and time indexes of a partition."""
    return _indexes(site, "removed")


def zero_indexes(site: Site) -> str | None:
    """Fill all indexes of a partition with zeros."""
    return _indexes(site, "zeros")


def garbage_indexes(site: Site) -> str | None:
    """Fill all indexes of a partition with bytes of nobody."""
    return _indexes(site, "garbage")


def _indexes(site: Site, how: str) -> str | None:
    directory = site.partition()
    if directory is None:
        return None
    for path in sorted((*directory.glob("*.index"), *directory.glob("*.timeindex"))):
        if how == "removed":
            path.unlink()
        else:
            count = max(path.stat().st_size, 48)
            path.write_bytes(bytes(count) if how == "zeros" else site.random.randbytes(count))
    return f"the indexes of {place(directory)}: {how}"


def preallocated_indexes(site: Site) -> str | None:
    """Leave zeros behind the entries of the indexes, as a killed broker does."""
    directory = site.partition()
    if directory is None:
        return None
    for path in (*directory.glob("*.index"), *directory.glob("*.timeindex")):
        path.write_bytes(path.read_bytes().ljust(4096 // 24 * 24, b"\0"))
    return f"zeros behind the entries of the indexes of {place(directory)}"


def remove_snapshots(site: Site) -> str | None:
    """Remove the producer snapshots of a partition."""
    found = [path for path in site.partitions() if any(path.glob("*.snapshot"))]
    if not found:
        return None
    directory = site.random.choice(found)
    for path in directory.glob("*.snapshot"):
        path.unlink()
    return f"no snapshot is left in {place(directory)}"


def spoil_snapshot(site: Site) -> str | None:
    """Fill the newest producer snapshot of a partition with zeros, or cut it."""
    found = [path for path in site.partitions() if any(path.glob("*.snapshot"))]
    if not found:
        return None
    snapshot = max(site.random.choice(found).glob("*.snapshot"))
    data = snapshot.read_bytes()
    snapshot.write_bytes(site.random.choice((bytes(len(data)), data[: len(data) // 2], b"")))
    return f"{place(snapshot)} has {snapshot.stat().st_size} other bytes"


def remove_files(site: Site) -> str | None:
    """Remove a third of all files of the target's partitions, as somebody with rm does."""
    files = [path for directory in site.partitions() for path in sorted(directory.iterdir()) if path.is_file()]
    gone = site.random.sample(files, len(files) // 3)
    for path in gone:
        path.unlink()
    return f"{len(gone)} of {len(files)} files of partitions of broker {site.number} removed" if gone else None


def other_segment(site: Site) -> str | None:
    """Put the last segment of another replica in the place of the target's, where they differ."""
    pairs = [
        (logs(theirs)[-1], mine)
        for mine in site.partitions()
        for other in site.others
        for theirs in site.partitions(other)
        if theirs.name == mine.name and logs(theirs)[-1].read_bytes() != logs(mine)[-1].read_bytes()
    ]
    if not pairs:
        return None
    source, mine = site.random.choice(pairs)
    shutil.copyfile(source, mine / source.name)
    return f"{place(source)} copied over that of {place(mine)}"
