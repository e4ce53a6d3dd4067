"""The records that no replica has any more once a replica leads.

The other replicas have truncated them, or brokers have lost them when they started.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kcheck.core.replication.distinct_records import lost_pieces
from kcheck.core.replication.leader_costs import UNKNOWN, Amounts, total
from kcheck.core.replication.truncation_plans import FollowerPlan, OffsetRange, StartLoss, TruncationPlan
from kcheck.model.entries import Offset
from kcheck.model.loss import LostRecords
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.committed import Marks
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.leader_plans import fork_of
from kcheck.replicas.loss import batches_of, holes
from kcheck.replicas.replica import LogFile, ReplicaState, logs_from

ReplicasByBroker = Mapping[int | None, ReplicaState]
"""The replicas of a partition, by broker."""


def amounts_lost(
    plan: TruncationPlan, states: ReplicasByBroker, marks: Marks, *, later: int | None = None,
    held: Sequence[OffsetRange] = (),
) -> Amounts:  # fmt: skip
    """Return the distinct records that a replica here holds and that the leader's log lacks in the end.

    Records that only a follower keeps are lost too, as no consumer sees them. So are the records of segments that
    another tool removed from the leader's log. At the leader's log start its followers delete theirs
    (UnifiedLog.maybeIncrementLogStartOffset). Offsets below a known high watermark that no replica holds are committed
    records. `later` is a follower that gets the lead once it is in sync. Its log then decides. `held` are the offsets
    of copies that no broker serves. The caller counts their records.
    """
    heir = next((follower for follower in plan.followers if follower.broker_id == later and later is not None), None)
    ranges = [
        lost for follower in plan.followers if (lost := _lost_range(follower, keeps=follower is heir)) is not None
    ]
    ranges += _not_in_log(plan, states, heir)
    parts = [_parts(loss, states[loss.broker_id].logs_before) for loss in plan.lost_at_start]
    is_read = all(states[lost.broker_id].logs for lost in ranges)
    kept = _kept(plan, states, marks, heir)
    by_batches = _by_batches(kept, ranges if is_read else [], parts, states, marks)
    by_offsets = Amounts() if is_read else _by_offsets(ranges, states, marks)
    nowhere = _nowhere(states[plan.leader if heir is None else heir.broker_id], [*states.values()], held)
    return total((by_batches, by_offsets, _beyond(parts, states, marks, held), nowhere))


def _nowhere(last: ReplicaState, states: Sequence[ReplicaState], held: Sequence[OffsetRange]) -> Amounts:
    """Return the records of segments that were removed from the log of the last leader, and that no replica has."""
    others = [
        OffsetRange(part.start, part.end)
        for state in states
        if state is not last and state.problem is None and state.log_end_offset is not None
        for part in _parts_of(state, state.log_start_offset, state.log_end_offset, None)
    ]
    count = sum(_outside(gone, (*others, *held)) for gone in removed(last))
    return Amounts(None, None, None, at_most=count, committed_at_most=count) if count else Amounts()


def _outside(offsets: OffsetRange, others: Sequence[OffsetRange]) -> int:
    """Return how many offsets of a range are in no other range."""
    return sum(end - start for start, end in lost_pieces(offsets, (offsets,), others))


def lacks(plan: TruncationPlan, follower: FollowerPlan, states: ReplicasByBroker) -> tuple[OffsetRange, ...]:
    """Return the offsets of a follower whose records differ from the leader's, or are missing, as following leaves it.

    Those of the leader that the follower lacks, and consumers too once it leads.
    """
    own, leader = states[follower.broker_id], states[plan.leader]
    after = follower.log_end_offset_after or Offset(0)
    start = leader.log_start_offset
    gone = [OffsetRange(max(one.start, start), min(one.end, after)) for one in removed(own)]
    if follower.diverges_silently_at is not None:
        gone.append(OffsetRange(follower.diverges_silently_at, after))
    return tuple(one for one in gone if one.start < one.end)


def removed(state: ReplicaState) -> tuple[OffsetRange, ...]:
    """Return the offsets of removed segments and batches of a log, and the offsets of corrupt batches."""
    head = () if state.lost_head is None else (OffsetRange(*state.lost_head),)
    if state.batches is not None:
        head = (*head, *(OffsetRange(one.start, one.end) for one in state.batches.unreadable))
    if state.is_compacted or state.has_every_segment:
        return head
    if state.batches is not None and state.batches.is_complete:
        return (*head, *(OffsetRange(*gap) for gap in state.batches.gaps))
    try:
        return (*head, *holes(state.logs))
    except UnreadableError:
        return head


def _not_in_log(plan: TruncationPlan, states: ReplicasByBroker, heir: FollowerPlan | None) -> Iterator["_LostOffsets"]:
    """Yield the offsets that replicas have, and that the log of the last leader does not have."""
    last = plan.leader if heir is None else heir.broker_id
    if not plan.followers:
        return
    gone = removed(states[plan.leader]) + (() if heir is None else lacks(plan, heir, states))
    for number, state in states.items():
        if number == last or state.problem is not None or state.log_end_offset is None:
            continue
        for one in gone:
            start, end = Offset(max(one.start, state.log_start_offset)), Offset(min(one.end, state.log_end_offset))
            if start < end:
                yield _LostOffsets(number, start, end, None, None)


def _kept(plan: TruncationPlan, states: ReplicasByBroker, marks: Marks, heir: FollowerPlan | None) -> list[LostRange]:
    """Return the log of the last leader, which is its own up to its truncation, then the fetched part."""
    leader = states[plan.leader]
    assert leader.log_end_offset is not None
    mark, start = marks[plan.leader], leader.log_start_offset
    if heir is None:
        return [*_parts_of(leader, start, leader.log_end_offset, mark)]
    own = states[heir.broker_id]
    after = Offset(max(start, heir.log_end_offset_after or 0))
    return [
        *_parts_of(own, Offset(max(start, own.log_start_offset)), after, marks[heir.broker_id]),
        *_parts_of(leader, after, Offset(max(after, leader.log_end_offset)), mark),
    ]


def _parts_of(state: ReplicaState, start: Offset, end: Offset, mark: Offset | None) -> Iterator[LostRange]:
    """Yield the parts of a log that consumers can read."""
    at = start
    for gone in sorted(removed(state)):
        if at < gone.start and gone.start < end:
            yield LostRange(state.logs, at, gone.start, mark=mark)
        at = Offset(max(at, gone.end))
    if at < end or start == end:
        yield LostRange(state.logs, at, end, mark=mark)


class _LostOffsets(NamedTuple):
    """Offsets `[start, end)` of a follower that its leader does not have."""

    broker_id: int | None
    start: Offset
    end: Offset
    records: int | None
    """Number of its records there; None if that is not known."""
    bytes: int | None
    """The bytes of their batches, likewise."""


def _lost_range(follower: FollowerPlan, *, keeps: bool) -> _LostOffsets | None:
    """Return the records that a follower loses, or keeps although its leader lacks them; None without any.

    A follower that gets the lead later `keeps` the records that it does not truncate.
    """
    lost, silent, after = follower.lost, follower.diverges_silently_at, follower.log_end_offset_after
    silent = None if keeps else silent
    if silent is not None and after is not None and silent < after:
        return _LostOffsets(follower.broker_id, silent, after if lost is None else lost.end, None, None)
    if lost is None:
        return None
    records, size = (lost.records, lost.bytes) if lost.certain else (None, None)
    return _LostOffsets(follower.broker_id, lost.start, lost.end, records, size)


def _by_batches(
    kept: Sequence[LostRange],
    ranges: Sequence[_LostOffsets],
    parts: Sequence["_Parts"],
    states: ReplicasByBroker,
    marks: Marks,
) -> Amounts:
    """Return the records that followers and starts lose, by the batches of all logs, side by side."""
    lost = [LostRange(states[one.broker_id].logs, one.start, one.end, mark=marks[one.broker_id]) for one in ranges]
    lost += [part.whole._replace(mark=marks[part.broker_id]) for part in parts if part.whole is not None]
    if not lost:
        return Amounts()
    counts = distinct(lost, kept)
    amounts = Amounts(counts.records, counts.committed, counts.bytes)
    if amounts.records is not None and amounts.committed is not None:
        return amounts
    outer = {(one.start, one.end) for one in lost}
    at_most = sum(end - start for start, end in outer)
    return amounts._replace(
        at_most=at_most if amounts.records is None else None,
        committed_at_most=at_most if amounts.records is None else amounts.records,
    )


def _by_offsets(ranges: Sequence[_LostOffsets], states: ReplicasByBroker, marks: Marks) -> Amounts:
    """Return the distinct records that followers lose, as far as offsets and epochs alone show them.

    A range within the range of another replica, and of the same history, is a copy of it.
    """
    outer: list[_LostOffsets] = []
    copies: dict[_LostOffsets, list[_LostOffsets]] = {}
    for one in sorted(ranges, key=lambda one: (one.start - one.end, one.start)):
        larger = next((other for other in outer if _is_within(one, other, states)), None)
        if larger is None:
            outer.append(one)
        copies.setdefault(larger or one, []).append(one)
    return total(_of_offsets(one, [marks[copy.broker_id] for copy in copies[one]]) for one in outer)


def _of_offsets(lost: _LostOffsets, marks: Sequence[Offset | None]) -> Amounts:
    """Return the amounts of one range; `marks` come from the replicas that have its records."""
    at_most = lost.end - lost.start
    known = [mark for mark in marks if mark is not None]
    below = max(0, min(max(known), lost.end) - lost.start) if len(known) == len(marks) else None
    if below == 0 or (below is not None and lost.records == at_most):
        committed: int | None = below
    else:
        committed = lost.records if below == at_most else None
    return Amounts(
        lost.records, committed, lost.bytes,
        at_most=at_most if lost.records is None else None,
        committed_at_most=(at_most if below is None else below) if committed is None else None,
    )  # fmt: skip


def _is_within(one: _LostOffsets, other: _LostOffsets, states: ReplicasByBroker) -> bool:
    """Return whether a replica loses only records that another one loses too."""
    shared = fork_of(states[one.broker_id], states[other.broker_id]).common_prefix
    return other.start <= one.start and one.end <= other.end and shared is not None and shared >= one.end


class _Parts(NamedTuple):
    """The records that a broker loses from its replica when it starts."""

    broker_id: int | None
    """The broker."""
    whole: LostRange | None
    """The complete batches, which can be compared with batches of other replicas. None without any."""
    rest: LostRecords | None
    """The incomplete batch at the end, or all that is not known better; None if nothing is left."""


def _parts(loss: StartLoss, logs: tuple[LogFile, ...]) -> _Parts:
    broker_id, (start, end, records, size, below, _) = loss
    if start is None or end is None or not logs:
        return _Parts(broker_id, None, loss.lost)
    counted = taken = 0
    until = start
    try:
        for batch in batches_of(logs_from(logs, start)):
            if start <= batch.base_offset and batch.last_offset < end:
                if batch.record_count is None:
                    return _Parts(broker_id, None, loss.lost)
                counted, taken = counted + batch.record_count, taken + batch.size
                until = Offset(batch.last_offset + 1)
    except UnreadableError:
        return _Parts(broker_id, None, loss.lost)
    whole = LostRange(logs, start, until) if counted else None
    if records is not None and counted >= records:
        return _Parts(broker_id, whole, None)
    rest = loss.lost._replace(
        start=until,
        records=None if records is None else records - counted,
        bytes=max(0, size - taken),
        below_high_watermark=None if below is None else max(0, below - counted),
    )
    return _Parts(broker_id, whole, rest)


def _beyond(parts: Sequence[_Parts], states: ReplicasByBroker, marks: Marks, held: Sequence[OffsetRange]) -> Amounts:
    """Return the loss beyond the last batch that a replica holds.

    An incomplete batch names records that no disk has completely. A high watermark names offsets that no disk has. Two
    brokers lose the same records there, so the larger loss counts.
    """
    ends = {number: state.log_end_offset for number, state in states.items()}
    wholes = [part.whole.end for part in parts if part.whole is not None]
    mark = max((mark for mark in marks.values() if mark is not None), default=None)
    largest, until = Amounts(), max((*wholes, *(end for end in ends.values() if end is not None)), default=Offset(0))
    is_open = False
    for number, _, rest in parts:
        others = [end for other, end in ends.items() if other != number and end is not None]
        beyond = Offset(max((*wholes, *others), default=0))
        if rest is None or (rest.end is not None and rest.end <= beyond):
            continue
        amounts = _of_rest(rest, beyond, mark)
        is_open = is_open or rest.end is None or amounts.records is None
        until = Offset(max(until, rest.end or 0))
        if _size_of(amounts) > _size_of(largest):
            largest = amounts
    # A log that cannot be read may go on: what it holds is not known.
    is_unbound = mark is None or is_open or None in ends.values() or mark <= until
    hidden = 0 if is_unbound else _outside(OffsetRange(until, mark or until), held)
    # Offsets of no disk can also be those of transaction markers, or of records that a cleaner removed.
    size = 0 if until else None
    bound = Amounts(None, None, size, at_most=hidden, committed_at_most=hidden) if hidden else Amounts()
    return total((largest, bound))


def _size_of(amounts: Amounts) -> tuple[int, int]:
    records = amounts.upper_records
    return UNKNOWN if records is None else records, amounts.bytes or 0


def _of_rest(rest: LostRecords, beyond: Offset, mark: Offset | None) -> Amounts:
    """Return the records of an incomplete batch from an offset on, `beyond` which no other replica has any."""
    start = beyond if rest.start is None else Offset(max(beyond, rest.start))
    end = mark if rest.end is None else Offset(max(rest.end, rest.start or 0))
    if end is None or end <= start or rest.start is None:
        return Amounts(rest.records, None if mark is None else rest.below_high_watermark, rest.bytes)
    count = end - start
    below = None if mark is None else max(0, min(mark, end) - start)
    if rest.records is None:
        return Amounts(None, None if below else below, rest.bytes, at_most=count, committed_at_most=below or None)
    records = min(rest.records, count)
    return Amounts(records, None if below is None else min(below, records), rest.bytes)
