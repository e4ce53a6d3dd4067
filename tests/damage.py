"""Random damage of log dirs: what disks, file systems, restores and people do to them, and more.

`cases(seed, count, folder, release)` makes brokers that differ with the seed; each tells in words what was done to it,
and `case("SEED/NUMBER", ...)` makes it again. Most are damaged in one to three places, some in none.
"""

import re
import shutil
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import NamedTuple

from kcheck.model.names import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    LOG_START,
    PARTITION_METADATA,
    RECOVERY_POINT,
)
from kcheck.records.batch import HEADER, checksum, entry_size
from tests.builders import batch, log
from tests.damage_made import made
from tests.oracle.jars import numbers

BROKERS = Path(__file__).parents[1] / "fixtures" / "brokers"
SUFFIXES = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
LEFTOVERS = (".swap", ".swap", ".cleaned", ".deleted")
NUMBERS = (
    "0", "-1", "1", "5", "1000000", "9223372036854775807", "9223372036854775808", "2147483648", "x", "", "1 2", "07",
)  # fmt: skip
MAX_PARTITIONS = 3


class Case(NamedTuple):
    """A broker's log dirs, its server.properties, and what was done, one line each."""

    name: str
    dirs: tuple[Path, ...]
    config: Mapping[str, object]
    what: tuple[str, ...]


def cases(seed: str, count: int, folder: Path, release: str) -> Iterator[Case]:
    """Yield cases 0 to `count` - 1 of a seed, each in a folder of its own below `folder`."""
    for number in range(count):
        yield case(f"{seed}/{number}", folder / str(number), release)


def case(name: str, folder: Path, release: str) -> Case:
    """Make one case; `name` is its seed."""
    random = Random(f"{name} {release}")
    folder.mkdir(parents=True)
    # What is made has batches of version 2.
    make = random.choice((_copied, made)) if numbers(release) >= (0, 11) else _copied
    dirs, config = make(random, folder, release)
    what = [
        f"{make.__name__.strip('_')} {' '.join(sorted(path.name for path in folder.glob('*/*-*') if path.is_dir()))}"
    ]
    for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3))):
        while (done := random.choice(DAMAGE)(random, random.choice(dirs))) is None:
            continue
        what.append(done)
    return Case(name, dirs, config, tuple(what))


def _copied(random: Random, folder: Path, release: str) -> tuple[tuple[Path, ...], dict[str, object]]:
    """Copy a log dir, or both, of a real broker of the release, with up to MAX_PARTITIONS of its partitions each."""
    broker = random.choice(sorted((BROKERS / nearest(release)).glob("*/broker-*")))
    dirs = []
    for source in sorted(broker.glob("data*")):
        copy = folder / source.name
        names = [
            path.name for path in sorted(source.iterdir()) if path.is_dir() and path.name != "__cluster_metadata-0"
        ]
        left = set(names) - set(random.sample(names, min(len(names), random.randint(1, MAX_PARTITIONS))))
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*left, "__cluster_metadata-0", ".lock"))
        dirs.append(copy)
    _mark(random, dirs)
    return tuple(dirs), {"segment.index.bytes": random.choice((1024, 1024, 1024, 512, 4096, 96))}


def nearest(release: str) -> str:
    """Return the newest release up to this one of which there are brokers."""
    known = sorted((path.name for path in BROKERS.iterdir()), key=numbers)
    return next(version for version in reversed(known) if numbers(version) <= numbers(release))


def _mark(random: Random, dirs: list[Path]) -> None:
    for path in dirs:
        if random.random() < 0.3:
            _marker(random, path)


def _files(path: Path, pattern: str = "*-*/*") -> list[Path]:
    return [found for found in sorted(path.glob(pattern)) if found.is_file()]


def _told(done: str, file: Path) -> str:
    return f"{done}: {file.parent.name}/{file.name}"


def _bytes(random: Random, path: Path) -> str | None:
    """Flip, zero, cut, prolong."""
    files = [file for file in _files(path) if file.stat().st_size]
    if not files:
        return None
    file = random.choice([each for each in files if each.suffix == ".log"] + files)
    data = bytearray(file.read_bytes())
    at = random.randrange(len(data))
    size = random.choice((1, 1, 4, 17, 18, 61, 512, 4096))
    match random.randrange(6):
        case 0:
            data[at] ^= 1 << random.randrange(8)
            done = f"bit of byte {at} flipped"
        case 1:
            data[at : at + size] = bytes(len(data[at : at + size]))
            done = f"{size} bytes from {at} zeroed"
        case 2:
            del data[at:]
            done = f"cut to {at}"
        case 3:
            data += bytes(size)
            done = f"{size} zeros behind the end"
        case 4:
            data += random.randbytes(size)
            done = f"{size} random bytes behind the end"
        case _:
            del data[at : at + size]
            done = f"{size} bytes from {at} taken out"
    file.write_bytes(data)
    return _told(done, file)


def _batch_starts(data: bytes) -> list[int]:
    starts, at = [], 0
    while (total := entry_size(data, at, remaining=len(data) - at)) is not None and total > 0:
        starts.append(at)
        at += total
    return [start for start in starts if len(data) - start >= HEADER.size]


def _header(random: Random, path: Path) -> str | None:
    """Change one field of a batch header, mostly with the CRC made right."""
    logs = [file for file in _files(path, "*-*/*.log") if file.stat().st_size >= HEADER.size]
    if not logs:
        return None
    file = random.choice(logs)
    data = bytearray(file.read_bytes())
    starts = _batch_starts(bytes(data))
    if not starts:
        return None
    at = random.choice((starts[-1], starts[0], *starts))
    fields = dict(zip(HEADER.names, HEADER.unpack_from(data, at), strict=True))
    name = random.choice([name for name in fields if name != "crc"] + ["base_offset", "partition_leader_epoch"])
    size = HEADER.sizes[HEADER.names.index(name)] * 8
    old = fields[name]
    new = random.choice((0, -1, old + 1, old - 1, old ^ 1 << random.randrange(size - 1), old ^ 0x20, old ^ 0x10))
    fields[name] = max(-(1 << size - 1), min((1 << size - 1) - 1, new))
    if fields[name] == old:
        return None
    data[at : at + HEADER.size] = HEADER.pack(*fields.values())
    total = entry_size(bytes(data), at, remaining=len(data) - at)
    right = random.random() < 0.8 and total is not None and total >= HEADER.size and fields["magic"] == 2
    if right and total is not None:
        data[at + 17 : at + 21] = struct.pack(">I", checksum(bytes(data[at + 21 : at + total]), 2))
    file.write_bytes(data)
    return _told(f"{name} {old} is {fields[name]} in the batch at {at}{', CRC right' if right else ''}", file)


def _batches(random: Random, path: Path) -> str | None:
    """Take out, repeat, exchange whole batches, or append a new one."""
    logs = [file for file in _files(path, "*-*/*.log") if file.stat().st_size >= HEADER.size]
    if not logs:
        return None
    file = random.choice(logs)
    data = file.read_bytes()
    starts = _batch_starts(data)
    if not starts:
        return None
    ends = [*starts[1:], len(data)]
    parts = [data[start:end] for start, end in zip(starts, ends, strict=True)]
    which = random.randrange(len(parts))
    match random.randrange(4):
        case 0:
            del parts[which]
            done = f"batch {which} taken out"
        case 1:
            parts.insert(which, parts[which])
            done = f"batch {which} repeated"
        case 2:
            other = random.randrange(len(parts))
            parts[which], parts[other] = parts[other], parts[which]
            done = f"batches {which} and {other} exchanged"
        case _:
            offset = random.choice((0, 1 << 31, 1 << 40, random.randrange(300)))
            made = batch(
                offset,
                random.choice((1, 5)),
                epoch=random.choice((0, 1, 9)),
                magic=random.choice((2, 2, 3)),
                producer=random.choice(((-1, -1), (7, 0))),
                attributes=random.choice((0, 0, 0x10, 0x30)),
            )
            parts.append(log([made]))
            done = f"a batch of offset {offset} appended"
    file.write_bytes(b"".join(parts))
    return _told(done, file)


def _remove(random: Random, path: Path) -> str | None:
    """Remove a file, or all files of a segment."""
    files = _files(path)
    if not files:
        return None
    file = random.choice(files)
    if random.random() < 0.25 and re.match(r"\d{20}\.", file.name):
        for each in file.parent.glob(f"{file.stem[:20]}.*"):
            each.unlink()
        return _told("segment removed", file)
    file.unlink()
    return _told("removed", file)


def _rename(random: Random, path: Path) -> str | None:
    """Give a file another offset, another suffix, or a name that is none; or leave a copy under it."""
    files = _files(path)
    if not files:
        return None
    file = random.choice(files)
    stem = random.choice(
        (file.stem, f"{random.choice((0, 1, 7, 30, 1000)):020d}", "5", "x", "-1", "00000000000000000000a")
    )
    suffix = random.choice((file.suffix, *SUFFIXES, ".swp", ""))
    new = file.with_name(f"{stem}{suffix}{random.choice(('', '', '', *LEFTOVERS))}")
    if new == file or new.is_dir():
        return None
    if random.random() < 0.5:
        shutil.copyfile(file, new)
        return _told(f"copied to {new.name}", file)
    file.replace(new)
    return _told(f"renamed to {new.name}", file)


def _leftover(random: Random, path: Path) -> str | None:
    """Leave files as a compaction, a split or a deletion does that did not end."""
    logs = _files(path, "*-*/*.log")
    if not logs:
        return None
    source = random.choice(logs)
    suffix = random.choice(LEFTOVERS)
    data = b"".join(file.read_bytes() for file in sorted(source.parent.glob("*.log"))[: random.choice((1, 2, 3))])
    kinds = random.choice(
        ((".log",), (".log", ".index", ".timeindex"), (".index",), (".log", ".txnindex"), (".snapshot",))
    )
    for kind in kinds:
        content = random.choice((data, data, b"")) if kind == ".log" else b""
        source.with_name(f"{source.stem}{kind}{suffix}").write_bytes(content)
    if random.random() < 0.4:
        source.unlink()
    return _told(f"{' '.join(kinds)} left as {suffix}{'' if source.exists() else ', the log gone'}", source)


def _index(random: Random, path: Path) -> str | None:
    """Change an entry of an index, add one, or zeros up to some size as in a preallocated one."""
    files = [file for suffix in ("index", "timeindex", "txnindex") for file in _files(path, f"*-*/*.{suffix}")]
    if not files:
        return None
    file = random.choice(files)
    data = bytearray(file.read_bytes())
    size = {".index": 8, ".timeindex": 12, ".txnindex": 34}[file.suffix]
    at = random.randrange(len(data) // size + 1) * size
    match random.randrange(4):
        case 0:
            data += bytes(max(0, 1024 // size * size - len(data)))
            done = "filled up with zeros"
        case 1:
            del data[at:]
            done = f"cut to {at}"
        case _:
            value = random.choice((0, 1, 5, 100, 1 << 20, -1)).to_bytes(4, "big", signed=True)
            entry = (
                bytes(size - 4) + value
                if random.random() < 0.5
                else value + random.choice((bytes(size - 4), b"\0" * (size - 5) + b"\x64"))
            )
            data[at : at + size] = entry
            done = f"entry {entry.hex()} at {at}"
    file.write_bytes(data)
    return _told(done, file)


def _checkpoint(random: Random, path: Path) -> str | None:
    """Change a number or a line of a checkpoint, its count or its version, or empty it."""
    names = (RECOVERY_POINT, RECOVERY_POINT, LOG_START, LOG_START, "replication-offset-checkpoint")
    files = (
        [path / name for name in names]
        + _files(path, f"*-*/{LEADER_EPOCHS}") * 2
        + _files(path, f"*-*/{PARTITION_METADATA}")
    )
    file = random.choice(files)
    if not file.exists():
        return None
    lines = file.read_text(errors="surrogateescape").split("\n")
    at = random.randrange(len(lines))
    match random.randrange(8):
        case 0 | 1 | 2 | 3:
            words = lines[at].split(" ")
            words[-1 if random.random() < 0.7 else random.randrange(len(words))] = random.choice(NUMBERS)
            lines[at] = " ".join(words)
        case 4:
            lines.insert(at, lines[random.randrange(len(lines))])
        case 5:
            del lines[at]
        case 6:
            lines = lines[: random.choice((0, 1, 2))]
        case _ if len(lines) > 2:
            entry = random.choice((f"{random.randrange(9)} {random.randrange(150)}", f"t 0 {random.randrange(99)}"))
            lines = [lines[0], str(len(lines) - 2), *lines[2:-1], entry, ""]
        case _:
            lines.append("")
    text = "\n".join(lines)
    file.write_text(text, errors="surrogateescape")
    return _told(f"is now {text!r}", file)


def _point(random: Random, path: Path) -> str | None:
    """Give a partition another recovery point or log start."""
    dirs = [found.name for found in sorted(path.glob("*-*")) if found.is_dir()]
    if not dirs:
        return None
    name = random.choice(dirs)
    offset = random.choice((0, 1, 15, 20, 33, 60, 115, 130, 1_000_000, random.randrange(200)))
    file = path / random.choice((RECOVERY_POINT, LOG_START))
    topic, _, partition = name.rpartition("-")
    file.write_text(f"0\n1\n{topic} {partition} {offset}\n")
    return f"{file.name} says only that {name} is at {offset}"


def _marker(_: Random, path: Path) -> str:
    marker = path / CLEAN_SHUTDOWN
    if marker.exists():
        marker.unlink()
        return "marker taken away"
    marker.write_text('{"version":0,"brokerEpoch":-1}')
    return "marker put there"


def _directory(random: Random, path: Path) -> str | None:
    """Rename a partition directory, or make one with any name."""
    dirs = [found for found in sorted(path.glob("*-*")) if found.is_dir()]
    if random.random() < 0.3 or not dirs:
        new = path / random.choice(
            ("lost+found", "empty-7", "t-x", "remote-log-index-cache", "t", "-1", "t-99999999999", "t--1")
        )
        new.mkdir(exist_ok=True)
        return f"directory {new.name} made"
    source = random.choice(dirs)
    tail = f"{'0123456789abcdef' * 2}-"
    name = random.choice(
        (
            f"{source.name}.{tail}delete",
            f"{source.name}.{tail}future",
            f"{source.name}.{tail}stray",
            "other-3",
            "x.-future",
        )
    )
    if (path / name).exists():
        return None
    source.rename(path / name)
    return f"directory {source.name} renamed to {name}"


def _move(random: Random, path: Path) -> str | None:
    """Put a file of one partition, or a whole partition, where another has it."""
    places = [found for found in sorted(path.parent.glob("*/*-*")) if found.is_dir()]
    files = _files(path)
    if len(places) < 2 or not files:
        return None
    file, place = random.choice(files), random.choice(places)
    if file.parent == place:
        return None
    if random.random() < 0.2 and place.parent != path and not (place.parent / file.parent.name).exists():
        shutil.copytree(file.parent, place.parent / file.parent.name)
        return f"directory {file.parent.name} copied into {place.parent.name}"
    shutil.copyfile(file, place / file.name)
    return _told(f"copied into {place.name}", file)


Damage = Callable[[Random, Path], str | None]
IN_PARTITIONS: tuple[Damage, ...] = (
    _bytes, _bytes, _bytes, _header, _header, _header, _batches, _batches, _remove, _remove, _rename, _leftover, _index,
    _index,
)  # fmt: skip
"""What can be done to the files of a log."""
DAMAGE = (*IN_PARTITIONS, _checkpoint, _checkpoint, _point, _point, _marker, _directory, _move)
"""What can be done to a log dir, the likelier the more often it stands there."""
