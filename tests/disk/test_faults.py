"""A sample of the points at which `python -m tests.disk.faults` stops apply and undo; that command tries them all."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.disk.faults import ROOT
from tests.oracle.ask import IS_WHOLE

SAMPLE = 200 if IS_WHOLE else 80


def test_no_mixed_state() -> None:
    """Wherever apply or undo stops, each file is old or new, and both can continue."""
    if shutil.which("cc") is None and os.environ.get("CI") != "true":
        pytest.skip("needs a C compiler")
    command = [
        sys.executable,
        "-m",
        "tests.disk.faults",
        "--sample",
        str(SAMPLE),
        "--seed",
        os.environ.get("KCHECK_SEED", "0"),
        *(["--rescues"] if IS_WHOLE else []),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-3000:]
    assert done.stdout.startswith(f"{SAMPLE} points")
    assert "killed" in done.stdout
    assert "ApplyError, something is changed" in done.stdout
