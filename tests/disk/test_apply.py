"""A plan is applied completely or not at all, and undone byte for byte; errors name what prevents it."""

import fcntl
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kcheck.disk.apply import apply, undo
from kcheck.disk.local import LOCAL
from kcheck.disk.places import digest_of_directory
from kcheck.errors import ApplyError, KcheckError, LogDirInUseError, PlanError, StalePlanError
from kcheck.model.plan import Change, Digest, FileOp, Patch, Plan, Rename, SetAside, Truncate, digest
from tests.disk.plans import INDEX, LOG, POINT, WHY, bytes_of, make, plan_of, state

ALL = tuple(range(8))


@pytest.fixture
def dirs(tmp_path: Path) -> tuple[Path, Path]:
    """Create the log dirs of the plan."""
    return make(tmp_path)


@pytest.fixture
def backup(tmp_path: Path) -> str:
    """Return the path of the backup."""
    return str(tmp_path / "kept" / "backup")


def test_there_and_back(dirs: tuple[Path, Path], backup: str) -> None:
    """Every operation keeps mode and owner, and undo restores the times."""
    before, data = state(*dirs), bytes_of(plan_of(*dirs))
    log = (dirs[0] / "t-0" / LOG).read_bytes()
    assert apply(data, backup).changed == ALL
    after = state(*dirs, times=False)
    assert (dirs[0] / POINT).read_bytes() == b"0\n0\n"
    assert (dirs[0] / "t-0" / LOG).read_bytes() == log[:500]
    assert not (dirs[0] / "t-0" / INDEX).exists()
    assert (dirs[0] / "t-0" / "leader-epoch-checkpoint.new").read_bytes() == b"x"
    assert (dirs[0] / "t-0" / "metadata").exists()
    assert not (dirs[1] / "u-1").exists()
    assert (dirs[1] / "new-0" / LOG).read_bytes() == b"whole"
    assert (dirs[1] / "replication-offset-checkpoint").read_bytes().startswith(b"1\n")
    for name, (mode, user, group, *_) in before.items():
        assert name not in after or after[name][:3] == (mode, user, group)
    assert apply(data, backup).changed == ()
    assert apply(data, f"{backup}2").changed == ()
    assert not Path(f"{backup}2").exists()
    assert state(*dirs, times=False) == after
    assert undo(backup).changed == ALL
    assert state(*dirs) == before
    assert undo(backup).changed == ()
    assert apply(data, backup).changed == ALL
    assert undo(backup).changed == ALL
    assert state(*dirs) == before


def test_the_lock_of_a_broker(dirs: tuple[Path, Path], backup: str) -> None:
    """If a broker holds one log dir, apply touches none of the plan."""
    before, data = state(*dirs), bytes_of(plan_of(*dirs))
    told, go = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        with (dirs[0] / ".lock").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            os.write(told[1], b"x")
            os.read(go[0], 1)
        os._exit(0)
    os.read(told[0], 1)
    try:
        with pytest.raises(LogDirInUseError, match="data1 is in use"):
            apply(data, backup)
    finally:
        os.write(go[1], b"x")
        os.waitpid(child, 0)
        for descriptor in (*told, *go):
            os.close(descriptor)
    assert state(*dirs) == before
    assert apply(data, backup).changed == ALL


def test_a_lock_that_is_missing(dirs: tuple[Path, Path], backup: str) -> None:
    """A missing `.lock` is created and removed again, so undo leaves no trace."""
    (dirs[0] / ".lock").unlink()
    before = state(*dirs)
    assert apply(bytes_of(plan_of(*dirs)), backup).changed == ALL
    assert not (dirs[0] / ".lock").exists()
    undo(backup)
    assert state(*dirs) == before
    assert not (dirs[0] / ".lock").exists()


def changed_file(first: Path, second: Path) -> None:
    """Change a file of an operation."""
    del second
    (first / POINT).write_bytes(b"0\n1\nt 0 5\n")


def gone_file(first: Path, second: Path) -> None:
    """Remove a file of an operation."""
    del second
    (first / "t-0" / LOG).unlink()


def new_file(first: Path, second: Path) -> None:
    """Create a file where an operation would."""
    del second
    (first / "t-0" / "leader-epoch-checkpoint.new").write_bytes(b"y")


def linked_file(first: Path, second: Path) -> None:
    """Replace a file by a link to the same bytes."""
    (first / POINT).rename(second.parent / "elsewhere")
    (first / POINT).symlink_to(second.parent / "elsewhere")


def linked_directory(first: Path, second: Path) -> None:
    """Replace a partition directory by a link."""
    (first / "t-0").rename(second.parent / "elsewhere")
    (first / "t-0").symlink_to(second.parent / "elsewhere")


def taken_name(first: Path, second: Path) -> None:
    """Create a file with the new name of a rename."""
    del second
    (first / "t-0" / "metadata").write_bytes(b"")


def changed_directory(first: Path, second: Path) -> None:
    """Add a file to the directory that the plan moves."""
    del first
    (second / "u-1" / "more").write_bytes(b"")


@pytest.mark.parametrize(
    "change",
    [changed_file, gone_file, new_file, linked_file, linked_directory, taken_name, changed_directory],
)
def test_a_stale_plan(dirs: tuple[Path, Path], backup: str, change: Callable[[Path, Path], None]) -> None:
    """A file that has changed since stops the plan before anything is changed."""
    data = bytes_of(plan_of(*dirs))
    change(*dirs)
    before = state(*dirs)
    with pytest.raises(StalePlanError):
        apply(data, backup)
    assert state(*dirs) == before


def test_a_log_dir_behind_a_link(dirs: tuple[Path, Path], backup: str, tmp_path: Path) -> None:
    """A plan must not name a link to a log dir."""
    (tmp_path / "link").symlink_to(dirs[0])
    plan = plan_of(tmp_path / "link", dirs[1])
    with pytest.raises(PlanError, match="symbolic link"):
        apply(bytes_of(plan), backup)


def test_undo_of_what_was_changed_since(dirs: tuple[Path, Path], backup: str) -> None:
    """A file that changed after apply stops undo before anything is changed."""
    apply(bytes_of(plan_of(*dirs)), backup)
    (dirs[0] / POINT).write_bytes(b"0\n1\nt 0 7\n")
    before = state(*dirs)
    with pytest.raises(StalePlanError, match=POINT):
        undo(backup)
    assert state(*dirs) == before


@pytest.mark.parametrize("where", ["data1/backup", "data1/t-0/backup", "data1", "."])
def test_a_backup_where_a_broker_looks(dirs: tuple[Path, Path], tmp_path: Path, where: str) -> None:
    """A broker would not start with a backup inside of a log dir; one around it would contain itself."""
    with pytest.raises(PlanError, match="must not be inside"):
        apply(bytes_of(plan_of(*dirs)), str(tmp_path / where))


def test_a_backup_of_something_else(dirs: tuple[Path, Path], backup: str) -> None:
    """A folder with other files, or the backup of another plan, is refused."""
    plan = plan_of(*dirs)
    data = bytes_of(plan)
    Path(backup).mkdir(parents=True)
    (Path(backup) / "mine").write_bytes(b"")
    with pytest.raises(PlanError, match="must be empty, but contains mine"):
        apply(data, backup)
    (Path(backup) / "mine").unlink()
    apply(data, backup)
    with pytest.raises(PlanError, match="another plan"):
        apply(bytes_of(plan._replace(kafka="3.9.2")), backup)
    with pytest.raises(PlanError, match="no backup of an applied plan"):
        undo(str(Path(backup).parent))


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(schema="kcheck.journal/2"),
        lambda found: found.update(state="lost"),
        lambda found: found.update(entries={"x": None}),
        lambda found: found.update(entries={"99": None}),
        lambda found: found.update(entries={"0": {"mode": "0", "owner": [0, 0], "times": [0, 0]}}),
        lambda found: found.update(entries={"0": {"mode": 0, "owner": 0, "times": [0, 0]}}),
        lambda found: found.update(directories=[]),
        lambda found: found.update(plan="0"),
        lambda found: found.clear(),
    ],
)
def test_a_damaged_journal(dirs: tuple[Path, Path], backup: str, change: Callable[[object], None]) -> None:
    """Both apply and undo refuse a damaged journal."""
    data = bytes_of(plan_of(*dirs))
    apply(data, backup)
    journal = Path(backup) / "journal.json"
    found = json.loads(journal.read_bytes())
    change(found)
    journal.write_text(json.dumps(found))
    before = state(*dirs)
    with pytest.raises(PlanError):
        undo(backup)
    with pytest.raises(PlanError):
        apply(data, backup)
    assert state(*dirs) == before


def test_a_damaged_backup(dirs: tuple[Path, Path], backup: str) -> None:
    """If one file in the backup is damaged, undo restores nothing."""
    apply(bytes_of(plan_of(*dirs)), backup)
    (Path(backup) / "1.before").write_bytes(b"")
    before = state(*dirs, times=False)
    with pytest.raises(PlanError, match="is corrupt"):
        undo(backup)
    assert state(*dirs, times=False) == before
    (Path(backup) / "plan.json").unlink()
    with pytest.raises(ApplyError, match="No such file"):
        undo(backup)


def test_a_plan_that_was_begun_with_another_backup(dirs: tuple[Path, Path], backup: str) -> None:
    """A temporary file of an interrupted run means that its own backup must be used."""
    data = bytes_of(plan_of(*dirs))
    name = f".kcheck-{hashlib.sha256(data).hexdigest()[:12]}-0"
    (dirs[0] / name).write_bytes(b"")
    with pytest.raises(PlanError, match=name):
        apply(data, backup)


@pytest.mark.parametrize("position", [None, 3])
def test_a_plan_that_lies(dirs: tuple[Path, Path], backup: str, position: int | None) -> None:
    """An operation whose result does not match `after` stops the plan before anything is changed."""
    before, path = state(*dirs), dirs[0] / "t-0" / LOG
    found = digest(path.read_bytes())
    operation: FileOp = Truncate(str(path), found, Digest("0" * 64, 5), WHY)
    if position is not None:
        operation = Patch(str(path), found, Digest("0" * 64, found.size), WHY, (Change(position, b"no", b"yo"),))
    with pytest.raises(PlanError, match=r"other bytes at position 3|does not match after"):
        apply(bytes_of(Plan("4.3.1", (str(dirs[0]),), (operation,))), backup)
    assert state(*dirs) == before


def test_two_names_of_one_file(dirs: tuple[Path, Path], backup: str) -> None:
    """Removing one hard link of a file does not count as a change of its other name."""
    path = dirs[0] / "t-0" / LOG
    path.with_name("copy").hardlink_to(path)
    data, before = path.read_bytes(), state(*dirs)
    operations = (
        SetAside(str(path.with_name("copy")), digest(data), None, WHY, directory=False),
        Truncate(str(path), digest(data), digest(data[:500]), WHY),
    )
    apply(bytes_of(Plan("4.3.1", (str(dirs[0]),), operations)), backup)
    assert data[:500] == path.read_bytes()
    undo(backup)
    assert state(*dirs, times=False) == {name: (*each[:3], 0, *each[4:]) for name, each in before.items()}


def test_a_directory_is_renamed_where_it_is(dirs: tuple[Path, Path], backup: str) -> None:
    """A directory gets a new name in its log dir, and undo restores the old one."""
    before, stray = state(*dirs), f"t-0.{'0' * 32}-stray"
    found = digest_of_directory(LOCAL, str(dirs[0] / "t-0"))
    operation = Rename(str(dirs[0] / "t-0"), found, found, WHY, stray, directory=True)
    data = bytes_of(Plan("4.3.1", (str(dirs[0]),), (operation,)))
    apply(data, backup)
    assert (dirs[0] / stray / LOG).exists()
    undo(backup)
    assert state(*dirs) == before


def test_a_directory_and_a_backup_elsewhere(
    dirs: tuple[Path, Path], backup: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A directory is moved, never copied, so the backup must be on its file system; apply checks that first."""
    before = state(*dirs)
    monkeypatch.setattr("kcheck.disk.backup.Backup.device", lambda _: -1)
    with pytest.raises(PlanError, match="same file system"):
        apply(bytes_of(plan_of(*dirs)), backup)
    assert state(*dirs) == before


def test_a_file_for_a_directory(dirs: tuple[Path, Path], backup: str) -> None:
    """An operation on a directory refuses a file."""
    path = dirs[0] / POINT
    operation = SetAside(str(path), digest(path.read_bytes()), None, WHY, directory=True)
    with pytest.raises(KcheckError, match="not a directory"):
        apply(bytes_of(Plan("4.3.1", (str(dirs[0]),), (operation,))), backup)


def test_owner_and_mode(dirs: tuple[Path, Path], backup: str) -> None:
    """A file keeps its owner if kcheck may change owners."""
    if os.geteuid():
        return
    os.chown(dirs[0] / POINT, 1234, 2345)
    os.chown(dirs[0] / "t-0", 1234, 2345)
    before = state(*dirs)
    apply(bytes_of(plan_of(*dirs)), backup)
    assert state(*dirs)[f"data1/{POINT}"][1:3] == (1234, 2345)
    assert state(*dirs)["data1/t-0/leader-epoch-checkpoint.new"][1:3] == (1234, 2345)
    undo(backup)
    assert state(*dirs) == before


def test_what_is_on_the_disk_first(dirs: tuple[Path, Path], backup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backup is synced before any file is replaced, each new file before its rename, its directory after it.

    So a machine that loses power leaves what a killed process leaves.
    """
    done: list[tuple[str, str]] = []
    real = {name: getattr(os, name) for name in ("fsync", "rename", "unlink")}

    def path_of(descriptor: int, name: str = "") -> str:
        return os.path.join(os.readlink(f"/proc/self/fd/{descriptor}"), name).rstrip("/")

    def fsync(descriptor: int) -> None:
        done.append(("fsync", path_of(descriptor)))
        real["fsync"](descriptor)

    def rename(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        done.append(("rename", f"{path_of(src_dir_fd, source)} {path_of(dst_dir_fd, target)}"))
        real["rename"](source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    def unlink(name: str, *, dir_fd: int | None = None) -> None:
        real["unlink"](name, dir_fd=dir_fd)
        done.append(("unlink", name if dir_fd is None else path_of(dir_fd, name)))

    for name, function in (("fsync", fsync), ("rename", rename), ("unlink", unlink)):
        monkeypatch.setattr(os, name, function)
    apply(bytes_of(plan_of(*dirs)), backup)
    monkeypatch.undo()
    changes = [
        number for number, (kind, what) in enumerate(done) if kind != "fsync" and not what.endswith((".json", "lock"))
    ]
    assert len(changes) == len(ALL)
    first = changes[0]
    assert ("rename", f"{backup}/journal.json.tmp {backup}/journal.json") in done[:first]
    begun = done.index(("rename", f"{backup}/journal.json.tmp {backup}/journal.json"))
    kept = {path for kind, path in done[:begun] if kind == "fsync"}
    assert kept >= {backup, *(f"{backup}/{number}.before" for number in (0, 1, 2, 6)), f"{backup}/plan.json"}
    assert ("fsync", backup) in done[begun:first]
    for number in changes:
        kind, what = done[number]
        source = what.split(" ")[0]
        assert kind == "unlink" or ".kcheck-" not in source or ("fsync", source) in done[:number]
        assert ("fsync", os.path.dirname(source)) in done[number : number + 3]


@pytest.mark.parametrize("at", range(5))
def test_an_interrupt(dirs: tuple[Path, Path], backup: str, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C during apply restores the replaced files."""
    before, data, real, seen = state(*dirs), bytes_of(plan_of(*dirs)), os.rename, []

    def rename(*names: str, **folders: int) -> None:
        real(*names, **folders)
        seen.append(names)
        if len(seen) == at + 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(KeyboardInterrupt):
        apply(data, backup)
    monkeypatch.undo()
    assert state(*dirs) == before
    assert apply(data, backup).changed == ALL
    undo(backup)
    assert state(*dirs) == before


def test_a_change_in_the_midst_of_it(dirs: tuple[Path, Path], backup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If another process changes a file during apply, that file stays and the others are restored."""
    before, data, real = state(*dirs), bytes_of(plan_of(*dirs)), os.rename

    def rename(*names: str, **folders: int) -> None:
        real(*names, **folders)
        if names[1] == POINT and b"t 0 8" not in (dirs[0] / "t-0" / LOG).read_bytes():
            with (dirs[0] / "t-0" / LOG).open("ab") as log:
                log.write(b"t 0 8")

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(StalePlanError, match="another process changed"):
        apply(data, backup)
    name = f"data1/t-0/{LOG}"
    after = state(*dirs)
    assert {path for path in before if after.get(path) != before[path]} == {name}
    assert after.keys() == before.keys()
