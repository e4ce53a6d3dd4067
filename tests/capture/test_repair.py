"""A plan that was made from a bundle is that of the directory, and changes at home what that one changes.

By default a sample of the cases; KCHECK_SWEEP takes all of them.
"""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk import apply as apply_module
from kcheck.disk.apply import apply, undo
from kcheck.disk.plan_here import plan_here
from kcheck.errors import PlanError
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS
from kcheck.model.plan import lacks_digest
from kcheck.model.plan_json import parse_plan
from tests.capture.answers import SUFFIX, captured, differences, fresh, run, without_host
from tests.capture.hostile import SAMPLE
from tests.capture.test_answers import EVERY, holds_old
from tests.cases.build import CASES, FOUND, shared_copy, sources, toml
from tests.repairs.test_cases import contents, log_dirs

LOG_DIR = {META_PROPERTIES, *OFFSET_CHECKPOINTS}
"""Without one of these a bundle is of partition directories alone: repair refuses it."""
PLANNED = [case for case in FOUND if not holds_old(case) and LOG_DIR & {Path(name).name for name in sources(case)}]
SAMPLED = PLANNED[:: 1 if EVERY else 100]
OPTIONS = [(), ("--accept-loss",), ("--tidy",)][: None if EVERY else 2]
PATCHED = CASES / "kc145-batch-magic" / "nine"
INDEX = CASES / "kc151-offset-index-order" / "swapped"
TORN = CASES / "kc144-log-torn-tail" / "closed-unclean"


def plan_of(path: Path, out: Path, *options: str) -> Any:
    """Write the plan of a path, and return the report without its digest, with the names of directories for bundles."""
    code, text, errors = run(["repair", str(path), "-o", str(out), "--format", "json", *options])
    assert code in (0, 1), errors
    document = json.loads(text.replace(SUFFIX, ""))
    del document["sha256"], document["next"]
    return without_host(document)


def at_home(plan: Path, here: Path) -> list[str]:
    """Return the options that say where the log dirs of a plan are: all are in `here`."""
    names = json.loads(plan.read_text())["log_dirs"]
    inside = [name.rpartition(SUFFIX)[2].strip("/") for name in names]
    return [part for name, path in zip(names, inside, strict=True) for part in ("--at", f"{name}={here / path}")]


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", [*SAMPLED, PATCHED, TORN], ids=lambda case: case.name)
@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_a_case_has_the_same_plan(case: Path, options: tuple[str, ...], tmp_path: Path) -> None:
    """Only digests that need the bytes of records are missing; `apply` computes them, and undo finds the same files."""
    here, copy = tmp_path / "here", tmp_path / "copy"
    shutil.copytree(shared_copy(case), here)
    if not log_dirs(str(here)):
        return
    bundle = captured([here], tmp_path)
    kafka = ("--kafka", toml(case)["kafka"][0])
    own = plan_of(here, tmp_path / "own.json", *kafka, *options)
    planned = plan_of(bundle, tmp_path / "planned.json", *kafka, *options)
    for one, other in zip(own["operations"], planned["operations"], strict=True):
        if one["op"] in ("patch", "truncate"):
            other["after"]["sha256"] = one["after"]["sha256"]
    assert not differences(own, planned)
    fresh()
    shutil.copytree(here, copy)
    before = contents(copy)
    for plan, places in (
        ("own.json", []),
        ("planned.json", at_home(tmp_path / "planned.json", copy)),
    ):
        backup = str(tmp_path / f"backup-{plan}")
        code, _, errors = run(["apply", str(tmp_path / plan), "--backup", backup, "--yes", "--quiet", *places])
        assert code == 0, errors
    assert {name: data for name, (data, _) in contents(here).items()} == {
        name: data for name, (data, _) in contents(copy).items()
    }
    if (tmp_path / "backup-planned.json").exists():
        undo(str(tmp_path / "backup-planned.json"))
    assert before == contents(copy)


@pytest.fixture(name="torn")
def _torn(tmp_path: Path) -> tuple[Path, Path]:
    """Return a log dir whose log is to be cut, and the plan of its bundle."""
    here = Path(shutil.copytree(shared_copy(TORN), tmp_path / "here"))
    plan_of(captured([here], tmp_path), tmp_path / "plan.json", "--kafka", toml(TORN)["kafka"][0], "--accept-loss")
    fresh()
    return here, tmp_path / "plan.json"


def test_apply_asks_where_the_log_dir_is(torn: tuple[Path, Path], tmp_path: Path) -> None:
    """The one log dir of a plan needs no name; a wrong name or path is an error, and nothing changes."""
    here, plan = torn
    before, backup = contents(here), str(tmp_path / "backup")
    apply_it = ["apply", str(plan), "--backup", backup, "--yes"]
    for places, words in (
        ([], "is in a bundle; name the log dir on this machine with --map PATH"),
        (
            ["--at", str(tmp_path / "nowhere")],
            f"--map {tmp_path / 'nowhere'}: {tmp_path / 'nowhere'}: not a directory",
        ),
        (["--at", str(here), "--at", str(here)], "must be NAME=PATH, once for each log dir of the plan: here.kcheck"),
    ):
        code, _, errors = run([*apply_it, *places])
        assert code == 2
        assert words in " ".join(errors.split())
    with pytest.raises(PlanError, match="lacks"):
        apply(plan.read_bytes(), backup)
    assert before == contents(here)
    assert run([*apply_it, "--map", str(here)])[0] == 0
    assert before != contents(here)


def test_a_plan_for_another_log_dir_is_refused(torn: tuple[Path, Path], tmp_path: Path) -> None:
    """By the ids in meta.properties, and by the bytes of each file."""
    here, plan = torn
    cut = next(operation.path for operation in parse_plan(plan.read_bytes()).operations if lacks_digest(operation))
    properties, log = here / "meta.properties", here / Path(cut).parent.name / Path(cut).name
    log.write_bytes(log.read_bytes()[:-1] + b"?")
    code, _, errors = run(["apply", str(plan), "--backup", str(tmp_path / "b"), "--yes", "--map", str(here)])
    assert (code, "does not match before in the plan" in " ".join(errors.split())) == (3, True)
    log.unlink()
    code, _, errors = run(["apply", str(plan), "--backup", str(tmp_path / "b"), "--yes", "--map", str(here)])
    assert (code, "cannot be read: no such file or directory" in " ".join(errors.split())) == (3, True)
    properties.write_text(properties.read_text().replace("node.id=1", "node.id=7"))
    code, _, errors = run(["apply", str(plan), "--backup", str(tmp_path / "b"), "--yes", "--map", str(here)])
    assert (code, "its broker.id is 7, in the plan 1" in " ".join(errors.split())) == (3, True)


def test_an_interrupted_apply_is_finished(
    torn: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file that was cut no longer shows what it was: the plan in the backup knows."""
    here, plan = torn
    before, backup, exchange, done = (
        contents(here),
        str(tmp_path / "backup"),
        apply_module._PlanRun._exchange,
        list[int](),
    )

    def exchange_one(plan_run: apply_module._PlanRun, number: int) -> None:
        if done:
            raise SystemExit
        exchange(plan_run, number)
        done.append(number)

    monkeypatch.setattr(apply_module._PlanRun, "_exchange", exchange_one)
    monkeypatch.setattr(apply_module._PlanRun, "_give_up", lambda *_: None)
    with pytest.raises(SystemExit):
        apply(plan_here(plan.read_bytes(), [str(here)], backup), backup)
    monkeypatch.undo()
    data = plan_here(plan.read_bytes(), [str(here)], backup)
    assert len(apply(data, backup).changed) == len(parse_plan(data).operations) - 1
    undo(backup)
    assert before == contents(here)


def test_a_plan_needs_the_log_dir(tmp_path: Path) -> None:
    """Not a partition directory alone: its checkpoints and the id of its broker are elsewhere."""
    here = Path(shutil.copytree(shared_copy(TORN), tmp_path / "here"))
    code, _, errors = run(["repair", str(captured([here / "segments-0"], tmp_path))])
    assert (code, "without their log dir; capture the log dir" in " ".join(errors.split())) == (2, True)
    fresh()


def test_a_configuration_has_no_digest(tmp_path: Path) -> None:
    """It has passwords: a digest would confirm a guessed one, also of one that lies in a log dir."""
    here = Path(shutil.copytree(SAMPLE, tmp_path / "here"))
    config = tmp_path / "server.properties"
    config.write_text(f"node.id=1\nlog.dirs={here / 'data1'},{here / 'data2'}\nssl.key.password=guess\n")
    shutil.copy(config, here / "data1")
    manifest = json.loads(zipfile.ZipFile(captured([config], tmp_path)).read("manifest.json"))
    digests = {entry["path"]: entry.get("file_sha256") for entry in manifest["entries"]}
    assert (digests["server.properties"], digests["data1/server.properties"]) == (None, None)
    assert digests["data1/meta.properties"] is not None
    fresh()


@pytest.mark.parametrize("is_bundle", [False, True])
def test_a_plan_writes_no_file_beyond_the_limit(
    is_bundle: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`apply` would refuse it: neither the plan of the directory nor that of its bundle has the step."""
    here = Path(shutil.copytree(shared_copy(INDEX), tmp_path / "here"))
    path = captured([here], tmp_path) if is_bundle else here
    index, times = plan_of(path, tmp_path / "plan.json")["operations"]
    size = max(row["after"]["size"] for row in (index, times))
    monkeypatch.setattr("kcheck.plans.operations.CONTENT_SIZE_MAX", size)
    assert len(plan_of(path, tmp_path / "again.json")["operations"]) == 2
    monkeypatch.setattr("kcheck.plans.operations.CONTENT_SIZE_MAX", size - 1)
    document = plan_of(path, tmp_path / "none.json")
    assert document["operations"] == []
    (name,) = (row["path"].partition("here/")[2] for row in (index, times) if row["after"]["size"] == size)
    assert f"{name} would have {size} bytes, too many for a plan" in {row["why"] for row in document["refused"]}
    fresh()


@pytest.mark.parametrize("option", ["--no-digests", "--share"])
def test_a_plan_needs_digests(option: str, tmp_path: Path) -> None:
    """A bundle with pseudonyms has none: the digest of a checkpoint would confirm a guessed name."""
    bundle = captured([Path(shutil.copytree(SAMPLE, tmp_path / "here"))], tmp_path, option)
    code, _, errors = run(["repair", str(bundle)])
    assert (code, "has no digests, which a plan needs" in " ".join(errors.split())) == (2, True)
    fresh()


@pytest.mark.parametrize(
    ("case", "file", "line", "rule"),
    [
        ("kc306-directory-id-duplicate/copied", "meta.properties", "password=geheim", "KC306"),
        ("kc141-batch-crc/transactions", "recovery-point-offset-checkpoint", "geh!m 0 5", "KC141"),
    ],
)
def test_masked_lines_are_never_written(case: str, file: str, line: str, rule: str, tmp_path: Path) -> None:
    """What the plan of the directory keeps of a file is x in the bundle."""
    here = tmp_path / "here"
    shutil.copytree(shared_copy(CASES / case), here)
    for path in here.rglob(file):
        first, count, *more = path.read_text().splitlines()
        counted = str(int(count) + 1) if count.isdigit() else count
        path.write_text("\n".join((first, counted, *more, line, "")))
    document = plan_of(captured([here], tmp_path), tmp_path / "plan.json", "--accept-loss")
    assert (rule, f"a line of {file} is masked in the bundle") in {
        (row["finding"], row["why"]) for row in document["refused"]
    }
    assert file not in {row["path"].rpartition("/")[2] for row in document["operations"]}
    fresh()
