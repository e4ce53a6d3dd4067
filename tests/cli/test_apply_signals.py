"""After ^C, a second ^C and kill the last line of apply and undo is true, and says how to go on."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.command import UNCHANGED, kcheck
from tests.disk.plans import state


@pytest.fixture(autouse=True)
def hangup() -> Iterator[None]:
    """Take SIGHUP as a shell's command does, also where nohup runs the tests: kcheck leaves ignored signals ignored."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


def signalled(monkeypatch: pytest.MonkeyPatch, numbers: tuple[int, ...], at: tuple[int, ...]) -> None:
    """Send signals to this process after some of the renames."""
    real, seen = os.rename, []
    due = dict(zip(at, numbers, strict=True))

    def rename(*names: str, **folders: int) -> None:
        real(*names, **folders)
        seen.append(names)
        if len(seen) in due:
            os.kill(os.getpid(), due[len(seen)])

    monkeypatch.setattr(os, "rename", rename)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_apply_is_stopped(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The first signal takes everything back."""
    dirs = (tmp_path / "data1", tmp_path / "data2")
    before = state(*dirs)
    signalled(monkeypatch, (number,), (3,))
    done = kcheck("apply", plan, "--backup", tmp_path / "b", "--yes")
    monkeypatch.undo()
    assert done.code == 128 + number
    assert "nothing is changed, every file is as it was" in done.err
    assert done.err.splitlines()[-1] == UNCHANGED
    assert state(*dirs) == before


def test_apply_is_stopped_twice(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second signal ends the way back; the line counts the files that are changed."""
    dirs = (tmp_path / "data1", tmp_path / "data2")
    before = state(*dirs)
    signalled(monkeypatch, (signal.SIGINT, signal.SIGINT), (5, 6))
    done = kcheck("apply", plan, "--backup", tmp_path / "b", "--yes")
    monkeypatch.undo()
    assert done.code == 130
    changed = changes(before, dirs)
    assert changed > 0
    assert done.err.splitlines()[-1] == f"Changed {changed} files; undo with: kcheck undo {tmp_path / 'b'}"
    assert kcheck("undo", tmp_path / "b").err == f"Changed {changed} files back to what they were.\n"
    assert state(*dirs) == before


def test_undo_is_stopped(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says how many files are back, and how to go on."""
    dirs, backup = (tmp_path / "data1", tmp_path / "data2"), tmp_path / "b"
    before = state(*dirs)
    kcheck("apply", plan, "--backup", backup, "--yes")
    signalled(monkeypatch, (signal.SIGINT,), (2,))
    done = kcheck("undo", backup)
    monkeypatch.undo()
    assert done.code == 130
    line = f"Changed 2 of 8 files back; continue with: kcheck undo {backup}"
    assert done.err.splitlines() == ["kcheck: stopped by ^C: 6 of 8 files are not restored yet; run undo again", line]
    assert changes(before, dirs) == 5
    assert kcheck("undo", backup).err == "Changed 6 files back to what they were.\n"
    assert state(*dirs) == before


@pytest.mark.parametrize("verb", ["apply", "undo"])
def test_a_signal_while_the_answer_is_written(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The files are changed by then, and the line says so; also if kcheck has a bug there."""
    lines = {
        "apply": f"Changed 8 files; undo with: kcheck undo {tmp_path / 'b'}",
        "undo": "Changed 8 files back to what they were.",
    }
    commands = {"apply": ("apply", plan, "--backup", tmp_path / "b", "--yes"), "undo": ("undo", tmp_path / "b")}

    def stop(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    effects: dict[int, Callable[..., None]] = {130: stop, 3: fail}
    for code, effect in effects.items():
        if verb == "undo":
            kcheck(*commands["apply"])
        with monkeypatch.context() as patch:
            patch.setattr("kcheck.cli.report_output.write", effect)
            done = kcheck(*commands[verb])
        assert (done.code, done.err.splitlines()[-1]) == (code, lines[verb])
        if verb == "apply":
            kcheck(*commands["undo"])


def test_a_signal_at_the_question(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is changed yet."""

    class Terminal:
        """Somebody presses ^C instead of an answer."""

        def readline(self) -> str:
            """Interrupt."""
            os.kill(os.getpid(), signal.SIGINT)
            return "apply\n"

    monkeypatch.setattr("sys.stdin", Terminal())
    done = kcheck("apply", plan, "--backup", tmp_path / "b")
    assert (done.code, done.err.splitlines()[-1]) == (130, UNCHANGED)
    assert not (tmp_path / "b").exists()


def changes(before: object, dirs: tuple[Path, Path]) -> int:
    """Return how many operations of the plan are done: each is seen by one name."""
    names = (
        "data1/recovery-point-offset-checkpoint", f"data1/t-0/{0:020d}.log", f"data1/t-0/{0:020d}.index",
        "data1/t-0/leader-epoch-checkpoint.new", "data1/t-0/metadata", "data2/u-1",
        "data2/replication-offset-checkpoint",
    )  # fmt: skip
    now = state(*dirs, times=False)
    assert isinstance(before, dict)
    old = {name: (*facts[:3], 0, *facts[4:]) for name, facts in before.items()}
    return sum(now.get(name) != old.get(name) for name in names)
