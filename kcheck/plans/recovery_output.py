"""Writes the files of a recovery (the runbook, files of Kafka's tools, and the records that the plan gives up)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kcheck.core.election.plans import Candidate, CopyState
from kcheck.core.election.steps import RecoveryAction
from kcheck.disk.new_files import NewFiles
from kcheck.disk.paths import absolute, join
from kcheck.handouts.election_files import PAGE, files_of
from kcheck.handouts.runbook import runbook
from kcheck.model.report import Row
from kcheck.plans.lost_by_plan import lost_by_plan, lost_section
from kcheck.plans.recover import MANIFEST, SAVED, ClusterRecovery, recovery_of
from kcheck.plans.recovery_cases import case_words
from kcheck.plans.rescue_answer import RECOVERY, RUNBOOK
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.elect import ClusterElection
from kcheck.replicas.election_output import saved_at_start, saved_replicas, write_texts
from kcheck.replicas.replica import LogFile
from kcheck.replicas.saved_records import SavedReplica
from kcheck.words import shell_line


def with_plan(answer: ClusterRecovery, out: str) -> ClusterRecovery:
    """Return the answer after writing its files (the runbook, files for Kafka's tools, and records to save).

    UsageError if a file exists already or cannot be written, or if the directory is in a log dir.
    """
    if answer.election.interrupted is not None:
        return answer  # Half an answer is no plan.
    with NewFiles(out, (), apart_from=answer.election.checked) as files:
        return _planned(replace(answer, folder=out), files, out)


def with_election_plan(answer: ClusterElection, out: str) -> ClusterElection:
    """Return the answer of `elect` after writing its plan. plan.md has the steps that `recover` has.

    UsageError as `with_plan`.
    """
    if answer.interrupted is not None:
        return answer
    planned = replace(recovery_of(answer), folder=out)
    done = shell_line(["kcheck", "verify", out, *planned.recovery.paths])
    with NewFiles(out, (), apart_from=answer.checked) as files:
        written = list[str]()
        for plan in (*planned.case_plans, planned):
            name = "" if plan is planned else f"{plan.folder.rpartition('/')[2]}/"
            texts = {**files_of(plan.recovery, plan.steps), PAGE: _page(plan, done)}
            written += write_texts(files, {f"{name}{file}": text for file, text in texts.items()})
    return replace(answer, written=tuple(written))


def _planned(planned: ClusterRecovery, files: NewFiles, out: str) -> ClusterRecovery:
    election = planned.election
    steps = [step for plan in (planned, *planned.case_plans) for step in plan.steps]
    if any(step.kind is RecoveryAction.SAVE for step in steps):
        cut = saved_replicas(election, files, SAVED, skips_bundles=True) if any(step.cuts for step in steps) else ()
        cases = (case.election for case in planned.cases)
        saved, at_start = tuple(cut), tuple(saved_at_start((election, *cases), files, SAVED))
        saved_in = join(out, SAVED) if saved or at_start else None
        election = replace(election, saved=saved, saved_at_start=at_start, saved_in=saved_in)
        planned = replace(planned, election=election)
    more = {} if election.saved_in is None else {MANIFEST: json.dumps(_manifest(election), indent=1) + "\n"}
    written = list[str]()
    for case in planned.case_plans:
        name = case.folder.rpartition("/")[2]
        done, texts = _texts(case, {})
        written += done.written
        write_texts(files, {f"{name}/{file}": text for file, text in texts.items()})
    planned, texts = _texts(planned, more, written)
    write_texts(files, texts)
    return planned


def _texts(
    planned: ClusterRecovery, more: Mapping[str, str], others: Sequence[str] = ()
) -> tuple[ClusterRecovery, Mapping[str, str]]:
    """Return the plan with the paths of its files, and their texts by name; `others` are written already."""
    texts = dict(files_of(planned.recovery, planned.steps))
    names = (*texts, RUNBOOK, RECOVERY, *more)
    planned = replace(planned, written=(*(join(planned.folder, name) for name in names), *others))
    texts[RUNBOOK] = _page(planned, planned.next_command or "")
    texts[RECOVERY] = json.dumps(planned.to_dict()) + "\n"
    return planned, {**texts, **more}


def _page(planned: ClusterRecovery, done: str) -> str:
    """Return the page of the steps; `done` is the command that shows which of them are done."""
    plans = zip(planned.cases, planned.case_plans, strict=True)
    head = (
        *planned.sentences,
        *planned.causes,
        *(case_words(case, plan.folder) for case, plan in plans),
        *planned.bundle_words,
    )
    page = runbook(planned.recovery, planned.texts, head, done, planned.nodes_first, place=absolute("."))
    return page + lost_section(lost_by_plan(planned.election, planned.steps))


def _manifest(election: ClusterElection) -> Row:
    """Return the needed saved files for each leader. Together they have each lost record at least once.

    Records that starts remove are needed under each leader. The files of brokers in bundles are missing.
    """
    saved = {(row.topic, row.partition, row.broker_id): row for row in election.saved}
    removed: dict[tuple[str, int], list[SavedReplica]] = {}
    for row in election.saved_at_start:
        removed.setdefault((row.topic, row.partition), []).append(row)
    rows = []
    for part in election.partitions:
        copies = election.copies(part.topic, part.partition) if any(key[:2] == part[:2] for key in saved) else ()
        at_start = [row for row in removed.get((part.topic, part.partition), ()) if row.records.path is not None]
        logs = {copy.state.broker_id: copy.state.logs for copy in copies if copy.role is CopyState.CURRENT}
        for number, candidate in part.leaders.items():
            needed = tuple(_needed(candidate, logs))
            if needed or at_start:
                of_brokers = {number: saved.get((part.topic, part.partition, number)) for number in needed}
                kept = [one.records for one in (*of_brokers.values(), *at_start) if one is not None]
                files = [path for one in kept for path in (one.path, *one.more) if path is not None]
                rows.append(
                    {
                        "topic": part.topic,
                        "partition": part.partition,
                        "leader": number,
                        "brokers": tuple(dict.fromkeys((*needed, *(row.broker_id for row in at_start)))),
                        "files": files,
                        "not_saved": [number for number, one in of_brokers.items() if one is None],
                    }
                )
    return {"partitions": rows}


def _needed(candidate: Candidate, logs: Mapping[int | None, tuple[LogFile, ...]]) -> Iterator[int]:
    """Yield the brokers whose saved records are needed if a candidate leads, the largest losses first.

    Each has records that no earlier one has.
    """
    followers = () if candidate.plan is None else candidate.plan.followers
    ranges = [
        (row.broker_id, LostRange(logs[row.broker_id], row.lost.start, row.lost.end))
        for row in followers
        if row.broker_id in logs and row.broker_id is not None and row.lost is not None
    ]
    kept: list[LostRange] = []
    for number, lost in sorted(ranges, key=lambda pair: (pair[1].start - pair[1].end, pair[0])):
        if distinct([lost], kept).records != 0:
            kept.append(lost)
            yield number
