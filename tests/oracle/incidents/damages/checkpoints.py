"""Damages to checkpoints, the marker of a clean stop, and directories for files."""

import shutil
from pathlib import Path

from tests.oracle.incidents.damages.site import METADATA, Site, lines_of, logs, place, write_lines

RECOVERY, LOG_START, HIGH_WATERMARK = (
    f"{name}-offset-checkpoint" for name in ("recovery-point", "log-start", "replication")
)
EPOCHS, MARKER = "leader-epoch-checkpoint", ".kafka_cleanshutdown"


def _epochs(site: Site) -> Path | None:
    found = [path / EPOCHS for path in site.partitions() if lines_of(path / EPOCHS)]
    return site.random.choice(found) if found else None


def zero_epochs(site: Site) -> str | None:
    """Fill leader-epoch-checkpoint with zeros."""
    if (path := _epochs(site)) is None:
        return None
    path.write_bytes(bytes(path.stat().st_size))
    return f"{place(path)} is zeros"


def empty_epochs(site: Site) -> str | None:
    """Leave no byte, or no entry, in leader-epoch-checkpoint."""
    if (path := _epochs(site)) is None:
        return None
    path.write_text(site.random.choice(("", "0\n0\n")))
    return f"{place(path)} has no entry, {path.stat().st_size} bytes"


def remove_epochs(site: Site) -> str | None:
    """Remove leader-epoch-checkpoint."""
    if (path := _epochs(site)) is None:
        return None
    path.unlink()
    return f"{place(path)} removed"


def other_epochs(site: Site) -> str | None:
    """Write epochs that the log does not have: of another partition, or one that begins earlier."""
    if (path := _epochs(site)) is None:
        return None
    lines = lines_of(path)
    last = int(lines[-1].split()[0])
    start = int(logs(path.parent)[-1].stem)
    write_lines(path, site.random.choice(([f"{last + 3} {start}"], [*lines, f"{last + 2} {start + 1}"], lines[:1])))
    return f"{place(path)} has the entries {lines_of(path)}, not {lines}"


def _checkpoint(site: Site, name: str) -> Path | None:
    log_dir = site.log_dir()
    return log_dir / name if log_dir and lines_of(log_dir / name) else None


def empty_high_watermarks(site: Site) -> str | None:
    """Empty replication-offset-checkpoint, or remove it."""
    if (path := _checkpoint(site, HIGH_WATERMARK)) is None:
        return None
    if site.random.random() < 0.5:
        path.unlink()
        return f"{place(path)} removed"
    path.write_text("0\n0\n")
    return f"{place(path)} has no entry"


def raise_high_watermark(site: Site) -> str | None:
    """Raise a high watermark above the log end."""
    return _other_offset(site, HIGH_WATERMARK, 1000)


def raise_recovery_point(site: Site) -> str | None:
    """Raise a recovery point above the log end."""
    return _other_offset(site, RECOVERY, 1000)


def raise_log_start(site: Site) -> str | None:
    """Set a log start above the log end, or in the midst."""
    log_dir = site.log_dir()
    found = [path for path in site.partitions() if log_dir and path.parent == log_dir]
    if not found or log_dir is None:
        return None
    directory = site.random.choice(found)
    topic, _, partition = directory.name.rpartition("-")
    offset = int(logs(directory)[-1].stem) + site.random.choice((1, 3, 5000))
    lines = [line for line in lines_of(log_dir / LOG_START) if not line.startswith(f"{topic} {partition} ")]
    write_lines(log_dir / LOG_START, [*lines, f"{topic} {partition} {offset}"])
    return f"{place(log_dir / LOG_START)} says that {directory.name} begins at {offset}"


def _other_offset(site: Site, name: str, more: int) -> str | None:
    if (path := _checkpoint(site, name)) is None:
        return None
    lines = lines_of(path)
    number = site.random.randrange(len(lines))
    words = lines[number].split()
    lines[number] = " ".join([*words[:2], str(int(words[2]) + more)])
    write_lines(path, lines)
    return f"{place(path)} has the line {lines[number]}"


def remove_recovery_points(site: Site) -> str | None:
    """Remove the recovery points, or set them to 0."""
    if (path := _checkpoint(site, RECOVERY)) is None:
        return None
    if site.random.random() < 0.5:
        path.unlink()
        return f"{place(path)} removed"
    write_lines(path, [" ".join([*line.split()[:2], "0"]) for line in lines_of(path)])
    return f"{place(path)} has only offsets 0"


def garbage_checkpoint(site: Site) -> str | None:
    """Write a checkpoint that cannot be read."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    path = log_dir / site.random.choice((RECOVERY, LOG_START, HIGH_WATERMARK, "cleaner-offset-checkpoint"))
    path.write_bytes(site.random.choice((bytes(30), b"0\n1\nx\n", b"", b"7\n0\n")))
    return f"{place(path)} is {path.read_bytes()!r}"


def remove_marker(site: Site) -> str | None:
    """Remove the markers of a clean stop."""
    found = [path / MARKER for path in site.log_dirs if (path / MARKER).exists()]
    for path in found:
        path.unlink()
    return f"{', '.join(map(place, found))} removed" if found else None


def add_marker(site: Site) -> str | None:
    """Put the marker of a clean stop where a broker was killed."""
    found = [path / MARKER for path in site.log_dirs if not (path / MARKER).exists()]
    for path in found:
        path.write_text('{"version":0,"brokerEpoch":5}')
    return f"{', '.join(map(place, found))} made" if found else None


def other_broker_epoch(site: Site) -> str | None:
    """Write another broker epoch into the marker, or no JSON at all."""
    found = [path / MARKER for path in site.log_dirs if (path / MARKER).exists()]
    if not found:
        return None
    text = site.random.choice(('{"version":0,"brokerEpoch":3}', "", "x", '{"version":0,"brokerEpoch":999999}'))
    for path in found:
        path.write_text(text)
    return f"{', '.join(map(place, found))} say {text!r}"


def directory_for_checkpoint(site: Site) -> str | None:
    """Put a directory where a checkpoint belongs."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    path = log_dir / site.random.choice((RECOVERY, HIGH_WATERMARK, f"{HIGH_WATERMARK}.tmp", f"{RECOVERY}.tmp"))
    path.unlink(missing_ok=True)
    path.mkdir(exist_ok=True)
    if site.random.random() < 0.5:
        (path / "x").touch()
    return f"{place(path)} is a directory, {'empty' if not any(path.iterdir()) else 'not empty'}"


BLOCKED = (
    EPOCHS, f"{EPOCHS}.tmp", f"{EPOCHS}.tmp", "partition.metadata", "partition.metadata.tmp",
    "00000000000000000000.log", "00000000000000000000.log.cleaned", "00000000000000000000.log.deleted",
)  # fmt: skip
"""Names of files that a broker reads, writes or removes in a partition."""


def directory_in_partition(site: Site) -> str | None:
    """Put a directory where a file of a partition belongs."""
    directory = site.partition()
    if directory is None:
        return None
    path = directory / site.random.choice(BLOCKED)
    if path.is_file():
        path.unlink()
    path.mkdir(exist_ok=True)
    if site.random.random() < 0.5:
        (path / "x").touch()
    return f"{place(path)} is a directory"


def file_for_partition(site: Site) -> str | None:
    """Put a file where a partition directory belongs, or any file and folder into the log dir."""
    log_dir = site.log_dir()
    if log_dir is None:
        return None
    name = site.random.choice(("lost+found", "notes.txt", "orders-9", "backup", "x-1.log"))
    path = log_dir / name
    if name.endswith((".txt", "9", ".log")):
        path.write_text("x")
    else:
        path.mkdir()
    return f"{place(path)} is a {'file' if path.is_file() else 'directory'}"


def file_for_metadata_log(site: Site) -> str | None:
    """Put a file where the target's metadata log belongs, or a directory where one of its files belongs."""
    directory = site.log_dirs[0] / METADATA if site.log_dirs else None
    if directory is None or not directory.is_dir():
        return None
    if site.random.random() < 0.5:
        shutil.rmtree(directory)
        directory.touch()
        return f"{place(directory)} is a file"
    path = directory / site.random.choice((f"{EPOCHS}.tmp", "quorum-state.tmp", f"{10:020d}-{1:010d}.checkpoint.part"))
    path.mkdir()
    (path / "x").touch()
    return f"{place(path)} is a directory"


def spoil_metadata_log(site: Site) -> str | None:
    """Flip a byte of the target's copy of the metadata log, or cut its end, or remove its snapshots."""
    directory = site.log_dirs[0] / METADATA if site.log_dirs else None
    if directory is None or not directory.is_dir() or not logs(directory):
        return None
    log = logs(directory)[-1]
    data = bytearray(log.read_bytes())
    match site.random.randrange(3):
        case 0:
            at = site.random.randrange(len(data))
            data[at] ^= 1
            what = f"a bit of byte {at} of {place(log)} flipped"
        case 1:
            keep = len(data) - site.random.choice((1, 30, 300))
            del data[keep:]
            what = f"{place(log)} cut to {len(data)} bytes"
        case _:
            (directory / EPOCHS).write_bytes(b"")
            what = f"{place(directory / EPOCHS)} is empty"
    log.write_bytes(data)
    return what


def remove_quorum_state(site: Site) -> str | None:
    """Remove or spoil quorum-state of the target."""
    directory = site.log_dirs[0] / METADATA if site.log_dirs else None
    if directory is None or not (directory / "quorum-state").exists():
        return None
    if site.random.random() < 0.5:
        (directory / "quorum-state").unlink()
        return f"{place(directory / 'quorum-state')} removed"
    (directory / "quorum-state").write_text(site.random.choice(("", "{", '{"x":1}')))
    return f"{place(directory / 'quorum-state')} is {(directory / 'quorum-state').read_text()!r}"
