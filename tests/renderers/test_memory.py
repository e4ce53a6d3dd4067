"""What `inspect` of a file of many entries takes to write them."""

import importlib
import tracemalloc
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.documents.inspection import InspectDetail
from kcheck.formats import leader_epoch_checkpoint, offset_checkpoint, offset_index
from kcheck.formats.leader_epoch_checkpoint import LeaderEpochCheckpoint
from kcheck.formats.offset_checkpoint import OffsetCheckpoint
from kcheck.model.report import PartitionFilter
from kcheck.renderers import Options
from kcheck.verbs.inspect import inspect

COUNT = 20_000
EACH = tuple(range(1, COUNT))
FILES = {
    "00000000000000000000.index": offset_index.serialize(offset_index.OffsetIndex([(at, 4096 * at) for at in EACH])),
    "leader-epoch-checkpoint": leader_epoch_checkpoint.serialize(LeaderEpochCheckpoint(0, EACH, EACH)),
    "replication-offset-checkpoint": offset_checkpoint.serialize(OffsetCheckpoint(0, ["t"] * len(EACH), EACH, EACH)),
}


class _Nowhere:
    """A stream that counts the lines, and keeps nothing."""

    def __init__(self) -> None:
        self.lines = self.longest = 0

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        self.longest = max(self.longest, len(text))
        return len(text)

    def writelines(self, texts: list[str]) -> None:
        for text in texts:
            self.write(text)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("form", "lines"), [("json", 5), ("ndjson", 3), ("text", COUNT)])
def test_rows_of_a_file_are_written_as_they_are_made(name: str, form: str, lines: int, tmp_path: Path) -> None:
    """An entry took 700 bytes and more: its row, its text, and those of what the broker reads beside them."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    renderer = importlib.import_module(f"kcheck.renderers.{form}").RENDERER
    stream = _Nowhere()

    def write() -> None:
        shown = inspect(
            [str(path)], as_kind=None, wanted=PartitionFilter(), detail=InspectDetail(), release=release("4.3")
        )
        renderer.render(shown.report(), stream, Options())

    path.write_bytes(FILES[name][:0])
    write()
    path.write_bytes(FILES[name])
    tracemalloc.start()
    try:
        write()
        assert tracemalloc.get_traced_memory()[1] <= 350 * COUNT
    finally:
        tracemalloc.stop()
    assert stream.lines >= lines
    assert stream.longest <= 250_000
