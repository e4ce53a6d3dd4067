"""Finds the log dirs, brokers and disks to name before the steps of a recovery."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.election.plans import BrokerGap, PartitionElection
from kcheck.core.premises.presence import lacks_log_dirs
from kcheck.documents.uncounted import premise_words, sought_words
from kcheck.model.premises import JudgedPremise
from kcheck.words import agree, broker_names


class ComesFirst(NamedTuple):
    """The missing log dirs and brokers that come before the steps of a recovery."""

    log_dirs: tuple[str, ...] = ()
    """The sentences about log dirs that are not named, although their brokers are. They come before any step."""
    brokers: tuple[int, ...] = ()
    """The brokers to name first, if most are missing, and no partition with several replicas is decided."""
    disks: Mapping[int, str] = {}
    """The first step for each broker with a missing disk that may have the only copy of records."""

    @property
    def is_alone(self) -> bool:
        """True if there are no steps before that is done."""
        return bool(self.log_dirs or self.brokers)


def comes_first(
    gaps: Iterable[BrokerGap], uncounted: Collection[JudgedPremise], partitions: Sequence[PartitionElection],
    named: Collection[int], *, incomplete_ok: bool, without_newest: Collection[int] = (), without: Collection[int] = (),
) -> ComesFirst:  # fmt: skip
    """Return the log dirs, brokers and disks to find before the steps for every partition of a cluster.

    `uncounted` are the premises whose losses no election counts. `named` are the brokers with log dirs here. With
    `incomplete_ok` missing log dirs, and brokers that are not named, prevent no step.
    """
    rows = [row for row in partitions if row.registration and len(row.registration.replicas) > 1]
    is_decided = any(row.best is not None or not row.unknown_replicas for row in rows)
    missing = [] if is_decided else sorted({number for row in rows for number in row.unknown_replicas})
    log_dirs = () if incomplete_ok else premise_words(filter(lacks_log_dirs, uncounted), partitions)
    return ComesFirst(
        tuple(log_dirs),
        tuple(missing) if len(missing) > len(named) else (),
        sought_words(
            gaps, uncounted, partitions, incomplete_ok=incomplete_ok, without_newest=without_newest, without=without
        ),
    )


def brokers_words(brokers: Sequence[int], gaps: Iterable[BrokerGap]) -> Iterator[str]:
    """Yield the sentences about brokers that have to be named first."""
    whose, given_up = broker_names(brokers), " ".join(f"--dead {number}" for number in brokers)
    yield f"First name the disks of {whose} too. Without them nothing can be decided."
    yield f"If {whose} {agree(len(brokers), 'is', 'are')} lost, name {given_up} instead."
    yield from (f"Broker {gap.broker_id} should not start: {gap.why}." for gap in gaps if gap.fails)
