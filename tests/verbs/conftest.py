"""What tests of verbs share."""

import shutil
from pathlib import Path

import pytest

from tests.test_brokers import BROKERS


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """Return broker 2 of 4.3.1, stopped: segments-0 has seven segments of 20 records, and ends at 129."""
    return Path(shutil.copytree(BROKERS / "4.3.1" / "stopped" / "broker-2", tmp_path / "broker-2")) / "data1"
