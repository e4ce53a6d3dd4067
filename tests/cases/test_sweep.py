"""Each block of each file of a small log dir is damaged in turn: kcheck finds it, or it is harmless and said why."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.verbs.check import check
from tests.cases.build import CASES, lay_out

BLOCK_SIZE = 512
LOG_DIRS = (
    ("kc172-transaction-index-incomplete/clean", "2.8"),
    ("kc141-batch-crc/clean", "4.3"),
)
"""Cleanly stopped brokers, with transactions and with several segments."""

HARMLESS = {
    (".kafka_cleanshutdown", "repeated"): "brokers read the first JSON object and nothing behind it",
    ("meta.properties", "repeated"): "the same properties twice are the same properties",
    (".index", "removed"): "fewer entries, or none, only make lookups longer",
    (".index", "cut"): "fewer entries, or none, only make lookups longer",
}


def damages(data: bytes, start: int) -> Iterator[tuple[str, bytes]]:
    """Yield the file with one block damaged, in each way."""
    end = min(start + BLOCK_SIZE, len(data))
    yield "zeroed", data[:start] + bytes(end - start) + data[end:]
    yield "flipped", data[:start] + bytes(byte ^ 0xFF for byte in data[start:end]) + data[end:]
    yield "removed", data[:start] + data[end:]
    yield "repeated", data[:end] + data[start:end] + data[end:]
    yield "cut", data[:start]


def found(folder: Path, kafka: str) -> set[tuple[object, ...]]:
    """Return what is found in a log dir."""
    report = check([str(folder)], depth=Depth.CRC, as_kind=None, wanted=PartitionFilter(), release=release(kafka))
    return {(finding.id, finding.where, finding.message) for finding in report.findings}


@pytest.mark.parametrize(("case", "kafka"), LOG_DIRS)
def test_damage_is_found_or_harmless(case: str, kafka: str, tmp_path: Path) -> None:
    """A new finding, or one with other words."""
    folder = tmp_path / "data"
    lay_out(CASES / case, folder)
    before = found(folder, kafka)
    unseen = set()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        data = path.read_bytes()
        for start in range(0, len(data), BLOCK_SIZE):
            for how, damaged in damages(data, start):
                path.write_bytes(damaged)
                if damaged != data and not found(folder, kafka) - before:
                    unseen.add((path.suffix if path.parent != folder else path.name, how))
        path.write_bytes(data)
    assert unseen <= HARMLESS.keys()
