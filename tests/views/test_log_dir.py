"""What is held of a log dir."""

import tracemalloc
from pathlib import Path

from kcheck.core.releases import release
from kcheck.model.names import REPLICATION_OFFSET
from kcheck.views.log_dir import open_log_dir
from tests.builders import log_dir, partition_dir, run


def test_of_a_checkpoint_few_times_its_size_is_held(tmp_path: Path) -> None:
    """Even where every line names another topic, of which there is no directory."""
    path = log_dir(tmp_path / "d", high_watermark={**{f"t{number}-0": number for number in range(200_000)}, "u-1": 7})
    for name in ("u-1", "u-2"):
        partition_dir(path / name, [run(0, 9)])
    size = (path / REPLICATION_OFFSET).stat().st_size
    tracemalloc.start()
    try:
        opened = open_log_dir(str(path), None, release("4.3"))
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (held / size < 6, most / size < 10) == (True, True)
    assert {"u": {1: 7}} == opened.checkpoints.high_watermark
    assert (7, None) == tuple(opened.checkpoints.of("u", number).high_watermark for number in (1, 2))
