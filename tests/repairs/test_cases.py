"""Every case is repaired as far as that goes: what is planned comes true, and undo leaves nothing behind."""

import os
import shutil
from pathlib import Path

import pytest

from kcheck.core.releases import release
from kcheck.core.startup import settings
from kcheck.disk.apply import apply, undo
from kcheck.errors import KcheckError
from kcheck.model.plan import Plan
from kcheck.model.report import Wanted
from kcheck.scan.check import Depth, check
from kcheck.scan.inputs import Kind, replica_targets
from kcheck.scan.predict import predict
from kcheck.scan.repair import Repaired, plan_bytes, repair
from kcheck.scan.start_host import Wish
from tests.cases.test_cases import CASES, FOUND, releases


def wish(kafka: str) -> Wish:
    """Return what a start of this release is."""
    return Wish(None, settings({}, release(kafka)), release(kafka))


def log_dirs(folder: Path) -> list[str]:
    """Return the arguments that name what a case holds, none where no part of it is a log dir."""
    try:
        targets = replica_targets([str(folder)])
    except KcheckError:
        return []
    return [target.path for target in targets if target.kind is Kind.LOG_DIR]


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder with its time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def found(paths: list[str], kafka: str) -> set[tuple[object, ...]]:
    """Return what is wrong, by rule and place."""
    report = check(paths, depth=Depth.CRC, as_kind=None, wanted=Wanted(), release=release(kafka))
    return {(each.id, each.where.log_dir, each.where.dir, each.where.file) for each in report.findings()}


def settled(plan: Plan) -> set[str]:
    """Return the rules about which something is planned."""
    return {operation.why.finding or "" for operation in plan.operations}


PAIRS = [(case, kafka) for case in FOUND if (case / "before").is_dir() for kafka in releases(case)[:1]]


@pytest.mark.parametrize("accept_loss", [False, True])
@pytest.mark.parametrize(("case", "kafka"), PAIRS, ids=lambda value: value if isinstance(value, str) else value.name)
def test_a_plan_comes_true(case: Path, kafka: str, accept_loss: bool, tmp_path: Path) -> None:
    """It is applied, the next check finds none of it again, the next start is the predicted one, undo takes it back."""
    folder = tmp_path / "before"
    shutil.copytree(case / "before", folder)
    paths = log_dirs(folder)
    if not paths:
        return
    before, wrong = contents(folder), found(paths, kafka)
    made: Repaired = repair(paths, [], wish(kafka), accept_loss=accept_loss)
    assert contents(folder) == before
    if not made.plan.operations:
        return
    backup = tmp_path / "backup"
    backup.mkdir()
    outcome = apply(plan_bytes(made), str(backup))
    assert len(outcome.changed) == len(made.plan.operations)
    assert apply(plan_bytes(made), str(backup)).changed == ()
    left = found(paths, kafka)
    assert left - wrong == set(), "what was wrong"
    told = made.operations_starts
    assert told == repair_words(paths, kafka)
    undo(str(backup))
    assert contents(folder) == before
