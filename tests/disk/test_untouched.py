"""No verb creates, changes or touches anything in a checked directory."""

import os
from pathlib import Path

import pytest

from tests.builders import broker, fingerprint, flip_byte, partition_dir, run, write
from tests.cli.command import kcheck

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
"""The test runner has threads where kcheck has none."""

WIDE = ("--segments", "--epochs", "--batches", "--files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two brokers with every kind of file, and with access times that any read would change."""
    one = broker(tmp_path / "d1", [*run(0, 59), *run(60, 89, epoch=2)], epoch_entries=[(0, 0), (2, 60)])
    two = broker(
        tmp_path / "d2", [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[(0, 0), (1, 60)],
        clean=False, recovery_point=0, tail=bytes(100),
    )  # fmt: skip
    partition_dir(two / "u-0", [run(0, 99), run(100, 199)], epoch_entries=[(0, 0), (5, 50), (4, 60)])
    flip_byte(two / "u-0" / "00000000000000000100.log", 450)
    write(one, {".lock": b"", "cleaner-offset-checkpoint": b"\xff" * 10, "x.tmp": b"x"})
    (one / "t-1").symlink_to("t-0")
    (one / "t-2").symlink_to("/")
    (one / "empty-0").mkdir()
    os.mkfifo(one / "fifo")
    for path in [tmp_path, *tmp_path.rglob("*")]:
        if not path.is_symlink():
            # An access time before the change is what relatime would renew.
            os.utime(path, ns=(1_000_000_000, 2_000_000_000))
    return tmp_path


def files(found: dict[str, tuple[int, ...]], folder: Path) -> dict[str, tuple[int, ...]]:
    """Return the paths whose access times must stay; the system changes those of listed directories."""
    return {
        name: facts if (folder / name).is_file() else (*facts[:3], *facts[4:])
        for name, facts in found.items()
    }  # fmt: skip


@pytest.mark.sample(20)
@pytest.mark.parametrize("kafka", ["4.3", "0.10.2"])
@pytest.mark.parametrize("style", ["text", "json"])
@pytest.mark.parametrize(
    "command",
    [
        ("inspect", "{0}/d1", "{0}/d2", *WIDE),
        ("inspect", "{0}", *WIDE),
        ("inspect", "{0}/d2/u-0", *WIDE),
        ("inspect", "{0}/d2/u-0/00000000000000000100.log", "{0}/d1/cleaner-offset-checkpoint", "--batches"),
        ("end-offset", "{0}/d1", "{0}/d2"),
        ("end-offset", "{0}/d2", "--after-start"),
        ("fleet", "scan", "{0}", "--output-dir", "{0}-out", "--depth", "records"),
        ("truncation", "1={0}/d1", "2={0}/d2"),
        ("truncation", "1={0}/d1", "2={0}/d2", "--leader", "1"),
        ("truncation", "1={0}/d1", "2={0}/d2", "--leader", "best", "--live"),
    ],
    ids=lambda command: " ".join(command).replace("{0}/", ""),
)
def test_nothing_is_touched(folder: Path, command: tuple[str, ...], style: str, kafka: str) -> None:
    """Not even the access time of a file."""
    before = fingerprint(folder)
    done = kcheck(*(part.format(folder) for part in command), "--format", style, "--kafka", kafka)
    after = fingerprint(folder)
    assert files(before, folder) == files(after, folder)
    assert done.out
    assert "bug in kcheck" not in done.err


def test_what_nobody_may_write_is_read(folder: Path) -> None:
    """A copy on a read-only medium."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o555)
    done = kcheck("inspect", folder / "d2", *WIDE)
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    assert done.code == 1
    assert "u-0" in done.out
