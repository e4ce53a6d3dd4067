"""The replicas of each partition of a fleet, compared: truncation plans, what is wrong between them, what is at risk.

Batches go in and out, one row a partition. What `fleet/scan/truncation_columns.py` can decide is decided for many
partitions at once; the others are looked at one by one by `fleet/scan/replicas.py`, and so are those in which a rule
may find something. Both give the same rows.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from kcheck.arrow import arrays, schema_of
from kcheck.fleet.scan.arrow_take import is_as_before, listed, taken
from kcheck.fleet.scan.comparison_rows import (
    PartitionGroup,
    best_of,
    losses_of,
    may_be_told,
    numbers_of,
    parted_of,
    plans_of,
    sets_of,
)
from kcheck.fleet.scan.replicas import FINDINGS, PLANS, SETS, VIEWED, compared, findings_of, viewed
from kcheck.fleet.scan.truncation_columns import (
    NONE,
    Caches,
    Flags,
    Numbers,
    ReplicaColumns,
    dialogues,
    expand,
    forks_of,
    pairs_of,
    rising,
)
from kcheck.model.entries import Offset
from kcheck.model.release import Assign, Follower, Lookup, Profile, Release
from kcheck.model.views import ReplicasView

if TYPE_CHECKING:
    from kcheck.model.report import Column

_EPOCH_COUNT_MAX = 500
"""A dialogue about a cache with more entries may be longer than is allowed: `core` decides."""
Told = tuple[int, Sequence[tuple[object, ...]]]
"""The number of a partition, and what is found in it."""


def compare(batches: "Iterable[pa.RecordBatch]", release: Release) -> "Iterator[pa.RecordBatch]":
    """Yield for batches of partitions what `tables_of_compared` makes tables of, a row for each, in their order.

    A partition has KEY, `replicas_of_topic` (on how many brokers the one of its topic is that is on most), and
    `replicas`: FIELDS of each, in any order. Three are from `fleet/scan/replicas.py`.
    """
    for batch in batches:
        if batch.num_rows:
            yield _compared(batch, release)


def is_at_once(release: Release) -> bool:
    """Whether partitions of this release are decided many at once: the rules are those of profile P5."""
    rules = release.rules
    return (
        release.profile is Profile.P5
        and rules.follower is Follower.FETCH
        and rules.lookup is Lookup.L3
        and rules.checks_log_start_before_divergence
        and rules.assigns_epoch_at_election
        and rules.noop_truncation_cleans_cache
        and release.assign is Assign.POP
        and release.epoch_cache
        and release.truncation_lowers_high_watermark
    )


class _Decided(NamedTuple):
    """Partitions decided together: a row of SETS for each, and its rows of PLANS.

    `told` are the findings in some of them.
    """

    number: Numbers
    sets: "pa.StructArray"
    plan_counts: Numbers
    plans: "pa.StructArray"
    told: Sequence[Told]


def _compared(batch: "pa.RecordBatch", release: Release) -> "pa.RecordBatch":
    """Return a batch of partitions compared; those that cannot be decided at once, one by one."""
    plain = _plain(batch, release) if is_at_once(release) else None
    at_once = _NOTHING if plain is None else _decided(batch, plain, release)
    sets, plans, findings_by_partition = at_once.sets, at_once.plans, at_once.told
    plan_counts = np.full(batch.num_rows, NONE)
    plan_counts[at_once.number] = at_once.plan_counts
    odd = np.flatnonzero(plan_counts == NONE)
    if len(odd):
        alone = [compared(row, release) for row in batch.take(pa.array(odd)).to_pylist()]
        number = np.concatenate((at_once.number, odd))
        plan_counts[odd] = [len(comparison.plans) for comparison in alone]
        sets = pa.concat_arrays([sets, _struct([comparison.whole for comparison in alone], SETS)])
        sets = sets.take(pa.array(np.argsort(number)))
        plans = pa.concat_arrays([plans, _struct([row for comparison in alone for row in comparison.plans], PLANS)])
        plans = plans.take(pa.array(np.argsort(np.repeat(number, plan_counts[number]), kind="stable")))
        findings_by_partition = sorted(
            [*findings_by_partition, *zip(odd.tolist(), (comparison.findings for comparison in alone), strict=True)]
        )
    found_counts = np.zeros(batch.num_rows, np.int64)
    found_counts[np.array([number for number, _ in findings_by_partition], np.int64)] = [
        len(rows) for _, rows in findings_by_partition
    ]
    findings = _struct([row for _, rows in findings_by_partition for row in rows], FINDINGS)
    return pa.RecordBatch.from_arrays(
        [*sets.flatten(), _nested(plans, plan_counts), _nested(findings, found_counts)],
        names=[*schema_of(SETS).names, "of_truncation_plans", "of_findings"],
    )


def _nested(rows: "pa.StructArray", counts: Numbers) -> "pa.ListArray":
    """Return rows as lists of these sizes."""
    return pa.ListArray.from_arrays(pa.array(np.concatenate(([0], np.cumsum(counts))), pa.int32()), rows)


def _struct(rows: Sequence[Sequence[Any]], columns: "Sequence[Column]") -> "pa.StructArray":
    return pa.StructArray.from_arrays(arrays(rows, columns), fields=list(schema_of(columns)))


_NO_NUMBERS = np.zeros(0, np.int64)
_NOTHING = _Decided(_NO_NUMBERS, _struct((), SETS), _NO_NUMBERS, _struct((), PLANS), ())


def _plain(batch: "pa.RecordBatch", release: Release) -> PartitionGroup | None:
    """Return the partitions that can be decided together: every replica is completely known, and ordinary."""
    counts = numbers_of(batch.column("replicas").value_lengths(), 0)
    rows = pa.RecordBatch.from_struct_array(batch.column("replicas").flatten())
    group = np.repeat(np.arange(batch.num_rows), counts)
    broker_id = numbers_of(rows.column("broker_id"))
    is_next = np.zeros(len(group), bool)
    is_next[1:] = group[1:] == group[:-1]
    if (np.diff(broker_id)[is_next[1:]] < 0).any():
        order = np.lexsort((broker_id, group))
        rows, broker_id = taken(rows, order), broker_id[order]
    caches = _caches(rows.column("cache"), is_next)
    log_start, log_end, mark, first_segment, seen = (
        numbers_of(rows.column(name))
        for name in ("loaded_log_start", "loaded_log_end", "loaded_high_watermark", "first_segment", "seen_epoch")
    )
    filled = caches.size > 0
    latest = np.full(len(group), NONE)
    latest[filled] = caches.epoch[(caches.begin + caches.size - 1)[filled]]
    odd = (broker_id < 0) | ~rising(caches) | (caches.size > _EPOCH_COUNT_MAX) | (latest > seen)
    odd[1:] |= is_next[1:] & (np.diff(broker_id) == 0)
    if release.applies_diverging_fetches:
        odd[1:] |= is_next[1:] & (np.diff(log_start) != 0)
    odd |= (log_start < 0) | (log_start > log_end) | (mark < 0) | (first_segment < 0)
    odd |= first_segment > log_start
    ids = rows.column("topic_id")
    odd |= is_next & ~is_as_before(ids) & compute.is_valid(ids).to_numpy(zero_copy_only=False)
    for name in ("told_differs", "is_read"):
        odd |= compute.fill_null(rows.column(name), True).to_numpy(zero_copy_only=False)
    odd |= compute.is_valid(rows.column("problem")).to_numpy(zero_copy_only=False)
    odd |= numbers_of(rows.column("logs").value_lengths(), 0) > 0
    is_plain = (np.bincount(group, weights=odd, minlength=batch.num_rows) == 0) & (counts > 0)
    number = np.flatnonzero(is_plain)
    if not len(number):
        return None
    compacted = compute.fill_null(rows.column("compacted"), False).to_numpy(zero_copy_only=False)
    kept: Numbers | slice = slice(None)
    rows = rows.select(VIEWED)
    if len(number) < batch.num_rows:
        kept = np.flatnonzero(is_plain[group])
        rows = taken(rows, kept)
    counts = counts[number]
    first = np.cumsum(counts) - counts
    own = np.repeat(np.arange(len(number)), counts)
    replicas = ReplicaColumns(
        caches._replace(begin=caches.begin[kept], size=caches.size[kept], content=caches.content[kept]),
        log_start[kept], log_end[kept], mark[kept], first_segment[kept], group=own, first=first[own],
    )  # fmt: skip
    return PartitionGroup(
        number, counts, first, replicas, np.maximum.reduceat(seen[kept], first), compacted[kept], rows
    )


def _caches(lists: "pa.ListArray", is_next: Flags) -> Caches:
    """Return the caches of replicas, each of which is of the partition of that before it or not."""
    offsets = lists.offsets.to_numpy().astype(np.int64)
    epoch, start = (numbers_of(values) for values in lists.flatten().flatten())
    content = np.cumsum(~(is_next & is_as_before(lists)), dtype=np.int64)
    return Caches(epoch, start, offsets[:-1] - offsets[0], np.diff(offsets), content)


def _decided(batch: "pa.RecordBatch", plain: PartitionGroup, release: Release) -> _Decided:
    """Decide partitions at once; only where a rule may find something, rules look at them one by one."""
    pairs = pairs_of(plain.replicas, plain.counts[plain.replicas.group])
    forks, after = forks_of(plain.replicas, pairs), dialogues(plain.replicas, pairs)
    losses = losses_of(plain.replicas, pairs, forks, after)
    best = best_of(plain, pairs, losses)
    parted = parted_of(plain, pairs, forks)
    flagged = np.flatnonzero(may_be_told(batch, plain) | (np.maximum.reduceat(parted, plain.first) >= 0))
    return _Decided(
        plain.number,
        sets_of(batch, plain, pairs, forks, best, losses),
        plain.counts * (plain.counts - 1),
        plans_of(batch, plain, pairs, forks, after, best, losses),
        [*_told(batch, plain, flagged, parted, release)] if len(flagged) else (),
    )


def _told(
    batch: "pa.RecordBatch", plain: PartitionGroup, flagged: Numbers, parted: Numbers, release: Release
) -> Iterator[Told]:
    """Yield what rules find in some partitions; `parted` of each replica is where it parts from the first."""
    counts = plain.counts[flagged]
    owner, at = expand(counts)
    which = plain.first[flagged][owner] + at
    replicas = zip(*(listed(column) for column in taken(plain.rows, which).columns), strict=True)
    offsets = (None if offset < 0 else Offset(offset) for offset in parted[which].tolist())
    numbers = pa.array(plain.number[flagged])
    topics, partitions, of_topic = (
        batch.column(name).take(numbers).to_pylist() for name in ("topic", "partition", "replicas_of_topic")
    )
    groups = zip(numbers.to_pylist(), counts.tolist(), topics, partitions, of_topic, strict=True)
    for number, count, topic, partition, most in groups:
        some = [*islice(replicas, count)]
        _, *parts = islice(offsets, count)
        view = ReplicasView(tuple(viewed(replica, topic, partition) for replica in some), (), most, tuple(parts))
        yield number, findings_of(view, {broker_id: broker for broker, broker_id, *_ in some}, release)
