"""The progress of a cluster with the plan of a rescue, for `kcheck recover DIR --next`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kcheck.core.election.progress import PlanState, StepState
from kcheck.core.rescue.broker_role import ROLES, as_broker
from kcheck.core.rescue.progress import (
    NodeSeen,
    RescueAction,
    RescueSeen,
    SavedRescue,
    differences_of_image,
    differences_of_rescue,
    rescue_states,
    seen_of_rescue,
    state_of_rescue,
    unsettled,
)
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.disk.local import LOCAL
from kcheck.disk.paths import join, split
from kcheck.disk.places import digest_of_directory, digest_of_file
from kcheck.documents.answer import Answer
from kcheck.documents.recovery_next import go_on_words, progress_body, wait_words
from kcheck.errors import UsageError
from kcheck.handouts.quorum_steps import QuorumStep, rescue_command
from kcheck.handouts.saved_rescue import AdoptedDirectory, RescueFiles, parse_rescue
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState, log_name, parse_directory, segment_bases, segment_prefix
from kcheck.model.plan import Digest, FileOp, Rename, SetAside
from kcheck.model.plan_json import parse_plan
from kcheck.model.release import Release
from kcheck.model.report import Report
from kcheck.plans.recover_topic import topic_id_of
from kcheck.plans.rescue_answer import RECOVERY, ZNODES, read_saved
from kcheck.segments.batches import Walk
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand, named_metadata
from kcheck.views.metadata_paths import identity_of
from kcheck.views.rescue_nodes import rescue_nodes, rifts
from kcheck.views.settings_files import settings_path
from kcheck.views.targets import Target, paths_of, read_properties, replica_targets
from kcheck.words import LISTED_MAX, agree, broker_names, listed, shell_line, some_of

_BROKER_ALONE = f"{ROLES}=broker"
_UNTIL = {
    RescueAction.CONTROLLER: "the metadata log of the controller has a record of a new leader",
    RescueAction.BROKERS: "the brokers have fetched the new metadata",
}


@dataclass(frozen=True, kw_only=True)
class RescueProgress(Answer):
    """The answer of `kcheck recover DIR --next` about the plan of a rescue."""

    folder: str
    """The directory of the plan."""
    verb: str
    """The command of the plan, such as `quorum`."""
    steps: tuple[QuorumStep, ...]
    """The steps of the plan."""
    states: tuple[StepState, ...]
    """The progress of each step."""
    seen: RescueSeen
    """The state of the cluster."""
    fails: tuple[str, ...]
    """The reasons to stop."""
    again: str
    """The command that plans again."""
    next_line: str
    """The command that asks again."""
    has_zookeeper: bool
    """True if ZooKeeper has the metadata, not a controller."""
    release: Release
    """The Kafka release that is modelled."""
    checked: tuple[str, ...]
    """The paths that were read."""
    collected: list[Finding]
    """The findings about the paths that were read."""

    @property
    def state(self) -> PlanState:
        """The state of the plan."""
        return self._now[0]

    @property
    def at(self) -> int | None:
        """The place of the first step that is not done; None if all are."""
        return self._now[1]

    @property
    def _now(self) -> tuple[PlanState, int | None]:
        return state_of_rescue([step.action for step in self.steps], self.states, self.fails)

    @property
    def shown(self) -> tuple[QuorumStep, ...]:
        """The steps to take now, with the first one whose result a disk shows."""
        if self.at is None or self.state is not PlanState.NEXT:
            return ()
        hidden = (RescueAction.SETTINGS, RescueAction.IDENTITY)
        end = self.at
        while self.steps[end].action in hidden and end + 1 < len(self.steps):
            end += 1
        return tuple(map(self._without_applied, self.steps[self.at : end + 1]))

    def _without_applied(self, step: QuorumStep) -> QuorumStep:
        """Return a step without the commands of plans that are applied."""
        if step.action is not RescueAction.APPLY:
            return step
        left = [split(name)[1] for name in self.seen.pending]
        return step._replace(commands=tuple(line for line in step.commands if any(name in line for name in left)))

    @property
    def later(self) -> tuple[QuorumStep, ...]:
        """Steps for later, once the cluster works."""
        return tuple(step for step in self.steps if step.action is RescueAction.LATER)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Done, wait, go on or stop, and why."""
        if self.state is PlanState.STOP:
            return f"Stop: {some_of(self.fails)}.", "Start no other node, stop every node of the plan, and ask again."
        if self.at is None:
            following = self.seen.following
            which = f", with {broker_names(following, LISTED_MAX)}" if following else ""
            return (f"Done. The cluster is as planned{which}.",)
        step, count = self.steps[self.at], len(self.steps)
        if self.state is PlanState.WAIT:
            return (f"{wait_words(self.at, count, step.title)} {_awaited(step, self.seen, self.has_zookeeper)}",)
        left = self.seen.unset if step.action is RescueAction.SETTINGS else ()
        return (go_on_words(self.at, count, step.title), *((f"Left: {some_of(left)}.",) if left else ()))

    @property
    def until(self) -> str | None:
        """The end of the step; None if the commands show the end."""
        if not self.shown:
            return None
        action = self.shown[-1].action
        is_registering = self.has_zookeeper and action is RescueAction.BROKERS
        return "the brokers are registered in ZooKeeper" if is_registering else _UNTIL.get(action)

    @property
    def next_command(self) -> str | None:
        """The command to type after the step; None once every step is done."""
        return {PlanState.DONE: None, PlanState.STOP: self.again}.get(self.state, self.next_line)

    def report(self) -> Report:
        """Return the answer as rows."""
        steps = zip(self.steps, self.states, strict=True)
        return self.as_report(
            "recovery-next",
            self.release.name,
            body=progress_body(
                self.state,
                self.sentences,
                self.at,
                [(str(step.action), step.title, state) for step, state in steps],
                commands=[command for step in self.shown for command in step.commands],
                until=self.until,
                fails=self.fails,
                next_command=self.next_command,
            ),
            collected=self.collected,
            checked=self.checked,
            evidence=self.release.evidence,
            kinds={"steps": "step"},
        )


def _awaited(step: QuorumStep, seen: RescueSeen, has_zookeeper: bool) -> str:
    if step.action is RescueAction.CONTROLLER:
        return "Its metadata log must have a record of a new leader."
    if step.action is RescueAction.CHECK:
        return f"Left: {some_of(seen.left)}."
    what = "register in ZooKeeper" if has_zookeeper else "fetch the metadata"
    name = f" Name their log dirs too: {' '.join(f'{number}=PATH' for number in seen.unnamed)}." if seen.unnamed else ""
    return f"{agree(len(seen.waiting), 'Broker', 'Brokers')} {listed(seen.waiting)} must start, and {what}.{name}"


def rescue_next(folder: str, arguments: list[str], metadata: Sequence[str], release: Release) -> RescueProgress:
    """Return the progress with the plan of a rescue.

    UsageError if the directory holds no plan of a rescue, or a path is no log dir of a node.
    """
    files = parse_rescue(read_saved(folder, RECOVERY), join(folder, RECOVERY))
    targets = replica_targets(arguments)
    has_zookeeper = files.verb == "metadata" and files.saved.controller is None
    see = _seen_of_topic if files.verb == "topic" else _seen_of_zookeeper if has_zookeeper else _seen_of_metadata
    seen, fails = see(files, folder, targets, metadata, release)
    named = [word for path in metadata for word in ("--metadata", path)]
    if has_zookeeper:
        words = [*arguments, "--zookeeper"]
    else:
        words = [*([files.topic] if files.verb == "topic" else ()), *arguments, *named]
    return RescueProgress(
        folder=folder, verb=files.verb, steps=files.steps, states=rescue_states(files.saved.actions, seen), seen=seen,
        fails=fails, again=rescue_command(files.verb, words, files.saved.dead),
        next_line=shell_line(["kcheck", "recover", folder, "--next", *arguments, *named]), release=release,
        checked=paths_of(targets), collected=[], has_zookeeper=has_zookeeper,
    )  # fmt: skip


def _seen_of_zookeeper(
    files: RescueFiles, folder: str, targets: Sequence[Target], metadata: Sequence[str], release: Release
) -> tuple[RescueSeen, tuple[str, ...]]:
    """Return the state of a cluster whose new ZooKeeper gets the znodes of a plan, and the reasons to stop.

    UsageError without the metadata of that ZooKeeper.
    """
    zookeeper = named_metadata(tuple(metadata), targets).zookeeper
    if zookeeper is None:
        raise UsageError(
            "--next needs the dataDir of the new ZooKeeper, or an export of its znodes, such as --metadata zookeeper"
        )
    saved, image = files.saved, zookeeper.metadata.image
    here = {identity_of(target.tree, target.path).cluster_id for target in targets}
    theirs = zookeeper.metadata.cluster_id
    is_made = {*saved.topics} <= {*image.topics}
    wanted = {target.broker_id for target in targets if target.broker_id is not None}
    following = wanted & {*image.brokers}
    seen = RescueSeen(
        () if is_made else (join(folder, ZNODES),), _running(targets, LogDirs(release)), leads=is_made,
        following=tuple(sorted(following)), waiting=tuple(sorted(wanted - following)),
        left=tuple(unsettled(saved, image)),
    )  # fmt: skip
    fails = [*differences_of_image(saved, image)] if is_made else []
    if theirs is not None and theirs not in here:
        fails.append(f"ZooKeeper is of cluster {theirs}, and the log dirs are not")
    return seen, tuple(fails)


def _running(targets: Iterable[Target], log_dirs: LogDirs) -> tuple[int, ...]:
    """Return the brokers that hold the lock of a log dir."""
    views = (log_dirs.open(target).view for target in targets)
    return tuple(
        sorted({view.where.broker_id for view in views if view.locked_by and view.where.broker_id is not None})
    )


def _seen_of_metadata(
    files: RescueFiles, folder: str, targets: Sequence[Target], metadata: Sequence[str], release: Release
) -> tuple[RescueSeen, tuple[str, ...]]:
    """Return the state of a cluster with the plan of `recover quorum` or `metadata`, and the reasons to stop."""
    del metadata, release
    saved = files.saved
    nodes = rescue_nodes(targets, saved.dead)
    leader = next((node for node in nodes if node.node_id == saved.controller), None)
    if leader is None:
        raise UsageError(f"--next needs the log dir of controller {saved.controller}: {saved.controller}=PATH")
    image = None if leader.copy is None else leader.copy.image
    rows = [
        NodeSeen(node.node_id, None if node.copy is None else node.copy.epoch, node.epoch, node.running)
        for node in nodes
    ]
    started = leader.running or leader.epoch > saved.written
    pending, changed = ((), ()) if started else _plans_left(files, folder)
    has_topics = image is not None and (saved.epoch > 0 or {*saved.topics} <= {*image.topics})
    is_set, unset = _of_settings(files, targets)
    before = RescueSeen(pending, is_set=is_set, unset=unset, started=started)
    seen = seen_of_rescue(saved, rows, image if has_topics else None, before)
    strays = tuple(_strays(files, targets)) if saved.topics else ()
    return seen, (*changed, *strays, *_torn(leader, nodes, seen), *differences_of_rescue(saved, rows, image, seen))


def _torn(leader: RescueNode, nodes: Iterable[RescueNode], seen: RescueSeen) -> Iterator[str]:
    """Yield the nodes that follow the new leader with different records."""
    following = [node for node in nodes if node.node_id in seen.following]
    for rift in rifts(LOCAL, leader, following) if seen.leads else ():
        yield f"{rift.newest} and {rift.other} do not have the same record at offset {rift.offset}"


def _strays(files: RescueFiles, targets: Iterable[Target]) -> Iterator[str]:
    """Yield the directories of the plan that a broker renamed to -stray since."""
    for target in targets:
        for name in target.tree.directory(target.path).entries().directories:
            parts, path = parse_directory(name), join(target.path, name)
            is_stray = parts is not None and parts.state is DirectoryState.STRAY
            if is_stray and parts is not None and parts.topic in files.saved.topics and path not in files.leftovers:
                yield f"broker {target.broker_id} has set {path} aside"


def _of_settings(files: RescueFiles, targets: Sequence[Target]) -> tuple[bool, tuple[str, ...]]:
    """Return whether settings of nodes are here and as planned, and what differs from the plan, in words."""
    steps = [step for step in files.steps if step.action is RescueAction.SETTINGS and step.commands]
    key, _, value = (steps[0].commands[-1] if steps else "").partition("=")
    are_brokers = any(_BROKER_ALONE in step.commands for step in steps)
    by_node: dict[int | None, list[Target]] = {}
    for target in targets:
        by_node.setdefault(target.broker_id, []).append(target)
    paths = {path: number for number, own in by_node.items() if (path := settings_path(own)) is not None}
    unset = list[str]()
    for path, number in paths.items() if steps else ():
        settings = read_properties(path)
        wrong = as_broker(settings) if are_brokers and number != files.saved.controller else {}
        if settings.get(key) != value:
            wrong[key] = value
        unset += (f"{path} needs {name}={wanted}" for name, wanted in wrong.items())
    return bool(steps and paths and not unset), tuple(unset)


def _seen_of_topic(
    files: RescueFiles, folder: str, targets: Sequence[Target], metadata: Sequence[str], release: Release
) -> tuple[RescueSeen, tuple[str, ...]]:
    """Return the state of a topic whose directories come back, and the reasons to stop."""
    log_dirs = LogDirs(release)
    wanted, topic_id = {row.broker_id for row in files.adopted}, files.saved.topics[files.topic].topic_id
    loaded = {
        broker
        for broker in wanted
        if all(_is_loaded(row, topic_id) for row in files.adopted if row.broker_id == broker)
    }
    pending, changed = ((), ()) if loaded else _plans_left(files, folder)
    image = image_at_hand(targets, tuple(metadata), log_dirs, own_only=True)
    left = () if image is None else tuple(unsettled(files.saved, image))
    fails = [*changed, *_of_image(files.saved, files.topic, image), *_strays(files, targets)]
    seen = RescueSeen(
        pending, _running(targets, log_dirs), leads=bool(loaded),
        following=tuple(sorted(loaded)), waiting=tuple(sorted(wanted - loaded)), left=left,
    )  # fmt: skip
    return seen, tuple(fails)


def _of_image(saved: SavedRescue, topic: str, image: ClusterImage | None) -> Iterator[str]:
    if image is None:
        return
    now = image.topics.get(topic)
    if now is None or now.topic_id != saved.topics[topic].topic_id:
        yield f"the cluster has no topic {topic} of id {saved.topics[topic].topic_id} any more"


def _is_loaded(row: AdoptedDirectory, topic_id: str | None) -> bool:
    """Return whether a broker has loaded a directory with its records. The indexes that a plan left out are back."""
    path = join(row.log_dir, row.name)
    if not LOCAL.is_directory(path) or (row.former != row.name and LOCAL.is_directory(join(row.log_dir, row.former))):
        return False
    folder = LOCAL.directory(path)
    names = folder.entries().sizes
    bases = segment_bases(names)
    if not bases or not all(f"{segment_prefix(base)}.index" in names for base in bases):
        return False
    with folder.open(log_name(bases[-1])) as source:
        end = max((batch.last_offset + 1 for batch in Walk(source)), default=bases[-1])
    return end >= row.end and topic_id_of(folder) == topic_id


def _plans_left(files: RescueFiles, folder: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the plans that are not applied, and the files that have changed since the plan, in words.

    Plans of a node are applied in their order. If a later plan is done, the earlier plans are too.
    """
    pending, changed = list[str](), list[str]()
    for number in dict.fromkeys(number for number, _ in files.plans):
        own = [name for node, name in files.plans if node == number]
        done = next((at for at in range(len(own) - 1, -1, -1) if _changes(folder, own[at])[0] == 0), -1)
        left = own[done + 1 :]
        pending += (join(folder, name) for name in left)
        if left:
            changed += _changes(folder, left[0])[1]
    return tuple(pending), tuple(changed)


def _changes(folder: str, name: str) -> tuple[int, list[str]]:
    """Return how many operations of a plan are not done, and the files that have changed since, in words."""
    plan = parse_plan(read_saved(folder, name))
    open_count, changed = 0, list[str]()
    for operation in plan.operations:
        is_done = _is_done(operation)
        open_count += is_done is not True
        if is_done is None:
            changed.append(f"{operation.path} has changed since the plan was made")
    return open_count, changed


def _is_done(operation: FileOp) -> bool | None:
    """Return whether an operation is done; None if the file has changed since the plan."""
    directory = isinstance(operation, Rename | SetAside) and operation.directory
    now = _now(operation.path, directory=directory)
    if isinstance(operation, Rename):
        target = _now(join(split(operation.path)[0], operation.to), directory=directory)
        states: dict[object, bool] = {(None, operation.after): True, (operation.before, None): False}
        return states.get((now, target))
    return True if now == operation.after else False if now == operation.before else None


def _now(path: str, *, directory: bool) -> Digest | None:
    if not LOCAL.exists(path):
        return None
    return digest_of_directory(LOCAL, path) if directory else digest_of_file(LOCAL, path)
