"""Each script that measures goes on to work: it is run here on next to nothing, and what it prints is not looked at.

Of those that run for long the suite asks only for help; `KCHECK_SWEEP=1 pytest tests/bench` runs them.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.spark.conftest import needs_java
from tests.oracle.conftest import no_kafka
from tests.oracle.jars import NoKafkaError, classpath

SCRIPTS = sorted(path for path in Path(__file__).parent.glob("*.py") if not path.name.startswith(("_", "test_")))
LONG = ("clusters", "elect_run", "engine", "fleet", "growth", "limits", "log_lines", "tool", "twins", "waiting")


@pytest.mark.sample(4)
@pytest.mark.parametrize("script", LONG)
def test_a_script_begins(script: str, tmp_path: Path) -> None:
    """Everything that it imports is there."""
    command = [sys.executable, Path(__file__).parent / f"{script}.py", "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stderr)
    assert "--tiny" in done.stdout


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "script",
    [pytest.param(path, marks=[pytest.mark.whole] if path.stem in LONG else []) for path in SCRIPTS],
    ids=lambda path: path.stem,
)
def test_a_script_ends_well(script: Path, tmp_path: Path) -> None:
    """From another folder than that of the source, as each may be started."""
    if script.stem == "fleet":
        needs_java()
    if script.stem == "tool":
        try:
            classpath("4.3.1")
        except NoKafkaError as error:
            no_kafka(f"Kafka {error}".partition("\n")[0])
    done = subprocess.run([sys.executable, script, "--tiny"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
