"""Every case is repaired as far as that goes: what is planned comes true, and undo leaves nothing behind.

The suite takes cases of every rule and of every kind of step, with KCHECK_SWEEP all of them.

plan.json of a case holds the operations for its first release, and what is not planned; after/ has the files that are
other than in before/ when it is carried out. plan-loss.json and after-loss/ are the same, in brief, with
`--accept-loss`. `python -m tests.repairs.test_cases` writes those that are missing: read them before you keep them.
"""

import contextlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.startup import settings
from kcheck.disk.apply import apply, undo
from kcheck.disk.local import LOCAL
from kcheck.errors import KcheckError
from kcheck.model.depth import Depth
from kcheck.model.finding import Severity
from kcheck.model.premises import JudgedPremise
from kcheck.model.report import PartitionFilter
from kcheck.plans.least_steps import difference
from kcheck.plans.repair import RepairPlan, repair
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import check
from kcheck.verbs.predict import predict
from kcheck.views.targets import TargetKind, replica_targets
from tests.cases.build import FOUND, lay_out, shared_copy, sources
from tests.cases.test_cases import releases
from tests.oracle.ask import IS_WHOLE

BAD = (Severity.ERROR, Severity.FATAL)
KEPT = ("op", "path", "before", "after", "finding", "reason", "evidence", "loses", "broker_now", "broker_after", "to")
KEPT_OF_LOSS = ("op", "path", "finding", "loses")
"""A cut has many operations for one reason."""

SHOWN_BY_LOSS = {"KC222": "the hole behind what is cut was hidden by the damage"}
"""Rules that may speak for the first time after `--accept-loss`."""


def wish(kafka: str) -> StartOptions:
    """Return what a start of this release is."""
    return StartOptions(None, settings({}, release(kafka)), release(kafka))


def log_dirs(folder: str) -> list[str]:
    """Return the log dirs that a case holds, none where it is about single files."""
    try:
        return [target.path for target in replica_targets([folder]) if target.kind is TargetKind.LOG_DIR]
    except KcheckError:
        return []


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file below a folder with its time."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def wrong(paths: list[str], kafka: str) -> set[tuple[object, ...]]:
    """Return the errors, by rule and directory."""
    report = check(paths, depth=Depth.RECORDS, as_kind=None, wanted=PartitionFilter(), release=release(kafka))
    return {(each.id, each.where.log_dir, each.where.dir) for each in report.findings if each.severity in BAD}


def told(starts: list[LogDirPrediction]) -> list[object]:
    """Return what of a prediction does not depend on where the files lie."""
    return [
        (start.outcome, start.reasons, [(*each[:8], each.changes) for each in start.partitions]) for start in starts
    ]


def predicted(paths: list[str], kafka: str) -> tuple[list[object], tuple[JudgedPremise, ...]]:
    """Return what `predict` says of the next start, and what that rests on; repair reads no keys of records."""
    found = predict(paths, wish(kafka))
    return told([*found.log_dirs]), tuple(row for row in found.premises if row.id != "P801")


LOSS = "-loss"
LOSING = ("kc141", "kc142", "kc143", "kc144", "kc170")
"""Rules about what only a cut can mend."""
SINGLE = {"leader-epoch-checkpoint", "partition.metadata", ".kafka_cleanshutdown"}
"""Files that some cases hold alone: they have no log dir."""
RUNS = [(case, releases(case)[0], False) for case in FOUND if not sources(case).keys() <= SINGLE]
RUNS += [(case, kafka, True) for case, kafka, _ in RUNS if case.parent.name[:5] in LOSING]


def expected(case: Path, accept_loss: bool) -> Any:
    """Return the plan of a case; without a file there is nothing to be done about it."""
    path = case / f"plan{LOSS * accept_loss}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {"operations": [], "refused": []}


def beginning(row: dict[str, Any]) -> str:
    """Return the first words of the reason of a step or a refusal."""
    return " ".join(row.get("reason", row.get("why", "")).split()[:3])


WITH_TIDY_ALONE = {"not-newest"}
"""Cases with a step that only a plan with `--tidy` has, and no other case."""


def of_every_kind() -> Iterator[tuple[Path, str, bool]]:
    """Yield a clean and a damaged case of each rule, and those with a step or a refusal that none before it has.

    Its reason begins otherwise, or it is for another rule.
    """
    seen: set[object] = set()
    for case, kafka, loss in RUNS:
        plan = expected(case, loss)
        rows = (*plan["operations"], *plan["refused"])
        kinds: set[object] = {(row.get("op"), row["finding"], loss, beginning(row)) for row in rows}
        kinds.add((case.parent.name, case.name == "clean"))
        if kinds - seen or case.name in WITH_TIDY_ALONE:
            seen |= kinds
            yield case, kafka, loss


ASKED = RUNS if IS_WHOLE else [*of_every_kind()]
IDS = [f"{case.parent.name[:5]}-{case.name}{'-loss' * loss}" for case, _, loss in ASKED]


@pytest.mark.parametrize(("case", "kafka", "accept_loss"), ASKED, ids=IDS)
def test_a_plan_comes_true(
    case: Path, kafka: str, accept_loss: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check finds none of it again, the next start is the predicted one, undo takes everything back."""
    lay_out(case, tmp_path / "before")
    monkeypatch.chdir(tmp_path)
    paths = log_dirs("before")
    before, errors = contents(tmp_path), wrong(paths, kafka)
    made: RepairPlan = repair(paths, [], wish(kafka), accept_loss=accept_loss)
    assert before == contents(tmp_path)
    assert predicted(paths, kafka) == (told([*made.now]), made.premises)
    operations = made.plan.operations
    assert expected(case, accept_loss) == stored(made, tmp_path, accept_loss)
    if not accept_loss:
        assert [operation.why.loses for operation in operations if operation.why.loses and not held(operation)] == []
    backup = tmp_path / "backup"
    backup.mkdir()
    assert len(operations) == len(apply(made.plan_bytes(), str(backup)).changed)
    assert laid_out(case, accept_loss) == read(tmp_path / "before")
    assert apply(made.plan_bytes(), str(backup)).changed == ()
    left = wrong(paths, kafka)
    assert {found[0] for found in left - errors} <= (SHOWN_BY_LOSS.keys() if accept_loss else set())
    planned = {(operation.why.finding, str(Path(operation.path).parent.name)) for operation in operations}
    assert {found for found in left if (found[0], found[2]) in planned} == set()
    assert told([*made.starts]) == predicted(paths, kafka)[0]
    assert apply(repair(paths, [], wish(kafka), accept_loss=False).plan_bytes(), str(tmp_path / "more")).changed == ()
    if operations:
        undo(str(backup))
    shutil.rmtree(backup)
    shutil.rmtree(tmp_path / "more", ignore_errors=True)
    assert before == contents(tmp_path)


@pytest.mark.parametrize(("case", "kafka", "accept_loss"), ASKED, ids=IDS)
def test_a_plan_without_what_the_broker_heals_leads_to_the_same_logs(
    case: Path, kafka: str, accept_loss: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no longer than the one with `--tidy`, and the next start serves the same and leaves the same files."""
    lay_out(case, tmp_path / "before")
    monkeypatch.chdir(tmp_path)
    paths = log_dirs("before")
    least, tidy = (repair(paths, [], wish(kafka), accept_loss=accept_loss, tidy=tidy) for tidy in (False, True))
    assert tidy.healed == ()
    assert {operation.path for operation in least.plan.operations} <= {
        operation.path for operation in tidy.plan.operations
    }
    for one, other in zip(least.starts, tidy.starts, strict=True):
        assert (one.outcome, one.reasons) == (other.outcome, other.reasons)
        differing = [(part, twin) for part, twin in zip(one.partitions, other.partitions, strict=True) if part.log]
        assert [difference(LOCAL.directory(f"{one.path}/{part.dir}"), part, twin) for part, twin in differing] == [
            None
        ] * len(differing)
    assert all(step.least for step in least.chosen)


def read(folder: Path) -> dict[str, bytes]:
    """Return the bytes of every file below a folder."""
    return {name: data for name, (data, _) in contents(folder).items()}


def laid_out(case: Path, accept_loss: bool) -> dict[str, bytes]:
    """Return the files of a case after its repair: what is moved aside is gone, what stands in after/ is new."""
    rows = expected(case, accept_loss)["operations"]
    return moved(read(shared_copy(case)), rows, "before/") | read(case / f"after{LOSS * accept_loss}")


def moved(files: dict[str, bytes], rows: Iterable[dict[str, Any]], above: str) -> dict[str, bytes]:
    """Return files without those that a plan moves aside, and those that it renames under their new names."""
    for row in rows:
        path = row["path"].removeprefix(above)
        if row["op"] not in ("set-aside", "rename"):
            continue
        inside = {name: data for name, data in files.items() if f"{name}/".startswith(f"{path}/")}
        files = {name: data for name, data in files.items() if name not in inside}
        if row["op"] == "rename":
            to = f"{path.rpartition('/')[0]}/{row['to']}".removeprefix("/")
            files |= {to + name.removeprefix(path): data for name, data in inside.items()}
    return files


def held(operation: Any) -> bool:
    """Whether somebody else has what goes."""
    return bool(operation.why.loses["held"])


def stored(made: RepairPlan, around: Path, accept_loss: bool) -> dict[str, object]:
    """Return a plan as a case holds it: without the content of files, and with paths from the case on."""
    body: Any = json.loads(json.dumps(dict(made.report().body)))
    kept = KEPT_OF_LOSS if accept_loss else KEPT
    rows = [{key: row[key] for key in kept if key in row} for row in body["operations"]]
    for row in rows:
        row["path"] = row["path"].removeprefix(f"{around.resolve()}/")
    return {"operations": rows, "refused": body["refused"]}


def write_missing() -> None:
    """Write the plan, and the files after it, of the cases that have none."""
    for case, kafka, accept_loss in RUNS:
        if (case / f"plan{LOSS * accept_loss}.json").exists():
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            lay_out(case, Path("before"))
            made = repair(log_dirs("before"), [], wish(kafka), accept_loss=accept_loss)
            found = stored(made, Path(folder), accept_loss)
            apply(made.plan_bytes(), "backup")
            after = read(Path("before"))
        if any(found.values()):
            text = json.dumps(found, indent=1, ensure_ascii=False)
            (case / f"plan{LOSS * accept_loss}.json").write_text(text + "\n", "utf-8", newline="\n")
        before = moved(read(shared_copy(case)), found["operations"], "before/")
        for name, data in after.items():
            if before.get(name) != data:
                path = case / f"after{LOSS * accept_loss}" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)


if __name__ == "__main__":
    write_missing()
