"""Finds the records in remote storage that are lost once a replica leads."""

from collections.abc import Iterable

from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.reports import RemoteReplica, lost_by_leading, remote_report, served_by_epoch
from kcheck.core.tiered.spans import merged, offset_count
from kcheck.model.entries import Epoch, Offset
from kcheck.model.remote_log import MetadataState, Spans
from kcheck.replicas.replica import ReplicaState


def remote_lost(leader: ReplicaState, states: Iterable[ReplicaState]) -> Spans:
    """Return the offsets, remote ones too, that another replica serves and that are lost if this one leads.

    The replica of a broker without a directory has no epochs. Its election costs all remote records of older epochs.
    """
    states = tuple(states)
    remote = next((state.remote for state in states if state.remote is not None), None)
    if remote is None or leader.problem is not None or leader.log_end_offset is None:
        return ()
    others = (state for state in states if state is not leader and state.problem is None and state.remote is not None)
    return lost_by_leading(remote, _replica(leader), map(_replica, others))


def remote_unreadable(leader: ReplicaState) -> int:
    """Return how many remote offsets a leader does not serve, although their segments stay."""
    if leader.remote is None or leader.problem is not None:
        return 0
    return offset_count(remote_report(leader.remote, _replica(leader)).unreadable)


def served_by(leader: ReplicaState) -> dict[Epoch, Spans]:
    """Return the offsets that a leader serves, remote and local, by the epoch of their records.

    Of a log without a remote part the local ones; nothing if its remote part is not known.
    """
    remote = remote_log(MetadataState.READ) if leader.remote is None else leader.remote
    is_known = leader.problem is None and (remote.is_known or remote.is_lost)
    return served_by_epoch(remote, _replica(leader)) if is_known else {}


def remote_amounts(*lost: Spans) -> Amounts:
    """Return lost offsets as an upper bound of records, as transaction markers can be among them."""
    count = offset_count(merged(span for spans in lost for span in spans))
    return Amounts(None, None, None, at_most=count, committed_at_most=count) if count else Amounts()


def _replica(state: ReplicaState) -> RemoteReplica:
    local_start = Offset(max(state.first_segment, state.log_start_offset))
    end = local_start if state.log_end_offset is None else state.log_end_offset
    return RemoteReplica(state.log_start_offset, local_start, state.cache, end)
