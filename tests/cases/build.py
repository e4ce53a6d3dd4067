"""Lay out the cases of fixtures/cases as the directories that kcheck checks.

A case holds only what makes it special. `base` in its case.toml names the folder of fixtures that it starts from: a
folder below brokers/ or another case. A table names one for each sub-folder. `remove` lists the files and directories
of the base that the case lacks. `changed/` holds the files that differ from the base. A case without a base holds all
of its files in `before/`.

`python -m tests.cases.build FOLDER [RULE/CASE ...]` lays cases out in a folder, to look at them or to make new ones.
"""

import atexit
import functools
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

FIXTURES = Path(__file__).parents[2] / "fixtures"
CASES = FIXTURES / "cases"
FOUND = sorted(path.parent for path in CASES.glob("*/*/case.toml"))


def toml(case: Path) -> dict[str, Any]:
    """Return case.toml."""
    return tomllib.loads((case / "case.toml").read_text("utf-8"))


def files_below(folder: Path) -> dict[str, Path]:
    """Return every file below a folder by its path from there; none if there is no such folder."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def base_files(case: Path) -> dict[str, Path]:
    """Return the files that a case takes from its base; none if it has no base."""
    described = toml(case)
    base = described.get("base", {})
    files: dict[str, Path] = {}
    for folder, name in (base if isinstance(base, dict) else {"": base}).items():
        source = FIXTURES / name
        taken = sources(source) if source.is_relative_to(CASES) else files_below(source)
        assert taken, f"{case}: {name} holds no files"
        files |= {str(PurePosixPath(folder, path)): file for path, file in taken.items()}
    for name in described.get("remove", ()):
        gone = [path for path in files if PurePosixPath(path).is_relative_to(name)]
        assert gone, f"{case}: its base has no {name}"
        for path in gone:
            del files[path]
    return files


@functools.cache
def sources(case: Path) -> dict[str, Path]:
    """Return the file of fixtures behind each file of a case, by its path below `before/`."""
    return base_files(case) | files_below(case / ("changed" if "base" in toml(case) else "before"))


def lay_out(case: Path, folder: Path) -> None:
    """Copy the files of a case into a folder."""
    for path, source in sources(case).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


@functools.cache
def _shared() -> Path:
    """Return the folder in which this process lays out cases. It is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="kcheck-cases-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@functools.cache
def shared_copy(case: Path) -> Path:
    """Return a case as `<rule>/<case>/before` in a folder that the tests of a process share: they only read it."""
    folder = _shared() / case.relative_to(CASES) / "before"
    lay_out(case, folder)
    return folder


def shared_copies() -> Path:
    """Return the folder that holds every case as `<rule>/<case>/before`."""
    for case in FOUND:
        shared_copy(case)
    return _shared()


if __name__ == "__main__":
    for name in sys.argv[2:] or [str(case.relative_to(CASES)) for case in FOUND]:
        lay_out(CASES / name, Path(sys.argv[1]) / name / "before")
