"""`kcheck end-offset`: what each replica would answer to OffsetsForLeaderEpoch."""

from collections.abc import Iterator
from dataclasses import dataclass

from kcheck.core.leader_epochs import around, latest_epoch, rise
from kcheck.core.offsets_for_leader_epoch import Answer, Error, answer, epochs_to_ask
from kcheck.errors import UsageError
from kcheck.model.entries import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, EpochEntries, Offset
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.replicas.loading import ReplicaFiles, replicas_of, started
from kcheck.replicas.replica import ReplicaState, as_it_lies
from kcheck.tables import end_offsets as end_offsets_table
from kcheck.views.targets import replica_targets


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOffsetQuery:
    """What is asked: which epochs (none: those worth knowing), with which current leader epoch (-1: none)."""

    epochs: tuple[int, ...] = ()
    current_leader_epoch: int = UNDEFINED_EPOCH
    log_end_offset: int | None = None
    after_start: bool = False


def end_offsets(paths: list[str], question: EndOffsetQuery, *, wanted: PartitionFilter, release: Release) -> Report:
    """Return the answers of every replica that the paths hold, in the order of partitions and brokers."""
    named = replica_targets(paths)
    found = replicas_of(named, release=release, wanted=wanted)
    states = [_state(files, question, release) for files in found.replicas]
    return Report(
        verb="end-offset",
        kafka=release.name,
        body={
            "profile": str(release.profile),
            "answers": (row for state in states for row in _answers(state, question, release)),
        },
        collected=found.findings,
        table="answers",
        columns=end_offsets_table.TABLE.columns,
        kinds={"answers": "answer"},
        checked=(*paths, *(target.path for target in named)),
    )


def _state(files: ReplicaFiles, question: EndOffsetQuery, release: Release) -> ReplicaState:
    given = None if question.log_end_offset is None else Offset(question.log_end_offset)
    if given is not None and not files.view.segments:
        files = files._replace(view=files.view._replace(log_end_offset=given))
    if files.bare and files.view.log_end_offset is None:
        raise UsageError(f"{files.path}: a bare leader-epoch-checkpoint needs --log-end-offset")
    return started(files, release) if question.after_start else as_it_lies(files.view, files.log_dir, release)


def _answers(state: ReplicaState, question: EndOffsetQuery, release: Release) -> Iterator[Row]:
    epochs = tuple(Epoch(epoch) for epoch in question.epochs) or epochs_to_ask(state.cache)
    rises = rise(state.cache)
    for epoch in epochs:
        said = _answer(state, around(state.cache, epoch) if rises else state.cache, epoch, question, release)
        values = (state.broker_id, state.topic, state.partition, epoch, said.epoch, said.end_offset, str(said.error))
        yield dict(zip(end_offsets_table.TABLE.names, (*values, state.log_end_offset, state.problem), strict=True))


def _answer(
    state: ReplicaState, cache: EpochEntries, epoch: Epoch, question: EndOffsetQuery, release: Release
) -> Answer:
    if state.problem is not None or state.log_end_offset is None:
        return Answer(Error.KAFKA_STORAGE_ERROR, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    return answer(
        cache,
        epoch,
        log_end_offset=state.log_end_offset,
        current_leader_epoch=Epoch(question.current_leader_epoch),
        leader_epoch=latest_epoch(cache),
        release=release,
    )
