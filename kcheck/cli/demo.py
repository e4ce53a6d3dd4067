"""`kcheck demo`, which makes corrupt directories, and leads a newcomer through look, plan and act."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import fill
from typing import Annotated, NamedTuple

import typer

from kcheck.errors import UsageError
from kcheck.screen.printable import printable

_WIDTH = 80
_FILE = "brokers/broker-3/simulated-0/leader-epoch-checkpoint"


class DemoStep(NamedTuple):
    """A command, and what a newcomer needs to know before it."""

    title: str
    """The subject of the step."""
    words: str
    """The reason why the command is typed."""
    command: str
    """The words after `kcheck`."""
    zeroed: str | None = None
    """The file that the demo fills with zeros before."""


STEPS = (
    DemoStep(
        "A cluster loses power",
        "Three simulated brokers hold one partition. One after the other dies, and each log ends elsewhere. This "
        "plays the story. It writes the log dirs as they are when all brokers are down, after line 20:",
        "simulate write unclean-shortest --output-dir brokers --after 11",
    ),
    DemoStep(
        "Look: is anything wrong?",
        f"The power loss has left zeros in {_FILE}: this demo has just written them. A path alone is the first thing to"
        " type at 3 am:",
        "brokers/broker-3",
        zeroed=_FILE,
    ),
    DemoStep(
        "Plan: can it be repaired?",
        "Nothing is changed yet. A plan lists each step, its proof, and the effect on the next start:",
        "repair brokers/broker-3 -o plan.json",
    ),
    DemoStep(
        "Act: apply the plan",
        "Only `apply` and `undo` write to log dirs. The backup takes it back:",
        "apply plan.json --backup backup --yes",
    ),
    DemoStep("Plan: does the broker start now?", "The next start in detail:", "predict brokers/broker-3"),
    DemoStep(
        "Plan: which broker should lead?",
        "Kafka compares no logs when it elects a leader. This shows the cost of each choice, and in which order "
        "to start"
        " the brokers:",
        "elect brokers --incomplete-ok",
    ),
    DemoStep("Act: take it back", "The file is as it was, byte for byte:", "undo backup"),
)


def demo(
    pause: Annotated[bool, typer.Option("--pause/--no-pause", help="Wait for Enter after each step.")] = True,
    directory: Annotated[
        str | None, typer.Option("--dir", metavar="DIR", help="Build the cluster in DIR, new or empty, and keep it.")
    ] = None,
) -> None:
    """Break a small cluster in a temporary folder, and repair it, in seven steps."""
    waits = pause and sys.stdin.isatty() and sys.stdout.isatty()
    with _folder(directory) as folder:
        for number, step in enumerate(STEPS, start=1):
            _print(f"{number}. {step.title}\n\n{_filled(step.words)}\n\n$ kcheck {step.command}")
            if step.zeroed is not None:
                _fill_with_zeros(folder / step.zeroed)
            if _run(step.command.split(), folder) and number == 1:
                raise UsageError(f"cannot build the directories in {folder}")
            _print("")
            if waits and number < len(STEPS):
                input("Enter continues, ^C ends. ")
                _print("")
    rest = "The folder is deleted" if directory is None else f"The folder stays: {printable(str(folder))}"
    _print(_filled(f"{rest}. Go on with your own log dirs; type kcheck PATH, kcheck --help, kcheck simulate list."))


def _fill_with_zeros(path: Path) -> None:
    try:
        path.write_bytes(bytes(path.stat().st_size))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


@contextmanager
def _folder(keep: str | None) -> Iterator[Path]:
    """Yield a new directory; a temporary one is removed afterwards, after ^C too."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="kcheck-demo-") as name:
            yield Path(name)
        return
    from kcheck.disk.new_files import log_dir_around
    from kcheck.disk.output import discard

    folder = Path(keep)
    around = log_dir_around(os.path.realpath(keep))
    if around is not None:
        raise UsageError(f"{keep} is inside of {around}: choose a directory outside of every log dir")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        raise UsageError(f"cannot write {keep}: {error.strerror}") from error
    if not is_empty:
        raise UsageError(f"{keep} is not empty; choose a new directory")
    try:
        yield folder
    except UsageError:  # the next demo needs an empty directory
        for path in folder.iterdir():
            discard(str(path))
        raise


def _filled(words: str) -> str:
    return fill(words, _WIDTH, break_on_hyphens=False)


def _print(text: str) -> None:
    print(text, flush=True)


def _run(arguments: list[str], folder: Path) -> int:
    """Run kcheck in the folder, as a shell would, and return its exit code; a code other than 0 is shown."""
    command = [sys.executable, "-m", "kcheck", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))}
    shown = None if sys.stdout.isatty() else subprocess.PIPE
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=shown, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    if done.stdout:
        print(done.stdout, end="")
    if done.returncode:
        _print(f"(exit {done.returncode})")
    return done.returncode
