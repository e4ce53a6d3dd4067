"""The examples of the pages: a fenced block with a line `$ kcheck ...` and below it what the command prints.

Every command runs from the root of the repository on a terminal of 80 columns, so that it prints the same everywhere.
The commands of a page about an incident run one after the other in a folder of `tests/docs/incidents.py`.
"""

import contextlib
import functools
import os
import re
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from tests.cli.command import kcheck, shell
from tests.docs.incidents import INCIDENTS, after_the_plan

ROOT = Path(__file__).parents[2]

GENERATED = (
    "docs/cli.md", "docs/demo.md", "docs/json.md", "docs/log-messages.md", "docs/premises.md", "docs/releases.md",
    "docs/rules.md", "docs/tables.md",
)  # fmt: skip
"""Pages that are written whole."""

OUT = "/tmp/fleet"
"""What the examples of a block are told to write to: a folder of its own stands for it when they run."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^\$ ((?:kcheck|cp|mv|bin/kafka-server-start.sh) .*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command of a page, counted from its top, the lines shown below it, and the commands above it in its block."""

    page: str
    number: int
    command: str
    shown: str
    above: tuple[str, ...] = ()


def pages() -> list[str]:
    """Return the pages that are written by hand, as paths from the root."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return [name for name in names if name not in GENERATED]


def examples(page: str) -> list[Example]:
    """Return the examples of a page, in its order."""
    blocks = map(_EXAMPLE.findall, _FENCED.findall((ROOT / page).read_text("utf-8")))
    placed = [(command, shown, pairs[:at]) for pairs in blocks for at, (command, shown) in enumerate(pairs)]
    return [
        Example(page=page, number=number, command=command, shown=shown, above=tuple(line for line, _ in above))
        for number, (command, shown, above) in enumerate(placed)
    ]


def current(example: Example) -> str:
    """Return what the command of an example prints."""
    if example.page not in INCIDENTS:
        return printed(example.command, example.above)
    commands = tuple(other.command for other in examples(example.page))
    return _printed_in_turn(example.page, commands)[example.number]


def printed(command: str, above: tuple[str, ...] = ()) -> str:
    """Return what a command prints on stdout; it may find something wrong, but it must come to its end.

    The commands `above` it run before it where they write to what it reads. What is the time of a run is one day here.
    """
    with tempfile.TemporaryDirectory() as folder:
        for other in above if OUT in command else ():
            run(other, folder, ROOT)
        return _TIME.sub("2026-01-01T00:00:00Z", run(command, folder, ROOT).replace(folder, OUT))


@functools.cache
def _printed_in_turn(page: str, commands: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the commands of a page about an incident print."""
    with tempfile.TemporaryDirectory() as folder:
        INCIDENTS[page](Path(folder))
        return tuple([_TIME.sub("2026-01-01T00:00:00Z", _done(page, line, folder)) for line in commands])


def _done(page: str, command: str, folder: str) -> str:
    """Run a command of a page about an incident; that of the last broker's start leads to the end of the plan."""
    if command.startswith("bin/"):
        after_the_plan(page, Path(folder))
        return ""
    return run(command, folder, Path(folder))


def run(command: str, folder: str, where: Path) -> str:
    """Run a command in a folder; return what it prints on stdout. `folder` stands for OUT in it."""
    words = shlex.split(command)
    if words[0] != "kcheck":
        return subprocess.run(words, cwd=where, check=True, capture_output=True, text=True).stdout
    unseen = words[-2:] == [">", "/dev/null"]
    unwanted = {"FORCE_COLOR", "TTY_COMPATIBLE", "KCHECK_DEBUG"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    arguments = [word.replace(OUT, folder) for word in words[1 : -2 if unseen else None]]
    with contextlib.chdir(where), mock.patch.dict(os.environ, {**kept, "NO_COLOR": "1"}, clear=True):
        done = (shell if arguments[0] == "export" else kcheck)(*arguments)  # records are written as bytes
    unfinished = (3,) if where != ROOT else ()
    assert done.code in (0, 1, *unfinished), f"$ {command}\nexit {done.code}\n{done.err}"
    return "" if unseen else done.out


def with_current_output(page: str) -> str:
    """Return the text of a page with the output of its examples made anew."""
    outputs = iter([current(example) for example in examples(page)])
    text = (ROOT / page).read_text("utf-8")

    def block(fenced: re.Match[str]) -> str:
        return _EXAMPLE.sub(lambda found: f"$ {found[1]}\n{next(outputs)}", fenced[0])

    return _FENCED.sub(block, text)
