"""A plan is for the log dirs that it was made for, and for no other directory of that path."""

import json
from pathlib import Path

import pytest

from kcheck.disk.apply import apply, undo
from kcheck.errors import PlanError, StalePlanError
from kcheck.model.plan import LogDirIdentity, Plan, Write, digest, serialize_plan
from tests.disk.plans import POINT, WHY, bytes_of, make, plan_of, state


@pytest.fixture
def dirs(tmp_path: Path) -> tuple[Path, Path]:
    """Create the log dirs of the plan."""
    return make(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("node.id=1", "node.id=7", "its broker.id is 7, in the plan 1"),
        ("cluster.id=", "cluster.id=X", "its cluster.id is X"),
        ("directory.id=", "directory.id=X", "its directory.id is X"),
        ("node.id", "#\nnode.id", "has changed since repair made the plan"),
    ],
)
def test_another_log_dir(dirs: tuple[Path, Path], tmp_path: Path, old: str, new: str, word: str) -> None:
    """Another disk under the path is refused, and so is a meta.properties that a broker wrote since."""
    meta = dirs[0] / "meta.properties"
    if "directory.id" not in meta.read_text():
        meta.write_text(meta.read_text() + "directory.id=AAAAAAAAAAAAAAAAAAAAAQ\n")
    data, text = bytes_of(plan_of(*dirs)), meta.read_text()
    assert old in text
    meta.write_text(text.replace(old, new))
    before = state(*dirs)
    with pytest.raises(PlanError, match=word):
        apply(data, str(tmp_path / "backup"))
    assert state(*dirs) == before
    meta.write_text(text)
    apply(data, str(tmp_path / "backup"))
    meta.write_text(text.replace(old, new))
    if "another" in word or "its" in word:
        with pytest.raises(PlanError, match=word):
            undo(str(tmp_path / "backup"))
    else:
        undo(str(tmp_path / "backup"))


def test_a_directory_that_is_no_log_dir(tmp_path: Path) -> None:
    """A plan cannot write into any folder, whatever it says of it."""
    folder = tmp_path / "etc"
    folder.mkdir()
    (folder / "passwd").write_bytes(b"root")
    write = Write(str(folder / "passwd"), digest(b"root"), digest(b"me"), WHY, b"me")
    plan = Plan("4.3.1", (str(folder),), (write,))
    with pytest.raises(PlanError, match="make it again with kcheck repair"):
        apply(serialize_plan(plan, kcheck="0"), str(tmp_path / "backup"))
    with pytest.raises(PlanError, match="etc: not a log dir"):
        apply(bytes_of(plan), str(tmp_path / "backup"))
    other = plan._replace(identities=(LogDirIdentity(str(folder), digest(b""), 1, "c", "d"),))
    with pytest.raises(StalePlanError, match="has changed since"):
        apply(serialize_plan(other, kcheck="0"), str(tmp_path / "backup"))
    with pytest.raises(PlanError, match="No such file"):
        apply(bytes_of(plan._replace(log_dirs=(str(tmp_path / "gone"),), operations=())), str(tmp_path / "backup"))
    assert (folder / "passwd").read_bytes() == b"root"
    assert [path.name for path in folder.iterdir()] == ["passwd"]


def test_a_meta_properties_that_cannot_be_read(dirs: tuple[Path, Path], tmp_path: Path) -> None:
    """It does not show whose log dir this is."""
    data = bytes_of(plan_of(*dirs))
    (dirs[0] / "meta.properties").unlink()
    (dirs[0] / "meta.properties").mkdir()
    with pytest.raises(PlanError, match="not a regular file"):
        apply(data, str(tmp_path / "backup"))
    bytes_of(plan_of(*dirs))  # a plan for it can be made, and says nothing of its identity


def test_a_plan_that_changes_the_identity(dirs: tuple[Path, Path], tmp_path: Path) -> None:
    """The digests of its own operation decide, before and after."""
    meta, backup = dirs[0] / "meta.properties", str(tmp_path / "backup")
    old, new = meta.read_bytes(), b"version=1\nnode.id=9\ncluster.id=c\n"
    plan = bytes_of(Plan("4.3.1", (str(dirs[0]),), (Write(str(meta), digest(old), digest(new), WHY, new),)))
    assert apply(plan, backup).changed == (0,)
    assert apply(plan, backup).changed == ()
    assert undo(backup).changed == (0,)
    assert meta.read_bytes() == old


def test_the_backup_of_an_older_kcheck(dirs: tuple[Path, Path], tmp_path: Path) -> None:
    """It can be undone: its plan names no identities, its journal no attributes, and times by the file."""
    before, backup = state(*dirs), tmp_path / "backup"
    plan = plan_of(*dirs)
    plan = plan._replace(operations=plan.operations[:-1])  # it created no directory
    apply(bytes_of(plan), str(backup))
    old_plan = json.loads((backup / "plan.json").read_bytes())
    del old_plan["sha256"], old_plan["identities"]
    (backup / "plan.json").write_text(json.dumps(old_plan))
    journal = json.loads((backup / "journal.json").read_bytes())
    journal["plan"] = digest((backup / "plan.json").read_bytes()).sha256
    for saved in filter(None, journal["entries"].values()):
        del saved["xattrs"]
    times = journal["directories"]
    journal["directories"] = {row["path"]: times[str(Path(row["path"]).parent)] for row in old_plan["operations"]}
    (backup / "journal.json").write_text(json.dumps(journal))
    undo(str(backup))
    found = state(*dirs)
    assert {path: facts[:5] for path, facts in found.items()} == {path: facts[:5] for path, facts in before.items()}
    assert (dirs[0] / POINT).exists()
