"""Producers followed through logs, and snapshots held against them."""

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from random import Random

import pytest

from kcheck.core.releases.releases import release
from kcheck.formats.producer_snapshot import FORMAT, Producer, ProducerSnapshot, serialize
from kcheck.model.entries import Offset
from kcheck.model.finding import Location
from kcheck.model.names import log_name
from kcheck.model.producers import FaultySequence, ProducersView, SequenceFault, SnapshotFault
from kcheck.model.views import FileView
from kcheck.segments import header_columns as columns
from kcheck.segments import plain_segment as small
from kcheck.segments import producer_tracking as following
from kcheck.segments.producer_snapshots import SnapshotChecker, offsets_within, snapshot_offsets
from kcheck.segments.segment import read_segment
from kcheck.views.partition import view_of
from tests.builders import BytesFiles, Made, batch, flipped, log

ID = 7
NONE = -1


def made(
    base: int, count: int = 5, *, of: int = ID, epoch: int = 0, sequence: int = 0, txn: bool = False,
    marker: bool = False, emptied: bool = False,
) -> Made:  # fmt: skip
    """Return a batch of a producer, or a marker that commits; its CRC is that of other bytes."""
    payload = struct.pack(">bbhbhh", 16, 0, 0, 8, 0, 1) + bytes(7)
    found = batch(base, 1 if marker else count, payload=payload)
    data = bytearray(found.data)
    struct.pack_into(">h", data, 21, 0x30 if marker else 0x10 if txn else 0)
    struct.pack_into(">qhi", data, 43, of, epoch, NONE if marker else sequence)
    if emptied:
        struct.pack_into(">i", data, 57, 0)
    return Made(data=bytes(data), base_offset=base, last_offset=found.last_offset)


def entry(
    last_offset: int, last_sequence: int, *, of: int = ID, epoch: int = 0, delta: int = 4, txn: int = NONE
) -> Producer:
    """Return an entry of a snapshot."""
    return Producer(of, epoch, last_sequence, last_offset, delta, 0, NONE, txn)


def followed(
    *segments: Sequence[Made], snapshots: dict[int, Sequence[Producer]] | None = None, verify: bool = False,
    damaged: int | None = None,
) -> ProducersView:  # fmt: skip
    """Return what is told of a partition of these segments and snapshots; `damaged` is a byte of the first segment."""
    views: dict[str, FileView] = {}
    for offset, entries in (snapshots or {}).items():
        name = f"{offset:020d}.snapshot"
        views[name] = view_of(serialize(ProducerSnapshot(1, tuple(entries))), FORMAT, Location(file=name), release())
    checker, offsets = SnapshotChecker(views), snapshot_offsets(views)
    bases = [Offset(segment[0].base_offset) for segment in segments]
    for base, behind, batches in zip_longest(bases, bases[1:], segments):
        name, data = log_name(base), log(batches)
        if damaged is not None and base == bases[0]:
            data = flipped(data, damaged)
        inside = offsets_within(offsets, base, behind)
        segment = read_segment(BytesFiles({name: data}), name, Location(file=name), base, verify=verify, cuts=inside)
        checker.take(segment.producers, base)
    return checker.view()


def told(found: ProducersView) -> list[tuple[int, SnapshotFault, int, int, int]]:
    """Return the faults of the snapshots, with their offsets; all of them are kept here."""
    rows = [(int(each.offset), *fault) for each in found.snapshots for fault in each.faults]
    assert len(rows) == sum(sum(each.counts.values()) for each in found.snapshots)
    return rows


LOG = (
    made(0), made(5, sequence=5), made(10, of=8, txn=True), made(15, epoch=1, sequence=0), made(20, of=8, marker=True),
    made(21, of=9, txn=True),
)  # fmt: skip
"""Producer 7 in two epochs, 8 with a transaction that ends at 20, 9 with one that is open since 21; up to 26."""

AT_26 = (entry(19, 4, epoch=1), entry(14, 4, of=8), entry(25, 4, of=9, txn=21))


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (AT_26, []),
        (AT_26[2:], []),
        ((entry(40, 4, epoch=1), *AT_26[1:]), [(SnapshotFault.BEYOND, 7, 40, 26)]),
        ((entry(19, 4, epoch=1, txn=26), *AT_26[1:]), [(SnapshotFault.BEYOND, 7, 26, 26)]),
        ((entry(9, 9), *AT_26[1:]), [(SnapshotFault.EPOCH, 7, 0, 1)]),
        ((entry(12, 9, epoch=1), *AT_26[1:]), [(SnapshotFault.OLDER, 7, 12, 19)]),
        ((entry(-1, -1, epoch=1), *AT_26[1:]), [(SnapshotFault.OLDER, 7, -1, 19)]),
        ((entry(19, 3, epoch=1), *AT_26[1:]), [(SnapshotFault.SEQUENCE, 7, 3, 4)]),
        ((entry(24, 4, epoch=2), *AT_26[1:]), [(SnapshotFault.ABSENT, 7, 24, 19)]),
        ((*AT_26, entry(3, 3, of=1)), [(SnapshotFault.ABSENT, 1, 3, -1)]),
        ((AT_26[0], entry(14, 4, of=8, txn=10), AT_26[2]), [(SnapshotFault.ENDED, 8, 10, 20)]),
        ((*AT_26[:2], entry(25, 4, of=9)), [(SnapshotFault.LACKS, 9, -1, 21)]),
        (AT_26[:2], [(SnapshotFault.LACKS, 9, -1, 21)]),
        ((AT_26[0], entry(-1, -1, of=8), AT_26[2]), []),
        ((AT_26[0], entry(20, 4, of=8), AT_26[2]), []),
    ],
    ids=[
        "right", "expired", "beyond", "transaction beyond", "epoch", "older", "none of its epoch", "sequence", "absent",
        "absent of nobody", "ended", "lacks", "lacks the producer", "behind expiry", "a marker of 0.11",
    ],
)  # fmt: skip
@pytest.mark.parametrize("cut", [0, 2, 4], ids=["one segment", "in a segment", "in transactions"])
def test_what_a_snapshot_states(entries: tuple[Producer, ...], expected: list[tuple[object, ...]], cut: int) -> None:
    """Wherever the segments part."""
    segments = [part for part in (LOG[:cut], LOG[cut:]) if part]
    found = followed(*segments, snapshots={26: entries})
    assert [(26, *each) for each in expected] == told(found)
    assert (3, 1) == (found.known, found.open)


@pytest.mark.parametrize("cut", [0, 1, 2])
@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (entry(4, 4, txn=0), []),
        (entry(-1, -1, epoch=1), []),
        (entry(3, 3, txn=0), [(6, SnapshotFault.OLDER, 7, 3, 4)]),
    ],
    ids=["read again", "seen whole", "older"],
)
def test_a_marker_that_the_cleaner_emptied(stated: Producer, expected: list[object], cut: int) -> None:
    """Who reads the log again learns nothing of it; who saw it whole knows its epoch and that the transaction ended."""
    log = (made(0, txn=True), made(5, epoch=1, marker=True, emptied=True))
    segments = [part for part in (log[:cut], log[cut:]) if part]
    assert expected == told(followed(*segments, snapshots={6: (stated,)}))


def test_a_snapshot_inside_of_a_segment_is_of_what_is_below_it() -> None:
    """One below the first segment is of what nobody sees; the newest one up to the log end is loaded."""
    snapshots = {
        3: (entry(2, 0),), 10: (entry(9, 9),), 15: (entry(9, 9), entry(14, 4, of=8, txn=10)),
        20: (entry(19, 4, epoch=1), entry(14, 4, of=8, txn=10)), 21: (entry(9, 9),), 26: AT_26, 30: (),
    }  # fmt: skip
    found = followed(LOG[1:4], LOG[4:], snapshots=snapshots)
    assert [(21, SnapshotFault.EPOCH, 7, 0, 1)] == told(found)
    assert [26] == [each.offset for each in found.snapshots if each.newest]


def test_nothing_is_missing_where_offsets_are() -> None:
    """The cleaner may have taken the batch, or the marker. What contradicts a batch that is there is told."""
    log = (LOG[0], LOG[2], made(30, of=9, txn=True))
    at_32 = (entry(29, 4), entry(28, 4, of=1), entry(14, 4, of=8), entry(27, 0, of=9))
    (fault,) = told(followed(log, snapshots={35: at_32}))
    assert (35, SnapshotFault.OLDER, 9, 27, 34) == fault


def test_a_damaged_batch_is_nobodys() -> None:
    """Where the CRCs are looked at: what it says is not believed, and what it was is not known."""
    whole = batch(5, 5)
    log = (batch(0, 5), made(5), whole)
    at_15 = (entry(4, 4), entry(3, 3, of=2))
    assert 2 == len(told(followed(log[:1], log[1:2], snapshots={10: at_15})))
    assert not told(followed(log[:1], log[1:2], snapshots={10: at_15}, verify=True))
    damaged = followed(log[:1], log[1:2], verify=True, damaged=len(log[0].data) - 1)
    assert 0 == damaged.known


@pytest.mark.parametrize("cut", [0, 1])
@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (made(5, sequence=5), None),
        (made(5, sequence=5, epoch=1), None),
        (made(5, sequence=0), None),
        (made(5, sequence=NONE), None),
        (made(5, sequence=3), SequenceFault.REPEATED),
        (made(5, sequence=1), SequenceFault.REPEATED),
        (made(5, sequence=6), SequenceFault.GAP),
        (made(7, sequence=6), None),
        (made(7, sequence=3), SequenceFault.REPEATED),
    ],
)
def test_sequences(second: Made, expected: SequenceFault | None, cut: int) -> None:
    """A gap is none where offsets are missing too; 0 begins again, and is what a group coordinator writes."""
    log = (made(0), second)
    segments = [part for part in (log[:cut], log[cut:]) if part]
    found = followed(*segments)
    assert ([] if expected is None else [expected]) == [each.fault for each in found.sequences]
    assert ({} if expected is None else {expected: 1}) == found.counts
    if found.sequences:
        (sequence,) = struct.unpack_from(">i", second.data, 53)
        assert found.sequences == (FaultySequence(found.sequences[0].fault, 7, 0, second.base_offset, sequence, 4, 4),)


def test_sequences_wrap() -> None:
    top = 2**31
    log = [made(0, sequence=top - 5), made(5, sequence=0), made(10, of=8, sequence=top - 3), made(15, of=8, sequence=2)]
    assert not followed(log).sequences


def test_too_many_producers_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is bounded, and nothing is said but what the snapshot says by itself."""
    monkeypatch.setattr(small, "SIZE_MAX", -1)
    monkeypatch.setattr(following, "PRODUCER_COUNT_MAX", 3)
    log = [made(5 * n, of=n) for n in range(5)]
    found = followed(log, snapshots={25: (entry(2, 2, of=4), entry(25, 1))})
    assert [(25, SnapshotFault.BEYOND, 7, 25, 25)] == told(found)
    assert (None, None) == (found.known, found.open)


def test_many_snapshots_in_a_segment() -> None:
    """Only the last ones are held against it."""
    wrong = {n: (entry(0, 1),) for n in range(1, 40)}
    found = followed([made(n, 1, sequence=n) for n in range(40)], snapshots=wrong)
    assert list(range(24, 40)) == sorted(each.offset for each in found.snapshots if each.faults)
    assert len(wrong) == len(found.snapshots)


def test_a_segment_that_cannot_be_read_ends_what_is_known() -> None:
    """What stands before it is told."""
    snapshots = {
        f"{offset:020d}.snapshot": view_of(
            serialize(ProducerSnapshot(1, (entry(0, 0),))), FORMAT, Location(file=f"{offset}"), release()
        )
        for offset in (0, 10)
    }
    follower = SnapshotChecker(snapshots)
    follower.take(None, Offset(0))
    follower.take(None, Offset(10))
    found = follower.view()
    assert [(0, SnapshotFault.BEYOND, 7, 0, 0)] == told(found)
    assert (None, None) == (found.known, found.open)


def history(random: Random) -> list[Made]:
    """Return what some producers may write, as brokers append it."""
    log: list[Made] = []
    state = dict.fromkeys(range(4), (0, 0, False))
    end = 0
    for _ in range(random.randrange(1, 40)):
        of = random.randrange(4)
        epoch, sequence, is_open = state[of]
        count = random.randrange(1, 4)
        if of > 1 and random.random() < 0.3:
            epoch, sequence = (epoch + 1, 0) if random.random() < 0.3 else (epoch, sequence)
            log.append(made(end, of=of, epoch=epoch, marker=True))
            count, is_open = 1, False
        elif not is_open and random.random() < 0.1:
            epoch, sequence = epoch + 1, count
            log.append(made(end, count, of=of, epoch=epoch, txn=of > 1))
            is_open = of > 1
        else:
            log.append(made(end, count, of=of, epoch=epoch, sequence=sequence, txn=of > 1))
            sequence, is_open = sequence + count, of > 1
        state[of] = epoch, sequence, is_open
        end += count
    return log


def replayed(log: Sequence[Made], offset: int) -> Iterator[Producer]:
    """Yield what a broker knows at an offset: the slow way, batch by batch (ProducerAppendInfo.append)."""
    known: dict[int, Producer] = {}
    for each in log:
        if each.base_offset < offset:
            attributes, of = struct.unpack_from(">h", each.data, 21)[0], struct.unpack_from(">q", each.data, 43)[0]
            epoch, sequence = struct.unpack_from(">hi", each.data, 51)
            before = known.get(of, entry(-1, -1, of=of, epoch=epoch, delta=0))
            if before.producer_epoch != epoch:
                before = before._replace(producer_epoch=epoch, last_sequence=-1, last_offset=-1, offset_delta=0)
            delta = each.last_offset - each.base_offset
            if attributes & 0x20:
                known[of] = before._replace(current_txn_first_offset=-1)
            else:
                opened = before.current_txn_first_offset if before.current_txn_first_offset >= 0 else each.base_offset
                known[of] = before._replace(
                    last_sequence=sequence + delta, last_offset=each.last_offset, offset_delta=delta,
                    current_txn_first_offset=opened if attributes & 0x10 else -1,
                )  # fmt: skip
    yield from known.values()


@pytest.mark.parametrize("seed", range(30))
def test_what_a_broker_writes_is_never_contradicted(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the cleaner took since, wherever segments and windows part, and whoever expired."""
    random = Random(seed)
    monkeypatch.setattr(columns, "WINDOW_SIZE", random.choice((200, 400, 4 << 20)))
    log = history(random)
    offsets = random.sample([each.base_offset for each in log], min(len(log), 5))
    snapshots = {offset: list(replayed(log, offset)) for offset in (*offsets, log[-1].last_offset + 1)}
    for entries in snapshots.values():
        gone = [each for each in entries if each.current_txn_first_offset < 0 and random.random() < 0.2]
        entries[:] = [each for each in entries if each not in gone]
    left = [each for each in log if random.random() < 0.7] if seed % 2 else log
    cuts = sorted({0, *(random.randrange(len(left) + 1) for _ in range(3)), len(left)})
    segments = [left[a:b] for a, b in pairwise(cuts)]
    found = followed(*segments, snapshots={**snapshots})
    assert not told(found)
    assert not found.sequences
    assert len(snapshots) == len(found.snapshots)
