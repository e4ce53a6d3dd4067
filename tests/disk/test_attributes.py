"""apply and undo keep ACLs and other attributes, and a kill around `.lock` costs neither owner nor times."""

import os
import struct
import sys
from pathlib import Path

import pytest

from kcheck.disk.apply import apply, undo
from kcheck.disk.lock import held
from tests.disk.plans import POINT, attributes, bytes_of, make, plan_of, state

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no extended attributes in Python")


def acl(user: int) -> bytes:
    """Return a POSIX ACL that lets one more user read."""
    anybody = 0xFFFFFFFF
    entries = [(1, 6, anybody), (2, 4, user), (4, 4, anybody), (16, 4, anybody), (32, 0, anybody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


def test_acls(tmp_path: Path) -> None:
    """A replaced file has its own ACL, and not the one that its directory gives to new files."""
    dirs, backup = make(tmp_path), str(tmp_path / "backup")
    plan = plan_of(*dirs)
    os.setxattr(dirs[0] / POINT, "system.posix_acl_access", acl(1234))
    os.setxattr(dirs[0] / "t-0", "system.posix_acl_default", acl(4321))
    before = state(*dirs)
    apply(bytes_of(plan), backup)
    after = state(*dirs)
    for name in (f"data1/{POINT}", f"data1/t-0/{0:020d}.log", "data2/replication-offset-checkpoint"):
        assert (*after[name][:3], after[name][5]) == (*before[name][:3], before[name][5])
    for name in ("data1/.", "data1/t-0", "data2/."):
        assert after[name] == before[name]
    undo(backup)
    assert state(*dirs) == before


@pytest.mark.parametrize("call", ["open", "fchown", "fchmod", "link", "unlink", "utime", "removexattr"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_kill_around_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int) -> None:
    """A `.lock` has the owner of the log dir from its first moment; the next run restores the times."""
    log_dir = make(tmp_path)[1]
    if not os.geteuid():
        os.chown(log_dir, 1234, 2345)
    before = (log_dir.stat().st_mtime_ns, log_dir.stat().st_uid)
    child = os.fork()
    if not child:
        real, seen = getattr(os, call), []

        def killed(*arguments: object, **options: object) -> object:
            value = real(*arguments, **options)
            seen.append(arguments)
            if len(seen) == number:
                os._exit(0)
            return value

        monkeypatch.setattr(os, call, killed)
        with held([str(log_dir)]):
            pass
        os._exit(0)
    os.waitpid(child, 0)
    if (log_dir / ".lock").exists():
        assert (log_dir / ".lock").stat().st_uid == before[1]
        assert (log_dir / ".lock").stat().st_mode & 0o777 == 0o644
    with held([str(log_dir)]):
        pass
    assert (log_dir.stat().st_mtime_ns, log_dir.stat().st_uid) == before
    assert attributes(log_dir) == {}
    assert not list(log_dir.glob(".kcheck-*"))


def test_times_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file and directory is synced after its times are set, and each new parent of the backup by its name."""
    dirs, backup = make(tmp_path), tmp_path / "x" / "y" / "z"
    (dirs[1] / ".lock").touch()
    calls: list[tuple[str, str]] = []
    real = {name: getattr(os, name) for name in ("fsync", "utime")}

    def fsync(descriptor: int) -> None:
        calls.append(("fsync", os.readlink(f"/proc/self/fd/{descriptor}")))
        real["fsync"](descriptor)

    def utime(target: int, *, ns: tuple[int, int]) -> None:
        calls.append(("utime", os.readlink(f"/proc/self/fd/{target}")))
        real["utime"](target, ns=ns)

    data = bytes_of(plan_of(*dirs))
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "utime", utime)
    apply(data, str(backup))
    made = [("fsync", str(path)) for path in (tmp_path, tmp_path / "x", tmp_path / "x" / "y")]
    assert [call for call in calls if call in made] == made
    undo(str(backup))
    times = [number for number, (name, _) in enumerate(calls) if name == "utime"]
    assert len(times) >= 10
    assert all(("fsync", calls[number][1]) in calls[number:] for number in times)
