"""The examples of the pages: a fenced block with a line `$ kcheck ...` and below it what the command prints.

Every command runs from the root of the repository on a terminal of 80 columns, so that it prints the same everywhere.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]

GENERATED = ("docs/cli.md", "docs/releases.md", "docs/rules.md", "docs/tables.md")
"""Pages that are written whole."""

START = "import sys; sys.argv[0] = 'kcheck'; from kcheck.cli.app import main; main()"
"""What the script `kcheck` does, wherever it is installed."""

OUT = "/tmp/fleet"
"""What the examples of a block are told to write to: a folder of its own stands for it when they run."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^\$ (kcheck .*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command as a page shows it, the lines shown below it, and the commands above it in its block."""

    page: str
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
    text = (ROOT / page).read_text("utf-8")
    return [
        Example(page=page, command=command, shown=shown, above=tuple(above for above, _ in pairs[:number]))
        for pairs in map(_EXAMPLE.findall, _FENCED.findall(text))
        for number, (command, shown) in enumerate(pairs)
    ]


def printed(command: str, above: tuple[str, ...] = ()) -> str:
    """Return what a command prints on stdout; it may find something wrong, but it must come to its end.

    The commands `above` it run before it where they write to what it reads. What is the time of a run is one day here.
    """
    with tempfile.TemporaryDirectory() as folder:
        for other in above if OUT in command else ():
            _run(other, folder)
        return _TIME.sub("2026-01-01 00:00:00 UTC", _run(command, folder).replace(folder, OUT))


def _run(command: str, folder: str) -> str:
    words = shlex.split(command)
    assert words[0] == "kcheck"
    unseen = words[-2:] == [">", "/dev/null"]
    unwanted = {"FORCE_COLOR", "TTY_COMPATIBLE", "KCHECK_DEBUG"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    done = subprocess.run(
        [sys.executable, "-c", START, *(word.replace(OUT, folder) for word in words[1 : -2 if unseen else None])],
        cwd=ROOT, env={**kept, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), f"$ {command}\nexit {done.returncode}\n{done.stderr}"
    return "" if unseen else done.stdout


def with_current_output(text: str) -> str:
    """Return a page with the output of its examples made anew."""

    def block(fenced: re.Match[str]) -> str:
        commands = tuple(command for command, _ in _EXAMPLE.findall(fenced[0]))
        shown = (printed(command, commands[:number]) for number, command in enumerate(commands))
        return _EXAMPLE.sub(lambda found: f"$ {found[1]}\n{next(shown)}", fenced[0])

    return _FENCED.sub(block, text)
