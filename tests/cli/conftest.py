"""Directories that the commands look at."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.builders import broker, run
from tests.disk.plans import bytes_of, make, plan_of


@pytest.fixture(autouse=True)
def _interrupts() -> Iterator[None]:
    """Let ^C end what is started here, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """Write a log dir that nothing is wrong with."""
    return broker(tmp_path / "data", run(0, 99))


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    """Write a log dir with a warning and an error in it, and with an info."""
    path = broker(tmp_path / "damaged", run(0, 99), epoch_entries=[(0, 0), (5, 50), (4, 60)], high_watermark=200)
    (path / "recovery-point-offset-checkpoint").write_bytes(b"0\n2\nt 0 100\ngone 0 5\n")
    return path


@pytest.fixture
def pair(tmp_path: Path) -> list[str]:
    """Write two brokers whose logs part at 60; returns their arguments."""
    one = broker(tmp_path / "d1", [*run(0, 59), *run(60, 89, epoch=2)], broker_id=1, epoch_entries=[(0, 0), (2, 60)])
    two = broker(tmp_path / "d2", [*run(0, 59), *run(60, 99, epoch=1)], broker_id=2, epoch_entries=[(0, 0), (1, 60)])
    return [f"1={one}", f"2={two}"]


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """Write a plan beside the log dirs that it is for."""
    path = tmp_path / "plan.json"
    path.write_bytes(bytes_of(plan_of(*make(tmp_path))))
    return path
