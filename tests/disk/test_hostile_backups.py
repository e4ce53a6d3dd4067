"""Whatever a plan or a journal holds: an error says what is wrong, or the files are old or new; never a bug."""

import contextlib
import copy
import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kcheck.disk.apply import apply, undo
from kcheck.errors import KcheckError, UndoError
from kcheck.model.plan import digest
from kcheck.model.plan_json import parse_plan
from kcheck.plans.plan_report import PlanOutcome
from kcheck.renderers import Options, text
from kcheck.renderers import json as json_renderer
from tests.disk.plans import bytes_of, make, plan_of, state
from tests.oracle.ask import IS_WHOLE

COUNT = int(os.environ.get("KCHECK_MUTATIONS", "2400" if IS_WHOLE else "600"))
VALUES: tuple[Any, ...] = (
    None, True, -1, -5, 0, 1, 1 << 31, 1 << 32, 1 << 63, 10**20, 10**40, 1.5, 1e300, "", "x", "\ud800", "\udcff",
    "\udcc3\udca9", "a\0b", "../x", "/", "x" * 5000, [], {}, [0, 0], [10**40, 0], [-5, -5], {"": ""}, {"\ud800": "zz"},
    {"sha256": "0" * 64, "size": 0}, [[[[]]]], {"security.x": "00"}, {"user.\ud800": "00"}, {"user.a\0b": "00"},
)  # fmt: skip


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or array with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from places(value[key])


def mutated(document: Any, rng: random.Random) -> Any:
    """Return a copy with one or two values replaced, removed or swapped."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 2))):
        holder, key = rng.choice(list(places(document)))
        change = rng.random()
        if change < 0.15:
            del holder[key]
        elif change < 0.3:
            other, name = rng.choice(list(places(document)))
            holder[key] = copy.deepcopy(other[name])
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        if not document:
            break
    return document


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sync nothing: no test here loses power."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_plans(tmp_path: Path, fast: None) -> None:
    """A plan is refused, or can be shown, applied and undone."""
    del fast
    rng, dirs, backup = random.Random(os.environ.get("KCHECK_SEED", "0")), make(tmp_path), tmp_path / "backup"
    plan = json.loads(bytes_of(plan_of(*dirs)))
    del plan["sha256"]
    before, applied = state(*dirs), 0
    for _ in range(COUNT // 2):
        data = json.dumps(mutated(plan, rng)).encode()
        with contextlib.suppress(KcheckError):
            report = PlanOutcome(plan=parse_plan(data), changed=()).report()
            with (tmp_path / "out").open("w", errors="backslashreplace") as stream:
                text.RENDERER.render(report, stream, Options())
                json_renderer.RENDERER.render(report, stream, Options())
            apply(data, str(backup))
        if (backup / "journal.json").exists():
            applied += 1
            undo(str(backup))
        shutil.rmtree(backup, ignore_errors=True)
        assert state(*dirs) == before, data
    assert applied > COUNT // 50


def test_journals(tmp_path: Path, fast: None) -> None:
    """An undo that fails before its last file says how many files are restored; the good journal finishes it."""
    del fast
    rng, dirs, backup = random.Random(os.environ.get("KCHECK_SEED", "0")), make(tmp_path), tmp_path / "backup"
    data = bytes_of(plan_of(*dirs))
    before = {name: facts[4] for name, facts in state(*dirs).items()}
    apply(data, str(backup))
    after = state(*dirs, times=False)
    journal = json.loads((backup / "journal.json").read_bytes())
    for _ in range(COUNT // 2):
        hostile = mutated(journal, rng)
        (backup / "journal.json").write_text(json.dumps(hostile))
        try:
            undo(str(backup))
        except UndoError as error:
            restored = error.restored
        except KcheckError:
            restored = 0
        else:
            restored = -1
        assert restored or state(*dirs, times=False) == after, hostile
        (backup / "journal.json").write_text(json.dumps(journal))
        if state(*dirs, times=False) != after:
            undo(str(backup))
            assert {name: facts[4] for name, facts in state(*dirs).items()} == before, hostile
            shutil.rmtree(backup)
            apply(data, str(backup))
            after = state(*dirs, times=False)
            journal = json.loads((backup / "journal.json").read_bytes())


@pytest.mark.parametrize("number", [0, 3])
def test_a_journal_that_contradicts_its_plan(tmp_path: Path, number: int) -> None:
    """A file that existed before is never removed, because a journal says that it did not."""
    dirs, backup = make(tmp_path), tmp_path / "backup"
    apply(bytes_of(plan_of(*dirs)), str(backup))
    journal = json.loads((backup / "journal.json").read_bytes())
    entries = journal["entries"]
    entries[str(number)] = entries["1"] if entries[str(number)] is None else None
    (backup / "journal.json").write_text(json.dumps(journal))
    after = state(*dirs)
    with pytest.raises(KcheckError, match="is corrupt"):
        undo(str(backup))
    assert state(*dirs) == after
    assert digest((backup / "plan.json").read_bytes()).sha256 == journal["plan"]


@pytest.mark.parametrize("name", ["plan.json", "0.before", "1.before", "journal.json.tmp"])
def test_a_named_pipe_in_a_backup_is_refused_and_never_waited_for(tmp_path: Path, name: str) -> None:
    dirs, backup = make(tmp_path), tmp_path / "backup"
    backup.mkdir()
    os.mkfifo(backup / name)
    before = state(*dirs)
    with pytest.raises(KcheckError, match=f"{name} is not a regular file"):
        apply(bytes_of(plan_of(*dirs)), str(backup))
    assert state(*dirs) == before


@pytest.mark.parametrize("name", ["plan.json", "journal.json"])
def test_a_pipe_or_a_huge_file_in_an_applied_backup_is_refused(tmp_path: Path, name: str) -> None:
    """A sparse file of 20 GB takes no memory of its size."""
    dirs, backup = make(tmp_path), tmp_path / "backup"
    apply(bytes_of(plan_of(*dirs)), str(backup))
    after = state(*dirs)
    (backup / name).unlink()
    os.mkfifo(backup / name)
    with pytest.raises(KcheckError, match=f"{name} is not a regular file"):
        undo(str(backup))
    (backup / name).unlink()
    with (backup / name).open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(KcheckError, match=f"{name} is larger than"):
        undo(str(backup))
    assert state(*dirs) == after
