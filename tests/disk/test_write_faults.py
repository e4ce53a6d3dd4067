"""A sample of the points at which `python -m tests.disk.write_faults` lets a call fail; KCHECK_SWEEP takes all."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.disk.faults import ROOT


def test_a_result_is_whole_or_as_before() -> None:
    """No command that writes leaves half a file, hides the error, or blocks the next run."""
    if shutil.which("cc") is None and os.environ.get("CI") != "true":
        pytest.skip("needs a C compiler")
    whole = ["--all"] if "KCHECK_SWEEP" in os.environ else []
    command = [sys.executable, "-m", "tests.disk.write_faults", *whole]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    refused = re.search(r"(\d+) exit 2", done.stdout)
    assert refused is not None
    assert int(refused[1]) > 40
