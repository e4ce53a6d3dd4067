"""`kcheck elect` with repairs. Finds brokers that a repair without loss makes usable.

Some brokers do not start, some log dirs go offline, and some logs are truncated when their broker starts. They cost
records and replicas. If `kcheck repair` has a plan that discards nothing, the repair is the first step of the answer.
The elections are for the log dirs after the plan. No plan is carried out. The log dirs are read through it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from kcheck.core.election.election import keeps_eligible_leader_replicas
from kcheck.core.election.first_repairs import FirstRepair, unrepaired
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.scenarios import Scenario, scenarios
from kcheck.core.premises.batches import APPENDED, LOOKUPS
from kcheck.core.start.predictions import LogCut, LogDirPrediction, PartitionPrediction
from kcheck.core.start.startup import NOT_LOADED, Mode, Outcome
from kcheck.core.start.verdicts import unmarked_by
from kcheck.disk.paths import absolute, join
from kcheck.disk.planned import PlannedTree
from kcheck.disk.tree import Tree
from kcheck.documents.election_words import added_words, repair_words, unmarked_words
from kcheck.dumps.entries import crc32c_of
from kcheck.errors import PlanError, UsageError
from kcheck.model.names import LIVE, DirectoryState, parse_directory
from kcheck.model.plan import FileOp, Patch, Plan, Rename, SetAside, Write, place_of
from kcheck.model.premises import PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter
from kcheck.model.unreadable import UnreadableError
from kcheck.records.batch import HEADER, OVERHEAD
from kcheck.replicas.broker_gaps import mistaken_of
from kcheck.replicas.elect import NOT_REPAIRED, ClusterElection, ElectionQuestion
from kcheck.replicas.elect import elect as elect_as_it_lies
from kcheck.startup.options import StartOptions
from kcheck.views.log_dir import LogDirs
from kcheck.views.owned_arguments import with_owners
from kcheck.views.targets import Target, replica_targets
from kcheck.words import DOES_NOT_START, agree, partition_name, record_count, some_of

if TYPE_CHECKING:
    from kcheck.plans.losses import PartitionLoss
    from kcheck.plans.repair import RepairPlan

_TWICE = "KC304"
"""The rule of partitions with two directories."""
_NEEDS_REPAIR = (LOOKUPS, APPENDED)
"""The premises about logs that load, and that a broker damages or misreads before a repair."""
_CRC_FROM = 21
"""First byte of a batch that its CRC covers."""


class _Broker(NamedTuple):
    """The log dirs of one broker."""

    number: int
    arguments: tuple[str, ...]
    """The names of its log dirs, for a command about this broker alone."""
    targets: tuple[Target, ...]
    starts: tuple[LogDirPrediction, ...]
    """The next starts of its log dirs, without repairs."""


class _Planned(NamedTuple):
    """The repair of one broker, and what it makes of the log dirs."""

    repair: FirstRepair
    trees: Mapping[str, Tree]
    """The log dirs as the plan leaves them, by path."""
    aside: tuple[str, ...]
    """`BROKER=PATH` of the directories that the plan moves aside."""


def elect(
    arguments: list[str],
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    release: Release,
    log_dirs: LogDirs | None = None,
) -> ClusterElection:
    """Return the recommended leaders of the partitions in the paths, after the repairs that come first.

    `log_dirs` are the open ones. UsageError if a path is a file, or a log dir has no broker id. UsageError also if a
    broker is both here and dead.
    """
    arguments = with_owners(arguments, question.metadata, log_dirs or LogDirs(release))
    now = elect_as_it_lies(arguments, question, wanted=wanted, release=release, log_dirs=log_dirs)
    if now.interrupted is not None:
        return now
    try:
        return _with_repairs(now, arguments, question, wanted, release)
    except KeyboardInterrupt:
        return replace(now, interrupted=NOT_REPAIRED)


def _with_repairs(
    now: ClusterElection, arguments: list[str], question: ElectionQuestion, wanted: PartitionFilter, release: Release
) -> ClusterElection:
    """Return the answer after the repairs that come first; as it is without any."""
    before = now
    if now.left_out:
        question = replace(question, added=now.left_out)
        now = elect_as_it_lies(arguments, question, wanted=wanted, release=release)
    planned = tuple(_planned(now))
    while planned:
        trees = {path: tree for row in planned for path, tree in row.trees.items()}
        aside = replace(question, aside=(*question.aside, *chain.from_iterable(row.aside for row in planned)))
        then = elect_as_it_lies(arguments, aside, wanted=wanted, release=release, trees=trees).whole()
        if mistaken_of(then.gaps, then.premises):
            break  # No repair is right before each disk is at its own broker.
        able = tuple(row for row in planned if row.repair.broker_id in then.starts)
        if able == planned:
            return _changed_first(before, replace(then, question=question), tuple(row.repair for row in planned))
        planned = able  # What keeps the others from starting is no damage of files.
    return _changed_first(before, now, ()) if before.left_out else now


def _changed_first(
    now: ClusterElection, then: ClusterElection, repairs: tuple[FirstRepair, ...]
) -> ClusterElection:  # fmt: skip
    """Return the answer `then`, after the repairs and changes of log.dirs, with the loss without them."""
    rows = tuple(unrepaired(now.partitions, then.partitions))
    without = _by_name(scenarios(rows, now.starts, now.order.brokers))
    first, *others = then.scenarios
    words = [added_words(then.question.added)]
    then = replace(then, repairs=repairs)
    nothing = then.nothing_words
    words += [repair_words(repairs, without=without, then=_by_name(then.scenarios), nothing=nothing)] if repairs else []
    return replace(
        then,
        collected=now.collected,
        verdict=" ".join(filter(None, (*words, then.verdict))),
        scenarios=(first, without[first.name]._replace(name=f"{first.name}-unrepaired"), *others),
    )


def _by_name(rows: Iterable[Scenario]) -> dict[str, Scenario]:
    return {row.name: row for row in rows}


def _planned(now: ClusterElection) -> Iterator[_Planned]:
    """Yield the repairs that a broker needs first, and that lose nothing."""
    brokers = tuple(_brokers(now))
    for broker in brokers:
        dirs = (
            *_troubled(broker),
            *_nameless(broker.starts, now),
            *_only_aside(broker.number, now),
            *_unrepaired(broker.number, now),
        )
        dirs, failed = tuple(dict.fromkeys(dirs)), _failed(broker.starts)
        # Where the partitions that fail do not explain it, the whole broker is looked at.
        ways: list[tuple[tuple[str, ...], tuple[str, ...]]] = [(dirs, ())] if dirs else []
        ways += [((), ())] if failed else []
        # Other replicas prove which directories can be moved aside so that the broker starts.
        others = tuple(chain.from_iterable(other.arguments for other in brokers if other is not broker))
        ways += [(dirs, others)] if failed and dirs and others else []
        for only, against in ways:
            planned = _repair_of(broker, PartitionFilter(partitions=only), now, against)
            if planned is not None:
                yield planned
                break


def _brokers(now: ClusterElection) -> Iterator[_Broker]:
    """Yield the brokers of which a log dir is among the arguments."""
    of_argument = {argument: replica_targets([argument]) for argument in now.arguments}
    for number in now.brokers:
        arguments: dict[str, None] = {}
        targets: dict[str, Target] = {}
        for argument, named in of_argument.items():
            own = [target for target in named if now.broker_of(target) == number]
            targets |= {target.path: target for target in own}
            whole = len(own) == len(named)
            arguments |= dict.fromkeys([argument] if whole else [f"{number}={target.path}" for target in own])
        starts = tuple(now.predicted[path] for path in targets)
        yield _Broker(number, tuple(arguments), tuple(targets.values()), starts)


def _failed(starts: Iterable[LogDirPrediction]) -> set[str]:
    """Return the log dirs that the broker does not load."""
    return {start.path for start in starts if start.outcome in NOT_LOADED}


def _troubled(broker: _Broker) -> tuple[str, ...]:
    """Return the partitions, as TOPIC-N, for which a repair may find more.

    The broker does not load them, truncates more than an incomplete end, or finds two directories of one partition.
    """
    rows = [
        (target, row) for target, start in zip(broker.targets, broker.starts, strict=True) for row in start.partitions
    ]
    live = (row.directory for _, row in rows if row.directory.state in LIVE)
    places = Counter((directory.topic, directory.partition) for directory in live)
    return tuple(
        dict.fromkeys(
            partition_name(row.directory.topic, row.directory.partition)
            for target, row in rows
            if _is_troubled(target, row) or places[row.directory.topic, row.directory.partition] > 1
        )
    )


def _only_aside(number: int, now: ClusterElection) -> Iterator[str]:
    """Yield the partitions for which only an unserved directory of the broker has some records."""
    for part in now.of_cluster:
        if any(copy.broker_id == number and copy.only_here and copy.only_here.records for copy in part.candidates):
            yield part.name


def _unrepaired(number: int, now: ClusterElection) -> dict[str, str]:
    """Return the partitions, as TOPIC-N, that a broker must not serve before `kcheck repair`, and why.

    A repair lowers the high watermark, which shows a loss. So other replicas have to have the records.
    """
    kept = {part.name for part in now.of_cluster if not _is_losing(part)}
    rows = (row for row in now.uncounted if row.id in _NEEDS_REPAIR and row.status is PremiseStatus.REFUTED)
    return {name: row.sentence for row in rows if row.broker_id == number and (name := row.partition) in kept and name}


def _is_troubled(target: Target, row: PartitionPrediction) -> bool:
    if row.outcome in NOT_LOADED or row.fails_later or row.unread:
        return True
    cuts = () if row.log is None else row.log.cuts
    loses = row.lost is not None or row.unproven is not None
    return loses and (not cuts or any(_may_be_patched(target, row.dir, cut) for cut in cuts))


def _nameless(starts: Iterable[LogDirPrediction], now: ClusterElection) -> list[str]:
    """Return the replicas that a broker does not serve because partition.metadata does not name the topic id.

    The file has none, or with ZooKeeper another one than the cluster, for a topic that was created again.
    """
    known = {part.name for part in now.of_cluster}
    strays = [
        (start, row)
        for start in starts
        for row in start.partitions
        if row.outcome is Outcome.STRAY and row.directory.state is DirectoryState.CURRENT
    ]
    return [
        row.dir for start, row in strays if row.topic_id is None or (start.mode is Mode.ZOOKEEPER and row.dir in known)
    ]


def _may_be_patched(target: Target, name: str, cut: LogCut) -> bool:
    """Return whether the removed bytes begin with a complete batch that a repair of its header can save.

    No repair without loss helps an incomplete or corrupt batch, and its log may be large.
    """
    try:
        with target.tree.directory(join(target.log_dir, name)).open(cut.name) as source:
            header = source.pread(HEADER.size, cut.position)
            if len(header) < HEADER.size:
                return False
            fields = dict(zip(HEADER.names, HEADER.unpack_from(header), strict=True))
            end = cut.position + OVERHEAD.size + fields["batch_size"]
            is_whole = cut.position + HEADER.size <= end <= source.size
            return bool(is_whole and crc32c_of(source, cut.position + _CRC_FROM, end) == fields["crc"])
    except UnreadableError:
        return True


def _repair_of(
    broker: _Broker, wanted: PartitionFilter, now: ClusterElection, against: tuple[str, ...]
) -> _Planned | None:
    """Return the repair of a broker; None if no repair is possible without loss, or if it would change nothing.

    `against` names the replicas of other brokers, which prove that their records are kept.
    """
    planned, accepts = _plan_of(broker, wanted, now, against), False
    is_open = planned is None or any(row.plan_loses is not None for row in planned.losses)
    losing = {part.name for part in now.of_cluster if _is_losing(part)}.intersection(wanted.partitions or ())
    needs = _unrepaired(broker.number, now).keys()
    is_left = bool(needs - {*(() if planned is None else _changed(planned.plan))}) and bool(wanted.partitions)
    if is_left or (is_open and losing):
        gentler = _plan_of(broker, wanted, now, against, accept_loss=True)
        accepts = gentler is not None and (is_left or planned is None or _saved(gentler) > _saved(planned))
        planned = gentler if accepts else planned
    if planned is None:
        return None
    few = _touched(planned.plan)
    if few and len(few) < len(wanted.partitions):
        narrow = wanted._replace(partitions=few)
        again = _plan_of(broker, narrow, now, against, accept_loss=accepts)
        if again is not None and again.plan.operations == planned.plan.operations:
            planned, wanted = again, narrow
    said = now.release.evidence
    arguments = (
        *broker.arguments,
        *chain.from_iterable(("--against", other) for other in against),
        *(("--accept-loss",) if accepts else ()),
        *chain.from_iterable(("--topic", name) for name in wanted.topics),
        *chain.from_iterable(("--partition", name) for name in wanted.partitions),
        *chain.from_iterable(("--metadata", path) for path in now.question.metadata),
        *(("--kafka", now.release.name) if said is None or said.given else ()),
    )
    operations = planned.plan.operations
    size = sum(map(_written, operations))
    from kcheck.plans.losses import in_words  # a plan was made: it is imported already

    discards = some_of([f"{in_words(row.plan_loses)} of {row.dir}" for row in planned.losses if row.plan_loses])
    copies = dict.fromkeys(row.reason for row in planned.chosen if row.finding == _TWICE)
    why = "; ".join((_why(broker, now), *copies))
    given_up = discards if accepts and losing else None
    unmarks = bool(unmarked_by(broker.starts))
    repair = FirstRepair(broker.number, arguments, len(operations), size, why, given_up, unmarks)
    return _as_planned(broker, planned.plan, repair)


def _plan_of(
    broker: _Broker, wanted: PartitionFilter, now: ClusterElection, against: tuple[str, ...], *,
    accept_loss: bool = False,
) -> "RepairPlan | None":  # fmt: skip
    """Return the plan of `kcheck repair` for a broker; None without one, or if it does not help the broker.

    With `accept_loss` it may discard records that the broker discards as well, if the broker discards more.
    """
    from kcheck.plans.repair import repair  # the rules and all they need: only where a start is not clean
    from kcheck.views.broker_settings import settings_of

    arguments = [*broker.arguments]
    settings = settings_of(arguments, None, (), now.release)
    options = StartOptions(None, settings, now.release, wanted, metadata=now.question.metadata)
    try:
        planned = repair(arguments, [*against], options, accept_loss=accept_loss, election=now)
    except (UsageError, PlanError):
        return None
    needs = _unrepaired(broker.number, now)
    mends = not needs.keys().isdisjoint(_changed(planned.plan))
    others = (row for row in planned.losses if row.dir not in needs)
    if accept_loss and not ((mends or _saved(planned)) and all(map(_is_no_worse, others))):
        return None
    saves = any(row.saved or (row.start_loses is not None and row.plan_loses is None) for row in planned.losses)
    is_better = saves or _failed(planned.starts) < _failed(broker.starts)
    is_better = is_better or len(_nameless(planned.starts, now)) < len(_nameless(broker.starts, now))
    brings_back = mends or any(isinstance(operation, Rename) for operation in planned.plan.operations)
    return planned if planned.plan.operations and (is_better or brings_back) else None


def _is_losing(part: PartitionElection) -> bool:
    """Return whether a partition loses records or its leader by the steps without a repair."""
    return part.best is None or part.lost_planned is None or part.lost_planned.records != 0


def _saved(planned: "RepairPlan") -> int:
    """Return how many records a plan saves at least."""
    return sum(row.saved for row in planned.losses)


def _is_no_worse(row: "PartitionLoss") -> bool:
    """Return whether a partition loses nothing with a plan, or less than without the plan."""
    start, plan = (0 if lost is None else lost.at_least for lost in (row.start_loses, row.plan_loses))
    return row.plan_loses is None or plan < start


def _touched(plan: Plan) -> tuple[str, ...]:
    """Return the partitions whose directories a plan changes, as TOPIC-N; none if it changes anything else."""
    names = [*_changed(plan)]
    return () if None in names else tuple(dict.fromkeys(name for name in names if name is not None))


def _changed(plan: Plan) -> Iterator[str | None]:
    """Yield the partition of each change of a plan, as TOPIC-N; None for a change outside of partitions."""
    for operation in plan.operations:
        place = place_of(operation.path, plan.log_dirs)
        directory = None if place is None else parse_directory(place[1][0])
        yield None if directory is None else partition_name(directory.topic, directory.partition)


def _written(operation: FileOp) -> int:
    """Return how many bytes an operation writes."""
    if isinstance(operation, Patch):
        return sum(len(change.new) for change in operation.changes)
    return operation.after.size if isinstance(operation, Write) else 0


def _as_planned(broker: _Broker, plan: Plan, repair: FirstRepair) -> _Planned:
    """Return a repair with the log dirs as its plan leaves them, by the paths that the user gave."""
    places = {absolute(target.tree.real(target.log_dir)): target.log_dir for target in broker.targets}
    aside = []
    for operation in plan.operations:
        place = place_of(operation.path, places)
        if isinstance(operation, SetAside) and operation.directory and place is not None:
            aside.append(f"{broker.number}={join(places[place[0]], *place[1])}")
    trees = {target.log_dir: PlannedTree(target.tree, places, plan.operations) for target in broker.targets}
    return _Planned(repair, trees, tuple(aside))


def _why(broker: _Broker, now: ClusterElection) -> str:
    """Return the failure or loss of a broker that starts without a repair, as a clause."""
    failed = [start for start in broker.starts if start.outcome in NOT_LOADED]
    if broker.number not in now.starts and failed:
        return f"{DOES_NOT_START}{next(iter(failed[0].reasons), failed[0].outcome)}"
    if failed:
        return f"its log dir {failed[0].path} goes offline: {next(iter(failed[0].reasons), failed[0].outcome)}"
    rows = [row for start in broker.starts for row in start.partitions if row.lost is not None]
    nameless = _nameless(broker.starts, now)
    if not rows and nameless:
        noun = agree(len(nameless), "its topic", "their topics")
        return f"it does not serve {some_of(nameless)}: partition.metadata does not name the id of {noun}"
    needs = _unrepaired(broker.number, now)
    if not rows and needs:
        return next(iter(needs.values())).partition(". ")[0]
    if not rows:
        return f"no broker serves {some_of([*_only_aside(broker.number, now)])}, and this one has a copy"
    at_least = sum(row.lost.at_least for row in rows if row.lost is not None)
    exact = at_least if all(row.lost is None or row.lost.records is not None for row in rows) else None
    return f"its start loses {record_count(exact, at_least)} of {some_of([row.dir for row in rows])}"


def failed_starts(election: ClusterElection) -> str | None:
    """Return the sentence about starts that fail before the repairs and remove .kafka_cleanshutdown."""
    unmarked = {row.broker_id for row in election.repairs if row.unmarks}
    unmarked.update(unmarked_by(election.predicted.values()))
    image, release = election.image, election.release
    leaves_isr = election.kraft and image is not None and keeps_eligible_leader_replicas(image, release)
    return unmarked_words(sorted(unmarked), leaves_isr=leaves_isr)
