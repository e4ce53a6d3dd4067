"""Log dirs are read through a plan as they lie once `apply` has made it."""

import pickle
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from kcheck.disk.apply import apply
from kcheck.disk.local import LOCAL
from kcheck.disk.places import digest_of_directory
from kcheck.disk.planned import PlannedTree
from kcheck.disk.tree import Tree
from kcheck.model.names import is_stranger_in_log_dir
from kcheck.model.plan import Plan, Rename, place_of, placed
from kcheck.model.unreadable import UnreadableCause, UnreadableError
from tests.disk.plans import LOG, POINT, WHY, bytes_of, make, plan_of

FUTURE, RENAMED = "u-2.of-a-move-future", "u-2"


class Both(NamedTuple):
    """Log dirs read through a plan, and the same with the plan made."""

    tree: Tree
    folder: Path
    made: Path

    @property
    def directories(self) -> list[str]:
        """The directories on both sides, below the folder."""
        return [str(path.relative_to(self.made)) for path in sorted(self.made.rglob("*")) if path.is_dir()]


def _plan(folder: Path) -> Plan:
    """Return a plan with every kind of operation, among them one that renames a directory.

    None makes a directory: those are plans of `recover quorum`, after which no start is predicted.
    """
    first, second = folder / "data1", folder / "data2"
    plan, future = plan_of(first, second), str(first / FUTURE)
    digest = digest_of_directory(LOCAL, future)
    rename = Rename(future, digest, digest, WHY, RENAMED, directory=True)
    others = (row for row in plan.operations if not row.path.endswith(f"new-0/{LOG}"))
    return plan._replace(operations=(*others, rename))


@pytest.fixture
def both(tmp_path: Path) -> Both:
    """Make the log dirs twice; the plan names them by paths at home, as that of a bundle does."""
    lies, made = tmp_path / "lies", tmp_path / "made"
    for folder in (lies, made):
        folder.mkdir()
        first, _ = make(folder)
        shutil.copytree(first / "t-0", first / FUTURE)
    plan = _plan(lies)
    home = {log_dir: f"/home/{Path(log_dir).name}" for log_dir in plan.log_dirs}
    apply(bytes_of(_plan(made)), str(tmp_path / "backup"))
    names = {there: log_dir for log_dir, there in home.items()}
    return Both(PlannedTree(LOCAL, names, placed(plan, home).operations), lies, made)


def test_names_types_and_sizes(both: Both) -> None:
    assert any(RENAMED in name for name in both.directories)
    for name in both.directories:
        here, there = str(both.folder / name), str(both.made / name)
        assert LOCAL.directory(there).entries() == both.tree.directory(here).entries()
        assert LOCAL.directory(there).listing() == both.tree.directory(here).listing()
        assert both.tree.listing(here, is_stranger_in_log_dir) == both.tree.directory(here).listing()
        assert (True, False) == (both.tree.is_directory(here), both.tree.is_empty(here))
        assert LOCAL.file_type(there) == both.tree.file_type(here)
        assert LOCAL.sizes(there, ".log") == both.tree.sizes(here, ".log")
        for file in LOCAL.directory(there).entries().sizes:
            path, same = f"{here}/{file}", f"{there}/{file}"
            assert (LOCAL.size(same), LOCAL.file_type(same)) == (both.tree.size(path), both.tree.file_type(path))
            assert both.tree.exists(path)
            assert not both.tree.is_link(path)
            assert not both.tree.is_directory(path)
    assert LOCAL.real(str(both.folder)) == both.tree.real(str(both.folder))
    assert (False, False) == (both.tree.is_remote, both.tree.is_bundle)
    assert LOCAL.states(str(both.folder)) == both.tree.states(str(both.folder))


def test_bytes(both: Both) -> None:
    """Whole, by position, and into a buffer; what a plan does not touch is the file below."""
    for name in both.directories:
        on_disk, directory = LOCAL.directory(str(both.made / name)), both.tree.directory(str(both.folder / name))
        with directory as held:
            for file, size in on_disk.entries().sizes.items():
                assert on_disk.read_whole(file) == held.read_whole(file)
                assert on_disk.read_filled(file) == held.read_filled(file)
                assert size == held.readable_size(file)
                with both.tree.open(f"{both.folder}/{name}/{file}") as source, on_disk.open(file) as same:
                    assert same.pread(3, size // 2) == source.pread(3, size // 2)
                    assert (same.next_data(0), same.next_data(size)) == (source.next_data(0), source.next_data(size))
                    buffer, other = bytearray(size + 1), bytearray(size + 1)
                    assert same.pread_into(memoryview(buffer), 0) == source.pread_into(memoryview(other), 0)
                    assert buffer == other


def test_what_a_plan_removes_is_missing(both: Both) -> None:
    gone = [
        (log_dir, names)
        for path in (operation.path for operation in _plan(both.folder).operations)
        for log_dir, names in [place_of(path, _plan(both.folder).log_dirs) or ("", ())]
        if not (both.made / Path(log_dir).name / "/".join(names)).exists()
    ]
    assert len(gone) == 4
    for log_dir, names in gone:
        path = "/".join((log_dir, *names))
        assert (False, None, False) == (both.tree.exists(path), both.tree.file_type(path), both.tree.is_directory(path))
        assert not both.tree.exists(f"{path}/{LOG}")
        assert not both.tree.is_directory(f"{path}/{LOG}")
        for ask in (both.tree.listing, both.tree.open):
            with pytest.raises(UnreadableError) as caught:
                ask(path)
            assert UnreadableCause.MISSING is caught.value.cause


def test_a_directory_that_a_plan_changes_is_another_one(both: Both) -> None:
    """What is remembered of a directory as it lies is not taken for what the plan makes of it."""
    changed, same = str(both.folder / "data1" / "t-0"), str(both.folder / "data1" / RENAMED)
    assert both.tree.directory(changed) != LOCAL.directory(changed)
    assert both.tree.directory(changed) == both.tree.directory(changed)
    assert both.tree.directory(changed) != both.tree.directory(same)
    assert hash(both.tree.directory(changed)) == hash(both.tree.directory(changed))
    tree = pickle.loads(pickle.dumps(both.tree))
    assert tree.directory(changed) == both.tree.directory(changed)
    assert (500, b"0\n0\n") == (tree.size(f"{changed}/{LOG}"), tree.read_whole(f"{both.folder}/data1/{POINT}"))
