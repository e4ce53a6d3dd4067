"""kafka-dump-log reads what was saved of a replica."""

import re
from base64 import b64decode
from pathlib import Path

import pytest

from kcheck.disk.new_files import NewFiles
from kcheck.model.entries import Offset
from kcheck.replicas.saved_records import save_lost
from tests.oracle.ask import IS_WHOLE, Ask
from tests.replicas.test_group_offsets import FIXTURES, log_files

pytestmark = pytest.mark.oracle

VERSIONS = ("4.3.1", "2.8.2", "0.10.2.2") if IS_WHOLE else ("4.3.1",)
_BATCH = re.compile(r"^(?:baseOffset|offset): ([0-9]+)(?: lastOffset: ([0-9]+))?", re.MULTILINE)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_batches_of_several_segments(version: str, tmp_path: Path, ask: Ask) -> None:
    """All of them, up to the last offset, and no complaint."""
    folder = next((FIXTURES / version / "stopped").glob("*/*/segments-0"))
    with NewFiles(str(tmp_path / "out"), (), apart_from=()) as files:
        saved = save_lost(files, "", "segments-0", 1, log_files(folder), Offset(31), Offset(99))
    (answer,) = ask(version, "Dump.java", [saved.path])
    encoded, _, end = answer.rpartition(" ")
    offsets = [(int(first), int(last or first)) for first, last in _BATCH.findall(b64decode(encoded).decode())]
    assert "=" == end
    assert len(offsets) == saved.batches > 2
    assert (saved.start, saved.end) == (offsets[0][0], offsets[-1][1] + 1)
