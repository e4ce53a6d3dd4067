"""Runs commands on directories and on bundles of them, in this process, and compares what they answer."""

import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from kcheck.cli.app import main

SUFFIX = ".kcheck"
CLOCK = ("seconds", "bytes_per_second", "started", "duration_ms")
OF_HOST = ("P401", "P402", "P403", "P404", "P405", "P843")
"""The premises of which no bundle holds evidence."""


def run(arguments: list[str]) -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr of a command."""
    out, errors = io.StringIO(), io.StringIO()
    before, code = sys.argv, 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        sys.argv = ["kcheck", *arguments]
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
        finally:
            sys.argv = before
    return code, out.getvalue(), errors.getvalue()


def captured(paths: list[Path], folder: Path, *options: str) -> Path:
    """Return a new bundle of some paths, named as the last of them."""
    bundle = folder / f"{paths[-1].name}{SUFFIX}"
    code, _, errors = run(["capture", *map(str, paths), "-o", str(bundle), *options])
    assert code in (0, 3), errors
    return bundle


def answer(arguments: list[str], folder: Path) -> tuple[int, Any]:
    """Return the exit code and the JSON of a command run in a folder, with the names of directories for bundles."""
    with contextlib.chdir(folder):
        code, out, errors = run([*arguments, "--format", "json"])
    text = re.sub(rf"{re.escape(SUFFIX)}\b", "", out or errors)
    text = re.sub(rf"{re.escape(SUFFIX)}\b", "", text)
    return code, without_clock(json.loads(text)) if out else text


def without_clock(value: Any) -> Any:
    """Return a document without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_clock(item) for key, item in value.items() if key not in CLOCK}
    return [without_clock(item) for item in value] if isinstance(value, list) else value


def without_host(document: Any) -> Any:
    """Return the answer on a directory without the premises about owners, modes, mounts, free bytes and maps.

    They are facts of the machine that has the log dirs: a bundle holds none, and its answer may not have these rows.
    """
    if not isinstance(document, dict) or "premises" not in document:
        return document
    return {**document, "premises": [row for row in document["premises"] if row["id"] not in OF_HOST]}


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Return where two documents differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(one.keys() | other.keys())
        return [line for key in keys for line in differences(one.get(key), other.get(key), f"{at}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
        return [line for number, (a, b) in enumerate(pairs) for line in differences(a, b, f"{at}[{number}]")]
    return [] if one == other else [f"{at}: {str(one)[:300]} != {str(other)[:300]}"]


def fresh() -> None:
    """Forget the bundles that this process has open."""
    from kcheck.disk import bundle

    for held in bundle._OPEN.values():
        if held is not None:
            os.close(held._descriptor)
    bundle._OPEN.clear()
