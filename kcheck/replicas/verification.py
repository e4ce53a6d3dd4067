"""`kcheck verify`: compares directories with the plan of `kcheck elect --output-dir`, after the brokers started."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from kcheck.core.election.recovery_plan import PlannedPartition, SavedPlan
from kcheck.core.start.startup import Settings
from kcheck.core.start.topic_settings import being_deleted
from kcheck.disk.paths import join, split
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import COMPARED_COUNT_MAX, BrokerAnswer, Outcomes
from kcheck.documents.verification import COLUMNS, PlanStep, step_row
from kcheck.errors import UsageError
from kcheck.handouts.election_files import OLD_PLAN, PLAN, RESTORE
from kcheck.handouts.saved_plan import parse_assignments, parse_plan
from kcheck.model.cluster import UNCLEAN, ClusterImage
from kcheck.model.entries import Offset
from kcheck.model.java import LONG_MAX
from kcheck.model.names import DirectoryState, log_name, parse_directory, segment_bases
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.unreadable import UnreadableError
from kcheck.replicas.costed_plans import plans_of
from kcheck.replicas.distinct_records import Distinct, LostRange, distinct
from kcheck.replicas.leader_plans import Election
from kcheck.replicas.loading import LoadedReplicas, replicas_of
from kcheck.replicas.plan_steps import (
    PartitionNow,
    SavedEvidence,
    broker_steps,
    double_steps,
    partition_steps,
    premise_steps,
    verdict,
)
from kcheck.replicas.replica import LogFile, ReplicaState, live
from kcheck.replicas.served_now import served_now
from kcheck.startup.options import StartOptions
from kcheck.verbs.predict import with_copies
from kcheck.verbs.premises import start_premises
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, TargetKind, directory_wanted, paths_of, replica_targets
from kcheck.words import partition_name

_PLAN_SIZE_MAX = 64 << 20
_UNKNOWN = Distinct(None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification(BrokerAnswer):
    """The answer of `kcheck verify`."""

    plan: SavedPlan
    """The plan."""
    steps: tuple[PlanStep, ...]
    """The expected and the present state of brokers, then of each partition."""

    @property
    def is_as_planned(self) -> bool:
        """True if the plan has partitions, and no step differs from it, as far as is known."""
        return bool(self.plan.partitions) and all(step.ok is not False for step in self.steps)

    def outcomes(self) -> tuple["Verification", Outcomes | None]:
        """Return the present state at each step."""
        if len(self.steps) > COMPARED_COUNT_MAX:
            return self, None
        return self, {
            (f"verify {step.kind}", step.topic, step.partition, step.broker_id): (step.seen, step.ok)
            for step in self.steps
        }

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "verify",
            body={"verdict": verdict(self.steps), "steps": tuple(map(step_row, self.steps))},
            table="steps",
            columns=COLUMNS,
            kinds={"steps": "step"},
        )


class _Read(NamedTuple):
    """The facts read of the cluster."""

    plan: SavedPlan
    release: Release
    image: ClusterImage | None
    states: Mapping[tuple[str, int], tuple[ReplicaState, ...]]
    """The replicas on disk, by partition."""
    strays: Mapping[tuple[str, int], tuple[tuple[int, str], ...]]
    cleaned: Mapping[tuple[str, int, int], Offset]
    """Up to where the log cleaner may have removed records, by partition and broker."""
    full: Mapping[tuple[str, int], tuple[int, ...]]
    """The replicas in restore.json, by partition."""


def verify(
    folder: str,
    arguments: list[str],
    *,
    wanted: PartitionFilter,
    release: Release,
    metadata: tuple[str, ...] = (),
) -> Verification:
    """Compare the replicas in the paths with the plan in a directory.

    Without named metadata the copies of the plan count. UsageError if the directory has no plan, or the plan
    has no wanted partition. UsageError also if a path is a file, or a replica has no broker id.
    """
    plan, full = _plan_in(folder)
    metadata = metadata or plan.metadata
    targets = replica_targets(arguments)
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target, "a comparison with a plan")
    partitions = [part for part in plan.partitions if wanted.has(part.topic, part.partition)]
    if plan.partitions and not partitions:
        raise UsageError(f"{folder}: --topic and --partition select no partition of the plan")
    log_dirs = LogDirs(release)
    image = image_at_hand(targets, metadata, log_dirs)
    image = None if image is None else image.without_topics(being_deleted(image, release))
    loaded = replicas_of(targets, wanted=wanted, log_dirs=log_dirs, image=image, keeps_doubles=True)
    strays, cleaned = _besides(targets, wanted, log_dirs)
    read = _Read(
        plan=plan,
        release=release,
        image=image,
        states=_states(loaded, release),
        strays=strays,
        cleaned=cleaned,
        full=full,
    )
    brokers = {} if read.image is None else read.image.brokers
    options = with_copies(targets, StartOptions(None, Settings(), release, metadata=metadata), log_dirs)
    premises = chain.from_iterable(start_premises(targets, options, log_dirs, one_cluster=True).values())
    steps = [
        *(broker_steps(plan, brokers) if partitions else ()),
        *double_steps(loaded.doubles),
        *premise_steps(premises),
    ]
    for planned in partitions:
        steps.extend(partition_steps(planned, _now(planned, read), plan, brokers))
    return Verification(
        release=release, plan=plan, steps=tuple(steps), collected=loaded.findings, checked=paths_of(targets)
    )


def _plan_in(folder: str) -> tuple[SavedPlan, dict[tuple[str, int], tuple[int, ...]]]:
    """Return the plan in a directory, and the replicas that its restore.json gives partitions."""
    tree, path, restore = tree_of(folder), join(folder, PLAN), join(folder, RESTORE)
    try:
        if not tree.exists(path) and tree.exists(join(folder, OLD_PLAN)):
            path = join(folder, OLD_PLAN)
        plan = parse_plan(tree.read_whole(path, follow=True, size_max=_PLAN_SIZE_MAX), path)
        has_restore = tree.exists(restore)
        data = tree.read_whole(restore, follow=True, size_max=_PLAN_SIZE_MAX) if has_restore else b'{"partitions": []}'
    except UnreadableError as error:
        raise UsageError(f"{folder}: no plan of kcheck elect --output-dir that can be read: {error}") from error
    return plan, parse_assignments(data, restore)


def _states(loaded: LoadedReplicas, release: Release) -> dict[tuple[str, int], tuple[ReplicaState, ...]]:
    states: dict[tuple[str, int], tuple[ReplicaState, ...]] = {}
    for files in loaded.replicas:
        if files.view.where.broker_id is None:
            raise UsageError(f"{files.path}: no broker id; write BROKER={files.path}")
        states[files.key] = (*states.get(files.key, ()), live(files.view, files.log_dir, release))
    return states


def _besides(
    targets: Iterable[Target], wanted: PartitionFilter, log_dirs: LogDirs
) -> tuple[dict[tuple[str, int], tuple[tuple[int, str], ...]], dict[tuple[str, int, int], Offset]]:
    """Return the stray directories of the log dirs, and up to where their partitions are compacted.

    Of a partition given alone the log dir around it counts.
    """
    strays: dict[tuple[str, int], tuple[tuple[int, str], ...]] = {}
    cleaned: dict[tuple[str, int, int], Offset] = {}
    for target in targets:
        own = parse_directory(split(target.path)[1]) if target.kind is TargetKind.PARTITION else None
        log_dir = log_dirs.open(target)
        number = log_dir.view.where.broker_id
        if number is None or (own is not None and not log_dir.view.files):
            continue
        for name, directory in log_dir.directories:
            key = (directory.topic, directory.partition)
            is_asked = wanted.has(*key) and (own is None or key == (own.topic, own.partition))
            if directory.state is DirectoryState.STRAY and is_asked:
                strays[key] = (*strays.get(key, ()), (number, join(target.log_dir, name)))
        for topic, offsets in (log_dir.checkpoints.cleaned or {}).items():
            cleaned.update({(topic, partition, number): offset for partition, offset in offsets.items()})
    return strays, cleaned


def _now(planned: PlannedPartition, read: _Read) -> PartitionNow:
    """Return the state of a planned partition by the files."""
    key = planned.topic, planned.partition
    states, image = read.states.get(key, ()), read.image
    topic = None if image is None else image.topics.get(planned.topic)
    now = PartitionNow(
        registration=None if topic is None else topic.partitions.get(planned.partition),
        topic_id=None if topic is None else topic.topic_id,
        is_deleted=image is not None and topic is None,
        ends={state.broker_id: state.log_end_offset for state in states if state.broker_id is not None},
        latest_epoch=max((state.latest_epoch for state in states), default=None),
        strays=read.strays.get(key, ()),
        allows_unclean=None if image is None else image.config(planned.topic, UNCLEAN) == "true",
        full=read.full.get(key),
    )
    leader = planned.leader if now.leader is None else now.leader
    leading = next((state for state in states if state.broker_id == leader), None)
    plans = plans_of(states, Election(leader=str(leader), live=True), read.release) if states else ()
    followers = (part for plan in plans for part in plan.followers)
    return now._replace(
        followers={part.broker_id: part for part in followers if part.broker_id is not None},
        served=served_now(planned, leading, image) if planned.served else None,
        evidence=_evidence(planned, leading, read.plan.saved, read.cleaned),
        topic_id=leading.topic_id if now.topic_id is None and leading is not None else now.topic_id,
    )


def _evidence(
    planned: PlannedPartition,
    leading: ReplicaState | None,
    saved: str | None,
    cleaned: Mapping[tuple[str, int, int], Offset],
) -> SavedEvidence | None:
    """Return the saved records that the leader's log has; None if the records given up are not saved here."""
    place = None if saved is None else join(saved, partition_name(planned.topic, planned.partition))
    logs = {} if place is None else _saved_logs(place)
    given_up = [follower for follower in planned.followers if follower.lost is not None]
    if not logs or any(follower.broker_id not in logs for follower in given_up):
        return None
    # What retention has deleted or the log cleaner has removed since is no loss.
    start = Offset(0)
    if leading is not None and leading.broker_id is not None:
        compacted = cleaned.get((planned.topic, planned.partition, leading.broker_id), start)
        start = max(leading.log_start_offset, compacted)
    everything = [LostRange(files, start, Offset(LONG_MAX)) for files in logs.values()]
    lost = [
        LostRange(logs[follower.broker_id], max(start, follower.lost.start), follower.lost.end)
        for follower in given_up
        if follower.lost is not None and follower.lost.end > start
    ]
    own = [LostRange(logs[planned.leader], start, Offset(LONG_MAX))] if planned.leader in logs else []
    expected = distinct(lost, own, planned.high_watermark)
    missing = others = _UNKNOWN
    if leading is not None and leading.problem is None and leading.log_end_offset is not None:
        here = [LostRange(leading.logs, start, leading.log_end_offset)]
        missing = distinct(lost, [*here, *own], planned.high_watermark)
        apart = [follower.broker_id for follower in planned.followers if not follower.follows]
        kept = [LostRange(logs[number], start, Offset(LONG_MAX)) for number in apart if number in logs]
        others = distinct(everything, [*here, *lost, *kept], planned.high_watermark)
    counts = (expected.records, missing.records, others.records, others.committed)
    return SavedEvidence(*counts, start if any(files[0].base_offset < start for files in logs.values()) else Offset(0))


def _saved_logs(place: str) -> dict[int, tuple[LogFile, ...]]:
    """Return the saved files of each broker below the directory of a partition; none if it does not exist."""
    tree, logs = tree_of(place), dict[int, tuple[LogFile, ...]]()
    if not tree.is_directory(place):
        return logs
    try:
        for name in tree.listing(place).directories:
            number = name.removeprefix("broker-")
            if not number.isascii() or not number.isdigit() or name == number:
                continue
            folder, disk = join(place, name), tree.directory(join(place, name))
            paths = [(join(folder, log_name(base)), base) for base in segment_bases(tree.listing(folder).files)]
            if paths:
                logs[int(number)] = tuple(LogFile(path, base, tree.size(path), disk) for path, base in paths)
    except UnreadableError as error:
        raise UsageError(f"{place}: the saved records cannot be read: {error}") from error
    return logs
