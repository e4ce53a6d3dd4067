"""Whatever happens to the bytes of a log, what is exported was in it, and nothing ends in a traceback."""

import re
from pathlib import Path
from random import Random

import pytest

from kcheck.exports.records import ExportedRecord, LogExport
from tests.builders import write
from tests.exports.logs import exported
from tests.replicas.test_group_offsets import FIXTURES

NAME = "00000000000000000000.log"
LOGS = [
    *sorted(FIXTURES.glob(f"*/stopped/*/data1/transactions-0/{NAME}")),
    *sorted(FIXTURES.glob(f"*/stopped/*/data1/codecs-0/{NAME}")),
]
"""Logs that brokers of several releases wrote: with transactions, with every codec, of every magic."""


def content(record: ExportedRecord) -> tuple[object, ...]:
    """Return what the CRC of a batch covers: not the offset."""
    return record.key, record.value, record.headers


def damaged(random: Random, data: bytes) -> bytes:
    """Return a log with some bytes changed, cut out, put in, or cut off."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        at, size = random.randrange(len(changed)), random.choice((1, 1, 7, 100))
        match random.randrange(4):
            case 0:
                changed[at] ^= 1 << random.randrange(8)
            case 1:
                changed[at : at + size] = random.randbytes(size)
            case 2:
                del changed[at : at + size]
            case _:
                changed[at:at] = bytes(size)
    return bytes(changed[: random.choice((len(changed), random.randrange(1, len(changed) + 1)))])


def read(export: LogExport) -> list[ExportedRecord]:
    """Return the records, and check the words for all that was left out."""
    records = list(export.records())
    assert all(re.match(r"[0-9]+ |an unknown number of ", str(row)) for row in export.left_out.rows())
    return records


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parts[-6]}-{log.parts[-2]}-{log.parts[-4]}")
def test_only_what_was_there_is_exported(log: Path, tmp_path: Path) -> None:
    """With `committed` a part of the same; no offset comes twice."""
    data, random = log.read_bytes(), Random(log.as_posix()[-60:])
    path = write(tmp_path / "t-0", {NAME: data})
    before = {content(record) for record in read(exported(path))}
    sure = {content(record) for record in read(exported(path, committed=True))}
    for _ in range(40):
        changed = damaged(random, data)
        write(path, {NAME: changed})
        export = exported(path)
        records, committed = read(export), read(exported(path, committed=True))
        assert before.issuperset(map(content, records))
        assert sure.issuperset(map(content, committed))
        offsets = [record.offset for record in records]
        assert offsets == sorted(set(offsets))
        is_whole = len(records) == len(before) or data.startswith(changed.rstrip(b"\0"))
        assert is_whole or [*export.left_out.rows()]
