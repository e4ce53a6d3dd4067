"""`kcheck end-offset`: what each replica would answer to OffsetsForLeaderEpoch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from kcheck.core.leader_epochs import latest_epoch
from kcheck.core.offsets_for_leader_epoch import Answer, Error, answer, epochs_to_ask
from kcheck.errors import UsageError
from kcheck.model.entries import UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET, Epoch, Offset
from kcheck.model.release import Release
from kcheck.model.report import Found, Report, Row, Wanted
from kcheck.scan.inputs import targets
from kcheck.scan.replica import ReplicaState, after_start, as_it_lies
from kcheck.scan.replicas import ReplicaFiles, replicas_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked: which epochs (none: those worth knowing), with which current leader epoch (-1: none)."""

    epochs: tuple[int, ...] = ()
    current_leader_epoch: int = UNDEFINED_EPOCH
    log_end_offset: int | None = None
    after_start: bool = False


def end_offsets(paths: list[str], question: Question, *, wanted: Wanted, release: Release) -> Found:
    """Return the answers of every replica that the paths hold, in the order of partitions and brokers."""
    found = replicas_of(targets(paths), release=release, wanted=wanted)
    states = [_state(files, question, release) for files in found.replicas]
    answers = tuple(row for state in states for row in _answers(state, question, release))
    body = {"profile": str(release.profile), "answers": answers}
    report = Report(
        verb="end-offset", kafka=release.name, body=body, findings=found.findings, table="answers",
        kinds={"answers": "answer"},
    )  # fmt: skip
    return Found(report=report, checked=tuple(paths), unfinished=found.unfinished)


def _state(files: ReplicaFiles, question: Question, release: Release) -> ReplicaState:
    given = None if question.log_end_offset is None else Offset(question.log_end_offset)
    if given is not None and not files.view.segments:
        files = replace(files, view=replace(files.view, log_end_offset=given))
    if files.bare and files.view.log_end_offset is None:
        raise UsageError(f"{files.path}: a bare leader-epoch-checkpoint needs --log-end-offset")
    bring = after_start if question.after_start else as_it_lies
    return bring(files.view, files.log_dir, release)


def _answers(state: ReplicaState, question: Question, release: Release) -> Iterator[Row]:
    epochs = tuple(Epoch(epoch) for epoch in question.epochs) or epochs_to_ask(state.cache)
    for epoch in epochs:
        said = _answer(state, epoch, question, release)
        yield {
            "broker_id": state.broker_id,
            "topic": state.topic,
            "partition": state.partition,
            "requested_epoch": epoch,
            "epoch": said.epoch,
            "end_offset": said.end_offset,
            "error": str(said.error),
            "log_end_offset": state.log_end_offset,
            "problem": state.problem,
        }


def _answer(state: ReplicaState, epoch: Epoch, question: Question, release: Release) -> Answer:
    if state.problem is not None or state.log_end_offset is None:
        return Answer(Error.KAFKA_STORAGE_ERROR, UNDEFINED_EPOCH, UNDEFINED_EPOCH_OFFSET)
    return answer(
        state.cache,
        epoch,
        log_end_offset=state.log_end_offset,
        current_leader_epoch=Epoch(question.current_leader_epoch),
        leader_epoch=latest_epoch(state.cache),
        release=release,
    )
