"""The last stable offsets of transaction indexes: those that brokers write are believed, those that are too high found.

Transactions of four producers are interleaved; the follower fetches half of them at once. `KCHECK_SWEEP` takes more
releases.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats import transaction_index
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.verbs.check import check
from tests.oracle.ask import READERS, SEED, Ask, assert_equal, sampled
from tests.oracle.histories import create
from tests.oracle.jars import run_java
from tests.oracle.kafka import Cluster

pytestmark = pytest.mark.oracle

INTERLEAVE = Path(__file__).parents[1] / "java" / "Interleave.java"
VERSIONS = ("4.3.1", "2.8.2", "1.1.1", "3.9.2", "0.11.0.3", "4.0.2")
INDEX = f"{0:020d}.txnindex"


def found(path: Path, version: str) -> list[Any]:
    """Return what is found in transaction indexes."""
    report: Any = check([str(path)], depth=Depth.CRC, as_kind=None, wanted=PartitionFilter(), release=release(version))
    findings = report.findings() if callable(report.findings) else report.findings
    return [each for each in findings if each.id in ("KC171", "KC172", "KC234")]


def missed(entries: tuple[AbortedTxn, ...], changed: tuple[AbortedTxn, ...]) -> bool:
    """Whether a fetch gets fewer aborted transactions of a changed index (TransactionIndex.collectAbortedTxns)."""
    ends = range(entries[-1].last_offset + 2)
    return any(collected(entries, end) != collected(changed, end) for end in ends)


def collected(entries: tuple[AbortedTxn, ...], end: int) -> set[tuple[int, int]]:
    """Return the aborted transactions that a fetch from offset 0 to below `end` is told of."""
    told = set()
    for entry in entries:
        if entry.first_offset < end:
            told.add((entry.producer_id, entry.first_offset))
        if entry.last_stable_offset >= end:
            break
    return told


@pytest.mark.parametrize("version", sampled(READERS))
def test_the_search_for_aborted_transactions(version: str, ask: Ask, tmp_path: Path) -> None:
    """In every release it ends at the first entry whose last stable offset is not below the end of the fetch."""
    right = (AbortedTxn(0, 1, 0, 10, 11), AbortedTxn(0, 2, 12, 20, 21), AbortedTxn(0, 3, 5, 30, 31))
    indexes = [(right[0]._replace(last_stable_offset=stable), *right[1:]) for stable in (0, 5, 11, 13, 1 << 40)]
    cases, expected = [], []
    for number, entries in enumerate(indexes):
        file = tmp_path / str(number) / f"{0:020d}.txnindex"
        file.parent.mkdir()
        file.write_bytes(transaction_index.serialize(entries))
        for end in (1, 6, 12, 13, 14, 32):
            cases.append(f"{file} {end}")
            expected.append(sorted(f"{producer}@{first}" for producer, first in collected(entries, end)))
    answers = [sorted(answer.split()) for answer in ask(version, "AbortedTxns.java", cases)]
    assert_equal(cases, expected, answers)


@pytest.mark.whole
@pytest.mark.parametrize("version", VERSIONS)
def test_interleaved_transactions(version: str, tmp_path: Path, start: Callable[..., Cluster]) -> None:
    """Nothing is found on the leader and the follower; every raised value that costs a fetch a transaction is."""
    with start(version, 2, dir=tmp_path / "cluster") as cluster:
        create(cluster, "interleaved", "1:2")
        for number in range(2):
            if number:
                cluster[2].stop()
            run_java(version, INTERLEAVE, cluster.bootstrap, "interleaved", f"{SEED}{number}", "150")
            if number:
                cluster[2].start()
                cluster[2].wait_quiet()
        cluster.stop()
        dirs = [log_dir for number in (1, 2) for log_dir in cluster[number].log_dirs]
        places = [path / "interleaved-0" for path in dirs if (path / "interleaved-0").exists()]
        assert len(places) == 2
        assert [found(path, version) for path in places] == [[], []]
        for path in places:
            data = (path / INDEX).read_bytes()
            entries = tuple(transaction_index.entries(data))
            assert len(entries) > 9
            for number, entry in enumerate(entries):
                for raised in (1, 5, 1 << 40):
                    high = entry._replace(last_stable_offset=entry.last_stable_offset + raised)
                    changed = (*entries[:number], high, *entries[number + 1 :])
                    (path / INDEX).write_bytes(transaction_index.serialize(changed))
                    if raised > 5 or missed(entries, changed):
                        assert [each.id for each in found(path, version)] == ["KC234"], (number, raised)
            (path / INDEX).write_bytes(data)
