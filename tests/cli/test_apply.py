"""What an operator types and sees: the word apply, the last line, the exit code."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import KCHECK, UNCHANGED, Ended, environment, kcheck, shell
from tests.disk.plans import state


def last(text: str) -> str:
    """Return the last line."""
    return text.splitlines()[-1]


def test_apply_and_undo(plan: Path, tmp_path: Path) -> None:
    """Both say last what they did, and how to take it back."""
    dirs, backup = (tmp_path / "data1", tmp_path / "data2"), tmp_path / "a backup"
    before = state(*dirs)
    done = kcheck("apply", plan, "--backup", backup, "--yes")
    assert (done.code, last(done.err)) == (0, f"Changed 8 files; undo with: kcheck undo '{backup}'")
    assert "(12 B to 4 B): changed" in " ".join(done.out.split())
    again = kcheck("apply", plan, "--backup", backup, "--yes")
    assert (again.code, last(again.err)) == (0, UNCHANGED)
    assert "already applied" in again.out
    back = kcheck("undo", backup)
    assert (back.code, last(back.err)) == (0, "Changed 8 files back to what they were.")
    assert state(*dirs) == before
    assert "Undo: 8 operations" == back.out.splitlines()[0]
    assert all(words in back.out for words in (": restored", ": removed"))
    assert "loses" not in back.out
    again = kcheck("undo", backup)
    assert last(again.err) == UNCHANGED
    assert 8 == again.out.count(": already as before")


def test_json(plan: Path, tmp_path: Path) -> None:
    """The answer is the plan, with what was changed, and can be applied as one."""
    done = kcheck("apply", plan, "--backup", tmp_path / "backup", "--yes", "--format", "json")
    answer = json.loads(done.out)
    assert answer["schema"] == "kcheck.plan/1"
    assert [row.pop("changed") for row in answer["operations"]] == [True] * 8
    assert answer["operations"] == json.loads(plan.read_bytes())["operations"]


def test_a_plan_in_words_of_ones_own(plan: Path, tmp_path: Path) -> None:
    """Evidence and losses are shown as they stand, whatever they say."""
    found = json.loads(plan.read_bytes())
    found["operations"][0] |= {"evidence": {"seen": "in a dream", "more": 3}, "loses": {"from": "here"}}
    assert "remove its field sha256 if that was you" in edited(plan, found, tmp_path).err
    del found["sha256"]
    out = edited(plan, found, tmp_path).out
    assert 'proof {"seen": "in a dream", "more": 3}' in " ".join(out.split())
    assert "loses an unknown number of records, ?" in " ".join(out.split())


def edited(plan: Path, found: object, tmp_path: Path) -> Ended:
    """Apply a plan that somebody has edited."""
    plan.write_text(json.dumps(found))
    return kcheck("apply", plan, "--backup", tmp_path / "backup", "--yes")


@pytest.mark.parametrize(("word", "code"), [("apply\n", 0), ("yes\n", 2), ("", 2)])
def test_the_word(plan: Path, tmp_path: Path, word: str, code: int) -> None:
    """Without --yes the operator sees the reasons and types the word."""
    command = [*KCHECK, "apply", str(plan), "--backup", str(tmp_path / "backup")]
    done = subprocess.run(command, env=environment(), input=word, text=True, capture_output=True, check=False)
    assert done.returncode == code
    shown, _, rest = done.stderr.partition("Type apply to continue: ")
    assert shown.startswith("KC212: the recovery point lies above the log end\n  write data1/recovery-point-")
    assert shown.splitlines()[4:6] == ["  and 5 more operations", "  loses 50 records, ?"]
    assert "and 5 more losses 8 operations in " in " ".join(shown.split())
    assert max(len(line) for line in shown.splitlines() if str(tmp_path) not in line) <= 80
    assert rest
    assert (last(done.stderr) == UNCHANGED) == (code != 0)


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("apply", "missing.json", "--backup", "b", "--yes"), 2, "missing.json: no such file or directory"),
        (("apply", "plan.json", "--yes"), 2, "--backup"),
        (("apply", "data1/meta.properties", "--backup", "b", "--yes"), 3, "the plan is not valid JSON"),
        (("apply", "plan.json", "--backup", "data1/b", "--yes"), 3, "must not be inside"),
        (("apply", "plan.json", "--backup", "plan.json/b", "--yes"), 3, "Not a directory: nothing is changed"),
        (("apply", "plan.json", "--backup", "b", "--yes", "--format", "csv"), 2, "more than one table"),
        (
            ("apply", "plan.json", "--backup", "b", "--yes", "-o", "data1/out"),
            2,
            "which was checked; choose a file outside",
        ),
        (("undo", "data1"), 3, "no backup of an applied plan"),
        (("undo", "missing"), 2, "missing: no such file or directory"),
    ],
)
def test_errors(plan: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, word: str) -> None:
    """An error names what is in the way, and no file is changed."""
    dirs = (tmp_path / "data1", tmp_path / "data2")
    before = state(*dirs)
    done = shell(*arguments, cwd=plan.parent)
    assert (done.code, word in done.err) == (code, True), done.err
    assert state(*dirs) == before


def test_an_answer_that_cannot_be_written(plan: Path, tmp_path: Path) -> None:
    """Where the answer does not leave, the last line still says what was changed."""
    done = kcheck("apply", plan, "--backup", tmp_path / "b", "--yes", "-o", tmp_path / "missing" / "out")
    assert (done.code, last(done.err)) == (3, f"Changed 8 files; undo with: kcheck undo {tmp_path / 'b'}")
