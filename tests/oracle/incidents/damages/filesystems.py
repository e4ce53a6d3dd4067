"""Damages that disks, checks of a file system and clocks make."""

import os
import shutil
import struct
from pathlib import Path

from kcheck.records.batch import crc32c
from tests.oracle.incidents.damages.checkpoints import MARKER
from tests.oracle.incidents.damages.site import METADATA, Site, batches, logs, place

BLOCK = 4096


def _files(site: Site) -> list[Path]:
    paths = [path for directory in site.partitions() for path in sorted(directory.iterdir()) if path.is_file()]
    paths += [path for log_dir in site.log_dirs for path in sorted(log_dir.iterdir()) if path.is_file()]
    return [path for path in paths if path.stat().st_size]


def zeroed_blocks(site: Site) -> str | None:
    """Fill some blocks of files of the target with zeros, as a check of the file system does that gives them up."""
    paths = _files(site)
    what = []
    for path in site.random.sample(paths, min(3, len(paths))):
        data = bytearray(path.read_bytes())
        at = site.random.randrange(0, len(data), BLOCK)
        data[at : at + BLOCK] = bytes(len(data[at : at + BLOCK]))
        path.write_bytes(data)
        what.append(f"block {at} of {place(path)}")
    return f"zeros in {', '.join(what)}" if what else None


def whole_blocks(site: Site) -> str | None:
    """Cut the last segment of each partition to a multiple of a block, or fill it up to one with zeros."""
    size, fill = site.random.choice((512, BLOCK)), site.random.random() < 0.5
    cut = 0
    for directory in site.partitions():
        log = logs(directory)[-1]
        data = log.read_bytes()
        if rest := len(data) % size:
            log.write_bytes(data + bytes(size - rest) if fill else data[: len(data) - rest])
            cut += 1
    if site.random.random() < 0.5:
        for log_dir in site.log_dirs:
            (log_dir / MARKER).unlink(missing_ok=True)
    how = "filled with zeros" if fill else "cut"
    return f"{cut} last segments of {site.broker.name} {how} to multiples of {size} bytes" if cut else None


def lost_found(site: Site) -> str | None:
    """Let a check of the file system move a partition directory, or its files, to lost+found."""
    directory = site.partition()
    if directory is None:
        return None
    target = directory.parent / "lost+found"
    target.mkdir()
    if site.random.random() < 0.5:
        directory.rename(target / "#131073")
        return f"{place(directory)} is {place(target)}/#131073"
    paths = site.random.sample(sorted(directory.iterdir()), 2)
    for number, path in enumerate(paths):
        path.rename(target / f"#{131073 + number}")
    return f"{', '.join(path.name for path in paths)} of {place(directory)} are in {place(target)}"


def bit_rot(site: Site) -> str | None:
    """Flip a bit in five files of the target."""
    paths = [*_files(site), *sorted((site.broker / "data1" / METADATA).glob("*.log"))]
    what = []
    for path in site.random.sample(paths, min(5, len(paths))):
        data = bytearray(path.read_bytes())
        at = site.random.randrange(len(data))
        data[at] ^= 1 << site.random.randrange(8)
        path.write_bytes(data)
        what.append(f"byte {at} of {place(path)}")
    return f"a bit flipped in {', '.join(what)}" if what else None


def later_times(site: Site) -> str | None:
    """Let all files of the target be modified in 2040, and none have a time index."""
    for path in (found for log_dir in site.log_dirs for found in log_dir.rglob("*")):
        os.utime(path, (2.2e9, 2.2e9))
    for log in (log for path in site.partitions() for log in logs(path)):
        log.with_suffix(".timeindex").unlink(missing_ok=True)
    return f"all files of {site.broker.name} are of 2040, and no segment has a time index"


def wrong_clock(site: Site) -> str | None:
    """Let the records of a partition be of 2001 or 2040, as a producer or a broker with a wrong clock dates them."""
    directory = site.partition()
    if directory is None or directory.name[:2] == "__":
        return None
    now = site.random.choice((1_000_000_000_000, 2_200_000_000_000))
    for log in logs(directory):
        data = bytearray(log.read_bytes())
        for at, end in zip(batches(data), batches(data)[1:], strict=False):
            if data[at + 16] != 2:
                return None
            first, last = struct.unpack_from(">qq", data, at + 27)
            struct.pack_into(">qq", data, at + 27, now, now + last - first)
            struct.pack_into(">I", data, at + 17, crc32c(bytes(data[at + 21 : end])))
        log.write_bytes(data)
        log.with_suffix(".timeindex").unlink(missing_ok=True)
    return f"the records of {place(directory)} are of {2001 if now < 2e12 else 2040}, and it has no time index"


def snapshot_of_moments(site: Site) -> str | None:
    """Let the two log dirs of the target be of two moments: the one of now, the other copied while it ran."""
    copies = sorted((site.base / "live" / site.broker.name).glob("*"))
    if len(copies) < 2:
        return None
    copy = site.random.choice(copies)
    shutil.rmtree(site.broker / copy.name)
    shutil.copytree(copy, site.broker / copy.name)
    return f"{place(site.broker / copy.name)} is a copy of when it ran, the other log dir is not"
