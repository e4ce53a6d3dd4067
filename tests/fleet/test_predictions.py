"""What a scan of a fleet says of the next starts."""

from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases import release
from kcheck.fleet.identify import ScanOptions, identify
from kcheck.fleet.inventory import FleetLogDir
from kcheck.fleet.scan_rows import seen_of, tables_of
from kcheck.fleet.steps import list_items, look_at_broker, scan_items
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.tables._arrow import from_bytes, to_bytes
from tests.verbs.test_predict import metadata_log, whole


def test_a_fleet_reads_no_log_through_unless_it_is_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an unclean stop only the boot cost is known then; the row of the log dir tells the verdict."""
    monkeypatch.chdir(tmp_path)
    whole(Path("clean"), clean=True)
    whole(Path("killed"), clean=False)
    metadata_log(Path("kraft"))
    told = [row for path in ("clean", "killed", "kraft") for row in of_fleet(path, "checkpoints")]
    assert [
        ("clean", "t-0", "ok", None, 0),
        ("clean", None, "ok", "will boot", 0),
        ("killed", "t-0", "unknown", "its segments are read through at the start", 100),
        ("killed", None, "unknown", "not known", 100),
    ] == [(*row[:4], row[4] and 100) for row in told[:4]]
    assert ("kraft", None, "ok", "will boot") == told[-1][:4]
    assert [("t-0", "ok"), (None, "ok")] == [row[1:3] for row in of_fleet("killed", "crc")]


def of_fleet(path: str, depth: str) -> list[tuple[Any, ...]]:
    """Return what a scan of a fleet says of a log dir and the directories in it."""
    how = ScanOptions(Depth(depth), PartitionFilter(), release("4.3"))
    found = identify(FleetLogDir(path), how)
    seen = [
        batch for _, items in list_items(found, how) for data in scan_items(items, how) for batch in from_bytes(data)
    ]
    of_broker = look_at_broker(((found, [to_bytes(seen_of(batch)) for batch in seen]),), how)
    whole_log_dir = [batch for name, data in of_broker if name == "predictions" for batch in from_bytes(data)]
    rows = [*(tables_of(batch)["predictions"] for batch in seen), *whole_log_dir]
    names = ("log_dir", "dir", "outcome", "reason", "scan_bytes")
    return [tuple(row[name] for name in names) for batch in rows for row in batch.to_pylist()]
