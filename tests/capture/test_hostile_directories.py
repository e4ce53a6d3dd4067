"""kcheck reads every bundle that it writes: of any directory, and with any limit."""

import os
import random
import shutil
import socket
from pathlib import Path

import pytest

from kcheck.disk import bundle
from tests.capture.answers import fresh, run
from tests.capture.hostile import COMMANDS, SAMPLE
from tests.oracle.ask import generated

ODD = ("\x1b[2J", "a\nb", "x\u202ey", "n" * 120, " ", "%2e%2e", "a\\b", "C:x", "'\"$(id)", "-0", "é", "a`b")
SUFFIXES = (".log", ".index", ".hprof", "-0", "-stray", ".snapshot", ".checkpoint", "")
SIZES = (0, 1, 4096, 1 << 20, 3 << 30, 100 << 30, 1 << 40)


def hostile(folder: Path, chance: random.Random) -> Path:
    """Return a log dir with files that no broker writes, in it and in its partitions."""
    shutil.copytree(SAMPLE / "data1", folder)
    places = [folder, *(path for path in folder.iterdir() if path.is_dir())]
    for number in range(chance.randint(3, 12)):
        path = chance.choice(places) / (chance.choice(ODD) + str(number) + chance.choice(SUFFIXES))
        kind = chance.randrange(6)
        if kind == 0:
            os.mkfifo(path)
        elif kind == 1:
            path.symlink_to(chance.choice(("/dev/zero", "/nowhere", "..", str(path))))
        elif kind == 2:
            path.mkdir()
        else:
            path.touch()
            os.truncate(path, chance.choice(SIZES))
    zeros = chance.choice(places) / f"{number:020}.log"
    zeros.touch()
    os.truncate(zeros, chance.choice(SIZES))
    return folder


def read_again(folder: Path, made: Path) -> None:
    """Hold that every verb reads a bundle, or refuses what is in it with a reason."""
    for command in COMMANDS:
        code, _, errors = run(command.format(made).split())
        assert code in (0, 1, 3), (command, code, errors)
        assert "bug in kcheck" not in errors
        fresh()
    shutil.rmtree(folder)


@pytest.mark.parametrize("seed", range(3 + generated(30)))
def test_what_is_captured_can_be_read(seed: int, tmp_path: Path) -> None:
    """Sparse files of any size, names with escapes, pipes and links; also where little fits."""
    chance = random.Random(seed)
    made, folder = tmp_path / "made.kcheck", hostile(tmp_path / "data", chance)
    with socket.socket(socket.AF_UNIX) as odd:
        odd.bind(str(tmp_path / "data" / "s"))
    limit = chance.choice(([], ["--max-size", "20K"], ["--max-size", "1K"]))
    code, _, errors = run(["capture", str(folder), "-o", str(made), *limit])
    assert code in (0, 3), errors
    read_again(folder, made)


def test_sparse_logs_that_no_reader_takes_stay_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle is incomplete, and says why; indexes that a broker made larger ahead of use are in it."""
    monkeypatch.setattr(bundle, "_RATIO_FREE", 1 << 20)
    monkeypatch.setattr(bundle, "_RATIO_MAX", 100)
    folder, made = tmp_path / "data", tmp_path / "made.kcheck"
    shutil.copytree(SAMPLE / "data1", folder)
    partition = next(path for path in sorted(folder.iterdir()) if path.is_dir())
    (partition / f"{1000:020}.log").touch()
    os.truncate(partition / f"{1000:020}.log", 20 << 20)
    code, out, errors = run(["capture", str(folder), "-o", str(made)])
    assert (0, True) == (code, "incomplete" in errors), (out, errors)
    entries = bundle.BundleTree(str(made)).manifest["entries"]
    assert [f"{1000:020}.log"] == [
        Path(row["path"]).name for row in entries if "mostly holes" in row.get("missing", "")
    ]
    read_again(folder, made)
