"""The records that several replicas lose together are counted once."""

from pathlib import Path

import pytest

from kcheck.disk.local import LOCAL
from kcheck.model.entries import Offset
from kcheck.records.batch import CONTROL
from kcheck.replicas import distinct_records
from kcheck.replicas.distinct_records import Distinct, LostRange, distinct
from kcheck.replicas.replica import LogFile
from kcheck.segments.batches import Walk
from tests.builders import Made, batch, batch_of, log, record, run
from tests.record_bytes import COMPRESS, old_message, wrapper
from tests.replicas.test_group_offsets import log_files

FIXTURES = Path("fixtures/brokers")


class Logs:
    """Writes logs into numbered folders."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def __call__(self, batches: list[Made] | bytes, start: int = 0, end: int = 1000) -> LostRange:
        """Return offsets `[start, end)` of a log with these batches."""
        self._count += 1
        path = self._folder / f"{self._count}" / f"{0:020}.log"
        path.parent.mkdir()
        data = batches if isinstance(batches, bytes) else log(batches)
        path.write_bytes(data)
        file = LogFile(str(path), Offset(0), len(data), LOCAL.directory(str(path.parent)))
        return LostRange((file,), Offset(start), Offset(end))


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Write logs."""
    return Logs(tmp_path)


def rows(base: int, *values: bytes, epoch: int = 0, codec: int = 0, last_offset: int | None = None) -> Made:
    """Return a batch that can be decoded."""
    records = [record(number, value=value) for number, value in enumerate(values) if value]
    body = COMPRESS[codec](b"".join(records))
    last = base + len(values) - 1 if last_offset is None else last_offset
    return batch_of(base, *records, payload=body, epoch=epoch, attributes=codec, last_offset=last)


ABC = (b"a", b"b", b"c")


def test_what_two_replicas_lose_counts_once(logs: Logs) -> None:
    """By headers alone: these batches cannot be decoded."""
    one, other = logs(run(0, 99), 30), logs(run(0, 89), 55)
    assert Distinct(70, 700, 20) == distinct([one, other], [], Offset(50))
    assert Distinct(70, 700, None) == distinct([one, other], [], None)
    assert Distinct(10, 100, 0) == distinct([one], [logs(run(0, 89))], Offset(50))
    assert Distinct(15, 200, 0) == distinct([one], [logs(run(0, 99), end=85)], Offset(50))
    assert Distinct(0, 0, 0) == distinct([other], [one], Offset(50))
    assert Distinct(0, 0, 0) == distinct([], [one], Offset(50))
    assert Distinct(0, 0, None) == distinct([], [one], None)


def test_one_header_on_two_replicas_beside_another_epoch(logs: Logs) -> None:
    """None of these batches can be decoded, as none in a bundle can. The new leader has offsets 40 to 44."""

    def replica(end: int, *more: Made) -> LostRange:
        return logs([*run(0, 39), batch(40, count=20, epoch=4), *more], 40, end)

    ten, five = batch(60, count=10, epoch=4), [*run(0, 39), batch(40, count=5, epoch=7)]
    one, other = replica(80, ten, batch(70, count=10, epoch=5)), replica(70, ten)
    assert distinct([one, other], [logs(five, 40, 45)], Offset(70))[::2] == (40, 30)
    assert distinct([one, other._replace(end=Offset(50))], [logs(five, 40, 45)], Offset(0)).records == 40
    assert distinct([one], [other._replace(start=Offset(50)), logs(five, 40, 45)], Offset(0)).records == 20


def test_the_kept_log_is_read_only_where_records_are_lost(logs: Logs, tmp_path: Path) -> None:
    """A segment that is gone elsewhere does not matter."""
    for base in (0, 50, 100):
        (tmp_path / f"{base:020}.log").write_bytes(log(run(base, base + 49)))
    kept = LostRange(log_files(tmp_path), Offset(0), Offset(150))
    Path(kept.logs[0].path).unlink()
    Path(kept.logs[2].path).unlink()
    assert Distinct(0, 0, 0) == distinct([logs(run(0, 99), 60, 100)], [kept], Offset(70))


def test_a_kept_log_in_several_segments(logs: Logs, tmp_path: Path) -> None:
    """Segments outside of the range are not read."""
    for base in (0, 50, 100):
        (tmp_path / f"{base:020}.log").write_bytes(log(run(base, base + 49)))
    kept = log_files(tmp_path)
    Path(kept[0].path).unlink()
    Path(kept[2].path).unlink()
    lost = logs(run(0, 99), 60)
    assert Distinct(11, 200, 10) == distinct([lost], [LostRange(kept, Offset(70), Offset(99))], Offset(70))


def test_the_epoch_tells_records_apart(logs: Logs) -> None:
    """The same bytes written by another leader are other records; the CRC does not cover the epoch."""
    one, other = logs([rows(0, *ABC)]), logs([rows(0, *ABC, epoch=1)])
    assert Distinct(6, 2 * 85, 4) == distinct([one, other], [], Offset(2))
    assert Distinct(3, 85, 2) == distinct([one], [other], Offset(2))


def test_a_control_record_is_another_record(logs: Logs) -> None:
    """Whatever its bytes are."""
    one, other = (logs([batch_of(0, record(value=b"a"), attributes=bits)]) for bits in (0, CONTROL))
    assert Distinct(1, one.logs[0].size, 1) == distinct([one], [other], Offset(1))


def test_what_compaction_left(logs: Logs) -> None:
    """Records are compared: the cleaner removes some, and compresses the others again."""
    full, cleaned = logs([rows(0, *ABC)]), logs([rows(0, b"a", b"", b"c", codec=1, last_offset=2)])
    size = len(rows(0, *ABC).data)
    assert Distinct(1, size, 1) == distinct([full], [cleaned], Offset(2))
    assert Distinct(0, 0, 0) == distinct([cleaned], [full], Offset(2))
    assert Distinct(3, size, 2) == distinct([full, cleaned], [], Offset(2))
    assert Distinct(1, cleaned.logs[0].size, 0) == distinct([cleaned._replace(start=Offset(1))], [], Offset(2))
    assert Distinct(2, cleaned.logs[0].size, 2) == distinct([cleaned], [], Offset(3))
    assert Distinct(2, cleaned.logs[0].size, 0) == distinct([cleaned], [], Offset(0))
    assert Distinct(2, cleaned.logs[0].size, 1) == distinct([cleaned], [], Offset(1))
    assert Distinct(0, 0, 0) == distinct([logs([batch(0, 0, last_offset=9)])], [], Offset(5))


def test_batches_that_do_not_begin_together(logs: Logs) -> None:
    """Several short batches against a long one, and others after them."""
    long = logs([rows(0, b"y"), rows(1, *ABC, *ABC), rows(7, b"z")])
    short = logs([rows(1, *ABC[:2]), rows(3, b"c", b"a"), rows(5, b"x", b"c"), rows(7, b"z")])
    assert Distinct(1, len(rows(1, *ABC, *ABC).data), 0) == distinct(
        [long._replace(start=Offset(1))], [short], Offset(5)
    )
    assert Distinct(1, len(rows(5, b"x", b"c").data), 1) == distinct([short], [long], Offset(6))


@pytest.mark.parametrize("magic", [0, 1])
def test_old_messages(logs: Logs, magic: int) -> None:
    """A wrapper and the same messages in another one, or without one."""
    inner = [old_message(offset, None, value, magic=magic) for offset, value in enumerate(ABC)]
    plain = logs(b"".join(inner))
    packed, otherwise = (
        logs(wrapper(2, b"".join(inner), magic=magic)),
        logs(wrapper(2, b"".join(inner), codec=3, magic=magic)),
    )
    assert Distinct(0, 0, 0) == distinct([packed], [plain], Offset(9)) == distinct([packed], [otherwise], Offset(9))
    assert Distinct(3, packed.logs[0].size, 2) == distinct([packed, otherwise, plain], [], Offset(2))
    assert Distinct(1, packed.logs[0].size, 1) == distinct([packed], [plain._replace(start=Offset(1))], Offset(2))
    assert Distinct(0, 0, 0) == distinct([packed._replace(end=Offset(0))], [], Offset(2))


@pytest.mark.parametrize(
    "damaged",
    [
        batch(0, 3, payload=b"\xff" * 9).data,
        batch(0, 3, magic=3).data,
    ],
)
def test_a_batch_that_cannot_be_decoded(logs: Logs, damaged: bytes) -> None:
    """It is unknown where it differs from the others, and known where it does not."""
    one, other = logs(damaged + rows(3, *ABC).data), logs([rows(0, *ABC), rows(3, *ABC)])
    assert Distinct(None, len(damaged), None) == distinct([one], [other], Offset(2))
    assert Distinct(0, 0, 0) == distinct([one], [logs(damaged + rows(3, *ABC).data)], Offset(2))


def test_a_batch_that_is_too_large_to_decode(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its size, or by its records."""
    one, other = logs([rows(0, *ABC)]), logs([rows(0, b"a", b"b", b"d")])
    with monkeypatch.context() as patched:
        patched.setattr(distinct_records, "_RECORD_COUNT_MAX", 2)
        assert Distinct(None, 85, None) == distinct([one], [other], Offset(2))
    monkeypatch.setattr(distinct_records, "_BODY_SIZE_MAX", 80)
    assert Distinct(None, 85, None) == distinct([one], [other], Offset(2))


def test_logs_that_cannot_be_read(logs: Logs) -> None:
    """A segment that is gone or became shorter, or batches out of order."""
    good = logs(run(0, 99))
    gone, shorter, mixed = logs(run(0, 99)), logs(run(0, 99)), logs([*run(50, 99), *run(0, 49)])
    Path(gone.logs[0].path).unlink()
    Path(shorter.logs[0].path).write_bytes(b"")
    backwards = [logs([batch(9, 1, last_offset=last_offset)]) for last_offset in (5, 8)]
    for bad in (gone, shorter, mixed, *backwards):
        assert Distinct(None, None, None) == distinct([good], [bad], Offset(2)) == distinct([bad], [], Offset(2))


def test_a_segment_shrinks_while_it_is_read(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The records are gone when they are to be compared."""
    one, other = logs([rows(0, *ABC)]), logs([rows(0, b"a", b"b", b"d")])
    first = Walk.__iter__

    def shrinking(walk: Walk) -> object:
        for made in first(walk):
            Path(one.logs[0].path).write_bytes(b"")
            yield made

    monkeypatch.setattr(Walk, "__iter__", shrinking)
    assert Distinct(None, 85, None) == distinct([one], [other], Offset(2))


@pytest.mark.parametrize("release", ["4.3.1", "2.8.2", "0.10.2.2"])
def test_replicas_of_a_broker_that_diverged(release: str) -> None:
    """Two real logs: what each of them has alone, and what both have together."""
    one, other = (
        LostRange(log_files(path), Offset(0), Offset(10**6))
        for path in sorted((FIXTURES / release / "diverged").glob("*/*/diverged-0"))
    )
    alone = [distinct([a], [b], None).records for a, b in ((one, other), (other, one))]
    whole, total = (distinct(ranges, [], None).records for ranges in ([one], [one, other]))
    assert all(alone)
    assert total == (whole or 0) + (alone[1] or 0)


def flipped(*batches: Made) -> bytes:
    """Return a log whose last byte is not what the CRC says."""
    data = log([*batches])
    return data[:-1] + bytes((data[-1] ^ 1,))


def test_what_a_corrupt_batch_held_another_replica_has(logs: Logs) -> None:
    """Of another epoch it held other records; what no replica has may be lost."""
    kept, cut = logs([rows(0, *ABC)]), logs(flipped(rows(0, *ABC)))
    assert distinct([logs(wrapper(2, b"")[:-2] + b"xx")], [kept], Offset(2)) == Distinct(0, 0, 0)
    assert distinct([cut], [kept], Offset(3)) == Distinct(0, 0, 0)
    other = logs(flipped(rows(0, *ABC, epoch=1)))
    assert distinct([other], [kept], Offset(3)).records == len(ABC)
    assert distinct([cut], [], Offset(3)).records != 0
