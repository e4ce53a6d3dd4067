"""Shows what a scan sees in snapshots of file systems: `sudo python -m tests.docs.volume_snapshots ext4 xfs`.

A file system in a loop device has a broker's log dirs, some of them not yet on its disk. Each row is a copy of that
device, as a snapshot has it, mounted read-only in one way. Needs root, loop devices and mkfs of each file system.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kcheck.fleet.run import open_run
from tests.cli.command import kcheck

BROKER = Path(__file__).parents[2] / "fixtures" / "brokers" / "4.3.1" / "stopped" / "broker-1"
SKIPS_THE_JOURNAL = {"ext4": "ro,noload", "xfs": "ro,norecovery,nouuid"}
REPLAYS = {"ext4": "ro", "xfs": "ro,nouuid"}
SIZE = 400 << 20


def ran(*words: str | Path) -> str:
    """Run a command and return its output."""
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout.strip()


def scanned(folder: Path, out: Path) -> dict[str, object]:
    """Return the rows of a scan, without the folder in their paths."""
    layout = f"{folder}/{{cluster}}/{{broker}}/{{log_dir}}"
    kcheck("fleet", "scan", layout, "--output-dir", out, "--run", "r", "--depth", "crc", "--quiet")
    run = open_run(str(out / "run=r"))
    names = {"findings": ("broker", "id", "dir"), "partitions": ("broker", "dir", "log_end_offset", "size")}
    rows: dict[str, object] = {name: sorted(map(str, run.values(name, columns))) for name, columns in names.items()}
    shutil.rmtree(out)
    return rows


def row(image: Path, options: str, live: Path, work: Path, *, writable: bool) -> str:
    """Return how a copy of a device mounts, and whether a scan of it equals one of the running file system."""
    device, mounted = ran("losetup", *(() if writable else ("-r",)), "-f", "--show", image), work / "snapshot"
    mounted.mkdir(exist_ok=True)
    try:
        try:
            ran("mount", "-o", options, device, mounted)
        except subprocess.CalledProcessError:
            return "refused"
        try:
            files = sum(path.is_file() for path in mounted.rglob("*"))
            if not (mounted / "c").is_dir():
                return f"{files} files"
            is_same = scanned(mounted, work / "out") == scanned(live, work / "out")
            return f"{files} files, {'equal' if is_same else 'other'} rows"
        finally:
            ran("umount", mounted)
    finally:
        ran("losetup", "-d", device)


def main(*systems: str) -> None:
    """Print a table for each file system."""
    for system in systems:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            image, live, copy = work / "image", work / "live", work / "copy"
            with image.open("wb") as file:
                file.truncate(SIZE)
            ran(f"mkfs.{system}", "-q", image)
            live.mkdir()
            ran("mount", "-o", "loop", image, live)
            try:
                shutil.copytree(BROKER / "data1", live / "c" / "1" / "data1")
                ran("sync", "-f", live)
                shutil.copytree(BROKER / "data2", live / "c" / "1" / "data2")
                shutil.copy(image, copy)
                skips, replays = SKIPS_THE_JOURNAL[system], REPLAYS[system]
                print(f"{system} not frozen, {skips}, read-only device:", row(copy, skips, live, work, writable=False))
                print(f"{system} not frozen, {replays}, read-only device:",
                      row(copy, replays, live, work, writable=False))  # fmt: skip
                print(f"{system} not frozen, {replays}, writable copy:", row(copy, replays, live, work, writable=True))
                ran("fsfreeze", "-f", live)
                try:
                    shutil.copy(image, copy)
                finally:
                    ran("fsfreeze", "-u", live)
                print(f"{system} frozen, {skips}, read-only device:", row(copy, skips, live, work, writable=False))
            finally:
                ran("umount", live)


if __name__ == "__main__":
    main(*(sys.argv[1:] or SKIPS_THE_JOURNAL))
