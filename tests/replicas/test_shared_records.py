"""Up to where two logs of old messages hold the same records."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kcheck.core.releases.releases import release
from kcheck.core.replication.lineage import Fork
from kcheck.disk.local import LOCAL
from kcheck.model.entries import Epoch, EpochEntry, Offset
from kcheck.model.loss import BatchFaults
from kcheck.model.report import PartitionFilter
from kcheck.replicas.leader_plans import Election, fork_of
from kcheck.replicas.replica import LogFile, ReplicaState
from kcheck.replicas.shared_records import shared_end
from kcheck.replicas.truncation import truncation
from tests.builders import Made, batch, log, message, write
from tests.oracle.clusters.wrappers import first_difference
from tests.record_bytes import old_message, wrapper

OLD = [message(offset) for offset in range(6)]
FIXTURES = Path(__file__).parents[2] / "fixtures" / "wrappers"


def files(folder: Path, batches: Sequence[Made]) -> tuple[LogFile, ...]:
    """Write a log of one segment."""
    base, data = batches[0].base_offset, log(batches)
    write(folder, {f"{base:020}.log": data})
    return (LogFile(str(folder / f"{base:020}.log"), Offset(base), len(data), LOCAL.directory(str(folder))),)


def wrapped(values: str, first: int = 0, *, codec: int = 1, magic: int = 1) -> Made:
    """Return messages in a wrapper, one for each character."""
    offsets = range(len(values)) if magic else range(first, first + len(values))
    inner = b"".join(
        old_message(offset, value=text.encode(), magic=magic) for offset, text in zip(offsets, values, strict=True)
    )
    last = first + len(values) - 1
    return Made(data=wrapper(last, inner, codec=codec, magic=magic), base_offset=first, last_offset=last)


def plain(text: str, offset: int, *, magic: int = 1) -> Made:
    """Return a message outside of a wrapper."""
    data = old_message(offset, value=text.encode(), magic=magic)
    return Made(data=data, base_offset=offset, last_offset=offset)


@pytest.mark.parametrize(
    ("one", "other", "end", "expected"),
    [
        (OLD, OLD[:4], 4, 4),
        (OLD, [*OLD[:3], message(3, b"other"), *OLD[4:]], 6, 3),
        (OLD, [*OLD[:3], message(3, magic=0)], 4, 3),
        (OLD[2:], [message(0, b"other"), *OLD[1:]], 6, 6),
        (OLD, [*OLD[:3], batch(3, epoch=2)], 4, 3),
        ([*OLD, batch(6, epoch=1)], [*OLD, batch(6, epoch=2)], 7, 6),
        ([*OLD, message(9, codec=1)], [*OLD, message(9, codec=1)], 10, 10),
        ([*OLD, message(9, codec=1)], [*OLD, message(9, b"other", codec=1)], 10, None),
        (OLD, [*OLD[:3], *OLD[4:]], 6, None),
        (OLD[4:], OLD[:3], 3, None),
        ([wrapped("abc"), wrapped("def", 3)], [wrapped("abc"), wrapped("dxf", 3)], 6, 4),
        ([wrapped("abc"), wrapped("def", 3)], [wrapped("abc"), wrapped("dxf", 3)], 4, 4),
        ([wrapped("abcdef")], [wrapped("ab"), wrapped("cdef", 2)], 6, 6),
        ([wrapped("abcdef")], [*(plain(text, offset) for offset, text in enumerate("abcdxf"))], 6, 4),
        ([wrapped("abcdef")], [wrapped("abc"), wrapped("ef", 4)], 6, None),
        ([wrapped("ab"), wrapped("abcd")], [wrapped("abcd")], 4, 4),
        ([wrapped("ab"), wrapped("abcd")], [wrapped("abcx")], 4, 3),
    ],
)
def test_what_logs_of_old_messages_share(
    tmp_path: Path, one: list[Made], other: list[Made], end: int, expected: int | None
) -> None:
    """Up to the first message with another CRC; behind an offset that one lacks nobody knows: compaction."""
    logs = files(tmp_path / "one", one), files(tmp_path / "other", other)
    assert expected == shared_end(*logs, Offset(end))
    assert expected == shared_end(logs[1], logs[0], Offset(end))
    assert shared_end(logs[0], (), Offset(end)) is None


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
def test_wrappers_of_every_codec(tmp_path: Path, codec: int, magic: int) -> None:
    """Offsets in a wrapper of magic 0 are those of the partition."""
    one, other = (
        [wrapped("abc", 10, codec=codec, magic=magic), wrapped(text, 13, codec=codec, magic=magic)]
        for text in ("defg", "dexg")
    )
    assert 15 == shared_end(files(tmp_path / "one", one), files(tmp_path / "other", other), Offset(17))


@pytest.mark.parametrize("kafka", ["0.10.2", "1.1"])
def test_silent_divergence_in_wrappers_of_real_brokers(kafka: str) -> None:
    """Both wrote alone, below their high watermarks: no broker sees it, the decompressed records show it."""
    (folder,) = FIXTURES.glob(f"{kafka}*")
    plans = truncation(
        [f"{number}={folder}/broker-{number}/data1" for number in (1, 2)], Election(leader="2"),
        wanted=PartitionFilter(), release=release(kafka),
    ).plans  # fmt: skip
    told = {f"{plan.topic}-{plan.partition}": plan.followers[0].diverges_silently_at for plan in plans}
    expected = {
        path.name: first_difference(path, folder / "broker-2" / "data1" / path.name)
        for path in (folder / "broker-1" / "data1").glob("*-*/")
    }
    assert expected == told
    assert 2 <= sum(offset is not None for offset in told.values())


def test_logs_that_begin_with_different_batches() -> None:
    """Their epochs agree, but one is of another partition: 4.3.1 served it, and 41 records were lost."""
    one = ReplicaState(
        1, "t", 0, cache=(EpochEntry(Epoch(0), Offset(0)),), log_end_offset=Offset(40),
        batches=BatchFaults(first=(Offset(0), Offset(9), 1, 0)),
    )  # fmt: skip
    other = one._replace(broker_id=2, batches=BatchFaults(first=(Offset(0), Offset(4), 2, 0)))
    assert fork_of(other, one) == Fork(Offset(0), Offset(0))
    assert fork_of(other._replace(is_compacted=True), one) == fork_of(one, one) == Fork(Offset(40), None)
    assert fork_of(other, one._replace(batches=None)) == Fork(Offset(40), None)
