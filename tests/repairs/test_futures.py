"""Directories get their names back, and a -future copy beside its current directory goes: where that is proven."""

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import kcheck
from kcheck.disk.apply import apply, undo
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.plan import Rename, SetAside
from kcheck.model.report import PartitionFilter
from kcheck.plans.repair import RepairPlan, repair
from kcheck.repairs import Refused, move_aside_futures, rename_directories
from tests.builders import flip_byte
from tests.cases.build import CASES, lay_out
from tests.repairs.test_cases import contents, told, wish

FUTURE = "aa-0.0123456789abcdef0123456789abcdef-future"
STRAY = FUTURE.replace("future", "stray")
SET_ASIDE = "kc318-stray-replica-assigned/set-aside"
ALONE, MERGED = "kc316-future-without-current/alone", "kc317-future-beside-current/merged"
LOG = f"{0:020d}.log"


def laid_out(name: str, folder: Path) -> list[str]:
    """Return the log dirs of a case."""
    lay_out(CASES / name, folder)
    return [str(folder / "broker-1" / log_dir) for log_dir in ("data", "data1")]


def planned(paths: list[str], kafka: str = "4.3") -> RepairPlan:
    """Return the plan for log dirs."""
    return repair(paths, [], wish(kafka), accept_loss=False)


def why_not(made: RepairPlan, rule: str) -> str:
    """Return why nothing is planned for a rule."""
    (row,) = (row for row in made.not_planned if row.finding == rule)
    assert made.plan.operations == ()
    return row.why


def test_the_only_copy_gets_its_name_back(tmp_path: Path) -> None:
    """The next start then loses nothing, and undo takes it back."""
    paths = laid_out(ALONE, tmp_path / "b")
    before, made = contents(tmp_path / "b"), planned(paths)
    (operation,) = made.plan.operations
    assert isinstance(operation, Rename)
    assert operation.to == "aa-0"
    assert [(row.saved, row.plan_loses) for row in made.losses] == [(30, None)]
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    after = kcheck.predict(*map(Path, paths), kafka="4.3").log_dirs
    assert told([*made.starts]) == told([*after])
    assert [partition.lost for start in after for partition in start.partitions] == [None] * 5
    undo(str(tmp_path / "backup"))
    assert before == contents(tmp_path / "b")


def test_one_log_dir_alone_does_not_show_that_the_current_directory_is_gone(tmp_path: Path) -> None:
    """Its registration has two log dirs; a server.properties that lists this one alone says otherwise."""
    paths = laid_out(ALONE, tmp_path / "b")
    assert "another log dir may have" in why_not(planned(paths[1:]), "KC316")
    (tmp_path / "b" / "broker-1" / "server.properties").write_text(f"log.dirs={paths[1]}\n")
    (operation,) = planned(paths[1:]).plan.operations
    assert isinstance(operation, Rename)


def test_a_damaged_copy_is_not_renamed(tmp_path: Path) -> None:
    """A damaged log has other findings: first they are mended."""
    paths = laid_out(ALONE, tmp_path / "b")
    flip_byte(Path(paths[1]) / FUTURE / LOG, 800)
    made = planned(paths)
    assert made.plan.operations == ()
    assert any(row.why.startswith("the directory is not valid to its end") for row in made.not_planned)


def test_of_two_copies_one_goes_first(tmp_path: Path) -> None:
    """The broker does not start on both; the metadata place one of them where it is."""
    paths = laid_out(ALONE, tmp_path / "b")
    lay_out(CASES / ALONE, tmp_path / "c")
    (tmp_path / "c" / "broker-1" / "data1" / FUTURE).rename(Path(paths[0]) / FUTURE)
    (operation,) = planned(paths).plan.operations
    assert isinstance(operation, SetAside)
    refused = repair(paths, [], wish("4.3"), accept_loss=False, keep=lambda rule, _: rule == "KC316")
    assert "there is another directory of aa-0 on the broker" in why_not(refused, "KC316")


@pytest.mark.parametrize("kafka", ["4.3", "2.8"])
def test_the_copy_beside_its_current_directory_goes(kafka: str, tmp_path: Path) -> None:
    paths = laid_out(MERGED, tmp_path / "b")
    (operation,) = planned(paths, kafka).plan.operations
    assert isinstance(operation, SetAside)
    assert operation.path.endswith(FUTURE)


def test_the_copy_stays_if_the_current_directory_lacks_a_batch_of_it(tmp_path: Path) -> None:
    paths = laid_out(MERGED, tmp_path / "b")
    log = Path(paths[0]) / "aa-0" / LOG
    log.write_bytes(log.read_bytes()[:517])
    made = planned(paths)
    assert not any(isinstance(operation, SetAside) for operation in made.plan.operations)
    assert any("does not hold every batch of it" in row.why for row in made.not_planned)


def test_a_filter_that_leaves_the_directories_out_plans_nothing(tmp_path: Path) -> None:
    other = wish("4.3")._replace(wanted=PartitionFilter(topics=("bb",)))
    for name in (ALONE, MERGED):
        made = repair(laid_out(name, tmp_path / name), [], other, accept_loss=False)
        assert made.plan.operations == ()


def test_directories_that_were_not_read_are_left_alone() -> None:
    """Their files could not be listed, for example."""
    nothing: Any = SimpleNamespace(partitions=(), siblings=())
    for module in (move_aside_futures, rename_directories):
        (answer,) = module.plan(nothing, (Finding("KC1", "x", Severity.FATAL, Location(dir=FUTURE), "", "", ""),))
        assert isinstance(answer, Refused)
        assert "did not read" in answer.why


def test_a_replica_that_was_set_aside_gets_its_name_back(tmp_path: Path) -> None:
    """The premise that every assigned partition has a directory holds then."""
    paths = laid_out(SET_ASIDE, tmp_path / "b")
    made = planned(paths)
    (operation,) = made.plan.operations
    assert isinstance(operation, Rename)
    apply(made.plan_bytes(), str(tmp_path / "backup"))
    after = kcheck.predict(*map(Path, paths), kafka="4.3").log_dirs
    assert told([*made.starts]) == told([*after])
    assert [str(partition.outcome) for start in after for partition in start.partitions] == ["ok"] * 5


@pytest.mark.parametrize("number", [0, 1])
def test_an_empty_directory_of_its_name_moves_out_first(number: int, tmp_path: Path) -> None:
    """A start has made it, in this log dir or in the other one."""
    paths = laid_out(SET_ASIDE, tmp_path / "b")
    shutil.copytree(Path(paths[1]) / STRAY, Path(paths[number]) / "aa-0")
    (Path(paths[number]) / "aa-0" / LOG).write_bytes(b"")
    for kind in (SetAside, Rename):
        made = repair(paths, [], wish("4.3"), accept_loss=False, keep=lambda rule, _: rule == "KC318")
        (operation,) = made.plan.operations
        assert isinstance(operation, kind)
        apply(made.plan_bytes(), str(tmp_path / kind.__name__))
    assert (Path(paths[1]) / "aa-0" / LOG).stat().st_size == 1551


def test_of_two_that_were_set_aside_none_is_chosen(tmp_path: Path) -> None:
    """Only a person knows which of them is right; one without records does not count."""
    paths = laid_out(SET_ASIDE, tmp_path / "b")
    other = Path(paths[1]) / STRAY.replace("0123", "4567")
    shutil.copytree(Path(paths[1]) / STRAY, other)
    assert {row.why for row in planned(paths).not_planned} == {"there is another directory of aa-0 on the broker"}
    (other / LOG).write_bytes(b"")
    (operation,) = planned(paths).plan.operations
    assert isinstance(operation, Rename)
