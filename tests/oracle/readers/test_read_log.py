"""`kcheck check --depth records` tells every batch that Kafka refuses, and no other one as unreadable.

Segments of real brokers with bytes, sizes, counts and records changed, most of them with the right CRC, and compressed
anew. KCHECK_SWEEP multiplies them, KCHECK_SEED chooses other ones.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.depth import Depth
from kcheck.model.report import PartitionFilter
from kcheck.model.segments import BatchFault, RecordFault
from kcheck.records.batch import (
    CODEC_MASK,
    HEADER,
    LEGACY,
    MAGIC_AT,
    OVERHEAD,
    TIMESTAMP,
    entry_size,
    header_of,
    is_modern,
)
from kcheck.records.compression import decompress
from kcheck.verbs.check import check
from tests.docs.examples import ROOT
from tests.fuzz import with_crcs
from tests.oracle.ask import READERS, SEED, Ask, assert_equal, flips, generated, sampled
from tests.record_bytes import COMPRESS

pytestmark = pytest.mark.oracle

SIZE_MAX = 20_000
COUNT_MAX = 10
UNREAD = {"KC145", "KC148", "KC163", "KC166", "KC169"}
"""The rules about batches that a consumer cannot read.

It can where bytes follow no record, or a batch holds as many records as it names, though more than its offsets.
"""
CRC, TOO_LARGE = "KC141", "KC167"
ENDS = {"KC142": "corrupt", "KC143": "zeros", "KC144": "torn"}


@pytest.mark.parametrize("version", sampled(READERS))
def test_damaged_logs(version: str, ask: Ask, tmp_path: Path) -> None:
    """Batch by batch, and where the file is read no further."""
    random = Random(f"{SEED} {version}")
    found = (path.read_bytes() for path in (ROOT / "fixtures" / "brokers").rglob("*.log"))
    sources = sorted({data for data in found if 0 < len(data) <= SIZE_MAX})
    old = [data for data in sources if not is_modern(data[MAGIC_AT])]
    paths = []
    for number in range(generated(400)):
        paths.append(tmp_path / str(number) / "t-0" / f"{0:020d}.log")
        paths[-1].parent.mkdir(parents=True)
        paths[-1].write_bytes(_damaged(random, random.choice(random.choice((sources, sources, old)))))
    ours, theirs = [], []
    for path, answer in zip(paths, ask(version, "ReadLog.java", paths), strict=True):
        our, their = _compared(path, version, answer)
        ours.append(our)
        theirs.append(their)
    assert_equal(paths, ours, theirs)


@pytest.mark.parametrize("version", sampled(READERS))
def test_batches_after_an_incomplete_one(version: str, ask: Ask, tmp_path: Path) -> None:
    """A broker appends to the end of the file. Nothing reads what comes after an incomplete batch (KC144, P351)."""
    found = sorted((ROOT / "fixtures" / "brokers" / "4.3.1").rglob("*.log"))
    data = next(data for path in found if len([*_entries(data := path.read_bytes())]) > 1)
    first, paths = next(_entries(data)), []
    for left in (1, OVERHEAD.size, HEADER.size, len(first) - 5):
        paths.append(tmp_path / str(left) / f"{0:020d}.log")
        paths[-1].parent.mkdir()
        paths[-1].write_bytes(first + first[:left] + data)
    for answer in ask(version, "ReadLog.java", paths):
        assert ["0"] == [entry.split(":")[0] for entry in answer.split(" ")[:-1] if ":true:" in entry]


def _compared(path: Path, version: str, answer: str) -> tuple[object, object]:
    """Return what kcheck and what Kafka make of the batches and of the end of a file.

    Behind what is too small for a batch kcheck reads no further; what is too large for it is left out.
    """
    data = path.read_bytes()
    told: dict[str, set[int]] = {}
    end = ("whole", len(data))
    for finding in check(
        [str(path.parent)], depth=Depth.RECORDS, as_kind=None, wanted=PartitionFilter(), release=release(version)
    ).findings:
        if finding.id in UNREAD | {CRC, TOO_LARGE}:
            batches: Any = finding.data["batches"]
            told[finding.id] = {row["position"] for row in batches if not _is_read(row)}
        elif finding.id in ENDS:
            end = (ENDS[finding.id], int(str(finding.data.get("valid_size", finding.where.position))))
    wrong, large = told.get(CRC, set()), told.get(TOO_LARGE, set())
    unread = wrong.union(*(told.get(rule, ()) for rule in UNREAD))
    *entries, last = answer.split(" ")
    ours: list[object] = []
    theirs: list[object] = []
    at = 0
    for entry in entries:
        position, size, valid, read = entry.split(":")
        at = int(position)
        if int(size) < HEADER.size and is_modern(data[at + MAGIC_AT]):
            return ours, theirs
        if at not in large:
            ours.append((at, at not in wrong, at not in unread))
            theirs.append((at, valid == "true", (valid, read) == ("true", "true")))
        at += int(size)
    kind = "corrupt" if last == "!" else "whole" if at == len(data) else "torn"
    return (ours, end), (theirs, ("zeros" if end[0] == "zeros" and kind != "whole" else kind, at))


def _is_read(batch: Mapping[str, Any]) -> bool:
    fault = batch["fault"]
    return fault == RecordFault.PASSED or bool(fault == BatchFault.COUNT and batch["records"] >= 0)


def _damaged(random: Random, data: bytes) -> bytes:
    entries = list(_entries(data))[:COUNT_MAX]
    which = random.randrange(len(entries))
    match random.randrange(6):
        case 0:
            return next(flips(random, data, 1))
        case 1:
            at = random.randrange(len(data))
            return data[:at] + bytes(random.choice((1, 4, 17, 18, 61))) + data[at + random.randrange(100) :]
        case 2:
            return with_crcs(next(flips(random, data, 1)))
        case 3:
            entries[which] = _fitted(next(flips(random, entries[which], 1)))
        case _:
            entries[which] = _with_other_records(random, entries[which])
    return b"".join(entries)


def _entries(data: bytes) -> Iterator[bytes]:
    at = 0
    while (size := entry_size(data, at, remaining=len(data) - at)) is not None and size > 0:
        yield data[at : at + size]
        at += size


def _fitted(entry: bytes) -> bytes:
    """Return the same with the right size and the right CRC."""
    size = struct.pack(">i", len(entry) - OVERHEAD.size)
    return with_crcs(entry[: OVERHEAD.size - 4] + size + entry[OVERHEAD.size :])


def _with_other_records(random: Random, entry: bytes) -> bytes:
    """Change the records of a batch or of a wrapper, or their number, and compress them with any codec."""
    header = header_of(entry, total=len(entry))
    codec, count = header.attributes & CODEC_MASK, header.record_count or 0
    if header.magic < 2:
        begin = LEGACY.size + header.magic * TIMESTAMP.size + 8
        if not codec:
            return _fitted(entry[:begin] + next(flips(random, entry[begin:], 1)))
        body = _changed(random, bytes(decompress(codec, entry[begin:], magic=1, size_max=1 << 20).data))
        packed = COMPRESS[codec](body)
        return _fitted(entry[: begin - 4] + struct.pack(">i", len(packed)) + packed)
    body = bytes(
        decompress(codec, entry[HEADER.size :], magic=2, size_max=1 << 20).data if codec else entry[HEADER.size :]
    )
    if random.random() < 0.3:
        count = random.choice((0, -1, count - 1, count + 1))
    else:
        body = _changed(random, body)
    codec = random.choice((codec, *COMPRESS))
    head = entry[:22] + bytes([header.attributes & ~CODEC_MASK | codec]) + entry[23:57] + struct.pack(">i", count)
    return _fitted(head + COMPRESS[codec](body))


def _changed(random: Random, body: bytes) -> bytes:
    return next(flips(random, body, 1)) if body else b"x"
