"""Where a log starts if the metadata say whether its topic is in remote storage: bytes of a real broker."""

import shutil
from pathlib import Path

import pytest

import kcheck
from tests.builders import offsets
from tests.test_brokers import BROKERS

METADATA = "__cluster_metadata-0"
BY_METADATA = {"tiered-0": 15, "whole-0": 0, "plain-0": 30}
BY_FILES = {"tiered-0": 30, "whole-0": 30, "plain-0": 5}
WITHOUT = {"tiered-0": 30, "whole-0": 30, "plain-0": 30}


def misleading(tmp_path: Path, *, with_metadata: bool) -> Path:
    """Return a log dir whose files say of each log the contrary of its configuration."""
    log_dir = shutil.copytree(BROKERS / "4.3.1" / "tiered" / "broker-1" / "data1", tmp_path / "d")
    for topic, first in (("tiered", 30), ("whole", 30), ("plain", 0)):
        (log_dir / f"{topic}-0" / "leader-epoch-checkpoint").write_text(f"0\n1\n0 {first}\n")
    (log_dir / "log-start-offset-checkpoint").write_bytes(offsets({"tiered-0": 15, "whole-0": 0, "plain-0": 5}))
    if not with_metadata:
        shutil.rmtree(log_dir / METADATA)
    return log_dir


@pytest.mark.parametrize(
    ("with_metadata", "define", "expected"),
    [(True, (), BY_METADATA), (False, (), BY_FILES), (True, ("remote.log.storage.system.enable=false",), WITHOUT)],
)
def test_log_starts(define: tuple[str, ...], expected: dict[str, int], tmp_path: Path, *, with_metadata: bool) -> None:
    """The epochs of `plain` begin below its first segment, those of the others do not."""
    log_dir = misleading(tmp_path, with_metadata=with_metadata)
    (row,) = kcheck.predict(log_dir, define=define, kafka="4.3").to_dict()["log_dirs"]
    assert {each["dir"]: each["log_start_offset"] for each in row["partitions"] if each["dir"] in expected} == expected


@pytest.mark.parametrize(("with_metadata", "log_start"), [(True, 30), (False, 5)])
def test_what_check_says_of_the_epochs(log_start: int, tmp_path: Path, *, with_metadata: bool) -> None:
    """It takes a log to start where the start will."""
    log_dir = misleading(tmp_path, with_metadata=with_metadata)
    findings = kcheck.check(log_dir, kafka="4.3").to_dict()["findings"]
    messages = [row["message"] for row in findings if (row["id"], row["dir"]) == ("KC203", "plain-0")]
    assert messages == [f"epoch 0 from offset 0, below the log start {log_start}"]
