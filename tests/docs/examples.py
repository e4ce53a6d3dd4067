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
"""What examples are told to write to: a folder of their own stands for it when they run."""

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^\$ (kcheck .*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A command as a page shows it, and the lines shown below it."""

    page: str
    command: str
    shown: str


def pages() -> list[str]:
    """Return the pages that are written by hand, as paths from the root."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    names = [path.relative_to(ROOT).as_posix() for path in found]
    return [name for name in names if name not in GENERATED]


def examples(page: str) -> list[Example]:
    """Return the examples of a page, in its order."""
    text = (ROOT / page).read_text("utf-8")
    pairs = [pair for block in _FENCED.findall(text) for pair in _EXAMPLE.findall(block)]
    return [Example(page=page, command=command, shown=shown) for command, shown in pairs]


def printed(command: str) -> str:
    """Return what a command prints on stdout; it may find something wrong, but it must come to its end."""
    words = shlex.split(command)
    assert words[0] == "kcheck"
    unwanted = {"FORCE_COLOR", "TTY_COMPATIBLE", "KCHECK_DEBUG"}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", START, *(folder if word == OUT else word for word in words[1:])],
            cwd=ROOT, env={**kept, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONUTF8": "1"}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", check=False,
        )  # fmt: skip
    assert done.returncode in (0, 1), f"$ {command}\nexit {done.returncode}\n{done.stderr}"
    return done.stdout.replace(folder, OUT)


def with_current_output(text: str) -> str:
    """Return a page with the output of its examples made anew."""

    def block(fenced: re.Match[str]) -> str:
        return _EXAMPLE.sub(lambda found: f"$ {found[1]}\n{printed(found[1])}", fenced[0])

    return _FENCED.sub(block, text)
