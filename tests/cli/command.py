"""kcheck as a shell runs it, and in process where streams do not matter."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

from kcheck.cli.app import main
from tests.json_schema import problems

# The script that pip installs, as an operator runs it. Under `python -m` an interrupt that Python meets within eval(),
# as where a NamedTuple is made, ends the process by the signal: a shell shows 130 for both, subprocess -2.
KCHECK = (str(Path(sys.executable).with_name("kcheck")),)
ROOT = Path(__file__).parents[2]
UNCHANGED = "No files were changed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended: exit code, stdout and stderr."""

    code: int
    out: str
    err: str


def environment(**changes: str) -> dict[str, str]:
    """Return an environment that decides nothing about color, width and settings, with changes."""
    plain = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return {**plain, "TERM": "xterm", "KCHECK_CONFIG": "", "PYTHONPATH": str(ROOT), **changes}


def shell(*arguments: str | Path, cwd: Path | None = None, **changes: str) -> Ended:
    """Run kcheck in a process of its own, both streams being pipes."""
    command = [*KCHECK, *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, env=environment(**changes), capture_output=True, check=False)
    return _valid(Ended(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode()), arguments)


def kcheck(*arguments: str | Path, columns: int = 80) -> Ended:
    """Run kcheck in this process."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["kcheck", *map(str, arguments)]),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns), "KCHECK_CONFIG": ""}),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return _valid(Ended(code=code if isinstance(code, int) else 0, out=out.getvalue(), err=err.getvalue()), arguments)


def _valid(ended: Ended, arguments: Iterable[str | Path]) -> Ended:
    """Return how a command ended: whatever the test is about, an answer in JSON is as its schema says."""
    if ended.out and any(pair == ("--format", "json") for pair in pairwise(map(str, arguments))):
        wrong = problems(json.loads(ended.out))
        assert not wrong, wrong
    return ended


@contextlib.contextmanager
def left_to_nobody(process: subprocess.Popen[Any]) -> Iterator[None]:
    """End a process that would never end, where a test fails beside it."""
    try:
        yield
    except BaseException:
        process.kill()
        raise


def drained(leader: int) -> bytes:
    """Return all that is written to a terminal until the other side is closed."""
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # Linux says so when the other side is closed
            return shown
        if not part:
            return shown
        shown += part


def document(*arguments: str | Path) -> dict[str, Any]:
    """Return the JSON answer of a command."""
    return dict(json.loads(kcheck(*arguments, "--format", "json").out))
