"""`kcheck truncation`: for each partition and follower, the dialogue with the leader and what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypedDict

from kcheck.core.dialogue import FetchError, FetchRequest, Leader, Replica, Status, Truncation
from kcheck.core.lineage import EpochRange, Fork, Lineage, fork, lineage_of_cache, ranges
from kcheck.core.refetch import follow, sends_snapshot
from kcheck.core.truncation import elected, plan_truncation
from kcheck.disk.read import UnreadableError
from kcheck.errors import UsageError
from kcheck.formats.leader_epoch_checkpoint import entry_rows
from kcheck.model.entries import Epoch, Offset
from kcheck.model.java import java_int
from kcheck.model.names import ids_differ
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.replicas.dialogue_rows import step_rows
from kcheck.replicas.loading import replicas_of, started
from kcheck.replicas.loss import amount, cut_at, fetched, lineage, shared
from kcheck.replicas.replica import ReplicaState, live
from kcheck.verbs.predict import lost_row
from kcheck.views.targets import paths_of, replica_targets

_MOVED = FetchError.OFFSET_MOVED_TO_TIERED_STORAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class Election:
    """Who leads (a broker id, `best`, or None for every candidate), with which epoch, and whether brokers restart."""

    leader: str | None = None
    leader_epoch: int | None = None
    live: bool = False


def plan(arguments: list[str], election: Election, *, wanted: PartitionFilter, release: Release) -> Report:
    """Return the plan for every partition that the replicas share."""
    targets = replica_targets(arguments)
    found = replicas_of(targets, wanted=wanted, release=release)
    by_partition: dict[tuple[str, int], list[ReplicaState]] = {}
    for files in found.replicas:
        if files.view.where.broker_id is None:
            raise UsageError(f"{files.path}: which broker is it? Write BROKER={files.path}")
        if files.bare and files.view.log_end_offset is None:
            raise UsageError(f"{files.path}: the log end of a bare file must be told: {files.path},leo=N")
        state = live(files.view, files.log_dir, release) if election.live else started(files, release)
        by_partition.setdefault(files.key, []).append(state)
    _known_leader(election, [state for states in by_partition.values() for state in states])
    rows = (row for states in by_partition.values() for row in plans_of(tuple(states), election, release))
    broker_id = java_int(election.leader or "")
    leader = election.leader if broker_id is None else broker_id
    asked = {"profile": str(release.profile), "leader": leader, "live": election.live}
    return Report(
        verb="truncation",
        kafka=release.name,
        body={**asked, "partitions": rows},
        collected=found.findings,
        kinds={"partitions": "partition"},
        checked=paths_of(targets),
    )


def _known_leader(election: Election, states: list[ReplicaState]) -> None:
    known = {str(state.broker_id) for state in states}
    if known and election.leader not in ("best", None, *known):
        raise UsageError(f"--leader {election.leader} has no replica here; brokers are {', '.join(sorted(known))}")


def plans_of(states: tuple[ReplicaState, ...], election: Election, release: Release) -> Iterator[Row]:
    """Yield the plan of one partition: one row, or one for each candidate."""
    candidates = [state for state in states if state.problem is None]
    if election.leader not in (None, "best"):
        candidates = [state for state in states if str(state.broker_id) == election.leader]
        if not candidates:
            why = f"broker {election.leader} has no replica of it here"
            yield _unled(_head(states, election, leader=int(str(election.leader)), problem=why), states)
    rows = [_led_by(leader, states, election, release) for leader in candidates]
    yield from [min(rows, key=cost)] if rows and election.leader == "best" else rows


def cost(row: Row) -> tuple[int, int, int, int]:
    """Order plans by who cannot take part, by what they lose below a high watermark, at all, by the leader's length."""
    followers = row["followers"]
    assert isinstance(followers, tuple)
    absent = sum(follower["problem"] is not None for follower in followers)
    lost = [follower["lost"] for follower in followers if follower["lost"]]
    below = sum(part["below_high_watermark"] or 0 for part in lost)
    return absent, below, sum(part["to"] - part["from"] for part in lost), -int(str(row["leader_log_end_offset"] or 0))


def _led_by(state: ReplicaState, states: tuple[ReplicaState, ...], election: Election, release: Release) -> Row:
    """Return the plan of a partition under one leader."""
    head = _head(states, election, state.broker_id, state.log_end_offset, state.problem)
    others = tuple(other for other in states if other is not state)
    if state.problem is not None or state.log_end_offset is None:
        return _unled(head, others)
    before = Leader(
        cache=state.cache, log_end_offset=state.log_end_offset, log_start_offset=state.log_start_offset,
        local_log_start_offset=state.first_segment,
    )  # fmt: skip
    leader = elected(before, head["leader_epoch"], release=release)
    return {**head, "followers": tuple(_follower(other, state, leader, release) for other in others)}


class _Head(TypedDict):
    topic: str | None
    partition: int | None
    leader: int | None
    leader_epoch: Epoch
    leader_log_end_offset: Offset | None
    lost_at_start: tuple[Row, ...]
    problem: str | None


def _head(
    states: tuple[ReplicaState, ...], election: Election, leader: int | None, log_end_offset: Offset | None = None,
    problem: str | None = None,
) -> _Head:  # fmt: skip
    seen = max(state.latest_epoch for state in states)
    return {
        "topic": states[0].topic,
        "partition": states[0].partition,
        "leader": leader,
        "leader_epoch": Epoch(seen + 1 if election.leader_epoch is None else election.leader_epoch),
        "leader_log_end_offset": log_end_offset,
        "lost_at_start": tuple({"broker_id": each.broker_id, **lost_row(each.lost)} for each in states if each.lost),
        "problem": problem,
    }


def _unled(head: _Head, others: tuple[ReplicaState, ...]) -> Row:
    """Return the plan of a partition whose leader cannot lead."""
    why = f"its leader cannot lead: {head['problem']}"
    return {**head, "followers": tuple(_absent(other._replace(problem=other.problem or why)) for other in others)}


def is_foreign(state: ReplicaState, leading: ReplicaState, release: Release) -> bool:
    """Whether a replica is of another topic than its leader; one that names no topic id may be of any."""
    return release.compares_topic_ids and ids_differ(state.topic_id, leading.topic_id)


def _follower(state: ReplicaState, leading: ReplicaState, leader: Leader, release: Release) -> Row:
    """Return the plan of one follower."""
    if state.problem is not None or state.log_end_offset is None:
        return _absent(state)
    if is_foreign(state, leading, release):
        other = f"its topic id is {state.topic_id}, that of the leader is {leading.topic_id}"
        return _absent(state._replace(problem=f"it is no replica of this topic: {other}"))
    found = _dialogue(state, leader, release)
    if found is None:
        return _absent(state._replace(problem="its truncation depends on its high watermark, which is not known"))
    snapshot = sends_snapshot(found.steps, leading.snapshots, log_start_offset=leader.log_start_offset)
    if snapshot is not None:
        return _absent(state._replace(problem=f"its leader sends a snapshot: its log begins anew at {snapshot}"))
    try:
        return _planned(state, leading, leader, _fetched(found, leading, leader, release))
    except UnreadableError as error:
        return _absent(state._replace(problem=f"a segment cannot be read: {error}"))


def _dialogue(state: ReplicaState, leader: Leader, release: Release) -> Truncation | None:
    """Return the dialogue, None where it depends on a high watermark that nobody knows."""
    assert state.log_end_offset is not None

    def with_high_watermark(offset: Offset) -> Truncation:
        assert state.log_end_offset is not None
        replica = Replica(
            cache=state.cache, log_end_offset=state.log_end_offset, high_watermark=offset,
            log_start_offset=state.log_start_offset, first_segment=state.first_segment,
        )  # fmt: skip
        return plan_truncation(replica, leader, release=release)

    if state.high_watermark is not None:
        return with_high_watermark(state.high_watermark)
    low, high = with_high_watermark(state.log_start_offset), with_high_watermark(state.log_end_offset)
    return high if low.steps == high.steps else None


def _fetched(found: Truncation, leading: ReplicaState, leader: Leader, release: Release) -> Truncation:
    """Return what becomes of it with what the leader sends then."""
    known = _lineage(leading)

    def sent(offset: Offset) -> Iterator[Lineage]:
        if leading.logs:
            return fetched(leading.logs, offset)
        rest = tuple(
            EpochRange(Offset(max(run.start, offset)), run.end, run.epoch) for run in known if run.end > offset
        )
        return iter([rest] if rest else [])

    return follow(found, leader, known, sent, release=release)


def _planned(state: ReplicaState, leading: ReplicaState, leader: Leader, found: Truncation) -> Row:
    before = state.log_end_offset
    assert before is not None
    after = found.after.log_end_offset
    emptied = found.after.first_segment != state.first_segment
    changed = after != before or emptied
    parts = fork_of(state, leading)
    # Behind a remote log nothing of the own one is left.
    is_moved = any(isinstance(step, FetchRequest) and step.reply is _MOVED for step in found.steps)
    kept = Offset(max(state.log_start_offset, leader.log_start_offset)) if is_moved else after
    gone = ranges(parts, log_start_offset=state.log_start_offset, before=before, after=kept)
    silent = gone.kept_divergent[0] if gone.kept_divergent and not emptied else None
    return {
        "broker_id": state.broker_id,
        "status": str(found.status),
        "problem": None,
        "log_end_offset_before": before,
        "high_watermark": state.high_watermark,
        "steps": step_rows(found.steps, leader),
        "truncate_to": after if changed else None,
        "log_end_offset_after": after,
        "cut": _cut_row(state, after) if changed and not emptied else None,
        "lost": _lost_row(state, gone.lost, certain=gone.certain),
        "expired": _expired_row(state, leader.log_start_offset) if emptied else None,
        "refetch": None if found.status is Status.FETCH_FAILS else _refetch_row(leading, leader, after),
        "leader_epochs_after": entry_rows(found.after.cache),
        "diverges_silently_at": silent,
        "exits_without_unclean_election": found.exits_without_unclean_election,
    }


def fork_of(state: ReplicaState, leading: ReplicaState) -> Fork:
    """Return where the two logs part: by their batches, by their epochs where these are not read."""
    ours, theirs = state.log_end_offset, leading.log_end_offset
    assert ours is not None
    assert theirs is not None
    found = fork(_lineage(leading), _lineage(state), a_end=theirs, b_end=ours)
    end = Offset(min(ours, theirs))
    try:
        parts = shared(leading.logs, state.logs, end) if found.common_prefix is None else None
    except UnreadableError:
        return found
    return found if parts is None else Fork(parts, parts if parts < end else None)


def _lineage(state: ReplicaState) -> Lineage:
    assert state.log_end_offset is not None
    is_local = state.first_segment <= state.log_start_offset  # The batches tell nothing of a remote log.
    if state.lineage is not None and is_local:
        return state.lineage
    if state.logs and is_local:
        return lineage(state.logs)
    return lineage_of_cache(state.cache, log_start_offset=state.log_start_offset, log_end_offset=state.log_end_offset)


def _cut_row(state: ReplicaState, offset: Offset) -> Row | None:
    cut = cut_at(state.logs, offset)
    return None if cut is None else {"segment": cut.segment, "position": cut.position, "base_offset": cut.base_offset}


def _lost_row(state: ReplicaState, lost: tuple[Offset, Offset] | None, *, certain: bool) -> Row | None:
    if lost is None:
        return None
    start, end = lost
    row: dict[str, object] = {"from": start, "to": end, "records": None, "bytes": None}
    below: int | None = None
    mark = state.high_watermark
    logs = state.logs if start >= state.first_segment else ()  # What is in remote storage cannot be counted.
    if logs:
        gone = amount(logs, start, end)
        row |= {"records": gone.records, "bytes": gone.bytes}
    if mark is not None:
        limit = Offset(min(mark, end))
        counted = amount(logs, start, limit).records if logs and limit > start else None
        below = counted if counted is not None else max(0, limit - start)
    return {**row, "below_high_watermark": below, "certain": certain}


def _expired_row(state: ReplicaState, leader_start: Offset) -> Row | None:
    assert state.log_end_offset is not None
    end = min(leader_start, state.log_end_offset)
    return {"from": state.log_start_offset, "to": end} if state.log_start_offset < end else None


def _refetch_row(leading: ReplicaState, leader: Leader, after: Offset) -> Row | None:
    start, end = Offset(max(after, leader.log_start_offset)), leader.log_end_offset
    if start >= end:
        return None
    if not leading.logs:
        return {"from": start, "to": end, "records": None, "bytes": None}
    there = amount(leading.logs, start, end)
    return {"from": start, "to": end, "records": there.records, "bytes": there.bytes}


def _absent(state: ReplicaState) -> Row:
    """Return the row of a follower that cannot take part."""
    return {
        "broker_id": state.broker_id,
        "status": "unknown",
        "problem": state.problem,
        "log_end_offset_before": state.log_end_offset,
        "high_watermark": state.high_watermark,
        "steps": (),
        "truncate_to": None,
        "log_end_offset_after": None,
        "cut": None,
        "lost": None,
        "expired": None,
        "refetch": None,
        "leader_epochs_after": None,
        "diverges_silently_at": None,
        "exits_without_unclean_election": False,
    }
