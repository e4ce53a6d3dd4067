"""`kcheck end-offset`: how each replica would answer OffsetsForLeaderEpoch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from kcheck.core.replication.leader_epochs import around, latest_epoch, rise
from kcheck.core.replication.offsets_for_leader_epoch import EpochAnswer, Error, answer, epochs_to_ask
from kcheck.documents.answer import BrokerAnswer, Outcomes, compared, name_of, outcomes_of
from kcheck.errors import UsageError
from kcheck.model.entries import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, EpochEntries, Offset
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.replicas.loading import ReplicaFiles, replicas_of, require_one_cluster, started
from kcheck.replicas.replica import ReplicaState, as_it_lies
from kcheck.survey.selection import require_match
from kcheck.tables import end_offsets as end_offsets_table
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import replica_targets


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOffsetQuery:
    """The request of a follower."""

    epochs: tuple[int, ...] = ()
    """The requested epochs; if empty, every epoch with a distinct answer."""
    current_leader_epoch: int = UNDEFINED_EPOCH
    """The leader epoch that the request names; -1: none."""
    log_end_offset: int | None = None
    """The log end offset of a bare leader-epoch-checkpoint."""
    after_start: bool = False
    """Answer from the replica as it is after the broker's next start."""


class EndOffset(NamedTuple):
    """The answer of one replica for one epoch."""

    broker_id: int | None
    """The replica's broker; None for a bare file without one."""
    topic: str | None
    """The topic; None for a bare file."""
    partition: int | None
    """The partition; None for a bare file."""
    requested_epoch: Epoch
    """The requested epoch."""
    epoch: Epoch | None
    """The epoch in the response; -1: none, None: this release's response has no such field."""
    end_offset: Offset
    """The end offset of that epoch; -1: unknown."""
    error: Error
    """The error code in the response."""
    log_end_offset: Offset | None
    """The replica's log end offset; None if unknown."""
    problem: str | None
    """The reason why the replica cannot answer; None if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOffsets(BrokerAnswer):
    """The answer of `kcheck end-offset`."""

    answers: Iterator[EndOffset]
    """In the order of partitions, brokers and epochs; read once."""

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the findings and every answer, as outcomes."""
        rows, first = compared(self.answers)
        answer = replace(self, answers=rows)
        if first is None:
            return answer, None
        answers: Outcomes = {
            (f"end-offset {name_of(row.topic, row.partition)} epoch {row.requested_epoch}", row.broker_id): row
            for row in first
        }
        return answer, {**outcomes_of(self.collected), **answers}

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "end-offset",
            body={"profile": str(self.release.profile), "answers": map(end_offset_row, self.answers)},
            table="answers",
            columns=end_offsets_table.TABLE.columns,
            kinds={"answers": "answer"},
        )


def end_offset_row(answer: EndOffset) -> Row:
    """Return an answer as JSON shows it."""
    return {**answer._asdict(), "error": str(answer.error)}


def end_offsets(paths: list[str], query: EndOffsetQuery, *, wanted: PartitionFilter, release: Release) -> EndOffsets:
    """Return the answers of every replica in the paths.

    UsageError: a bare leader-epoch-checkpoint without its log end offset.
    """
    targets = replica_targets(paths)
    require_match(targets, wanted)
    loaded = replicas_of(targets, wanted=wanted, log_dirs=LogDirs(release), running=not query.after_start)
    require_one_cluster(loaded)
    states = [_state(files, query, release) for files in loaded.replicas]
    return EndOffsets(
        release=release,
        answers=(answer for state in states for answer in _answers(state, query, release)),
        collected=loaded.findings,
        checked=(*paths, *(target.path for target in targets)),
    )


def _state(files: ReplicaFiles, query: EndOffsetQuery, release: Release) -> ReplicaState:
    given = None if query.log_end_offset is None else Offset(query.log_end_offset)
    if given is not None and not files.view.segments:
        files = files._replace(view=files.view._replace(log_end_offset=given))
    if files.bare and files.view.log_end_offset is None:
        raise UsageError(f"{files.path}: a bare leader-epoch-checkpoint needs --log-end-offset")
    return started(files, release) if query.after_start else as_it_lies(files.view, files.log_dir, release)


def _answers(state: ReplicaState, query: EndOffsetQuery, release: Release) -> Iterator[EndOffset]:
    epochs = tuple(Epoch(epoch) for epoch in query.epochs) or epochs_to_ask(state.cache)
    rises = rise(state.cache)
    for epoch in epochs:
        reply = _answer(state, around(state.cache, epoch) if rises else state.cache, epoch, query, release)
        yield EndOffset(
            broker_id=state.broker_id,
            topic=state.topic,
            partition=state.partition,
            requested_epoch=epoch,
            epoch=reply.epoch,
            end_offset=reply.end_offset,
            error=reply.error,
            log_end_offset=state.log_end_offset,
            problem=state.problem,
        )


def _answer(
    state: ReplicaState, cache: EpochEntries, epoch: Epoch, query: EndOffsetQuery, release: Release
) -> EpochAnswer:
    if state.problem is not None or state.log_end_offset is None:
        return EpochAnswer(Error.KAFKA_STORAGE_ERROR, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    return answer(
        cache,
        epoch,
        log_end_offset=state.log_end_offset,
        current_leader_epoch=Epoch(query.current_leader_epoch),
        leader_epoch=latest_epoch(cache),
        release=release,
    )
