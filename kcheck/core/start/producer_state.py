"""Producers and transactions that a broker learns from batches when it starts.

ProducerStateManager and ProducerAppendInfo 0.11 to 4.3.1. The batches come from the log itself
(AppendOrigin.REPLICATION), so sequences and epochs out of order are no errors.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.hash_order import in_order
from kcheck.model.java import wrapped
from kcheck.model.release import Release

NONE = -1
"""Kafka's value for a missing sequence, offset, epoch or timestamp."""


class Entry(NamedTuple):
    """The state of one producer (ProducerStateEntry), in the order of a snapshot's fields."""

    producer_id: int
    """The producer's id."""
    producer_epoch: int = NONE
    """Its epoch."""
    last_sequence: int = NONE
    """The last sequence number of its last batch."""
    last_offset: int = NONE
    """The last offset of its last batch."""
    offset_delta: int = 0
    """The distance between the first and the last offset of that batch."""
    timestamp: int = NONE
    """The largest timestamp of that batch, in milliseconds since 1970."""
    coordinator_epoch: int = NONE
    """The epoch of the transaction coordinator in its last marker."""
    current_txn_first_offset: int | None = None
    """The first offset of its open transaction; None if none is open. It can be -1 in memory, but not in a snapshot."""

    @classmethod
    def of_snapshot(cls, fields: Sequence[int]) -> "Entry":
        """Return a producer from a snapshot; without a last offset it has no last batch."""
        entry = cls(*fields)
        first = entry.current_txn_first_offset
        entry = entry._replace(current_txn_first_offset=None if first is None or first < 0 else first)
        return entry._replace(last_sequence=NONE, last_offset=NONE, offset_delta=0) if entry.last_offset < 0 else entry

    @property
    def fields(self) -> tuple[int, ...]:
        """Its fields as a snapshot holds them."""
        first = self.current_txn_first_offset
        return (*self[:-1], NONE if first is None else first)


class DataBatch(NamedTuple):
    """A batch of records from a producer."""

    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """Its epoch."""
    base_offset: int
    """The batch's first offset."""
    last_offset: int
    """The batch's last offset."""
    base_sequence: int
    """The first sequence number, or NONE."""
    last_sequence: int
    """The last sequence number, or NONE."""
    max_timestamp: int
    """The largest timestamp, in milliseconds since 1970."""
    transactional: bool
    """True if the batch is part of a transaction."""

    def offset_delta(self, release: Release) -> int:
        """Return how many offsets are between its first and last record, as the release counts them in an int."""
        by_sequence = self.last_sequence - self.base_sequence
        return wrapped(by_sequence if release.counts_by_sequence else self.last_offset - self.base_offset, 32)


class Marker(NamedTuple):
    """A control batch that ends a transaction."""

    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """Its epoch."""
    offset: int
    """The base offset of the control batch."""
    coordinator_epoch: int
    """The epoch of the transaction coordinator."""
    timestamp: int
    """The largest timestamp of the control batch, in milliseconds since 1970."""
    aborts: bool
    """True for ABORT, False for COMMIT."""


class EmptyMarker(NamedTuple):
    """A control batch whose record the log cleaner has removed."""

    producer_id: int
    """The producer's id."""


ReplayStep = DataBatch | Marker | EmptyMarker


class Completed(NamedTuple):
    """A transaction that a marker has ended (CompletedTxn)."""

    producer_id: int
    """The producer's id."""
    first_offset: int
    """The transaction's first offset."""
    last_offset: int
    """The marker's offset."""
    last_stable_offset: int
    """The last stable offset after the marker."""
    aborted: bool
    """True if the marker aborts the transaction."""


class TransactionStateError(Exception):
    """The broker's start aborts; the message names Kafka's exception and its cause."""


class ProducerStates:
    """The producers of one log up to an offset, and their transactions.

    `ongoing` maps the first offset of each open transaction to its producer. `decided` has the first offset of each
    transaction that has ended since the snapshot. Those still count as unstable, because the high watermark is the log
    start while the broker starts.
    """

    def __init__(self, release: Release, entries: Iterable[Entry] = ()) -> None:
        """Start from the producers of a snapshot."""
        self.release = release
        self.entries: dict[int, Entry] = {}
        self.ongoing: dict[int, int] = {}
        self.decided: dict[int, int] = {}
        for entry in entries:
            self.entries[entry.producer_id] = entry
            if entry.current_txn_first_offset is not None:
                self.ongoing[entry.current_txn_first_offset] = entry.producer_id

    @property
    def first_unstable_offset(self) -> int | None:
        """The first offset of the earliest transaction that is open or that a replayed marker has ended."""
        return min((*self.ongoing, *self.decided), default=None)

    def first_unstable_from(self, high_watermark: int) -> int | None:
        """Return the first offset of the earliest transaction that is open, or ended at this high watermark or above.

        ProducerStateManager.onHighWatermarkUpdated forgets the others.
        """
        ended = (first for first, last in self.decided.items() if last >= high_watermark)
        return min((*self.ongoing, *ended), default=None)

    def snapshot(self) -> list[Entry]:
        """Return the producers in the order of a snapshot."""
        return [self.entries[producer_id] for producer_id in in_order(self.entries, self.release.producer_table)]

    def entry(self, producer_id: int) -> Entry:
        """Return the state of a producer, an empty one if it is new."""
        return self.entries.get(producer_id) or Entry(producer_id)

    def append(self, step: ReplayStep) -> Completed | None:
        """Add a batch; return the transaction that it ends. TransactionStateError as in ProducerAppendInfo.append."""
        replay = ProducerReplay(self)
        replay.append(step)
        return replay.finish()

    def update(self, latest: Mapping[int, Entry], opened: Mapping[int, int]) -> None:
        """Add batches of records of one producer after the other, as `ProducerReplay.update` does."""
        for producer_id, entry in latest.items():
            replay = ProducerReplay(self)
            replay.update({producer_id: entry}, opened)
            replay.finish()

    def complete(self, marker: Marker, first: int) -> Completed:
        """End the transaction that started at `first`."""
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
                f" {first} of producer {marker.producer_id}, which never started"
            )
        self.decided[first] = marker.offset
        return Completed(marker.producer_id, first, marker.offset, stable, marker.aborts)


class ProducerReplay:
    """Batches that a broker reads together; `finish` puts their effect into the states (ProducerAppendInfo)."""

    def __init__(self, states: ProducerStates, *, anew: bool = False) -> None:
        """Start from `states`; `again`: as if it knew no producer."""
        self.release: Release = states.release
        self._states = states
        self._known = {} if anew else states.entries
        self._pending: dict[int, Entry] = {}
        self._with_batch: set[int] = set()
        self._started: dict[int, list[int]] = {}
        self._ended: list[tuple[Marker, int]] = []

    def entry(self, producer_id: int) -> Entry:
        """Return the state of a producer; a last batch from before this replay is left out."""
        entry = self._pending.get(producer_id)
        if entry is None:
            entry = self._known.get(producer_id) or Entry(producer_id)
            entry = entry if self.release.marker_is_batch else self._without_batch(entry)
        return entry

    def _without_batch(self, entry: Entry) -> Entry:
        timestamp = NONE if self.release.marker_leaves_timestamp else entry.timestamp
        return entry._replace(last_sequence=NONE, last_offset=NONE, offset_delta=0, timestamp=timestamp)

    def _start(self, producer_id: int, first: int) -> None:
        self._started.setdefault(producer_id, []).append(first)

    def update(self, latest: Mapping[int, Entry], opened: Mapping[int, int]) -> None:
        """Add many batches of records at once, as the last batch and the transaction's first offset of each producer.

        The caller has checked that no batch is outside of an open transaction of its producer.
        """
        for producer_id, entry in latest.items():
            known = self.entry(producer_id)
            first = known.current_txn_first_offset
            if first is None and producer_id in opened:
                first = opened[producer_id]
                self._start(producer_id, first)
            self._take(entry._replace(coordinator_epoch=known.coordinator_epoch, current_txn_first_offset=first))

    def _take(self, entry: Entry) -> None:
        self._pending[entry.producer_id] = entry
        self._with_batch.add(entry.producer_id)

    def append(self, step: ReplayStep) -> Completed | None:
        """Add a batch; `finish` ends its transaction. TransactionStateError as in ProducerAppendInfo.append."""
        entry = self.entry(step.producer_id)
        if isinstance(step, DataBatch):
            self._take(self._data(entry, step))
        elif isinstance(step, Marker):
            self._pending[step.producer_id] = self._marker(entry, step)
        elif self.release.refuses_empty_control_batches:
            raise TransactionStateError(f"NoSuchElementException: producer {step.producer_id} has an empty marker")
        else:
            self._pending[step.producer_id] = entry
        return None

    def _marker(self, entry: Entry, step: Marker) -> Entry:
        first = entry.current_txn_first_offset
        if self.release.refuses_old_markers and step.producer_epoch < entry.producer_epoch:
            raise TransactionStateError(
                f"ProducerFencedException: the marker at offset {step.offset} of producer {step.producer_id} has epoch"
                f" {step.producer_epoch}, below epoch {entry.producer_epoch} of the batch before it"
            )
        if self.release.refuses_old_markers and step.coordinator_epoch < entry.coordinator_epoch:
            raise TransactionStateError(
                f"TransactionCoordinatorFencedException: the marker at offset {step.offset} of producer"
                f" {step.producer_id} has coordinator epoch {step.coordinator_epoch}, below"
                f" {entry.coordinator_epoch} of the marker before it"
            )
        if first is None and self.release.ends_unopened_transactions:
            first = step.offset
            self._start(step.producer_id, first)
        if first is not None:
            self._ended.append((step, first))
        if entry.producer_epoch != step.producer_epoch:
            entry = self._without_batch(entry)
            self._with_batch.discard(step.producer_id)
        if self.release.marker_is_batch:
            entry = entry._replace(last_offset=step.offset, offset_delta=0)
        return entry._replace(
            producer_epoch=step.producer_epoch, coordinator_epoch=step.coordinator_epoch,
            timestamp=entry.timestamp if self.release.marker_leaves_timestamp else step.timestamp,
            current_txn_first_offset=None,
        )  # fmt: skip

    def _data(self, entry: Entry, step: DataBatch) -> Entry:
        first = entry.current_txn_first_offset
        if first is not None and not step.transactional:
            raise TransactionStateError(
                f"InvalidTxnStateException: the batch at offset {step.base_offset} of producer {step.producer_id} is"
                f" not transactional, but its transaction from offset {first} is open"
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
        """Update the states; return the last transaction that ended. TransactionStateError if it never started."""
        for producer_id in in_order(self._pending, self.release.replay_table):
            entry, known = self._pending[producer_id], self._states.entries.get(producer_id)
            keeps_batch = producer_id not in self._with_batch and not self.release.marker_is_batch
            if known is not None and keeps_batch and known.producer_epoch == entry.producer_epoch:
                entry = entry._replace(
                    last_sequence=known.last_sequence, last_offset=known.last_offset, offset_delta=known.offset_delta,
                    timestamp=known.timestamp if self.release.marker_leaves_timestamp else entry.timestamp,
                )  # fmt: skip
            self._states.entries[producer_id] = entry
            self._states.ongoing.update(dict.fromkeys(self._started.get(producer_id, ()), producer_id))
        completed = None
        for marker, first in self._ended:
            completed = self._states.complete(marker, first)
        return completed
