"""What was decided of many partitions at once, as columns of the tables of a run."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import compute

from kcheck.arrow import schema_of
from kcheck.core.replication.lineage import contradict
from kcheck.fleet.scan.replicas import PLANS, SETS
from kcheck.fleet.scan.truncation_columns import NONE, Afterwards, Flags, Forks, Numbers, Pairs, ReplicaColumns, pair_of

_NEVER = np.iinfo(np.int64).max


class PartitionGroup(NamedTuple):
    """Partitions of a batch: their numbers in it, their replicas by broker id, and these as Arrow columns.

    `first` are the first replicas, `seen_epoch` is the highest epoch that a replica of the partition shows,
    `compacted` has for each replica whether its log is compacted.
    """

    number: Numbers
    counts: Numbers
    first: Numbers
    replicas: ReplicaColumns
    seen_epoch: Numbers
    compacted: Flags
    rows: "pa.RecordBatch"


class LossColumns(NamedTuple):
    """What followers lose: from where on, whether anything, how many offsets, how many below their high watermark."""

    begin: Numbers
    is_lost: Flags
    offsets: Numbers
    below: Numbers


def numbers_of(values: "pa.Array", unknown: int = NONE) -> Numbers:
    """Return numbers, one that is `unknown` for those that are None."""
    known = compute.fill_null(values, unknown) if values.null_count else values
    numbers: Numbers = known.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers


def losses_of(replicas: ReplicaColumns, pairs: Pairs, forks: Forks, after: Afterwards) -> LossColumns:
    """Return what each follower loses."""
    before, parts = replicas.log_end[pairs.follower], forks.common_prefix
    # NONE is below every log start.
    begin = np.maximum(np.maximum(after.log_end, parts), replicas.log_start[pairs.follower])
    is_lost = begin < before
    below = np.maximum(0, np.minimum(replicas.high_watermark[pairs.follower], before) - begin)
    return LossColumns(begin, is_lost, np.where(is_lost, before - begin, 0), np.where(is_lost, below, 0))


def _sum(values: Numbers, pairs: Pairs) -> Numbers:
    """Return the sums of pairs by their leader."""
    total = np.concatenate(([0], np.cumsum(values)))
    sums: Numbers = total[np.append(pairs.block[1:], len(values))] - total[pairs.block]
    return sums


def best_of(plain: PartitionGroup, pairs: Pairs, losses: LossColumns) -> Numbers:
    """Return the best leader of each partition: the first of least `core.replication.truncation_plans.cost`."""
    replicas = plain.replicas
    is_best = np.ones(len(replicas.group), bool)
    for cost in (_sum(losses.below, pairs), _sum(losses.offsets, pairs), -replicas.log_end):
        left = np.where(is_best, cost, _NEVER)
        is_best &= left == np.minimum.reduceat(left, plain.first)[replicas.group]
    best = np.flatnonzero(is_best)
    leaders: Numbers = best[np.flatnonzero(np.diff(replicas.group[best], prepend=-1))]
    return leaders


def parted_of(plain: PartitionGroup, pairs: Pairs, forks: Forks) -> Numbers:
    """Return of each replica from where on its epochs are not those of the first of its partition."""
    replicas = plain.replicas
    parted = np.full(len(replicas.group), NONE)
    others = np.flatnonzero(replicas.first != np.arange(len(parted)))
    parted[others] = forks.first_difference[pair_of(replicas, pairs, replicas.first[others], others)]
    doubtful = (parted != NONE) & (plain.compacted | plain.compacted[replicas.first])
    for at in doubtful.nonzero()[0].tolist():
        (a, a_end), (b, b_end) = (_cache(replicas, replica) for replica in (int(replicas.first[at]), at))
        if not contradict(a, b, a_end=a_end, b_end=b_end):
            parted[at] = NONE
    return parted


def _cache(replicas: ReplicaColumns, at: int) -> tuple[Iterator[tuple[int, int]], int]:
    """Return the entries of a replica, and its log end."""
    caches = replicas.caches
    part = slice(int(caches.begin[at]), int(caches.begin[at] + caches.size[at]))
    return zip(caches.epoch[part].tolist(), caches.start[part].tolist(), strict=True), int(replicas.log_end[at])


def _offsets(values: Numbers, known: Flags) -> "pa.Array":
    """Return numbers of which some are known."""
    bits = pa.py_buffer(np.packbits(known, bitorder="little"))
    return pa.Array.from_buffers(pa.int64(), len(values), [bits, pa.py_buffer(np.ascontiguousarray(values, np.int64))])


def _texts(texts: "pa.Array", numbers: Numbers) -> "pa.StringArray":
    """Return texts by their numbers, each one whole."""
    taken = texts.take(pa.array(numbers))
    return taken.dictionary_decode() if pa.types.is_dictionary(taken.type) else taken


def plans_of(
    batch: "pa.RecordBatch",
    plain: PartitionGroup,
    pairs: Pairs,
    forks: Forks,
    after: Afterwards,
    best: Numbers,
    losses: LossColumns,
) -> "pa.StructArray":
    """Return rows of PLANS, one for each pair."""
    replicas, (lost_from, is_lost, _, below) = plain.replicas, losses
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
    none = pa.nulls(len(leader), pa.int64())
    broker, broker_id = (plain.rows.column(name) for name in ("broker", "broker_id"))
    at = plain.number[group]
    # A partition with a problem is not among these: every replica counts.
    columns = {
        "broker": _texts(broker, follower),
        "broker_id": broker_id.take(pa.array(follower)),
        "topic": _texts(batch.column("topic"), at),
        "partition": batch.column("partition").take(pa.array(at)),
        "leader": _texts(broker, leader),
        "leader_id": broker_id.take(pa.array(leader)),
        "best": pa.array(best[group] == leader),
        "leader_epoch": pa.array(plain.seen_epoch[group] + 1),
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
        "diverges_silently_at": _offsets(silent_from, ~emptied & (silent_from >= 0) & (silent_from < end)),
    }
    fields = list(schema_of(PLANS))
    return pa.StructArray.from_arrays([columns[field.name] for field in fields], fields=fields)


def sets_of(
    batch: "pa.RecordBatch", plain: PartitionGroup, pairs: Pairs, forks: Forks, best: Numbers, losses: LossColumns
) -> "pa.StructArray":
    """Return rows of SETS, one for each partition."""
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
    at = plain.number
    lost, below = (pa.array(_sum(values, pairs)[best]) for values in (losses.offsets, losses.below))
    columns = {
        "cluster": _texts(batch.column("cluster"), at),
        "broker": _texts(plain.rows.column("broker"), best),
        "broker_id": plain.rows.column("broker_id").take(pa.array(best)),
        "topic": _texts(batch.column("topic"), at),
        "partition": batch.column("partition").take(pa.array(at)),
        "replicas": pa.array(plain.counts, pa.int64()),
        "replicas_of_topic": batch.column("replicas_of_topic").take(pa.array(at)),
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


def may_be_told(batch: "pa.RecordBatch", plain: PartitionGroup) -> Flags:
    """Return in which partitions a rule about replicas may find something, other than that their logs part."""
    replicas, first = plain.replicas, plain.first
    behind = np.minimum.reduceat(replicas.log_end, first) < np.maximum.reduceat(
        numbers_of(plain.rows.column("high_watermark")), first
    )
    starts = np.minimum.reduceat(replicas.log_start, first) < np.maximum.reduceat(replicas.log_start, first)
    of_topic = numbers_of(batch.column("replicas_of_topic"))[plain.number]
    may_differ: Flags = behind | starts | (plain.counts < of_topic)
    return may_differ & (of_topic > 1)
