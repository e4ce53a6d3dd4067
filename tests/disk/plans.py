"""A plan with every kind of operation on two log dirs, and the log dirs afterwards."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from kcheck.disk.identity import known_identities
from kcheck.disk.local import LOCAL
from kcheck.disk.places import digest_of_directory
from kcheck.model.plan import (
    Change,
    FileOp,
    Patch,
    Plan,
    Rename,
    SetAside,
    Truncate,
    Why,
    Write,
    digest,
    serialize_plan,
)
from tests.builders import broker, run

WHY = Why("KC212", "the recovery point lies above the log end", {"file": "00000000000000000000.log"}, {"records": 50})
LOG = f"{0:020d}.log"
INDEX = f"{0:020d}.index"
POINT = "recovery-point-offset-checkpoint"

State = Mapping[str, tuple[object, ...]]
"""Every name below some folders with what it is: mode, owner, modification time, bytes, extended attributes.

Links and `.lock` are left out.
"""


def make(folder: Path) -> tuple[Path, Path]:
    """Create the log dirs `data1` and `data2` with unusual modes, times and attributes; `data2` without a `.lock`."""
    first = broker(folder / "data1", run(0, 99))
    second = broker(folder / "data2", run(0, 99), partition="u-1")
    for number, path in enumerate(sorted((first, second, *first.rglob("*"), *second.rglob("*")), reverse=True)):
        path.chmod(0o750 if path.is_dir() else (0o640, 0o600, 0o644)[number % 3])
        os.utime(path, ns=(10**18 + number, 10**18 + 10**9 * number + 7))
        if sys.platform == "linux" and not path.is_dir():
            os.setxattr(path, "user.note", f"note {number}".encode())
    (first / ".lock").touch()
    for log_dir in (first, second):
        os.utime(log_dir, ns=(10**18, 10**18 + 5))
    return first, second


def plan_of(first: Path, second: Path) -> Plan:
    """Return a plan for the log dirs that `make` creates."""
    partition = first / "t-0"
    log, index, point = (path.read_bytes() for path in (partition / LOG, partition / INDEX, first / POINT))
    metadata = digest((partition / "partition.metadata").read_bytes())
    marks = (second / "replication-offset-checkpoint").read_bytes()
    operations: tuple[FileOp, ...] = (
        Write(str(first / POINT), digest(point), digest(b"0\n0\n"), WHY, b"0\n0\n"),
        Truncate(str(partition / LOG), digest(log), digest(log[:500]), WHY),
        SetAside(str(partition / INDEX), digest(index), None, WHY, directory=False),
        Write(str(partition / "leader-epoch-checkpoint.new"), None, digest(b"x"), WHY, b"x"),
        Rename(str(partition / "partition.metadata"), metadata, metadata, WHY, "metadata", directory=False),
        SetAside(str(second / "u-1"), digest_of_directory(LOCAL, str(second / "u-1")), None, WHY, directory=True),
        Patch(str(second / "replication-offset-checkpoint"), digest(marks), digest(b"1" + marks[1:]), WHY,
              (Change(0, b"0", b"1"),)),
        Write(str(second / "new-0" / LOG), None, digest(b"whole"), WHY, b"whole"),
    )  # fmt: skip
    return Plan("4.3.1", (str(first), str(second)), operations)


def bytes_of(plan: Plan) -> bytes:
    """Return the plan file, with the identities of the log dirs."""
    return serialize_plan(
        plan._replace(identities=known_identities((LOCAL, path) for path in plan.log_dirs)), kcheck="0"
    )


def attributes(path: Path) -> dict[str, bytes]:
    """Return the extended attributes of a file, ACLs among them."""
    if sys.platform != "linux":
        return {}
    return {name: os.getxattr(path, name, follow_symlinks=False) for name in os.listxattr(path, follow_symlinks=False)}


def state(*folders: Path, times: bool = True) -> State:
    """Return the content of the folders."""
    found: dict[str, tuple[object, ...]] = {}
    for folder in folders:
        for path in (folder, *folder.rglob("*")):
            if path.name != ".lock":
                status = path.lstat()
                data = path.read_bytes() if path.is_file() else None
                found[f"{folder.name}/{path.relative_to(folder)}"] = (
                    status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns if times else 0, data,
                    attributes(path),
                )  # fmt: skip
    return found
