"""A sample of the calls that `python -m tests.disk.read_faults` lets fail in every reading verb; it tries them all."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.disk.faults import ROOT
from tests.oracle.ask import IS_WHOLE

SAMPLE = 160 if IS_WHOLE else 40


def test_no_answer_hides_what_was_refused() -> None:
    """Whichever call fails: no bug, no traceback, and a finding or a line that names the file."""
    if shutil.which("cc") is None and os.environ.get("CI") != "true":
        pytest.skip("needs a C compiler")
    seed = os.environ.get("KCHECK_SEED", "0")
    command = [sys.executable, "-m", "tests.disk.read_faults", "--sample", str(SAMPLE), "--seed", seed]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.startswith(f"{SAMPLE} points")
    refused = re.search(r"(\d+) exit 3", done.stdout)
    assert refused is not None
    assert int(refused[1]) > SAMPLE // 4
