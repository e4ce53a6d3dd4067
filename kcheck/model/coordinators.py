"""The state of a cluster's coordinators, and the logs it comes from, as the rules KC6xx see them."""

from collections.abc import Mapping
from typing import NamedTuple

from kcheck.model.entries import Offset
from kcheck.model.finding import Location


class TransactionState(NamedTuple):
    """The last record of a transactional id in `__transaction_state`."""

    transactional_id: str
    """The transactional id."""
    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """The producer's epoch."""
    is_pending: bool
    """True if its transaction is open, or about to be ended."""
    partitions: frozenset[tuple[str, int]]
    """The partitions of that transaction."""
    started: int
    """When it began, in milliseconds since 1970; -1 if it has not."""


class OpenInLog(NamedTuple):
    """A transaction that is open at the end of a log."""

    producer_id: int
    """The producer's id."""
    producer_epoch: int
    """The producer's epoch."""
    first_offset: Offset
    """Its first offset."""
    timestamp: int | None
    """The largest timestamp of its first batch, in milliseconds since 1970; None if it was not read."""


class CoordinatedLog(NamedTuple):
    """One replica that a broker serves."""

    where: Location
    """The directory."""
    topic: str
    """The topic."""
    partition: int
    """The partition."""
    start: Offset | None
    """Its log start offset; None if it is not known."""
    end: Offset | None
    """Its log end offset; None if it is not known."""
    replicas: tuple[int, ...] | None
    """The brokers of all replicas by the given metadata; None without any."""
    open: tuple[OpenInLog, ...] = ()
    """The transactions that are open at its end, by offset."""


class Coordinated(NamedTuple):
    """The partitions of one cluster, and what the coordinators say of them."""

    logs: Mapping[tuple[str, int], tuple[CoordinatedLog, ...]]
    """The given replicas, by topic and partition."""
    brokers: frozenset[int]
    """The given brokers."""
    commits: Mapping[tuple[str, int], tuple[tuple[str, Offset], ...]]
    """Group and committed offset, by topic and partition."""
    transactions: Mapping[int, TransactionState]
    """The given transactions, by producer id."""
    knows_all: bool
    """True if these are all transactions of the cluster, so that no coordinator has another one."""
