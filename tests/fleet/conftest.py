"""A fleet that several modules look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import kcheck.fleet.scan.comparison
import kcheck.survey.segment_scan  # noqa: F401 - the same
from kcheck.survey.rule_runner import all_rules
from tests.builders import log_dir, partition_dir, run
from tests.fleet.hanging import hours_pass

all_rules()


@pytest.fixture
def hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have hours pass for who waits for something that hangs."""
    monkeypatch.setenv("KCHECK_TEST_MARKS", str(tmp_path / "marks"))
    with hours_pass():
        yield


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Make two log dirs of one broker, the first with five partitions, one of them called `bad`."""
    for name, topics in (("d1", ("a", "b", "bad", "c", "d")), ("d2", ("e",))):
        path = tmp_path / "fleet" / "1" / name
        offsets = {f"{topic}-0": 10 for topic in topics}
        log_dir(path, recovery_point=offsets, high_watermark=offsets, log_start={})
        for topic in topics:
            partition_dir(path / f"{topic}-0", [run(0, 9)])
    return tmp_path / "fleet" / "{broker}" / "{log_dir}"
