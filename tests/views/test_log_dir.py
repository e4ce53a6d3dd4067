"""What is held of a log dir."""

import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.disk.local import LOCAL
from kcheck.disk.tree import Tree
from kcheck.model.names import REPLICATION_OFFSET
from kcheck.views import log_dir as views
from kcheck.views.log_dir import open_log_dir
from tests.builders import broker, log_dir, partition_dir, run
from tests.cli.command import kcheck


def test_of_a_checkpoint_few_times_its_size_is_held(tmp_path: Path) -> None:
    """Even where every line names another topic, of which there is no directory."""
    path = log_dir(tmp_path / "d", high_watermark={**{f"t{number}-0": number for number in range(200_000)}, "u-1": 7})
    for name in ("u-1", "u-2"):
        partition_dir(path / name, [run(0, 9)])
    size = (path / REPLICATION_OFFSET).stat().st_size
    tracemalloc.start()
    try:
        opened = open_log_dir(LOCAL, str(path), None, release("4.3"))
        held, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (held / size < 6, most / size < 10) == (True, True)
    assert {"u": {1: 7}} == opened.checkpoints.high_watermark
    assert (7, None) == tuple(opened.checkpoints.of("u", number).high_watermark for number in (1, 2))


@pytest.mark.parametrize(
    "command", [(), ("predict",), ("check",), ("repair",), ("truncation",), ("end-offset",), ("inspect",)]
)
def test_a_command_opens_a_log_dir_once(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it asks of it, its small files are read once."""
    path = broker(tmp_path / "d", run(0, 9))
    opened: list[str] = []
    original = views.open_log_dir

    def counted(tree: Tree, path: str, *arguments: Any) -> Any:
        opened.append(path)
        return original(tree, path, *arguments)

    monkeypatch.setattr(views, "open_log_dir", counted)
    other = log_dir(tmp_path / "e", broker_id=2)
    assert kcheck(*command, f"1={path}", f"2={other}", "--kafka", "4.3").code in (0, 1)
    assert [str(path), str(other)] == opened
