"""Records that replicas lose together are counted by headers as they are one by one."""

import itertools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from random import Random
from unittest import mock

from hypothesis import given

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.replicas import distinct_records
from kcheck.replicas.distinct_records import Distinct, LostRange, distinct
from kcheck.replicas.replica import LogFile
from tests import builders, strategies
from tests.record_bytes import COMPRESS, old_message, record, wrapper

Known = tuple[int, int | None, bytes]
"""Offset, epoch and value of a record."""


class Replica:
    """A log and what is in it."""

    def __init__(self, range_: LostRange, known: list[Known]) -> None:
        self.range = range_
        self.known = {row for row in known if range_.start <= row[0] < range_.end}


def replicas(random: Random, folder: Path) -> list[Replica]:
    """Return replicas of one history: some diverge, some are compacted, compressed anew, or grouped otherwise."""
    magic, end, bounds = random.choice((2, 2, 1)), random.randint(1, 60), [0]
    while bounds[-1] < end:
        bounds.append(min(end, bounds[-1] + random.randint(1, 8)))
    made = []
    for number in range(random.randint(1, 4)):
        fork = random.choice((end, random.randint(0, end)))
        own = bounds if random.random() < 0.7 else sorted({0, end, *random.choices(range(end + 1), k=5)})
        data, known = b"", list[Known]()
        changed = random.choice((0.0, 0.2, 1.0))
        for base, stop in itertools.pairwise(own):
            diverged = base >= fork
            kept = 0.6 if random.random() < changed else 1.0
            offsets = [offset for offset in range(base, stop) if random.random() < kept]
            values = [b"%d/%d" % (offset, number if diverged and offset % 3 else -1) for offset in offsets]
            epoch = number + 1 if diverged and random.random() < 0.8 else 0
            codec = 1 if random.random() < changed else 0
            data += _batch(magic, base, stop, dict(zip(offsets, values, strict=True)), epoch, codec)
            known += [
                (offset, epoch if magic == 2 else None, value) for offset, value in zip(offsets, values, strict=True)
            ]
        path = folder / f"{number}" / f"{0:020}.log"
        path.parent.mkdir()
        path.write_bytes(data)
        start = random.choice((0, random.randint(0, end)))
        range_ = LostRange(
            (LogFile(str(path), Offset(0), len(data), LOCAL.directory(str(path.parent))),),
            Offset(start),
            Offset(random.choice((end, random.randint(start, end)))),
        )
        made.append(Replica(range_, known))
    return made


def _batch(magic: int, base: int, stop: int, records: dict[int, bytes], epoch: int, codec: int) -> bytes:
    if magic == 1:
        if not codec:
            return b"".join(old_message(offset, None, value) for offset, value in records.items())
        inner = b"".join(old_message(offset - base, None, value) for offset, value in records.items())
        return wrapper(max(records), inner) if records else b""
    body = COMPRESS[codec](b"".join(record(offset - base, None, value) for offset, value in records.items()))
    return builders.batch(
        base, len(records), epoch=epoch, last_offset=stop - 1, payload=body, attributes=codec, max_timestamp=0
    ).data


def expected(lost: Sequence[Replica], kept: Sequence[Replica], mark: Offset | None) -> tuple[int, int | None]:
    """Return the records and the committed ones among them, by sets of all records."""
    gone = {row for replica in lost for row in replica.known} - {row for replica in kept for row in replica.known}
    return len(gone), None if mark is None else sum(row[0] < mark for row in gone)


@given(seed=strategies.seeds())
def test_headers_and_records_give_the_same(seed: int) -> None:
    """Every record that a replica loses and none keeps counts once, by headers where they say enough or one by one."""
    random = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        every = replicas(random, Path(folder))
        at = random.randint(0, len(every))
        lost, kept = every[:at], every[at:]
        mark = random.choice((None, Offset(random.randint(0, 60))))
        answer = _asked(lost, kept, mark)
        with mock.patch.object(distinct_records._Sweep, "_take_batch", return_value=False):
            assert answer == _asked(lost, kept, mark)
    assert expected(lost, kept, mark) == (answer.records, answer.committed)


def _asked(lost: Sequence[Replica], kept: Sequence[Replica], mark: Offset | None) -> Distinct:
    return distinct([replica.range for replica in lost], [replica.range for replica in kept], mark)
