"""The comparison of a cluster with the plan of a recovery, and the reasons why the plan stops."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from kcheck.core.election.plans import CopyState
from kcheck.core.election.progress import (
    ClusterSeen,
    PlanState,
    SavedStep,
    StepState,
    differences,
    overtaken,
    seen_of,
    states,
    unled,
)
from kcheck.core.election.recovery_plan import BrokerLogDir, PlannedPartition, SavedPlan
from kcheck.core.election.steps import RecoveryAction, RecoveryStep
from kcheck.disk.paths import join
from kcheck.disk.tree import tree_of
from kcheck.documents.premises import removes, without_proof
from kcheck.documents.verification import StepKind
from kcheck.errors import UsageError
from kcheck.handouts.election_files import PLAN
from kcheck.handouts.saved_plan import parse_cases, parse_plan, parse_steps
from kcheck.model.cluster import ClusterImage
from kcheck.model.names import DirectoryState, TopicPartition, ids_differ
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.plans.progress import RecoveryProgress
from kcheck.plans.recover import ClusterRecovery, recover
from kcheck.plans.recovery_cases import lost_log_dirs
from kcheck.plans.rescue_answer import RECOVERY, read_saved
from kcheck.replicas.broker_gaps import failing_of
from kcheck.replicas.elect import ElectionQuestion
from kcheck.replicas.verification import verify
from kcheck.words import agree, broker_names, partition_name, within

_COURSE = (RecoveryAction.START, RecoveryAction.STOP, RecoveryAction.ELECT, RecoveryAction.REASSIGN)


def next_step(
    folder: str, arguments: list[str], question: ElectionQuestion, *, wanted: PartitionFilter, release: Release
) -> RecoveryProgress:
    """Return the next action, by the plan in a directory and the present log dirs.

    Without named metadata the copies of the plan count. The brokers may have another history.

    UsageError if the directory has no plan, or the paths have no metadata. UsageError also if a path is a file, or a
    log dir has no broker id.
    """
    plan, steps = _plan_in(folder)
    question = replace(question, metadata=question.metadata or plan.metadata)
    now = recover(arguments, question, wanted=wanted, release=release)
    given_up, without_newest = tuple(_given_up(steps, now)), tuple(_without_newest(steps, now))
    if given_up or without_newest:
        without = (*question.without, *given_up)
        question = replace(question, without=without, without_newest=without_newest)
        now = recover(arguments, question, wanted=wanted, release=release)
    image = now.election.image
    if image is None:
        raise UsageError("--next needs the metadata of the cluster; name a controller's log dir with --metadata")
    seen = _seen(plan, steps, now, image, given_up)
    far = states(steps, plan, seen)
    awaited = {
        name
        for step, state in zip(steps, far, strict=True)
        if step.kind is RecoveryAction.ELECT and state is not StepState.DONE
        for name in step.partitions
    }
    differs = tuple(differences(plan, seen, awaited))
    gone = tuple(_gone(plan, image))
    progress = RecoveryProgress(
        folder=folder, steps=steps, states=far, now=now, differs=differs,
        gone=tuple(partition_name(*name) for name in gone),
        unfenced=() if seen.registered or not now.election.kraft else tuple(sorted(seen.unfenced)),
        cases=parse_cases(read_saved(folder, RECOVERY), join(folder, RECOVERY)),
    )  # fmt: skip
    waits = tuple(unled(steps, far, plan, seen)) if now.election.kraft else ()
    late = overtaken(steps, seen) if now.election.kraft else ()
    fails = (
        *_without_steps(steps, far, now),
        *(f"broker {later} has started before broker {number}" for number, later in late),
        *_fails(progress, seen),
        *_new_needs(progress, seen),
        *_unplanned(plan, progress, seen),
        *_found(plan, progress, seen),
        *_not_saved(plan, progress),
        *_other_logs(plan, progress, seen),
        *_without_topic(progress, gone),
        *_fenced_otherwise(progress, seen),
        *map(_led, waits),
    )
    unsolved = (gap for gap in failing_of(now.election.gaps) if gap.broker_id not in seen.registered)
    unsolved_words = tuple(f"broker {gap.broker_id} does not start: {gap.why}" for gap in unsolved)
    progress = replace(progress, fails=fails, unsolved=unsolved_words)
    if progress.state is not PlanState.DONE:
        return progress
    verification = verify(folder, arguments, wanted=wanted, release=release, metadata=question.metadata)
    differing = tuple(row for row in verification.steps if row.ok is False)
    return replace(
        progress,
        left=tuple(row for row in differing if row.kind not in {StepKind.STRAY, StepKind.TOPIC}),
        strays=tuple(row.seen for row in differing if row.kind is StepKind.STRAY),
    )


def _without_steps(steps: tuple[SavedStep, ...], far: tuple[StepState, ...], now: ClusterRecovery) -> Iterator[str]:
    """Yield the log dirs that are not given, and that the plan was made without some."""
    if not steps or any(state is not StepState.DONE for state in far):
        yield from (within(words).rstrip(".") for words in now.first.log_dirs)
    if not (steps or now.first.log_dirs):
        yield "the plan has no steps, because something came before all steps then"


def _plan_in(folder: str) -> tuple[SavedPlan, tuple[SavedStep, ...]]:
    plan, steps = (read_saved(folder, name) for name in (PLAN, RECOVERY))
    return parse_plan(plan, join(folder, PLAN)), parse_steps(steps, join(folder, RECOVERY))


def _seen(
    plan: SavedPlan, steps: tuple[SavedStep, ...], now: ClusterRecovery, image: ClusterImage,
    given_up: tuple[BrokerLogDir, ...],
) -> ClusterSeen:  # fmt: skip
    """Return the state of the cluster for the steps of a plan."""
    ran = () if now.election.kraft else tuple(_ran_since(plan, steps, now))
    old = {number for step in steps if step.kind is RecoveryAction.BRING for number in step.brokers} & {*plan.order}
    unproven = without_proof(old, now.election.premises) if now.election.kraft else ()
    return seen_of(plan, image, ran)._replace(
        needs_rescue=now.election.rescue is not None,
        sought=frozenset((*now.first.disks, *unproven)),
        unrepaired=frozenset(repair.broker_id for repair in now.election.repairs),
        misplaced=frozenset(number for row in now.recovery.misplaced for number in (row.broker_id, row.to_broker)),
        short=frozenset(row.broker_id for row in (*now.election.question.added, *given_up)),
        present=_present(steps, now),
        deleted=frozenset(
            (start.broker_id, row.dir)
            for start in now.election.predicted.values()
            for row in start.partitions
            if start.broker_id is not None and row.directory.state is DirectoryState.DELETED
        ),
        beyond=frozenset(
            TopicPartition(part.topic, part.partition)
            for part in now.election.partitions
            if part.recommended is not None and part.recommended.groups_beyond
        ),
    )


def _given_up(steps: tuple[SavedStep, ...], now: ClusterRecovery) -> Iterator[BrokerLogDir]:
    """Yield the lost log dirs in log.dirs that a step of the plan takes out."""
    brokers = {number for step in steps if step.kind is RecoveryAction.LOG_DIRS for number in step.brokers}
    return (row for row in lost_log_dirs(now.election) if row.broker_id in brokers)


def _without_newest(steps: tuple[SavedStep, ...], now: ClusterRecovery) -> Iterator[int]:
    """Yield the brokers whose old copy a plan starts, without a step that looks for the newest disk."""
    kinds = {(step.kind, number) for step in steps for number in step.brokers}
    for number in now.first.disks if now.is_held else ():
        if (RecoveryAction.START, number) in kinds and (RecoveryAction.BRING, number) not in kinds:
            yield number


def _ran_since(plan: SavedPlan, steps: tuple[SavedStep, ...], now: ClusterRecovery) -> Iterator[int]:
    """Yield the brokers that the plan stops and that have led since, as their logs have a later leader epoch."""
    for number in {number for step in steps if step.kind is RecoveryAction.STOP for number in step.brokers}:
        if any(
            copy.state.latest_epoch > row.epoch_floor
            for row in plan.partitions
            for copy in now.election.copies(row.topic, row.partition)
            if copy.state.broker_id == number and copy.role is CopyState.CURRENT
        ):
            yield number


def _present(steps: tuple[SavedStep, ...], now: ClusterRecovery) -> frozenset[tuple[int, TopicPartition]]:
    """Return the directories that the plan has moved aside, and that are still there."""
    names = {name for step in steps if step.kind is RecoveryAction.SET_ASIDE for name in step.partitions}
    return frozenset(
        (copy.state.broker_id, name)
        for name in names
        for copy in now.election.copies(*name)
        if copy.role is CopyState.CURRENT and copy.dir is not None and copy.state.broker_id is not None
    )


def _fenced_otherwise(progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield that another plan is better, once the controllers have fenced the brokers, and none has started."""
    is_fenced = (RecoveryAction.FENCE, StepState.DONE) in {
        (step.kind, state) for step, state in zip(progress.steps, progress.states, strict=True)
    }
    if is_fenced and not seen.registered and _course(progress.steps) != _course(progress.now.steps):
        yield "the controllers have fenced the brokers, and the ISR differs from the assumed one"


def _gone(plan: SavedPlan, image: ClusterImage) -> Iterator[TopicPartition]:
    """Yield the partitions of a plan whose topics were deleted since, are being deleted, or were created again."""
    for row in plan.partitions:
        topic = image.topics.get(row.topic)
        if topic is None or ids_differ(row.topic_id, topic.topic_id):
            yield TopicPartition(row.topic, row.partition)


def _without_topic(progress: RecoveryProgress, gone: Collection[TopicPartition]) -> Iterator[str]:
    """Yield the partitions of open steps that the cluster no longer has. Kafka's tools refuse them."""
    steps = zip(progress.steps, progress.states, strict=True)
    wanted = {name for step, state in steps if state is not StepState.DONE for name in step.partitions}
    for name in sorted(wanted.intersection(gone)):
        yield f"a later step is for {partition_name(*name)} (topic deleted)"


def _led(row: PlannedPartition) -> str:
    """Return the words for a partition that will not get a leader."""
    return f"{partition_name(row.topic, row.partition)} has no leader, and no later step of the plan elects one"


def _course(steps: Iterable[SavedStep | RecoveryStep]) -> list[tuple[object, ...]]:
    """Return the steps of brokers and leaders, without steps before the first start."""
    return [
        (step.kind, step.brokers, sorted((row.topic, row.partition) for row in step.partitions), step.is_again)
        for step in steps
        if step.kind in _COURSE
    ]


def _fails(progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield why a broker that a step is still to start does not start."""
    waiting = _waiting(progress) - seen.running
    election = progress.now.election
    for gap in election.gaps:
        if gap.broker_id in waiting and gap.broker_id in election.brokers:
            yield f"broker {gap.broker_id} does not start: {gap.why}"
    removing = sorted(waiting.intersection(row.broker_id for row in filter(removes, election.uncounted)))
    if removing:
        yield f"{broker_names(removing)} {agree(len(removing), 'deletes', 'delete')} records when started"


def _new_needs(progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield needs of brokers that the plan does not have, because something changed before any broker started."""
    has = {(step.kind, number) for step in progress.steps for number in step.brokers}
    needs = {
        RecoveryAction.REPAIR: ("a repair", seen.unrepaired),
        RecoveryAction.LOG_DIRS: ("another log.dirs", seen.short),
        RecoveryAction.PUT_BACK: ("another place of a directory", seen.misplaced),
    }
    for kind, (what, brokers) in needs.items():
        for number in sorted(brokers) if not seen.registered else ():
            if (kind, number) not in has:
                yield f"broker {number} needs {what} first, and the plan has no such step"


def _unplanned(plan: SavedPlan, progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield the brokers that can start now, and did not when the plan was made. Their logs may be the best ones."""
    for number in sorted(progress.now.election.starts.keys() - {*plan.order, *plan.dead} - seen.registered):
        yield f"broker {number} can start now, and the plan leaves that broker out"


def _found(plan: SavedPlan, progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield the brokers of the plan whose newest disk is here now; none once a broker of the plan runs.

    ZooKeeper forgets the registration that shows an old copy.
    """
    if progress.steps and all(step.kind is RecoveryAction.BRING for step in progress.steps):
        if progress.at is None:
            sought = [number for step in progress.steps for number in step.brokers]
            yield f"the disks of {broker_names(sought)} are not sought any more, and the plan has no other step"
        return
    last = progress.steps[-1] if progress.steps else None
    if last is not None and last.kind is RecoveryAction.PUT_BACK and progress.at is None:
        yield f"the directories of {broker_names(last.brokers)} are back, and the plan has no other step"
    for step, state in zip(progress.steps, progress.states, strict=True):
        is_here = step.kind is RecoveryAction.BRING and state is StepState.DONE and not seen.registered
        if is_here and progress.now.election.kraft and {*step.brokers} <= {*plan.order}:
            yield f"the disks of {broker_names(step.brokers)} are here now, and the plan was made without them"


def _not_saved(plan: SavedPlan, progress: RecoveryProgress) -> Iterator[str]:
    """Yield that saved records are missing, as long as a broker of the plan has not started."""
    is_open = any(
        step.kind is RecoveryAction.START and state is not StepState.DONE
        for step, state in zip(progress.steps, progress.states, strict=True)
    )
    if plan.saved is not None and is_open and not tree_of(plan.saved).exists(plan.saved):
        yield f"{plan.saved} is missing, and later steps remove the records that were saved there"


def _other_logs(plan: SavedPlan, progress: RecoveryProgress, seen: ClusterSeen) -> Iterator[str]:
    """Yield the replicas whose logs have another end now, although their brokers have not started since.

    Such a disk is another one, or was changed. Replicas that a step moves aside, or that are empty, do not count. A
    broker that does not start has one reason, which is not its logs.
    """
    failing = {gap.broker_id for gap in failing_of(progress.now.election.gaps)}
    waiting = _waiting(progress) - seen.registered - failing
    now = {(part.topic, part.partition): part for part in progress.now.election.partitions}
    aside = {
        (number, name)
        for step in progress.steps
        if step.kind is RecoveryAction.SET_ASIDE
        for number in step.brokers
        for name in step.partitions
    }
    for row in plan.partitions:
        part, name = now.get((row.topic, row.partition)), partition_name(row.topic, row.partition)
        followers = [(own.broker_id, own.log_end_offset) for own in row.followers if own.log_end_offset]
        for number, expected in ((row.leader, row.log_end_offset), *followers):
            if number not in waiting or part is None or (number, (row.topic, row.partition)) in aside:
                continue
            copy = part.leaders.get(number)
            end = None if copy is None else copy.log_end_offset
            if copy is None:
                yield f"broker {number} has no log of {name} any more that can lead"
            elif end != expected and None not in (end, expected):
                yield f"{name} of broker {number} ends at offset {end} (at {expected} in the plan)"


def _waiting(progress: RecoveryProgress) -> set[int]:
    """Return the brokers that steps are still to start."""
    pairs = zip(progress.steps, progress.states, strict=True)
    starts = [step for step, state in pairs if step.kind is RecoveryAction.START and state is not StepState.DONE]
    return {number for step in starts for number in step.brokers}
