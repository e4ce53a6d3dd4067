"""Tells whether a leader still serves the remote offsets that the leader of a saved plan served."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kcheck.core.election.recovery_plan import PlannedPartition
from kcheck.core.start.topic_settings import stated_retention
from kcheck.core.tiered.reading import remote_log
from kcheck.core.tiered.retention import deleted_by_retention
from kcheck.core.tiered.spans import merged, within, without
from kcheck.documents.verification import PlanStep, StepKind
from kcheck.model.cluster import ClusterImage
from kcheck.model.entries import Epoch, Offset
from kcheck.model.remote_log import MetadataState, RemoteLog, Retention, Spans
from kcheck.replicas.remote_losses import served_by
from kcheck.replicas.replica import ReplicaState
from kcheck.words import bare_range, some_of

_MOST = 5


class ServedNow(NamedTuple):
    """The state of the offsets that the planned leader served."""

    broker_id: int | None
    """The broker that leads."""
    log_start: Offset
    """The log start offset of the leader."""
    remote: RemoteLog
    """The remote part of its log."""
    gone: Spans
    """Those that it does not serve."""
    deleted: Spans
    """Those of them that retention may have deleted."""
    retention: Retention
    """The retention of the topic."""


def served_now(planned: PlannedPartition, leading: ReplicaState | None, image: ClusterImage | None) -> ServedNow | None:
    """Return the state of the offsets of a plan; None without a readable log of the leader."""
    if leading is None or leading.problem is not None or leading.log_end_offset is None:
        return None
    remote = remote_log(MetadataState.READ) if leading.remote is None else leading.remote
    kept: Mapping[Epoch, Spans] = served_by(leading)
    gone = merged(
        span for epoch, start, end in planned.served for span in without(((start, end),), kept.get(epoch, ()))
    )
    retention = remote.retention
    if leading.remote is None:
        retention = stated_retention(image, planned.topic, leading.broker_id, None)
    left = sum(run.size for run in remote.runs) + sum(log.size for log in leading.logs)
    below = within(deleted_by_retention(remote, retention, left), Offset(0), leading.log_start_offset)
    deleted = without(gone, without(gone, below))
    return ServedNow(leading.broker_id, leading.log_start_offset, remote, gone, deleted, retention)


def remote_steps(planned: PlannedPartition, now: ServedNow | None) -> Iterator[PlanStep]:
    """Yield what became of the offsets of a log in remote storage; nothing for another log."""
    if not planned.served:
        return
    served = merged((start, end) for _, start, end in planned.served)
    seen, ok = _seen(now)
    yield PlanStep(StepKind.REMOTE, f"the leader has {_offsets(served)}, on disk or in remote segments", seen, ok)


def _seen(now: ServedNow | None) -> tuple[str, bool | None]:
    if now is None:
        return "? (no readable log of the leader is here)", None
    if not now.remote.is_known and not now.remote.is_lost:
        return f"? (its partition of __remote_log_metadata is {now.remote.state})", None
    broker = "it" if now.broker_id is None else f"broker {now.broker_id}"
    if lost := without(now.gone, now.deleted):
        gone = lost if now.retention.is_known else now.gone
        return f"{broker} does not serve {_offsets(gone)}: {_why(now, gone)}", False
    if not now.deleted:
        return f"{broker} has all of them; the store was not read", True
    if now.retention.is_known:
        return f"retention deleted {_offsets(now.deleted)}; {broker} has the others", True
    deleted = f"{_offsets(now.deleted)} were deleted, by retention or by a leader without their epochs"
    return f"? ({deleted}: the given metadata has no retention.ms and retention.bytes of the topic)", None


def _why(now: ServedNow, gone: Spans) -> str:
    if now.remote.is_lost:
        return f"__remote_log_metadata is {now.remote.state}"
    if gone[-1][1] <= now.log_start:
        return f"its log starts at {now.log_start}"
    return "no remote or local segment has them with its leader epochs"


def _offsets(spans: Iterable[tuple[Offset, Offset]]) -> str:
    rows = [bare_range(start, end, "–") for start, end in spans]
    return f"offsets {some_of(rows, _MOST)}"
