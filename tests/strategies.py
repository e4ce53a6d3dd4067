"""What the properties are tried on: files as brokers write them, the same damaged, and anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from kcheck.formats.clean_shutdown import CleanShutdown
from kcheck.formats.meta_properties import MetaProperties
from kcheck.formats.offset_index import OffsetIndex
from kcheck.formats.partition_metadata import PartitionMetadata
from kcheck.formats.producer_snapshot import Producer, ProducerSnapshot
from kcheck.formats.time_index import TimeIndex
from kcheck.formats.transaction_index import AbortedTxn
from kcheck.model.cluster import QuorumState
from kcheck.model.entries import Epoch, EpochEntries, EpochEntry, Offset, OffsetEntry
from tests.builders import record

INT16 = st.integers(-(2**15), 2**15 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
NAME = "abcXYZ019._-"


def topics() -> SearchStrategy[str]:
    """Return legal topics, a few of them often."""
    return st.sampled_from(["t", "orders.eu-west", "__consumer_offsets"]) | st.text(
        NAME, min_size=1, max_size=20
    ).filter(lambda name: name not in (".", ".."))


def epochs() -> SearchStrategy[Epoch]:
    """Return leader epochs, small ones often."""
    return st.builds(Epoch, st.integers(0, 20) | st.integers(0, 2**31 - 1))


def offsets() -> SearchStrategy[Offset]:
    """Return offsets, small ones often."""
    return st.builds(Offset, st.integers(0, 100) | st.integers(0, 2**63 - 1))


def offset_entries() -> SearchStrategy[list[OffsetEntry]]:
    """Return the entries of an offset checkpoint, each partition once."""
    entry = st.builds(OffsetEntry, topics(), st.integers(0, 40) | st.integers(0, 2**31 - 1), offsets())
    return st.lists(entry, unique_by=lambda entry: (entry.topic, entry.partition), max_size=12)


def epoch_entries() -> SearchStrategy[EpochEntries]:
    """Return the entries of a leader-epoch-checkpoint in any order."""
    return st.lists(st.builds(EpochEntry, epochs(), offsets()), max_size=12).map(tuple)


def uuids() -> SearchStrategy[str]:
    """Return ids as Kafka writes them, none reserved."""
    return st.text(NAME.replace(".", ""), min_size=21, max_size=21).map(lambda text: text + "Q")


def partition_metadata() -> SearchStrategy[PartitionMetadata]:
    """Return what a partition.metadata says."""
    return st.builds(PartitionMetadata, st.integers(0, 3), uuids())


def meta_properties() -> SearchStrategy[MetaProperties]:
    """Return what a meta.properties says, and properties that no broker writes."""
    comments = st.lists(st.text("abc :", max_size=5).map(lambda text: "#" + text), max_size=2).map(tuple)
    texts = st.text(st.characters(codec="utf-8"), max_size=8)
    return st.builds(MetaProperties, st.dictionaries(texts, texts, max_size=5), comments)


def quorum_states() -> SearchStrategy[QuorumState]:
    """Return what a quorum-state of either version says."""
    nodes = st.integers(-1, 2**31 - 1)
    old = st.builds(QuorumState, nodes, nodes, nodes, st.lists(nodes, max_size=3).map(tuple))
    return old | st.builds(QuorumState, nodes, nodes, nodes, st.none(), uuids())


def clean_shutdowns() -> SearchStrategy[CleanShutdown]:
    """Return what a clean-shutdown marker says."""
    return st.just(CleanShutdown()) | st.builds(CleanShutdown, INT32, INT64)


def offset_indexes() -> SearchStrategy[OffsetIndex]:
    """Return entries in any order, the last of them no zeros, and room for more."""
    entries = st.lists(st.tuples(INT32, INT32), max_size=8).map(_without_zeros)
    return st.builds(OffsetIndex, entries, st.integers(0, 4).map(lambda count: 8 * count))


def time_indexes() -> SearchStrategy[TimeIndex]:
    """Return the same as `offset_indexes`."""
    entries = st.lists(st.tuples(INT64, INT32), max_size=8).map(_without_zeros)
    return st.builds(TimeIndex, entries, st.integers(0, 4).map(lambda count: 12 * count))


def _without_zeros(entries: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    while entries and entries[-1] == (0, 0):
        entries.pop()
    return tuple(entries)


def transaction_indexes() -> SearchStrategy[tuple[AbortedTxn, ...]]:
    """Return any entries."""
    return st.lists(st.builds(AbortedTxn, INT16, INT64, INT64, INT64, INT64), max_size=8).map(tuple)


def producer_snapshots() -> SearchStrategy[ProducerSnapshot]:
    """Return any producers."""
    producer = st.builds(Producer, INT64, INT16, INT32, INT64, INT32, INT64, INT32, INT64)
    return st.builds(ProducerSnapshot, INT16, st.lists(producer, max_size=5).map(tuple))


def checkpoint_texts() -> SearchStrategy[bytes]:
    """Return what comes near to a checkpoint: its words, separators and line ends, and bytes that are no text."""
    words = [
        "0",
        "1",
        "2",
        "-1",
        "+1",
        "01",
        "2147483648",
        "9" * 19,
        "t",
        "orders.eu-west",
        "\u0665",
        "x",
        "\ufeff",
        "\0",
    ]
    separators = [" ", " ", " ", "\n", "\n", "\n", "\t", "\r\n", "\r", "\x0b", "\x85", "\u2028", "  "]
    pieces = st.sampled_from([*words, *separators]).map(str.encode) | st.sampled_from([b"\xff", b"\xc3", b"\xed\xa0"])
    heads = st.sampled_from([b"", b"0\n", b"0\n1\n", b"0\n2\n", b"0\r\n0\r\n"])
    return st.builds(lambda head, parts: head + b"".join(parts), heads, st.lists(pieces, max_size=30))


@st.composite
def damaged(draw: st.DrawFn, files: SearchStrategy[bytes]) -> bytes:
    """Return a file with some bytes changed, taken out, put in, or cut off."""
    data = bytearray(draw(files))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(0, 3))
        data[at : at + size] = draw(
            st.binary(max_size=3) | st.sampled_from([b"\n", b" ", b"\0\0\0", b"9", b"-", b"\\"])
        )
    return bytes(data[: draw(st.integers(0, len(data)))]) if draw(st.booleans()) else bytes(data)


@dataclass(frozen=True, slots=True)
class Histories:
    """Two logs that share a prefix: the epoch of each of their records, offset by offset.

    An epoch has one leader: one that both logs hold behind the prefix would be another record at the same place.
    """

    follower: tuple[int, ...]
    leader: tuple[int, ...]

    @property
    def fork(self) -> int:
        """The first offset that both do not share."""
        pairs = zip(self.follower, self.leader, strict=False)
        same = next((offset for offset, (ours, theirs) in enumerate(pairs) if ours != theirs), None)
        return min(len(self.follower), len(self.leader)) if same is None else same


EPOCH_OF_THE_ELECTION = 20
"""Above every epoch of the histories."""

_SIZES = st.integers(1, 4)


@st.composite
def histories(draw: st.DrawFn) -> Histories:
    """Return two logs of a few epochs each; behind the fork each epoch belongs to one of them, the last shared too."""
    used = draw(st.lists(st.integers(0, EPOCH_OF_THE_ELECTION - 1), unique=True, max_size=8).map(sorted))
    shared = draw(st.integers(0, len(used)))
    prefix = [epoch for epoch in used[:shared] for _ in range(draw(_SIZES))]
    logs = {"follower": list(prefix), "leader": list(prefix)}
    goes_on = draw(st.sampled_from(["follower", "leader", None]))
    if prefix and goes_on is not None:
        logs[goes_on] += [prefix[-1]] * draw(_SIZES)
    for epoch in used[shared:]:
        logs[draw(st.sampled_from(["follower", "leader"]))] += [epoch] * draw(_SIZES)
    return Histories(tuple(logs["follower"]), tuple(logs["leader"]))


def complete_cache(log: Sequence[int]) -> EpochEntries:
    """Return the cache that a log has when none of its entries is lost."""
    firsts = [offset for offset, epoch in enumerate(log) if offset == 0 or log[offset - 1] != epoch]
    return tuple(EpochEntry(Epoch(log[offset]), Offset(offset)) for offset in firsts)


def caches() -> SearchStrategy[EpochEntries]:
    """Return caches that rise in both columns, with gaps between the numbers, and now and then one in disorder."""
    numbers = st.lists(st.integers(0, 40), unique=True, max_size=7).map(sorted)
    rising = st.builds(lambda a, b: tuple(map(EpochEntry, a, b)), numbers, numbers)
    entry = st.builds(EpochEntry, st.integers(-1, 12), st.integers(-1, 12))
    return rising | st.lists(entry, max_size=6).map(tuple)


def seeds() -> SearchStrategy[int]:
    """Return numbers for `bodies_of`: what is drawn piece by piece takes Hypothesis seconds."""
    return st.integers(0, 2**32)


def bodies_of(seed: int) -> list[tuple[bytes, int]]:
    """Return the records of up to 150 batches, and how many each says to have; many are damaged."""
    chance = Random(seed)
    return [_body(chance) for _ in range(chance.choice((1, 5, 150)))]


def _body(chance: Random) -> tuple[bytes, int]:
    records = [_record(chance, number) for number in range(chance.choice((0, 1, 1, 2, 5, 30)))]
    data, count = b"".join(records), len(records)
    match chance.randrange(8):
        case 0 if data:
            at = chance.randrange(len(data))
            data = data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]
        case 1:
            data = data[: chance.randrange(len(data) + 1)]
        case 2:
            data += chance.randbytes(chance.randrange(1, 12))
        case 3:
            count = max(count + chance.choice((-1, 1, 2**31 - 1 - count)), 0)
        case 4:
            at = chance.randrange(len(data) + 1)
            data = data[:at] + chance.choice((b"\xff" * 4 + b"\x7f", b"\x80" * 9 + b"\x01", b"\x80" * 10)) + data[at:]
    return data, count


def _record(chance: Random, number: int) -> bytes:
    some = [None, b"", b"k", bytes(63), bytes(64), bytes(200), bytes(8200)]
    headers = [
        (chance.choice((b"", b"h", bytes(70))), chance.choice(some[:6])) for _ in range(chance.choice((0, 0, 3)))
    ]
    stamp = chance.choice((0, 1, -1, 63, 64, 8191, 8192, 2**40, -(2**63), 2**63 - 1))
    delta = chance.choice((number, number, number, -number, 2**31 - 1, -(2**31)))
    return record(delta, stamp, key=chance.choice(some), value=chance.choice(some[:6]), headers=headers)
