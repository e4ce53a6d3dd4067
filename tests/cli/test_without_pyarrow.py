"""Without pyarrow every command that writes no Parquet answers as with it; the others say what is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import ROOT, Ended, environment

DIVERGED = "fixtures/brokers/4.3.1/diverged"
BROKERS = (f"1={DIVERGED}/broker-1", f"2={DIVERGED}/broker-2")
PARTITION = f"{DIVERGED}/broker-1/data1/diverged-0"

RUN = "from kcheck.cli.app import main; main()"
BLOCKED = f"import sys; sys.modules['pyarrow'] = None; {RUN}"


def run(code: str, *arguments: str) -> Ended:
    """Run kcheck in a process of its own, in the root of the tree."""
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    return Ended(code=done.returncode, out=done.stdout, err=done.stderr)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect", f"{DIVERGED}/broker-1"),
        ("check", f"{DIVERGED}/broker-1", "--format", "json"),
        ("check", f"{DIVERGED}/broker-1", "--format", "csv"),
        ("predict", f"{DIVERGED}/broker-1"),
        ("end-offset", PARTITION),
        ("truncation", *BROKERS, "--leader", "2"),
        ("elect", *BROKERS),
        ("cluster", f"{DIVERGED}/broker-1"),
        ("dump", f"{PARTITION}/leader-epoch-checkpoint"),
        ("repair", f"{DIVERGED}/broker-1"),
        ("simulate", "kip-101-1", "--kafka", "0.10.2"),
        ("explain", "KC141"),
    ],
    ids=lambda arguments: " ".join(arguments[:1] + arguments[-1:]),
)
def test_the_answer_is_the_same(arguments: tuple[str, ...]) -> None:
    answer = run(BLOCKED, *arguments)
    assert "pyarrow" not in answer.err
    assert run(RUN, *arguments) == answer


@pytest.mark.parametrize(
    "arguments",
    [("fleet", "scan", f"{DIVERGED}/{{broker}}", "--output-dir"), ("check", PARTITION, "--format", "parquet", "-o")],
    ids=["fleet", "parquet"],
)
def test_what_needs_pyarrow_says_so_in_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    answer = run(BLOCKED, *arguments, str(tmp_path / "out"))
    assert answer.code == 2
    assert answer.err.splitlines()[-1].endswith("need pyarrow, which is missing; for example: pip install pyarrow")
    assert answer.out == ""
    assert not (tmp_path / "out").exists()
