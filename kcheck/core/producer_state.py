"""What a start learns of producers from batches: ProducerStateManager and ProducerAppendInfo 0.11 to 4.3.1.

Batches come from the log itself (AppendOrigin.REPLICATION), so sequences and epochs out of order are no errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.hash_order import in_order
from kcheck.model.java import wrapped
from kcheck.model.release import Release

NONE = -1
"""No sequence, no offset, no epoch, no timestamp."""


class Entry(NamedTuple):
    """A producer (ProducerStateEntry), in the order of a snapshot's fields; offsets of records, `timestamp` in ms.

    A transaction may begin at any offset, -1 too, while it is not in a snapshot; None is none.
    """

    producer_id: int
    producer_epoch: int = NONE
    last_sequence: int = NONE
    last_offset: int = NONE
    offset_delta: int = 0
    timestamp: int = NONE
    coordinator_epoch: int = NONE
    current_txn_first_offset: int | None = None

    @classmethod
    def of_snapshot(cls, fields: Sequence[int]) -> "Entry":
        """Return a producer of a snapshot: one without a last record has no last batch."""
        entry = cls(*fields)
        first = entry.current_txn_first_offset
        entry = entry._replace(current_txn_first_offset=None if first is None or first < 0 else first)
        return entry._replace(last_sequence=NONE, last_offset=NONE, offset_delta=0) if entry.last_offset < 0 else entry

    @property
    def fields(self) -> tuple[int, ...]:
        """What a snapshot says of it."""
        first = self.current_txn_first_offset
        return (*self[:-1], NONE if first is None else first)


class Data(NamedTuple):
    """A batch of records: its producer, its offsets, its sequences, which are NONE where it has none."""

    producer_id: int
    producer_epoch: int
    base_offset: int
    last_offset: int
    base_sequence: int
    last_sequence: int
    max_timestamp: int
    transactional: bool

    def offset_delta(self, release: Release) -> int:
        """Return how many offsets lie between its first record and its last, as the release counts them, in an int."""
        by_sequence = self.last_sequence - self.base_sequence
        return wrapped(by_sequence if release.counts_by_sequence else self.last_offset - self.base_offset, 32)


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
            if entry.current_txn_first_offset is not None:
                self.ongoing[entry.current_txn_first_offset] = entry.producer_id

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the earliest transaction that is open or was ended by a replayed marker."""
        return min((*self.ongoing, *self.decided), default=None)

    def snapshot(self) -> list[Entry]:
        """Return the producers in the order of a snapshot."""
        return [self.entries[each] for each in in_order(self.entries, self.release.producer_table)]

    def entry(self, producer_id: int) -> Entry:
        """Return what is known of a producer."""
        return self.entries.get(producer_id) or Entry(producer_id)

    def append(self, step: Step) -> Completed | None:
        """Take one batch; return the transaction that it ends. TransactionStateError as ProducerAppendInfo.append."""
        replay = ProducerReplay(self)
        replay.append(step)
        return replay.finish()

    def update(self, latest: Mapping[int, Entry], opened: Mapping[int, int]) -> None:
        """Take batches of records one after the other, as `ProducerReplay.update` does."""
        for producer_id, entry in latest.items():
            replay = ProducerReplay(self)
            replay.update({producer_id: entry}, opened)
            replay.finish()

    def complete(self, marker: Marker, first: int) -> Completed:
        """End the transaction that began at `first`."""
        by_offset = self.release.own_transactions_are_unstable
        others = [
            offset
            for offset, producer_id in self.ongoing.items()
            if (offset != first if by_offset else producer_id != marker.producer_id)
        ]
        stable = min(others, default=marker.offset + 1)
        if self.ongoing.pop(first, None) is None:
            raise TransactionStateError(
                f"IllegalArgumentException: the marker at offset {marker.offset} ends the transaction from offset"
                f" {first} of producer {marker.producer_id}, which was not started"
            )
        self.decided.add(first)
        return Completed(marker.producer_id, first, marker.offset, stable, marker.aborts)


class ProducerReplay:
    """Batches that are taken together: what they tell counts when all of them are read (ProducerAppendInfo)."""

    def __init__(self, states: ProducerStates, *, anew: bool = False) -> None:
        """Go on from what is known; `anew`: as if no producer was known."""
        self.release = states.release
        self._states = states
        self._known = {} if anew else states.entries
        self._told: dict[int, Entry] = {}
        self._wrote: set[int] = set()
        self._started: dict[int, list[int]] = {}
        self._ended: list[tuple[Marker, int]] = []

    def entry(self, producer_id: int) -> Entry:
        """Return what is known of a producer: its last batch, if these had none of it, is not."""
        told = self._told.get(producer_id)
        if told is None:
            told = self._known.get(producer_id) or Entry(producer_id)
            told = told if self.release.marker_is_batch else self._without_batch(told)
        return told

    def _without_batch(self, entry: Entry) -> Entry:
        timestamp = NONE if self.release.marker_leaves_timestamp else entry.timestamp
        return entry._replace(last_sequence=NONE, last_offset=NONE, offset_delta=0, timestamp=timestamp)

    def _start(self, producer_id: int, first: int) -> None:
        self._started.setdefault(producer_id, []).append(first)

    def update(self, latest: Mapping[int, Entry], opened: Mapping[int, int]) -> None:
        """Take batches of records at once: the last one of each producer, and where it begins a transaction.

        None of them may lie outside of a transaction that is open.
        """
        for producer_id, entry in latest.items():
            known = self.entry(producer_id)
            first = known.current_txn_first_offset
            if first is None and producer_id in opened:
                first = opened[producer_id]
                self._start(producer_id, first)
            self._take(entry._replace(coordinator_epoch=known.coordinator_epoch, current_txn_first_offset=first))

    def _take(self, entry: Entry) -> None:
        self._told[entry.producer_id] = entry
        self._wrote.add(entry.producer_id)

    def append(self, step: Step) -> Completed | None:
        """Take one batch, and end no transaction yet; TransactionStateError as ProducerAppendInfo.append."""
        entry = self.entry(step.producer_id)
        if isinstance(step, Data):
            self._take(self._data(entry, step))
        elif isinstance(step, Marker):
            self._told[step.producer_id] = self._marker(entry, step)
        elif self.release.refuses_empty_control_batches:
            raise TransactionStateError(f"NoSuchElementException: producer {step.producer_id} has an empty marker")
        else:
            self._told[step.producer_id] = entry
        return None

    def _marker(self, entry: Entry, step: Marker) -> Entry:
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
        if first is None and self.release.ends_unopened_transactions:
            first = step.offset
            self._start(step.producer_id, first)
        if first is not None:
            self._ended.append((step, first))
        if entry.producer_epoch != step.producer_epoch:
            entry = self._without_batch(entry)
            self._wrote.discard(step.producer_id)
        if self.release.marker_is_batch:
            entry = entry._replace(last_offset=step.offset, offset_delta=0)
        return entry._replace(
            producer_epoch=step.producer_epoch, coordinator_epoch=step.coordinator_epoch,
            timestamp=entry.timestamp if self.release.marker_leaves_timestamp else step.timestamp,
            current_txn_first_offset=None,
        )  # fmt: skip

    def _data(self, entry: Entry, step: Data) -> Entry:
        first = entry.current_txn_first_offset
        if first is not None and not step.transactional:
            raise TransactionStateError(
                f"InvalidTxnStateException: the batch at offset {step.base_offset} of producer {step.producer_id} is"
                f" in no transaction, while the one from offset {first} is open"
            )
        delta = step.offset_delta(self.release)
        if step.transactional and first is None:
            first = step.last_offset - delta
            self._start(step.producer_id, first)
        return Entry(
            step.producer_id, step.producer_epoch, step.last_sequence, step.last_offset, delta, step.max_timestamp,
            entry.coordinator_epoch, first,
        )  # fmt: skip

    def finish(self) -> Completed | None:
        """Tell the states; return the last transaction that ended. TransactionStateError: it never began."""
        for producer_id in in_order(self._told, self.release.replay_table):
            told, known = self._told[producer_id], self._states.entries.get(producer_id)
            keeps = producer_id not in self._wrote and not self.release.marker_is_batch
            if known is not None and keeps and known.producer_epoch == told.producer_epoch:
                told = told._replace(
                    last_sequence=known.last_sequence, last_offset=known.last_offset, offset_delta=known.offset_delta,
                    timestamp=known.timestamp if self.release.marker_leaves_timestamp else told.timestamp,
                )  # fmt: skip
            self._states.entries[producer_id] = told
            self._states.ongoing.update(dict.fromkeys(self._started.get(producer_id, ()), producer_id))
        completed = None
        for marker, first in self._ended:
            completed = self._states.complete(marker, first)
        return completed
