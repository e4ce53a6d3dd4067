"""`kcheck demo` as a shell runs it: each step's command does what the demo shows."""

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from kcheck.cli.demo import STEPS
from tests.cli.command import kcheck, shell

FAILS = "(exit "


def test_each_step_does_what_it_says(tmp_path: Path) -> None:
    """Only the look at the broken broker has something to say; the folder is gone afterwards."""
    done = shell("demo", "--no-pause", TMPDIR=str(tmp_path), COLUMNS="80")
    assert (0, "") == (done.code, done.err)
    shown = done.out.split("\n$ kcheck ")
    assert [text.splitlines()[0] for text in shown[1:]] == [step.command for step in STEPS]
    assert [FAILS in text for text in shown[1:]] == [step.zeroed is not None for step in STEPS]
    assert "simulated-0: leader-epoch-checkpoint cannot be read" in shown[2]
    assert "broker 3: will boot" in shown[5]
    assert "Start broker 3 first." in shown[6]
    assert max(len(line) for line in done.out.splitlines() if not line.startswith("  kcheck ")) <= 80
    assert [*tmp_path.iterdir()] == []


def test_the_folder_is_kept(tmp_path: Path) -> None:
    """It has all that the commands need, broken as at the beginning; what is there already stays."""
    kept = tmp_path / "kept"
    assert 0 == kcheck("demo", "--dir", kept).code
    assert {"backup", "brokers", "plan.json"} == {path.name for path in kept.iterdir()}
    (zeroed,) = [step.zeroed for step in STEPS if step.zeroed]
    assert set((kept / zeroed).read_bytes()) == {0}
    again = kcheck("demo", "--dir", kept)
    assert (again.code, again.err) == (2, f"kcheck: {kept} is not empty; choose a new directory\n")
    inside = kept / "brokers" / "broker-1" / "new"
    assert "choose a directory outside of every log dir" in kcheck("demo", "--dir", inside).err
    assert not inside.exists()
    assert f"cannot write {zeroed_file(kept)}" in kcheck("demo", "--dir", zeroed_file(kept)).err


def zeroed_file(kept: Path) -> Path:
    """Return a path where no directory can be."""
    return kept / "plan.json"


def test_where_nothing_can_be_built(tmp_path: Path) -> None:
    """A temporary folder inside of a log dir: the first command refuses it, and the demo ends."""
    (tmp_path / "meta.properties").write_text("version=0\n", "utf-8")
    done = shell("demo", TMPDIR=str(tmp_path))
    assert (2, 1) == (done.code, done.out.count("$ kcheck"))
    assert "cannot build the directories" in done.err


def test_it_waits_on_a_terminal(tmp_path: Path) -> None:
    """Enter continues; ^C ends, and nothing is left."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TMPDIR": str(tmp_path), "COLUMNS": "80", "NO_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "kcheck", "demo"], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    assert "1. A cluster loses power" in read_until(ours, "Enter continues")
    os.write(ours, b"\n")
    assert "2. Look: is anything wrong?" in read_until(ours, "Enter continues")
    assert [*tmp_path.iterdir()] != []
    time.sleep(0.5)  # A signal between the prompt and the wait for Enter would be seen after Enter.
    process.send_signal(signal.SIGINT)
    assert 130 == process.wait(timeout=600)
    os.close(ours)
    assert [*tmp_path.iterdir()] == []


def read_until(terminal: int, words: str) -> str:
    """Return what a terminal shows up to these words."""
    text, ends = "", time.monotonic() + 60
    while words not in text:
        assert select.select([terminal], [], [], max(0, ends - time.monotonic()))[0], text
        text += os.read(terminal, 65536).decode()
    return text
