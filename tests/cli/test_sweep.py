"""Every verb is asked about paths that are not what it reads, and is interrupted: no bug, and a screen that ends."""

import contextlib
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import UNCHANGED, Ended, kcheck
from tests.cli.test_options import COMMANDS, folder, outcome
from tests.oracle.scenes import FIXTURES

__all__ = ["folder"]

_BROKER = FIXTURES / "brokers" / "4.3.1" / "diverged" / "broker-1"
_NAMES = ("\x1b[2J-0", "a\nb-0", "x\u202e-0", "-rf-0", "t-99999999999999999999", "..-0", os.fsdecode(b"\xff-0"))
ODD = ("missing", "empty", "nothing", "garbage", "fifo", "loop", "x\x1b[2J\n$(id) '\"")
"""No path, an empty directory and file, noise, a pipe, a link to itself, and a broker of noise with a hostile name."""
ASKED = COMMANDS | {"export": (*COMMANDS["export"], "-o", "NEW")}
"""What is typed; records on stdout are bytes, which no stream of this process takes."""


@pytest.fixture(scope="module")
def odd(folder: Path) -> Path:
    """Return the folder of the commands, with the odd paths in it."""
    chance = random.Random(1)
    _, empty, nothing, garbage, fifo, loop, hostile = (folder / name for name in ODD)
    empty.mkdir()
    nothing.touch()
    garbage.write_bytes(chance.randbytes(5000))
    os.mkfifo(fifo)
    loop.symlink_to(loop)
    shutil.copytree(_BROKER, hostile)
    for path in sorted(path for path in hostile.rglob("*") if path.is_file() and path.name != "meta.properties"):
        size = path.stat().st_size
        path.write_bytes(chance.randbytes(size) if path.suffix != ".index" else bytes(size))
    for name in _NAMES:
        shutil.copytree(_BROKER / "data1" / "diverged-0", hostile / "data1" / name)
        (hostile / "data1" / name / "\x1b[2J.log").mkdir()
    return folder


def without_paths(words: tuple[str, ...], path: str) -> tuple[str, ...]:
    """Return a command that names another path in the place of each that it reads."""
    named = [word.rpartition("=") if word[:1].isdigit() else ("", "", word) for word in words]
    return tuple("".join((*row[:2], path if Path(row[2]).exists() else row[2])) for row in named)


def following(out: str) -> Iterator[tuple[str, ...]]:
    """Yield the command that a screen ends with, without the paths that only the user knows."""
    *_, title, command = ["", "", *out.splitlines()]
    if title == "Next:":
        words = ["bash", "-c", f"printf '%s\\0' {command}"]
        done = subprocess.run(words, capture_output=True, check=True).stdout.split(b"\0")[:-1]
        known = re.sub(r"(\0--metadata\0|\0[0-9]+=)PATH(?=\0|$)", "", "\0".join(map(os.fsdecode, done[1:])))
        yield tuple(word.replace("DIR", "NEW").replace("plan.json", "NEW") for word in known.split("\0"))


def asked(words: tuple[str, ...]) -> tuple[int, str, str]:
    """Return how a command ends; what it writes is removed."""
    code, out, err, _ = outcome(words)
    Path("FILE.kcheck").unlink(missing_ok=True)
    assert isinstance(code, int)
    return code, str(out), str(err)


@pytest.mark.parametrize("key", ASKED)
def test_a_path_that_is_nothing(key: str, odd: Path) -> None:
    """No bug, no control character, an error of one line or an answer; the next command runs."""
    with contextlib.chdir(odd):
        for path in ODD:
            words = without_paths(ASKED[key], path)
            if words == ASKED[key]:
                continue
            code, out, err = asked(words)
            where = (words, code, err)
            assert "bug in kcheck" not in err, where
            assert "\x1b" not in out + err, where
            assert code in (0, 1, 2, 3), where
            if code == 2:
                assert (out, err.replace(f"{UNCHANGED}\n", "").count("\n")) == ("", 1), where
                assert err.startswith("kcheck: "), where
            else:
                assert (out + err).strip(), where
            for command in following(out):
                assert "new" in " ".join(command) or asked(command)[0] != 2, (where, command)


class _Interrupt:
    """Raises KeyboardInterrupt where the numbered file or directory is opened."""

    wanted: int = 0
    at: int | None = None
    seen: int = 0


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _Interrupt.at is None or event not in ("open", "os.scandir", "os.listdir"):
        return
    path = os.fsdecode(arguments[0]) if isinstance(arguments[0], str | bytes) else ""
    if path and not path.startswith(("/", "<")):
        _Interrupt.seen += 1
        if _Interrupt.seen == _Interrupt.at:
            raise KeyboardInterrupt


sys.addaudithook(_hook)


def _interrupted(*words: str) -> Ended:
    _Interrupt.at, _Interrupt.seen = _Interrupt.wanted, 0
    try:
        return kcheck(*words)
    finally:
        _Interrupt.at = None


def interrupted(words: tuple[str, ...], at: int) -> tuple[tuple[object, ...], int]:
    """Return how a command ends that is interrupted where it opens something, and how often it opened something."""
    _Interrupt.wanted = at
    return outcome(words, _interrupted), _Interrupt.seen


ELSEWHERE = {"apply": "test_apply_signals", "undo": "test_apply_signals", "fleet scan": "test_fleet"}
"""The tests that interrupt what goes on in other processes, or is taken back."""


@pytest.mark.parametrize("key", [key for key in ASKED if key not in ELSEWHERE])
def test_an_interrupt(key: str, folder: Path) -> None:
    """Exit code 130, no bug, and no file that the command has begun to write."""
    with contextlib.chdir(folder):
        outcome(ASKED[key])  # imports
        plain, count = interrupted(ASKED[key], 1 << 30)
        for at in sorted({1, (count + 1) // 2, count}) if count else ():
            (code, out, err, files), _ = interrupted(ASKED[key], at)
            assert code == 130, (at, count, err)
            assert "bug in kcheck" not in str(err)
            assert "Traceback" not in f"{out}{err}"
            assert files in ((), plain[3]), (at, count)
