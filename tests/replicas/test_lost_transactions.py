"""Transactions are followed in the logs of brokers, with and without producer snapshots."""

import shutil
from pathlib import Path

import pytest

from kcheck.core.replication.lost_transactions import CountedTransactions, LostTransactions, OpenTransaction
from kcheck.formats import producer_snapshot
from kcheck.formats.producer_snapshot import VERSION, Producer, ProducerSnapshot
from kcheck.model.entries import Offset
from kcheck.records.batch import CONTROL, TRANSACTIONAL
from kcheck.replicas.lost_transactions import lost_transactions, open_transactions
from kcheck.replicas.replica import LogFile
from tests.builders import Made, batch, flip_byte, log, message, run, write
from tests.record_bytes import batch_of, record
from tests.replicas.test_group_offsets import log_files, marker

FIXTURES = Path("fixtures/brokers")
NONE = CountedTransactions(0, ())
SNAPSHOTS = [
    path
    for scene in ("stopped", "coordinators")
    for path in sorted(FIXTURES.glob(f"*/{scene}/*/*/*-[0-9]/*.snapshot"))
    if not path.parent.name.startswith("__cluster_metadata")
]


def data(base: int, producer_id: int = 7, *, count: int = 1, last_offset: int | None = None) -> bytes:
    """Return a transactional batch."""
    made = batch(base, count, last_offset=last_offset, attributes=TRANSACTIONAL, producer=(producer_id, 3), sequence=0)
    return made.data


def transaction(first_offset: int, producer_id: int = 7) -> OpenTransaction:
    """Return a transaction of `data`."""
    return OpenTransaction(producer_id, 3, Offset(first_offset))


def snapshot(offset: int, *first_offsets: int) -> dict[str, bytes]:
    """Return a producer snapshot of transactions that are open, of the producers 7, 8 and so on."""
    producers = [Producer(7 + n, 3, 0, first, 0, 0, -1, first) for n, first in enumerate(first_offsets)]
    producers.append(Producer(99, 0, 0, 0, 0, 0, -1, -1))
    return {f"{offset:020}.snapshot": producer_snapshot.serialize(ProducerSnapshot(VERSION, tuple(producers)))}


def logs_of(folder: Path, *segments: bytes, bases: tuple[int, ...] = (0,)) -> tuple[LogFile, ...]:
    """Write segments and return them as the parts of a log."""
    write(folder, {f"{base:020}.log": data for base, data in zip(bases, segments, strict=True)})
    return log_files(folder)


@pytest.mark.sample(60)
@pytest.mark.parametrize("path", SNAPSHOTS, ids=str)
def test_what_brokers_wrote_into_their_snapshots(path: Path, tmp_path: Path) -> None:
    """The batches say the same as the snapshot that a broker wrote at a clean stop, and as the snapshots before it."""
    offset = Offset(int(path.stem))
    producers = producer_snapshot.parse(path.read_bytes()).value.producers
    expected = sorted(
        (producer.current_txn_first_offset, producer.producer_id, producer.producer_epoch)
        for producer in producers
        if producer.current_txn_first_offset >= 0
    )
    shutil.copytree(path.parent, tmp_path / "copy")
    for unread in (tmp_path / "copy").glob("*.snapshot"):
        if int(unread.stem) >= offset:
            unread.unlink()
    shutil.copytree(tmp_path / "copy", tmp_path / "without")
    for unread in (tmp_path / "without").glob("*.snapshot"):
        unread.unlink()
    for folder in (path.parent, tmp_path / "copy", tmp_path / "without"):
        still_open = open_transactions(log_files(folder), offset)
        assert still_open is not None
        assert expected == [(row.first_offset, row.producer_id, row.producer_epoch) for row in still_open]


def test_some_fixtures_have_open_transactions() -> None:
    """So the test above says something."""
    folders = {path.parent for path in SNAPSHOTS}
    assert sum(bool(open_transactions(log_files(folder), Offset(10**9))) for folder in folders) > 8


def test_what_a_truncation_does(tmp_path: Path) -> None:
    """Committed, with its marker cut only, and open transactions, over two segments and beside batches of others."""
    first = data(0) + data(1, 8) + log(run(2, 4)) + data(5, 9)
    second = marker(6, commits=True) + data(7, 8) + marker(8, commits=True, producer_id=8) + data(9, 6)
    logs = logs_of(tmp_path, first, second, bases=(0, 6))
    expected = LostTransactions(
        CountedTransactions(1, (transaction(1, 8),)),
        CountedTransactions(1, (transaction(0),)),
        CountedTransactions(3, (transaction(0), transaction(1, 8), transaction(5, 9))),
    )
    assert expected == lost_transactions(logs, Offset(6), Offset(10))
    assert LostTransactions(NONE, NONE, NONE) == lost_transactions(logs, Offset(0), Offset(6))
    assert (transaction(5, 9), transaction(9, 6)) == open_transactions(logs, Offset(10))
    assert (transaction(5, 9),) == open_transactions(logs, Offset(9))
    assert (transaction(1, 8), transaction(5, 9)) == open_transactions(logs, Offset(7))
    assert LostTransactions(NONE, NONE, NONE) == lost_transactions((), Offset(0), Offset(0))


def test_a_batch_that_the_truncation_cuts_in_half(tmp_path: Path) -> None:
    """All of it is cut."""
    logs = logs_of(tmp_path, data(0, count=10) + marker(10, commits=True))
    assert LostTransactions(CountedTransactions(1, (transaction(0),)), NONE, NONE) == lost_transactions(
        logs, Offset(5), Offset(11)
    )
    assert () == open_transactions(logs, Offset(5))


def test_what_compaction_left(tmp_path: Path) -> None:
    """A batch without records opens and ends none; old messages and batches without a producer neither."""
    made: list[Made] = [message(0), message(1, codec=1), batch(2, attributes=TRANSACTIONAL)]
    empty_marker = batch(5, 0, last_offset=5, attributes=TRANSACTIONAL | CONTROL, producer=(8, 0)).data
    logs = logs_of(tmp_path, log(made) + data(3, count=0, last_offset=3) + data(4, 8) + empty_marker)
    assert (transaction(4, 8),) == open_transactions(logs, Offset(6))


def test_a_snapshot_spares_reading(tmp_path: Path) -> None:
    """The newest intact one counts: its transactions, and the batches from there on."""
    logs = logs_of(tmp_path, data(0) + data(5, 8), data(10, 9), bases=(0, 10))
    write(tmp_path, {**snapshot(5, 1), **snapshot(8, 2), **snapshot(10, 3), **snapshot(11, 12), **snapshot(99, 4)})
    still_open = (transaction(3), transaction(10, 9))
    assert still_open == open_transactions(logs, Offset(11))
    assert (transaction(3),) == open_transactions(logs, Offset(10))
    flip_byte(tmp_path / f"{10:020}.snapshot", -1)
    assert (transaction(2), transaction(10, 9)) == open_transactions(logs, Offset(11))
    (tmp_path / f"{8:020}.snapshot").unlink()
    (tmp_path / f"{8:020}.snapshot").symlink_to(tmp_path / f"{5:020}.snapshot")
    assert (transaction(1), transaction(5, 8), transaction(10, 9)) == open_transactions(logs, Offset(11))


def test_a_transaction_from_the_first_offset_on(tmp_path: Path) -> None:
    """Offset 0 is one; a producer without a transaction has -1 there."""
    logs = logs_of(tmp_path, log(run(0, 9)))
    write(tmp_path, snapshot(5, 0))
    assert (transaction(0),) == open_transactions(logs, Offset(10))


def test_batches_that_cannot_be_read(tmp_path: Path) -> None:
    """A segment that is gone, shorter than it was, or a directory that is gone."""
    logs = logs_of(tmp_path / "t-0", data(0), data(1), bases=(0, 1))
    assert open_transactions((logs[0]._replace(size=logs[0].size + 1), logs[1]), Offset(2)) is None
    Path(logs[1].path).unlink()
    assert (transaction(0),) == open_transactions(logs, Offset(1))
    assert open_transactions(logs, Offset(2)) is None
    shutil.rmtree(tmp_path / "t-0")
    assert lost_transactions(logs, Offset(0), Offset(1)) is None


def test_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many windows, and none is read beyond the end of the range."""
    monkeypatch.setattr("kcheck.segments.header_columns.WINDOW_SIZE", 200)
    batches = [data(number, number) for number in range(20)] + [batch_of(record(0), 1, base_offset=20), bytes(99)]
    logs = logs_of(tmp_path, b"".join(batches))
    assert tuple(transaction(number, number) for number in range(5)) == open_transactions(logs, Offset(5))
    assert open_transactions(logs, Offset(30)) is None
