"""The replicas of each partition of a fleet, compared: truncation plans, what is wrong between them, what is at risk.

Batches go in and out, one row a partition. What `scan/cross_columns.py` can decide is decided for many partitions at
once; the others are looked at one by one by `scan/fleet_replicas.py`, and so are those in which a rule may find
something. Both give the same rows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from kcheck.model.release import Assign, Follower, Lookup, Profile, Release
from kcheck.scan.arrow import arrays, nested, schema_of
from kcheck.scan.cross_columns import (
    NONE,
    Afterwards,
    Caches,
    Forks,
    Mask,
    Numbers,
    Pairs,
    Replicas,
    dialogues,
    forks_of,
    pairs_of,
    rising,
)
from kcheck.scan.fleet_replicas import FINDINGS, PLANS, SETS, compared, findings_of

if TYPE_CHECKING:
    from kcheck.model.report import Column

_ID_MAX = 2**31 - 1
_EPOCH_COUNT_MAX = 500
"""A dialogue about a cache with more entries may be longer than is allowed: `core` decides."""
Values = Mapping[str, "pa.Array"]


def compare(batches: "Iterable[pa.RecordBatch]", release: Release) -> "Iterator[pa.RecordBatch]":
    """Yield for batches of partitions what `tables_of_compared` makes tables of, a row for each, in their order.

    A partition has KEY, `replicas_of_topic` (on how many brokers the one of its topic is that is on most), and
    `replicas`: FIELDS of each, in any order. Three are from `scan/fleet_replicas.py`.
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


class _Group(NamedTuple):
    """Partitions of a batch: numbers of them, their replicas by broker id, and these as Arrow columns.

    `first` are the first replicas, `order` tells where in the columns each replica stands.
    """

    number: Numbers
    counts: Numbers
    first: Numbers
    replicas: Replicas
    order: Numbers
    columns: Values


class _Decided(NamedTuple):
    """What was decided at once: the partitions, rows of SETS for them, rows of PLANS and the partition of each.

    `flagged` are the partitions in which a rule may find something, `parted` those in which logs part.
    """

    number: Numbers
    sets: "pa.StructArray"
    owner: Numbers
    plans: "pa.StructArray"
    flagged: Numbers
    parted: frozenset[int]


def _compared(batch: "pa.RecordBatch", release: Release) -> "pa.RecordBatch":
    """Return a batch of partitions compared; those that cannot be decided at once, one by one."""
    plain = _plain(batch) if is_at_once(release) else None
    at_once = _NOTHING if plain is None else _decided(batch, plain)
    odd = np.setdiff1d(np.arange(batch.num_rows), at_once.number, assume_unique=True)
    alone = [compared(row, release) for row in _rows(batch, odd)]
    told: list[Sequence[tuple[object, ...]]] = [()] * batch.num_rows
    for number, found in zip(odd, alone, strict=True):
        told[number] = found.findings
    for number, row in zip(at_once.flagged, _rows(batch, at_once.flagged), strict=True):
        told[number] = findings_of(row, release, part=number in at_once.parted)
    whole, plans, owner = at_once.sets, at_once.plans, at_once.owner
    if alone:
        whole = pa.concat_arrays([whole, _struct([each.whole for each in alone], SETS)])
        whole = whole.take(pa.array(np.argsort(np.concatenate((at_once.number, odd)))))
        plans = pa.concat_arrays([plans, _struct([row for each in alone for row in each.plans], PLANS)])
        owner = np.concatenate((owner, np.repeat(odd, [len(each.plans) for each in alone])))
        plans = plans.take(pa.array(np.argsort(owner, kind="stable")))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=batch.num_rows))))
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), plans)
    return pa.RecordBatch.from_arrays(
        [*whole.flatten(), lists, nested(told, FINDINGS)],
        names=[*schema_of(SETS).names, "of_truncation_plans", "of_findings"],
    )


def _rows(batch: "pa.RecordBatch", which: Numbers) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = batch.take(pa.array(which)).to_pylist() if len(which) else []
    return found


def _struct(rows: Sequence[Sequence[Any]], columns: "Sequence[Column]") -> "pa.StructArray":
    schema = schema_of(columns)
    return pa.StructArray.from_arrays(arrays(rows, columns), fields=list(schema))


_NO_NUMBERS = np.zeros(0, np.int64)
_NOTHING = _Decided(_NO_NUMBERS, _struct((), SETS), _NO_NUMBERS, _struct((), PLANS), _NO_NUMBERS, frozenset())


def _numbers(values: "pa.Array", unknown: int = NONE) -> Numbers:
    known = compute.fill_null(values, unknown) if values.null_count else values
    found: Numbers = known.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found


def _plain(batch: "pa.RecordBatch") -> _Group | None:
    """Return the partitions that can be decided at once: of each replica all is known, and nothing is odd."""
    lists = batch.column("replicas")
    counts = _numbers(lists.value_lengths(), 0)
    flat = lists.flatten()
    columns: Values = dict(zip((field.name for field in flat.type), flat.flatten(), strict=True))
    group = np.repeat(np.arange(batch.num_rows), counts)
    broker_id = _numbers(columns["broker_id"])
    order = np.lexsort((broker_id, group))
    caches = _caches(columns["cache"], order)
    log_start, log_end, mark, first_segment, seen = (
        _numbers(columns[name])[order]
        for name in ("loaded_log_start", "loaded_log_end", "loaded_high_watermark", "first_segment", "seen_epoch")
    )
    filled = caches.size > 0
    latest = np.full(len(order), NONE)
    latest[filled] = caches.epoch[(caches.begin + caches.size - 1)[filled]]
    twice = np.zeros(len(order), bool)
    twice[1:] = (group[1:] == group[:-1]) & (np.diff(broker_id[order]) == 0)
    odd = (broker_id[order] < 0) | twice | ~rising(caches) | (caches.size > _EPOCH_COUNT_MAX) | (latest > seen)
    odd |= (log_start < 0) | (log_start > log_end) | (mark < 0) | (first_segment < 0)
    for name in ("told_differs", "is_read"):
        odd |= compute.fill_null(columns[name], True).to_numpy(zero_copy_only=False)[order]
    odd |= compute.is_valid(columns["problem"]).to_numpy(zero_copy_only=False)[order]
    odd |= _numbers(columns["logs"].value_lengths(), 0)[order] > 0
    is_plain = (np.bincount(group, weights=odd, minlength=batch.num_rows) == 0) & (counts > 0)
    number = np.flatnonzero(is_plain)
    if not len(number):
        return None
    kept = is_plain[group]
    counts = counts[number]
    first = np.cumsum(counts) - counts
    own = np.repeat(np.arange(len(number)), counts)
    of_kept = Caches(caches.epoch, caches.start, caches.begin[kept], caches.size[kept])
    replicas = Replicas(
        of_kept, log_start[kept], log_end[kept], mark[kept], first_segment[kept], group=own, first=first[own]
    )
    return _Group(number, counts, first, replicas, order[kept], columns)


def _caches(lists: "pa.ListArray", order: Numbers) -> Caches:
    offsets = lists.offsets.to_numpy().astype(np.int64)
    epoch, start = (_numbers(values) for values in lists.values.flatten())
    return Caches(epoch, start, offsets[:-1][order], np.diff(offsets)[order])


def _decided(batch: "pa.RecordBatch", plain: _Group) -> _Decided:
    """Decide partitions at once."""
    replicas = plain.replicas
    pairs = pairs_of(replicas, plain.counts[replicas.group])
    forks, after = forks_of(replicas, pairs), dialogues(replicas, pairs)
    before = replicas.log_end[pairs.follower]
    parts = forks.common_prefix
    lost_from = np.where(parts >= 0, np.maximum(after.log_end, parts), after.log_end)
    is_lost = lost_from < before
    lost = np.where(is_lost, before - lost_from, 0)
    below = np.maximum(0, np.minimum(replicas.high_watermark[pairs.follower], before) - lost_from)
    below = np.where(is_lost, below, 0)
    best = _best(replicas, pairs, below, lost)
    differs = np.zeros(len(plain.number), bool)
    differs[replicas.group[pairs.leader[forks.first_difference >= 0]]] = True
    return _Decided(
        plain.number,
        _sets(batch, plain, pairs, forks, best, (lost, below)),
        plain.number[replicas.group[pairs.leader]],
        _plans(batch, plain, pairs, forks, after, best, (lost_from, is_lost, below)),
        plain.number[differs | _may_be_told(batch, plain)],
        frozenset(plain.number[differs].tolist()),
    )


def _sum(values: Numbers, pairs: Pairs, count: int) -> Numbers:
    """Return the sums of pairs by their leader."""
    total = np.concatenate(([0], np.cumsum(values)))
    ends = np.append(pairs.block[1:], len(values)) if count else pairs.block
    found: Numbers = total[ends] - total[pairs.block]
    return found


def _best(replicas: Replicas, pairs: Pairs, below: Numbers, lost: Numbers) -> Numbers:
    """Return the best leader of each partition: as `scan.truncation.cost` orders them."""
    count = len(replicas.group)
    order = np.lexsort((
        -replicas.log_end, _sum(lost, pairs, count), _sum(below, pairs, count), replicas.group
    ))  # fmt: skip
    found: Numbers = order[np.flatnonzero(np.diff(replicas.group[order], prepend=-1))]
    return found


def _offsets(values: Numbers, known: Mask) -> "pa.Array":
    return pa.array(values, pa.int64(), mask=~known)


def _plans(
    batch: "pa.RecordBatch", plain: _Group, pairs: Pairs, forks: Forks, after: Afterwards, best: Numbers,
    loss: tuple[Numbers, Mask, Numbers],
) -> "pa.StructArray":  # fmt: skip
    replicas, (lost_from, is_lost, below) = plain.replicas, loss
    leader, follower = pairs.leader, pairs.follower
    group = replicas.group[leader]
    before, end, start = replicas.log_end[follower], after.log_end, replicas.log_start[follower]
    emptied = after.first_segment != replicas.first_segment[follower]
    expired_to = np.minimum(end, before)
    refetch_from = np.maximum(end, replicas.log_start[leader])
    refetch = refetch_from < replicas.log_end[leader]
    parts = forks.common_prefix
    silent_from = np.where(parts >= 0, parts, forks.first_difference)
    status = pa.array(["ok", "never_completes"]).take(pa.array(np.where(after.completes, 0, 1)))
    every, none = np.ones(len(leader), bool), pa.nulls(len(leader), pa.int64())
    broker, broker_id = (plain.columns[name].take(pa.array(plain.order)) for name in ("broker", "broker_id"))
    at = pa.array(plain.number[group])
    of_leader, of_follower = pa.array(leader), pa.array(follower)
    seen = np.maximum.reduceat(_numbers(plain.columns["seen_epoch"])[plain.order], plain.first)
    # A partition with a problem is none of these: every replica counts.
    columns = {
        "broker": broker.take(of_follower),
        "broker_id": broker_id.take(of_follower),
        "topic": batch.column("topic").take(at),
        "partition": batch.column("partition").take(at),
        "leader": broker.take(of_leader),
        "leader_id": broker_id.take(of_leader),
        "best": pa.array(best[group] == leader),
        "leader_epoch": pa.array(seen[group] + 1, pa.int64()),
        "leader_log_end_offset": pa.array(replicas.log_end[leader], pa.int64()),
        "status": status,
        "problem": pa.nulls(len(leader), pa.string()),
        "log_end_offset_before": pa.array(before, pa.int64()),
        "high_watermark": pa.array(replicas.high_watermark[follower], pa.int64()),
        "truncate_to": _offsets(end, (end != before) | emptied),
        "log_end_offset_after": pa.array(end, pa.int64()),
        "lost_from": _offsets(lost_from, is_lost),
        "lost_to": _offsets(before, is_lost),
        "lost_records": none,
        "lost_bytes": none,
        "lost_below_high_watermark": _offsets(below, is_lost),
        "lost_certain": pa.array(parts >= 0, mask=~is_lost),
        "expired_from": _offsets(start, emptied & (start < expired_to)),
        "expired_to": _offsets(expired_to, emptied & (start < expired_to)),
        "refetch_from": _offsets(refetch_from, refetch),
        "refetch_to": _offsets(replicas.log_end[leader], refetch),
        "refetch_records": none,
        "refetch_bytes": none,
        "diverges_silently_at": _offsets(silent_from, every & (silent_from >= 0) & (silent_from < end)),
    }
    fields = list(schema_of(PLANS))
    return pa.StructArray.from_arrays([columns[field.name] for field in fields], fields=fields)


def _sets(
    batch: "pa.RecordBatch", plain: _Group, pairs: Pairs, forks: Forks, best: Numbers, loss: tuple[Numbers, Numbers]
) -> "pa.StructArray":
    replicas = plain.replicas
    count = len(replicas.group)
    mark = np.maximum.reduceat(replicas.high_watermark, plain.first)
    end = replicas.log_end[best]
    # What the others have of the best one's log: the most of it.
    shared = np.full(count, NONE)
    led = np.flatnonzero(pairs.block < np.append(pairs.block[1:], len(pairs.leader)))
    shared[led] = np.maximum.reduceat(forks.shared, pairs.block[led]) if len(led) else NONE
    start = np.maximum(replicas.log_start[best], shared[best])
    risk = start < end
    broker, broker_id = (plain.columns[name].take(pa.array(plain.order[best])) for name in ("broker", "broker_id"))
    at = pa.array(plain.number)
    lost, below = (pa.array(_sum(values, pairs, count)[best], pa.int64()) for values in loss)
    columns = {
        "cluster": batch.column("cluster").take(at),
        "broker": broker,
        "broker_id": broker_id,
        "topic": batch.column("topic").take(at),
        "partition": batch.column("partition").take(at),
        "replicas": pa.array(plain.counts, pa.int64()),
        "replicas_of_topic": batch.column("replicas_of_topic").take(at),
        "able": pa.array(plain.counts, pa.int64()),
        "log_end_offset": pa.array(end, pa.int64()),
        "high_watermark": pa.array(mark, pa.int64()),
        "lost": lost,
        "lost_below_high_watermark": below,
        "at_risk_from": _offsets(start, risk),
        "at_risk_to": _offsets(end, risk),
        "at_risk_below_high_watermark": _offsets(np.maximum(0, np.minimum(mark, end) - start), risk),
    }
    fields = list(schema_of(SETS))
    return pa.StructArray.from_arrays([columns[field.name] for field in fields], fields=fields)


def _may_be_told(batch: "pa.RecordBatch", plain: _Group) -> Mask:
    """Return in which partitions a rule about replicas may find something, other than that their logs part."""
    replicas, first = plain.replicas, plain.first
    told = _numbers(plain.columns["high_watermark"])[plain.order]
    behind = np.minimum.reduceat(replicas.log_end, first) < np.maximum.reduceat(told, first)
    starts = np.minimum.reduceat(replicas.log_start, first) < np.maximum.reduceat(replicas.log_start, first)
    ids = compute.dictionary_encode(plain.columns["topic_id"].take(pa.array(plain.order))).indices
    most = np.maximum.reduceat(_numbers(ids), first)
    least = np.minimum.reduceat(_numbers(ids, _ID_MAX), first)
    of_topic = _numbers(batch.column("replicas_of_topic"))[plain.number]
    found: Mask = (behind | starts | (least < most) | (plain.counts < of_topic)) & (of_topic > 1)
    return found
