"""Shared parts of the rules about remote storage."""

from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.tiered.reports import RemoteReplica, RemoteReport, lost_of_others, remote_report
from kcheck.model.entries import Offset
from kcheck.model.release import Release
from kcheck.model.remote_log import REMOTE_LOG_METADATA, Spans
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules._entries import readable
from kcheck.rules._epochs import loaded_lines
from kcheck.rules._partition import served
from kcheck.words import bare_range, some_of

_MOST = 5


def is_tiered(view: PartitionView) -> bool:
    """Return whether kcheck knows that a part of the log is in remote storage."""
    return view.remote is not None and served(view)


def remote_replica(view: PartitionView, release: Release) -> RemoteReplica | None:
    """Return the facts about the remote part; None if the broker cannot load the log, or without a segment."""
    if view.log_start_offset is None or not view.segments or (view.epochs is not None and not readable(view.epochs)):
        return None
    local_start = view.segments[0].base_offset
    end = local_start if view.log_end_offset is None else view.log_end_offset
    return RemoteReplica(view.log_start_offset, local_start, loaded_lines(view, release), end)


def report_of(view: PartitionView, release: Release) -> RemoteReport:
    """Return the fate of the remote part if the replica leads; empty if not known."""
    replica = remote_replica(view, release)
    return RemoteReport() if view.remote is None or replica is None else remote_report(view.remote, replica)


class LackedHistory(NamedTuple):
    """A replica that deletes remote segments of other replicas if it leads, though its own files agree."""

    view: PartitionView
    """The replica."""
    replica: RemoteReplica
    """The facts about its remote part."""
    lost: Spans
    """The offsets that another replica serves, and that are lost for readers."""
    deleted: Spans
    """The offsets of the segments that are deleted at most."""
    segments: int
    """Their number."""


def lacked_histories(view: ReplicasView, release: Release) -> Iterator[LackedHistory]:
    """Yield the replicas whose epochs begin at their log start and later than the epochs of another replica.

    A replica whose epochs begin above its log start has KC240.
    """
    known = [
        (view, replica)
        for view in view.replicas
        if is_tiered(view) and (replica := remote_replica(view, release)) is not None
    ]
    for own, replica in known:
        others = [other for _, other in known if other is not replica]
        if own.remote is None or not has_epochs_from_log_start(replica):
            continue
        report = remote_report(own.remote, replica)
        if report.deleted and (lost := lost_of_others(own.remote, replica, others)):
            yield LackedHistory(own, replica, lost, report.deleted_offsets, report.deleted_count)


def has_epochs_from_log_start(replica: RemoteReplica) -> bool:
    """Return whether the leader epochs begin at the log start. KC240 has later and empty ones."""
    return bool(replica.epochs) and replica.epochs[0].start_offset <= replica.log_start


def spans_words(spans: Spans) -> str:
    """Return `offsets 0-19 and 25-29`, of many the first."""
    first, last = spans[0][0], spans[-1][1]
    noun = "offset" if last == first + 1 else "offsets"
    return f"{noun} {some_of([bare_range(start, end) for start, end in spans], _MOST)}"


def span_rows(spans: Spans) -> tuple[dict[str, Offset], ...]:
    """Return spans as values for a script."""
    return tuple({"from": start, "to_exclusive": end} for start, end in spans[:_MOST])


def metadata_words(view: PartitionView) -> str:
    """Return the name of the metadata partition, as far as it is known."""
    return REMOTE_LOG_METADATA if view.remote is None else view.remote.metadata_name
