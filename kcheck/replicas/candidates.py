"""The candidates of one partition, with the state of each after its broker has started, and its cost as leader."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from kcheck.core.election.course import in_sync_under, later_leader
from kcheck.core.election.election import BrokerStart, standing
from kcheck.core.election.plans import (
    SERVED,
    Candidate,
    CopyState,
    PartitionElection,
    decided,
    seat_of,
)
from kcheck.core.replication.leader_costs import NOT_KNOWN, Amounts, at_most, total
from kcheck.core.replication.truncation_plans import FollowerPlan, OffsetRange, TruncationPlan
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.core.start.startup import Outcome
from kcheck.core.start.strays import directory_of, is_not_here
from kcheck.core.start.topic_settings import is_compacted
from kcheck.model.cluster import ClusterImage, PartitionRegistration, TopicImage
from kcheck.model.entries import Offset
from kcheck.model.names import DirectoryState, TopicPartition, ids_differ
from kcheck.model.release import Release
from kcheck.replicas.committed import committed_marks
from kcheck.replicas.costed_plans import plans_of
from kcheck.replicas.group_offsets import GroupOffset
from kcheck.replicas.leader_plans import Election, fork_of
from kcheck.replicas.loading import ReplicaFiles, brought_back
from kcheck.replicas.loss import seen_holes
from kcheck.replicas.lost_amounts import amounts_lost, lacks, removed
from kcheck.replicas.lost_transactions import cut_transactions, open_transactions
from kcheck.replicas.remote_losses import remote_amounts, remote_lost
from kcheck.replicas.replica import ReplicaState, after_start
from kcheck.replicas.unserved_copies import covers, only_here, shared_batches

GroupOffsets = Callable[[str, int], tuple[GroupOffset, ...] | None]
"""Takes a partition; returns what consumer groups have committed in it, None if there are no offsets."""
CheckpointedMarks = Callable[[str, int], Mapping[int, Offset]]
"""Takes a partition; returns the high watermarks in checkpoints, by broker."""
_ROLES = {
    DirectoryState.CURRENT: CopyState.CURRENT,
    DirectoryState.STRAY: CopyState.STRAY,
    DirectoryState.FUTURE: CopyState.FUTURE,
    DirectoryState.DELETED: CopyState.DELETED,
}
NOT_GIVEN = "its log dir is not given"
"""The reason why a replica in a log dir outside of the paths cannot lead."""
_DROPPED = {Outcome.STRAY: CopyState.STRAY, Outcome.DELETED: CopyState.DELETED}


class ReplicaCopy(NamedTuple):
    """A directory of a partition on a broker, after the next start."""

    state: ReplicaState
    """The replica."""
    role: CopyState
    """The role of the directory for the partition."""
    dir: str | None
    """The directory; None where the broker has none."""
    high_watermark: Offset | None = None
    """The high watermark that is checkpointed for it."""
    unstable: bool = True
    """True if transactions can be open at its log end."""
    may_lead: bool = False
    """True if it is a race if the controller takes it out of the ISR before it can lead."""


class BrokerHere(NamedTuple):
    """A broker of which log dirs are here."""

    start: BrokerStart
    """Its registration with the controller."""
    problem: str | None
    """The reason why it does not start; None if it does."""
    log_dirs: frozenset[str]
    """The ids of its log dirs that come online."""
    is_complete: bool
    """True if all of its log dirs are here and come online, as far as its files show."""
    has_new_log_dir: bool = False
    """True if the broker makes replicas again, as the cluster does not know a log dir, or log.dirs lost one."""
    is_part: bool = False
    """True if the broker has log dirs that are not given."""
    offline: Mapping[str, str] = {}
    """The reason why log dirs go offline, by path."""
    is_clean: bool = True
    """True after a clean shutdown. After a kill the checkpointed high watermarks are older than the logs."""


class ClusterHere(NamedTuple):
    """The known facts of the cluster."""

    image: ClusterImage | None
    """Its metadata; None without any."""
    brokers: Mapping[int, BrokerHere]
    """The brokers here, by id."""
    dead: frozenset[int]
    """The brokers that are given up."""
    kraft: bool
    """True if KRaft controllers elect."""
    release: Release
    """The release that is modelled."""
    incomplete_ok: bool
    """True if a leader is recommended although replicas are not known."""
    offsets: GroupOffsets
    """The committed offsets of consumer groups."""
    counted: Callable[[TruncationPlan], TruncationPlan] | None = None
    """Fills in the known counts of lost and fetched records if the logs themselves are not here."""
    marks: CheckpointedMarks | None = None
    """The checkpointed high watermarks of partitions, with or without their logs; None if they are not here."""
    fenced: tuple[int, ...] = ()
    """The running brokers of the metadata, in the order in which the controller notices that they have stopped."""
    remote: frozenset[TopicPartition] = frozenset()
    """The partitions whose leaders lose records in remote storage that are not counted here."""
    old: frozenset[int] = frozenset()
    """The brokers with a disk that may be an old copy. Later records can be above the high watermarks there."""
    deleting: frozenset[str] = frozenset()
    """The topics that a ZooKeeper controller is deleting. The metadata here is without them."""

    @property
    def starts(self) -> dict[int, BrokerStart]:
        """The registrations of the brokers that do start, by id."""
        return {number: broker.start for number, broker in self.brokers.items() if broker.problem is None}


def copy_of(
    files: ReplicaFiles, start: PartitionPrediction | None, broker: BrokerHere, release: Release
) -> ReplicaCopy:
    """Return a directory after the next start of its broker; a directory that is not served is `salvaged`."""
    is_promoted = start is not None and start.promoted
    role = CopyState.CURRENT if is_promoted else role_of(files.view.state, None if start is None else start.outcome)
    if role is not CopyState.CURRENT:
        return with_problem(salvaged(files, role, release), broker, files.path)
    state = after_start(files.view, files.log_dir, start, release)
    unstable = start is None or start.log is None or start.log.unstable
    copy = ReplicaCopy(state, role, files.view.where.dir, files.view.high_watermark, unstable)
    return with_problem(copy, broker, files.path)


def salvaged(files: ReplicaFiles, role: CopyState, release: Release) -> ReplicaCopy:
    """Return a directory that no broker serves, as if it was brought back."""
    return ReplicaCopy(
        brought_back(files.view, files.log_dir, release), role, files.view.where.dir, files.view.high_watermark
    )


def role_of(state: DirectoryState, outcome: Outcome | None) -> CopyState:
    """Return the role of a directory for its partition after a next start with this outcome."""
    role = _ROLES[state]
    return role if outcome is None or role is not CopyState.CURRENT else _DROPPED.get(outcome, role)


def with_problem(copy: ReplicaCopy, broker: BrokerHere, log_dir: str) -> ReplicaCopy:
    """Return a copy that cannot take part if its broker does not start, or if its log dir goes offline."""
    if broker.problem is not None:
        return copy._replace(state=copy.state._replace(problem=f"the broker does not start: {broker.problem}"))
    if copy.state.problem is None and log_dir in broker.offline:
        return copy._replace(state=copy.state._replace(problem=f"its log dir goes offline: {broker.offline[log_dir]}"))
    return copy


def election_of(topic: str, partition: int, copies: Iterable[ReplicaCopy], cluster: ClusterHere) -> PartitionElection:
    """Return the candidates of one partition, their costs, and the leader that Kafka elects."""
    known = None if cluster.image is None else cluster.image.topics.get(topic)
    registration = None if known is None else known.partitions.get(partition)
    own = _own_copies(topic, partition, tuple(copies), cluster)
    current = {copy.state.broker_id: copy for copy in own if copy.role in SERVED}
    replicas = () if registration is None else registration.replicas
    order = sorted(
        current, key=lambda number: (replicas.index(number) if number in replicas else len(replicas), number)
    )
    marks = [copy.high_watermark for copy in current.values() if copy.high_watermark is not None]
    election = PartitionElection(
        topic=topic,
        partition=partition,
        registration=registration,
        high_watermark=max(marks, default=None),
        candidates=(),
        unknown_replicas=tuple(number for number in replicas if _is_unknown(number, current, cluster)),
        awaited=tuple(number for number in replicas if _is_awaited(current.get(number), cluster.brokers.get(number))),
    )
    if cluster.image is not None and known is not None and registration is not None:
        decides = standing(cluster.image, known, registration, cluster.fenced, cluster.release, kraft=cluster.kraft)
        election = election._replace(seats=decides.seats, rules=decides.rules)
    election = election._replace(groups=_groups(election, [copy.state for copy in current.values()], cluster))
    served = tuple(current[number] for number in order)
    others = tuple(copy for copy in own if copy.role not in SERVED)
    unserved = tuple(_salvage(copy, served, election, cluster) for copy in others)
    with_log = any(copy.role is CopyState.CURRENT for copy in served) or bool(election.unknown_replicas)
    is_bound = with_log or all(_is_bound(number, own, cluster) for number in replicas)
    held = _held(unserved, others)
    leading = _candidates(served, election, cluster, held)
    candidates = (
        *(_without_unserved(row, unserved, with_log=with_log, is_bound=is_bound) for row in leading),
        *unserved,
    )
    return decided(election._replace(candidates=candidates), cluster.starts, complete=cluster.incomplete_ok)


def _is_bound(number: int, copies: Iterable[ReplicaCopy], cluster: ClusterHere) -> bool:
    """Return whether no record of a replica is above its checkpointed high watermark, which is known."""
    if number in cluster.old or number not in cluster.brokers or not cluster.brokers[number].is_clean:
        return False
    return any(copy.state.broker_id == number and copy.high_watermark is not None for copy in copies)


def _is_unknown(number: int, current: Mapping[int | None, ReplicaCopy], cluster: ClusterHere) -> bool:
    """Return whether the disk of a replica is not given, and not given up."""
    if number not in cluster.brokers:
        return number not in cluster.dead
    return number in current and current[number].state.problem == NOT_GIVEN


def _is_awaited(copy: ReplicaCopy | None, broker: BrokerHere | None) -> bool:
    """Return whether the log of a replica may show later, because its broker or log dir does not come up."""
    is_nowhere = copy is not None and copy.dir is None and copy.state.problem is not None
    return broker is not None and (broker.problem is not None or is_nowhere)


def _own_copies(
    topic: str, partition: int, copies: tuple[ReplicaCopy, ...], cluster: ClusterHere
) -> tuple[ReplicaCopy, ...]:
    """Return the directories of a partition that are of its topic, and the replicas that have none."""
    known = None if cluster.image is None else cluster.image.topics.get(topic)
    registration = None if known is None else known.partitions.get(partition)
    if cluster.image is None or known is None:
        return copies
    compacted = {number for number in cluster.brokers if is_compacted(cluster.image, topic, number)}
    own = [copy for copy in copies if not ids_differ(copy.state.topic_id, known.topic_id)]
    cleaned = [copy.state.is_compacted or copy.state.broker_id in compacted for copy in own]
    own = [copy._replace(state=copy.state._replace(is_compacted=row)) for copy, row in zip(own, cleaned, strict=True)]
    here = {copy.state.broker_id for copy in own if copy.role is CopyState.CURRENT}
    absent = [] if registration is None else [number for number in registration.replicas if number not in here]
    if registration is None or not absent:
        return tuple(own)
    marks = {} if cluster.marks is None else cluster.marks(topic, partition)
    of_others = {copy.state.broker_id for copy in copies if ids_differ(copy.state.topic_id, known.topic_id)}
    marks = {number: mark for number, mark in marks.items() if number not in of_others}
    own = [_with_mark(copy, marks) for copy in own]
    for number in absent:
        if number in cluster.brokers:
            missing = _missing(number, known, partition, registration, cluster.brokers[number])
            mark = marks.get(number) if missing.role is CopyState.MISSING else None
            state = missing.state._replace(checkpointed=mark, is_compacted=number in compacted)
            own.append(missing._replace(state=state, high_watermark=marks.get(number)))
    return tuple(own)


def _with_mark(copy: ReplicaCopy, marks: Mapping[int, Offset]) -> ReplicaCopy:
    """Return a copy that no broker serves with the high watermark that its broker knows of the partition."""
    mark = marks.get(copy.state.broker_id or 0)
    if copy.role is CopyState.CURRENT or mark is None:
        return copy
    return copy._replace(state=copy.state._replace(checkpointed=max(mark, copy.state.checkpointed or mark)))


def _without_unserved(
    candidate: Candidate, unserved: tuple[Candidate, ...], *, with_log: bool, is_bound: bool
) -> Candidate:
    """Return a candidate whose election also loses the records that exist only in unserved copies.

    The loss is unknown if the log of an unserved copy is not here. So is the loss without any log (`with_log`) and
    without any unserved copy, or without a valid bound (`is_bound`). An empty -future copy shows nothing of the log
    that was moving.
    """
    if candidate.lost is None:
        return candidate
    if any(copy.only_here is None and copy.problem is None and copy.log_end_offset for copy in unserved):
        return candidate._replace(lost=NOT_KNOWN, lost_later=None)
    shown = (copy for copy in unserved if with_log or copy.state is not CopyState.FUTURE or copy.log_end_offset)
    only = max((copy.only_here for copy in shown if copy.only_here is not None), default=None, key=_records)
    if only is None:
        is_known = with_log or (is_bound and candidate.lost.upper_records)
        return candidate if is_known else candidate._replace(lost=NOT_KNOWN)
    later = None if candidate.lost_later is None else total((candidate.lost_later, only))
    return candidate._replace(lost=total((candidate.lost, only)), lost_later=later)


def _records(lost: Amounts) -> int:
    return lost.records or 0


def _missing(
    number: int, topic: TopicImage, partition: int, registration: PartitionRegistration, broker: BrokerHere
) -> ReplicaCopy:
    """Return the replica of a broker without a directory, which is empty, or in a missing log dir.

    With a new disk the broker makes the replica again, empty. It has its log dir changed in the metadata
    (ReplicationControlManager.handleAssignReplicasToDirs). From then on the controller can elect it. If that comes
    before the new log dir is registered, it takes the replica out of the ISR instead.
    """
    log_dir = directory_of(registration, number)
    problem = None if broker.problem is None else f"the broker does not start: {broker.problem}"
    is_lost = is_not_here(log_dir, broker.log_dirs)
    if problem is None and broker.is_part and (is_lost or log_dir is None):
        problem = NOT_GIVEN
    elif problem is None and is_lost and not broker.has_new_log_dir:
        problem = f"its log dir {log_dir} is not here, or does not come online"
    elif problem is None and log_dir is None and not broker.is_complete:
        problem = "it may be in a log dir that is not here, or does not come online"
    state = ReplicaState(
        number, topic.name, partition, log_end_offset=Offset(0), high_watermark=Offset(0), topic_id=topic.topic_id,
        problem=problem,
    )  # fmt: skip
    role = CopyState.MISSING if problem is None else CopyState.CURRENT
    return ReplicaCopy(state, role, None, unstable=False, may_lead=problem is None and is_lost)


def _groups(
    election: PartitionElection, states: Iterable[ReplicaState], cluster: ClusterHere
) -> tuple[tuple[str, Offset], ...] | None:
    """Return the consumer groups whose offset is beyond the log end of a replica; None if not known.

    Replicas with equal log ends count too. After a power loss all of them can lack records that a group has read.
    """
    ends = {state.log_end_offset for state in states if state.log_end_offset is not None}
    offsets = cluster.offsets(election.topic, election.partition) if ends else ()
    if offsets is None:
        return None
    return tuple((row.group, Offset(row.offset)) for row in offsets if row.offset > min(ends))


def _candidates(
    copies: tuple[ReplicaCopy, ...],
    election: PartitionElection,
    cluster: ClusterHere,
    held: tuple[OffsetRange, ...],
) -> Iterable[Candidate]:
    """Yield the replicas that brokers serve, each with the plan of all others under it."""
    states = tuple(sorted((copy.state for copy in copies), key=lambda state: state.broker_id or 0))
    in_cluster = partial(_in_cluster, registration=election.registration)
    plans = {
        plan.leader: plan
        for plan in plans_of(
            states, Election(), cluster.release, in_cluster=in_cluster, counted=cluster.counted, held=held
        )
    }
    for copy in copies:
        yield _candidate(copy, plans.get(copy.state.broker_id), states, election, cluster, held)


def _held(unserved: Iterable[Candidate], copies: Iterable[ReplicaCopy]) -> tuple[OffsetRange, ...]:
    """Return the offsets of the copy that no broker serves, and whose records `_without_unserved` adds to a loss."""
    counted = [
        (_records(row.only_here), OffsetRange(copy.state.log_start_offset, copy.state.log_end_offset or Offset(0)))
        for row, copy in zip(unserved, copies, strict=True)
        if row.only_here is not None
    ]
    most = max((records for records, _ in counted), default=0)
    return next(((offsets,) for records, offsets in counted if records == most), ())


def _in_cluster(plan: TruncationPlan, registration: PartitionRegistration | None) -> TruncationPlan:
    return plan._replace(registration=registration)


def _salvage(
    copy: ReplicaCopy, copies: tuple[ReplicaCopy, ...], election: PartitionElection, cluster: ClusterHere
) -> Candidate:
    """Return a directory that no broker serves, as if it was brought back and it led the others."""
    others = (other.state for other in copies if other.state.broker_id != copy.state.broker_id)
    states = (copy.state, *others)
    leader = Election(leader=str(copy.state.broker_id))
    in_cluster = partial(_in_cluster, registration=election.registration)
    plan = next(plans_of(states, leader, cluster.release, in_cluster=in_cluster, counted=cluster.counted))
    candidate = _candidate(copy, plan, states, election, cluster)
    served = [other.state for other in copies]
    is_known = cluster.counted is None
    only = only_here(copy.state, served, election.high_watermark) if is_known else None
    return candidate._replace(only_here=only, covers=bool(only and only.records) and covers(copy.state, served))


def _candidate(
    copy: ReplicaCopy,
    plan: TruncationPlan | None,
    states: tuple[ReplicaState, ...],
    election: PartitionElection,
    cluster: ClusterHere,
    held: tuple[OffsetRange, ...] = (),
) -> Candidate:
    """Return the cost of a copy as leader.

    `plan` is the plan of the others under it; None if it cannot lead.
    """
    state, end = copy.state, copy.state.log_end_offset
    assert state.broker_id is not None
    broker = cluster.brokers.get(state.broker_id)
    start = None if broker is None or broker.problem is not None else broker.start
    candidate = Candidate(
        broker_id=state.broker_id,
        state=copy.role,
        dir=copy.dir,
        seat=None if start is None or copy.role not in SERVED else seat_of(election, start),
        problem=state.problem,
        log_end_offset=end,
        log_start_offset=None if end is None else state.log_start_offset,
        lost=None,
        refetch=None,
        shared=shared_batches(state),
        holes=seen_holes(state.logs),
    )
    if plan is None or state.problem is not None or end is None:
        return candidate
    by_broker = {other.broker_id: other for other in states}
    gone = removed(state) if cluster.counted is None else ()
    log_dir = None if election.registration is None else directory_of(election.registration, state.broker_id)
    in_new_log_dir = broker is not None and broker.has_new_log_dir and is_not_here(log_dir, broker.log_dirs)
    candidate = _with_amounts(candidate, plan, by_broker, election, cluster, copy)
    if copy.role in SERVED:
        candidate = _with_later(candidate, plan, by_broker, election, held)
    if copy.may_lead:
        lost, later = (row and at_most(row) for row in (candidate.lost, candidate.lost_later))
        candidate = candidate._replace(lost=lost, lost_later=later)
    return candidate._replace(
        in_new_log_dir=in_new_log_dir,
        loses_no_more_than=tuple(
            follower.broker_id
            for follower in plan.followers
            if follower.broker_id is not None
            and follower.problem is None
            and follower.lost is None
            and follower.expired is None
            and not (plan.remote_lost or plan.remote_unreadable)
            and follower.diverges_silently_at is None
            and not any(_has_some_of(by_broker[follower.broker_id], one) for one in gone)
            and (cluster.counted is None or _parts(states, follower.broker_id, state) is not None)
        ),
        plan=plan,
    )


def _has_some_of(state: ReplicaState, offsets: OffsetRange) -> bool:
    return max(offsets.start, state.log_start_offset) < min(offsets.end, state.log_end_offset or 0)


def _with_amounts(
    candidate: Candidate, plan: TruncationPlan, states: Mapping[int | None, ReplicaState],
    election: PartitionElection, cluster: ClusterHere, copy: ReplicaCopy,
) -> Candidate:  # fmt: skip
    """Return a candidate with the cost of its election; without the logs, transactions and groups are unknown."""
    candidate = candidate._replace(lost=plan.lost, refetch=plan.refetched, strangers=plan.strangers)
    if cluster.counted is not None:
        return candidate
    end = copy.state.log_end_offset
    assert end is not None
    return candidate._replace(
        open_transactions=_open_transactions(copy, end),
        cut_transactions=cut_transactions(plan, states),
        groups_beyond=None if election.groups is None else sum(offset > end for _, offset in election.groups),
    )


def _is_refilled(follower: FollowerPlan) -> bool:
    """Return whether a follower has the remote history of its leader afterwards, from the store or from offset 0.

    Seen on 4.3.1 for empty followers and for followers that only lack newer records.
    """
    return not follower.log_end_offset_before or (follower.from_store is not None and follower.lost is None)


def _with_later(
    candidate: Candidate, plan: TruncationPlan, states: Mapping[int | None, ReplicaState],
    election: PartitionElection, held: tuple[OffsetRange, ...],
) -> Candidate:  # fmt: skip
    """Return a candidate with the final leader, when nothing changes any more, and the loss under this leader."""
    if election.registration is None:
        return candidate
    in_sync = in_sync_under(plan)
    later = later_leader(election.registration, candidate.broker_id, in_sync, election.rules)
    followers = [row for row in plan.followers if row.broker_id in in_sync]
    remote = {
        row.broker_id: () if _is_refilled(row) else remote_lost(states[row.broker_id], states.values())
        for row in followers
    }
    lacking = tuple(
        row.broker_id
        for row in plan.followers
        if row.broker_id is not None and row.broker_id in remote and (remote[row.broker_id] or lacks(plan, row, states))
    )
    candidate = candidate._replace(later=later, lacking=lacking)
    if later is None or later.broker_id not in lacking:
        return candidate
    marks = committed_marks(tuple(states.values()), election.registration)
    lost, of_remote = amounts_lost(plan, states, marks, later=later.broker_id, held=held), remote[later.broker_id]
    if of_remote or plan.remote_lost:
        lost = total((lost, remote_amounts(of_remote, plan.remote_lost)))
    return candidate._replace(lost_later=lost)


def _parts(states: tuple[ReplicaState, ...], follower: int, leading: ReplicaState) -> Offset | None:
    """Return the offset up to which a follower equals its leader; None if offsets and epochs do not show it."""
    (own,) = (state for state in states if state.broker_id == follower and state is not leading)
    return None if own.log_end_offset is None else fork_of(own, leading).common_prefix


def _open_transactions(copy: ReplicaCopy, end: Offset) -> int | None:
    transactions = open_transactions(copy.state.logs, end) if copy.unstable else ()
    return None if transactions is None else len(transactions)
