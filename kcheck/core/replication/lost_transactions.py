"""The effect of a truncation on the transactions of a log, from its batches in their order.

ProducerStateManager and ProducerAppendInfo 0.11 to 4.3.1. If compaction has removed all records of a batch, the batch
opens no transaction. A control batch without a record ends no transaction.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kcheck.model.entries import Offset

OPEN_COUNT_MAX = 100_000
"""At most this many open transactions are followed at a time."""
KEPT_COUNT = 100
"""At most this many transactions are named."""


class OpenTransaction(NamedTuple):
    """A transaction, by its producer and where it begins."""

    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """The producer's epoch."""
    first_offset: Offset
    """The transaction's first offset."""


class CountedTransactions(NamedTuple):
    """Some transactions."""

    total: int
    """Their number."""
    first: tuple[OpenTransaction, ...]
    """The first of them by offset, at most KEPT_COUNT."""


class LostTransactions(NamedTuple):
    """The effect of a truncation on the transactions of a log."""

    committed: CountedTransactions
    """Committed transactions that lose records."""
    markers: CountedTransactions
    """Ended transactions that lose only the marker. Consumers that read committed records stop there."""
    open: CountedTransactions
    """Those that are open after it."""


class TransactionReplay:
    """The transactions of a log, batch by batch.

    The result is None if more transactions are open at once than kcheck follows.
    """

    def __init__(self, start: Offset, already_open: Iterable[OpenTransaction]) -> None:
        """Begin before the first batch; the truncation removes every batch that ends at `start` or later."""
        self._start = start
        self._open = {transaction.producer_id: transaction for transaction in already_open}
        self._cut_producers: set[int] = set()
        self._open_at_start: tuple[OpenTransaction, ...] | None = None
        self._committed: list[OpenTransaction] = []
        self._markers: list[OpenTransaction] = []
        self._counts = [0, 0]
        self._followed = len(self._open) <= OPEN_COUNT_MAX

    def data(self, transaction: OpenTransaction, last_offset: Offset) -> None:
        """Add a transactional batch with records, which opens `transaction` if its producer has no open one."""
        self._reach(last_offset)
        self._open.setdefault(transaction.producer_id, transaction)
        if last_offset >= self._start:
            self._cut_producers.add(transaction.producer_id)
        self._followed = self._followed and len(self._open) <= OPEN_COUNT_MAX

    def marker(self, producer_id: int, offset: Offset, *, commits: bool) -> None:
        """Add the control batch that ends the open transaction of a producer."""
        self._reach(offset)
        ended = self._open.pop(producer_id, None)
        if ended is None or offset < self._start:
            return
        if producer_id not in self._cut_producers:
            _keep(self._markers, ended)
            self._counts[1] += 1
        elif commits:
            _keep(self._committed, ended)
            self._counts[0] += 1
        self._cut_producers.discard(producer_id)

    def _reach(self, last_offset: Offset) -> None:
        if last_offset >= self._start and self._open_at_start is None:
            self._open_at_start = tuple(self._open.values())

    def lost(self) -> LostTransactions | None:
        """Return the effect of the truncation, after the last batch of the log."""
        open_at_start = self.open_at_start()
        if open_at_start is None:
            return None
        committed, markers = self._counts
        return LostTransactions(
            CountedTransactions(committed, _first(self._committed)),
            CountedTransactions(markers, _first(self._markers)),
            CountedTransactions(len(open_at_start), open_at_start[:KEPT_COUNT]),
        )

    def open_at_start(self) -> tuple[OpenTransaction, ...] | None:
        """Return the transactions that are open at `start`, by offset."""
        if not self._followed:
            return None
        still_open = self._open.values() if self._open_at_start is None else self._open_at_start
        return _sorted(still_open)


def _sorted(transactions: Iterable[OpenTransaction]) -> tuple[OpenTransaction, ...]:
    return tuple(sorted(transactions, key=lambda transaction: (transaction.first_offset, transaction.producer_id)))


def _first(transactions: Iterable[OpenTransaction]) -> tuple[OpenTransaction, ...]:
    return _sorted(transactions)[:KEPT_COUNT]


def _keep(transactions: list[OpenTransaction], ended: OpenTransaction) -> None:
    """Add a transaction; of many only the first by offset are kept."""
    transactions.append(ended)
    if len(transactions) >= 2 * KEPT_COUNT:
        transactions[:] = _first(transactions)
