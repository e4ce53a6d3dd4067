"""What a start learns of producers from batches: ProducerStateManager and ProducerAppendInfo 0.11 to 4.3.1.

Batches come from the log itself (AppendOrigin.REPLICATION), so sequences and epochs out of order are no errors.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.model.release import Release

NONE = -1
"""No sequence, no offset, no epoch, no timestamp."""

_INT = (1 << 32) - 1
_SCALA_FACTOR = 0x9E3775CD


class Entry(NamedTuple):
    """A producer (ProducerStateEntry), in the order of a snapshot's fields; offsets of records, `timestamp` in ms."""

    producer_id: int
    producer_epoch: int = NONE
    last_sequence: int = NONE
    last_offset: int = NONE
    offset_delta: int = 0
    timestamp: int = NONE
    coordinator_epoch: int = NONE
    current_txn_first_offset: int = NONE


class Data(NamedTuple):
    """A batch of records: its producer, its offsets; `last_sequence` is NONE without sequences."""

    producer_id: int
    producer_epoch: int
    base_offset: int
    last_offset: int
    last_sequence: int
    max_timestamp: int
    transactional: bool

    def offset_delta(self, release: Release) -> int:
        """Return how many offsets lie between its first record and its last, as the release counts them."""
        if release.counts_by_sequence and self.last_sequence == NONE:
            return 0
        return self.last_offset - self.base_offset


class Marker(NamedTuple):
    """A control batch that ends a transaction, `offset` is its base offset."""

    producer_id: int
    producer_epoch: int
    offset: int
    coordinator_epoch: int
    timestamp: int
    aborts: bool


class EmptyMarker(NamedTuple):
    """A control batch whose record the cleaner took."""

    producer_id: int


Step = Data | Marker | EmptyMarker


class Completed(NamedTuple):
    """A transaction that a marker at `last_offset` ends."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    aborted: bool


def in_order(entries: Iterable[Entry], release: Release) -> list[Entry]:
    """Return entries in the order of a snapshot; they come in the order in which the broker took them."""
    return (_in_scala_order if release.orders_producers_as_scala else _in_java_order)(entries)


def _hash(producer_id: int) -> int:
    return (producer_id ^ (producer_id & (1 << 64) - 1) >> 32) & _INT


def _in_scala_order(entries: Iterable[Entry]) -> list[Entry]:
    """Return them as scala.collection.mutable.HashMap of Scala 2.11 and 2.12 does: from the last bucket on."""
    buckets: list[list[Entry]] = [[] for _ in range(16)]
    for count, entry in enumerate(entries, 1):
        _put(buckets, entry)
        if count > len(buckets) * 3 // 4:
            before, buckets = buckets, [[] for _ in range(2 * len(buckets))]
            for each in (each for chain in reversed(before) for each in chain):
                _put(buckets, each)
    return [entry for chain in reversed(buckets) for entry in chain]


def _put(buckets: list[list[Entry]], entry: Entry) -> None:
    mixed = _hash(entry.producer_id) * _SCALA_FACTOR & _INT
    mixed = int.from_bytes(mixed.to_bytes(4, "little"), "big") * _SCALA_FACTOR & _INT
    rotated = (mixed >> 4 | mixed << 28) & _INT
    buckets[rotated * len(buckets) >> 32].insert(0, entry)


def _in_java_order(entries: Iterable[Entry]) -> list[Entry]:
    """Return them as java.util.HashMap does, and scala.collection.mutable.HashMap of Scala 2.13."""
    put = list(entries)
    room = 16
    while len(put) > room * 3 // 4:
        room *= 2

    def bucket(entry: Entry) -> int:
        folded = _hash(entry.producer_id)
        return (folded ^ folded >> 16) & room - 1

    return sorted(put, key=bucket)


class TransactionStateError(Exception):
    """The broker's start aborts: the message tells the exception, and why."""


class ProducerStates:
    """The producers of one log up to an offset, and their transactions.

    `ongoing` has the producer of each open transaction by its first offset, `decided` tells whether one has ended since
    the snapshot (the high watermark is still the log start then, so it counts as unstable).
    """

    def __init__(self, release: Release, entries: Iterable[Entry] = ()) -> None:
        """Begin with the producers of a snapshot."""
        self.release = release
        self.entries: dict[int, Entry] = {}
        self.ongoing: dict[int, int] = {}
        self.decided: set[int] = set()
        for entry in entries:
            self.entries[entry.producer_id] = entry
            if entry.current_txn_first_offset >= 0:
                self.ongoing[entry.current_txn_first_offset] = entry.producer_id

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the earliest transaction that is open or was ended by a replayed marker."""
        return min((*self.ongoing, *self.decided), default=None)

    def update(self, latest: Mapping[int, Entry], opened: Mapping[int, int]) -> None:
        """Take batches of records at once: the last one of each producer, and where it begins a transaction.

        None of them may lie outside of a transaction that is open.
        """
        for producer_id, entry in latest.items():
            known = self.entries.get(producer_id, Entry(producer_id))
            first = known.current_txn_first_offset
            if first < 0 and producer_id in opened:
                first = opened[producer_id]
                self.ongoing[first] = producer_id
            self.entries[producer_id] = entry._replace(
                coordinator_epoch=known.coordinator_epoch, current_txn_first_offset=first
            )

    def append(self, step: Step) -> Completed | None:
        """Take one batch; return the transaction that it ends. TransactionStateError as ProducerAppendInfo.append."""
        entry = self.entries.get(step.producer_id) or Entry(step.producer_id)
        if isinstance(step, EmptyMarker):
            if self.release.refuses_empty_control_batches:
                raise TransactionStateError(f"NoSuchElementException: producer {step.producer_id} has an empty marker")
            self.entries[step.producer_id] = entry
            return None
        if isinstance(step, Data):
            self.entries[step.producer_id] = self._data(entry, step)
            return None
        return self._marker(entry, step)

    def _marker(self, entry: Entry, step: Marker) -> Completed | None:
        first = entry.current_txn_first_offset
        if self.release.refuses_old_markers and step.producer_epoch < entry.producer_epoch:
            raise TransactionStateError(
                f"ProducerFencedException: the marker at offset {step.offset} of producer {step.producer_id} has epoch"
                f" {step.producer_epoch}, the batch before it {entry.producer_epoch}"
            )
        if self.release.refuses_old_markers and step.coordinator_epoch < entry.coordinator_epoch:
            raise TransactionStateError(
                f"TransactionCoordinatorFencedException: the marker at offset {step.offset} of producer"
                f" {step.producer_id} is of coordinator epoch {step.coordinator_epoch}, the one before it of"
                f" {entry.coordinator_epoch}"
            )
        if entry.producer_epoch != step.producer_epoch:
            entry = entry._replace(last_sequence=NONE, last_offset=NONE, offset_delta=0, timestamp=NONE)
        if self.release.marker_is_batch:
            entry = entry._replace(last_offset=step.offset, offset_delta=0)
        self.entries[step.producer_id] = entry._replace(
            producer_epoch=step.producer_epoch, coordinator_epoch=step.coordinator_epoch,
            timestamp=step.timestamp if self.release.marker_tells_timestamp else entry.timestamp,
            current_txn_first_offset=NONE,
        )  # fmt: skip
        if first < 0 and self.release.ends_unopened_transactions:
            first = step.offset
            self.ongoing[first] = step.producer_id
        return self._complete(step, first) if first >= 0 else None

    def _data(self, entry: Entry, step: Data) -> Entry:
        first = entry.current_txn_first_offset
        if first >= 0 and not step.transactional:
            raise TransactionStateError(
                f"InvalidTxnStateException: the batch at offset {step.base_offset} of producer {step.producer_id} is"
                f" in no transaction, while the one from offset {first} is open"
            )
        delta = step.offset_delta(self.release)
        if step.transactional and first < 0:
            first = step.last_offset - delta
            self.ongoing[first] = step.producer_id
        return Entry(
            step.producer_id, step.producer_epoch, step.last_sequence, step.last_offset, delta, step.max_timestamp,
            entry.coordinator_epoch, first,
        )  # fmt: skip

    def _complete(self, step: Marker, first: int) -> Completed:
        others = [offset for offset, producer_id in self.ongoing.items() if producer_id != step.producer_id]
        stable = min(others, default=step.offset + 1)
        if self.ongoing.pop(first, None) is None:
            raise TransactionStateError(
                f"IllegalArgumentException: the marker at offset {step.offset} ends the transaction from offset {first}"
                f" of producer {step.producer_id}, which was not started"
            )
        self.decided.add(first)
        return Completed(step.producer_id, first, step.offset, stable, step.aborts)
