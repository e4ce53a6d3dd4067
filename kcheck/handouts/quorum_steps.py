"""The steps back to a quorum, in words and commands, for the screen and recovery.md."""

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from kcheck.core.rescue.broker_role import PLACE, seat
from kcheck.core.rescue.progress import RescueAction
from kcheck.core.rescue.quorum_loss import QuorumLoss, RescueNode
from kcheck.core.rescue.ways import CopyLog, Rescue, Way
from kcheck.handouts.markdown_words import fenced, markdown_text
from kcheck.model.names import METADATA_DIRECTORY
from kcheck.words import agree, broker_names, listed, shell_line, shell_word

_SERVER, _NEW = "--bootstrap-server HOST:9092", "controller.properties"
JOINS = "--no-initial-controllers"
"""The option of kafka-storage.sh for a controller that joins a dynamic quorum."""


class QuorumStep(NamedTuple):
    """One step."""

    title: str
    """The step, as a sentence without its period."""
    commands: tuple[str, ...] = ()
    """The commands to type, or the lines of a file."""
    notes: tuple[str, ...] = ()
    """Notes for before and after it, as sentences."""
    is_text: bool = False
    """True if the lines are of a file, not commands."""
    action: RescueAction = RescueAction.LATER
    """The kind."""


class NodeFile(NamedTuple):
    """The plan of a node."""

    node_id: int
    path: str
    backup: str


class QuorumContext(NamedTuple):
    """The inputs for the words of the steps."""

    loss: QuorumLoss
    rescue: Rescue
    plans: tuple[NodeFile, ...]
    """The plan files, by node."""
    folder: str
    """The directory that `--output-dir` names."""
    arguments: tuple[str, ...]
    """NODE=PATH of every node."""
    checks_voters: bool = False
    """True if a node ends if its quorum-state names other voters than its configuration."""


def quorum_steps(context: QuorumContext) -> tuple[QuorumStep, ...]:
    """Return the steps, in order."""
    rescue = context.rescue
    steps = [_stop(context), *_apply(context)]
    if rescue.way is Way.IDENTITY:
        steps += (_stand_ins(context), _start_together(context))
    else:
        steps += (*_settings(context), _start_alone(context))
    steps += (_start_brokers(context), _check(context), _grow(context), *_retire(context))
    return tuple(steps)


def _stop(context: QuorumContext) -> QuorumStep:
    changed = {plan.node_id for plan in context.plans} - {context.rescue.target.node_id}
    if not context.loss.is_dynamic:
        return QuorumStep("Stop every controller and every broker", action=RescueAction.STOP)
    brokers = sorted(changed - {*context.loss.voters})
    also = f", and {broker_names(brokers)}" if brokers else ""
    title, note = f"Keep every controller stopped{also}", "Other brokers may run."
    return QuorumStep(title, notes=(note,), action=RescueAction.STOP)


def _apply(context: QuorumContext) -> Iterator[QuorumStep]:
    if not context.plans:
        return
    copies = [edit.source.node_id for edit in context.rescue.edits if isinstance(edit, CopyLog)]
    yield apply_step(context.plans, *(f"The plan contains the copy of node {number}." for number in copies[:1]))


def apply_step(files: Sequence[NodeFile], *more: str) -> QuorumStep:
    """Return the step for applying the plans of nodes, with the undo command and more notes."""
    commands = (shell_line(["kcheck", "apply", file.path, "--backup", file.backup, "--yes"]) for file in files)
    undo = f"kcheck undo {shell_word(files[0].backup)} takes it back, as long as no node has started."
    title = "Apply the plan of each node on its machine"
    return QuorumStep(title, tuple(commands), (undo, *more), action=RescueAction.APPLY)


def _settings(context: QuorumContext) -> Iterator[QuorumStep]:
    rescue = context.rescue
    number, place = rescue.target.node_id, rescue.address or PLACE
    if not context.loss.is_dynamic:
        line = "=".join(seat(number, rescue.address, is_dynamic=False))
        title = "Set this in server.properties of every node"
        yield QuorumStep(title, (line,), is_text=True, action=RescueAction.SETTINGS)
        nodes = [node for node in context.loss.nodes if node.node_id != number and not node.dead]
        yield from role_steps(nodes, context.loss.lost)
        return
    former = {endpoint.partition("://")[2] for voter in context.loss.copy.voter_set for endpoint in voter.endpoints}
    if place not in former:
        line = "=".join(seat(number, place, is_dynamic=True))
        title = "Set this in server.properties of every node, and restart the brokers"
        yield QuorumStep(title, (line,), is_text=True, action=RescueAction.SETTINGS)


def role_steps(nodes: Iterable[RescueNode], former: Container[int]) -> Iterator[QuorumStep]:
    """Yield the settings with which nodes come back as brokers alone; `former` are controllers."""
    nodes = [*nodes]
    for node in nodes:
        if node.role is not None:
            note = "Keep the disk and its logs. Start the node only as a broker, never again as a controller."
            title = f"Make node {node.node_id} a broker alone, in {node.role.path}"
            yield QuorumStep(title, node.role.lines, (note,), is_text=True, action=RescueAction.SETTINGS)
    unseen = sorted({node.node_id for node in nodes if node.config is None and node.node_id in former})
    if unseen:
        note = "Take the listeners of controller.listener.names out of listeners and advertised.listeners."
        title = f"If {agree(len(unseen), 'node', 'nodes')} {listed(unseen)} had process.roles=broker,controller, set"
        yield QuorumStep(title, ("process.roles=broker",), (note,), is_text=True, action=RescueAction.SETTINGS)


def _start_alone(context: QuorumContext) -> QuorumStep:
    number = context.rescue.target.node_id
    note = "Start no other controller before it leads. An empty one could win, and truncate its log."
    line = 'Continue once its log has the line "Completed transition to Leader".'
    return QuorumStep(f"Start controller {number}, alone", notes=(note, line), action=RescueAction.CONTROLLER)


def _stand_ins(context: QuorumContext) -> QuorumStep:
    commands, notes = [], []
    for stand_in in context.rescue.stand_ins:
        folder = f"{context.folder.rstrip('/')}/stand-in-{stand_in.node_id}"
        commands.append(f"{shell_line(['cp', f'{folder}/meta.properties', f'{folder}/bootstrap.checkpoint'])} LOG_DIR/")
        places = listed(endpoint.partition("://")[2] for endpoint in stand_in.listeners)
        notes.append(f"LOG_DIR is the empty metadata.log.dir of a new machine for controller {stand_in.node_id}.")
        notes.append(f"Its server.properties is that of the lost one: node.id={stand_in.node_id}, listener {places}.")
    title = "Give a new machine the identity of a lost controller"
    return QuorumStep(title, tuple(commands), tuple(notes), action=RescueAction.IDENTITY)


def _start_together(context: QuorumContext) -> QuorumStep:
    number = context.rescue.target.node_id
    left, new = sorted(node.node_id for node in context.loss.survivors), sorted(_ids(context))
    notes = (
        f"Controller {number} must keep its address. It leads, and the others copy its log.",
        f"Start {listed(new)} once its log says: Completed transition to CandidateState, or ProspectiveState.",
        "Before that it can still name itself as the leader. A new node ends then: Unknown leader endpoints.",
    )
    which = agree(len(left), "controller", "controllers")
    title = f"Start {which} {listed(left)}, then {listed(new)}"
    return QuorumStep(title, notes=notes, action=RescueAction.CONTROLLER)


def _ids(context: QuorumContext) -> set[int]:
    return {stand_in.node_id for stand_in in context.rescue.stand_ins}


def _start_brokers(context: QuorumContext) -> QuorumStep:
    loss = context.loss
    notes = ["They register again, and fetch the metadata from the new leader."]
    gone = sorted(loss.dead & loss.copy.image.brokers.keys())
    if gone:
        one = len(gone) == 1
        notes.append(
            f"{'Broker' if one else 'Brokers'} {listed(gone)} may be in an ISR: with a new disk"
            f" {'it comes' if one else 'they come'} last, once other replicas lead (kcheck elect)."
        )
    return QuorumStep("Start the brokers", notes=tuple(notes), action=RescueAction.BROKERS)


def _check(context: QuorumContext) -> QuorumStep:
    commands = [f"kafka-metadata-quorum.sh {_SERVER} describe --status"]
    if context.rescue.way is not Way.IDENTITY:
        commands.append(f"kcheck cluster {shell_line(context.arguments)}")
    title = "See that the quorum has a leader, and the cluster its topics"
    return QuorumStep(title, tuple(commands), action=RescueAction.CHECK)


def _grow(context: QuorumContext) -> QuorumStep:
    loss, rescue = context.loss, context.rescue
    if rescue.way is Way.IDENTITY:
        gone = [voter for voter in loss.copy.voter_set if voter.voter_id in loss.lost]
        left = [voter for voter in gone if voter.voter_id not in _ids(context)]
        commands = [
            f"kafka-metadata-quorum.sh {_SERVER} remove-controller --controller-id {voter.voter_id}"
            f" --controller-directory-id {shell_word(voter.directory_id)}"
            for voter in left
        ]
        return QuorumStep("Remove the other lost controllers, then add new ones", tuple(commands))
    if loss.is_dynamic:
        commands = [
            format_command(rescue.target.cluster_id, JOINS),
            f"kafka-metadata-quorum.sh --command-config {_NEW} {_SERVER} add-controller",
        ]
        note = "Format a new controller, start it, and add it. Then the next one."
        return QuorumStep("Add controllers again, one after the other", tuple(commands), (note,))
    number, place = rescue.target.node_id, rescue.address or PLACE
    new = max(200, number, *loss.voters) + 1
    commands = [
        format_command(rescue.target.cluster_id),
        f"{shell_line(['cp', '-a', f'{rescue.target.log_dir}/{METADATA_DIRECTORY}'])} NEW_LOG_DIR/",
        f"rm NEW_LOG_DIR/{METADATA_DIRECTORY}/quorum-state",
    ]
    notes = [
        "Kafka has no command for that with static voters. Stop every node, and do this for each new controller.",
        f"On every node, set controller.quorum.voters={number}@{place},{new}@{PLACE},{new + 1}@{PLACE}.",
        "An empty controller could win the election, and the others then truncate the log. Copy the log first.",
    ]
    if context.checks_voters:
        notes.append("Remove quorum-state of every node. It names the former voters, and the nodes would not start.")
    return QuorumStep("Add controllers again, later", tuple(commands), tuple(notes))


def format_command(cluster_id: str | None, *options: str) -> str:
    """Return the command that formats the disk of a controller that joins."""
    return shell_line(["kafka-storage.sh", "format", "--cluster-id", str(cluster_id), *options, "--config", _NEW])


def _retire(context: QuorumContext) -> Iterator[QuorumStep]:
    loss, registered = context.loss, context.loss.copy.image.brokers
    too = [number for number in context.rescue.retired if number in registered]
    notes = [_retired(loss, number) for number in context.rescue.retired]
    brokers = sorted(loss.dead - {*loss.voters})
    if brokers:
        some = f"{agree(len(brokers), 'Broker', 'Brokers')} {listed(brokers)}"
        notes.append(f"{some}: only after its __cluster_metadata-0 is removed.")
    if notes:
        title = "Never start these as controllers again" if too else "Never start these with their old disks"
        yield QuorumStep(title, notes=tuple(notes))


def _retired(loss: QuorumLoss, number: int) -> str:
    """Return how a former controller may start."""
    directories = {voter.voter_id: voter.directory_id for voter in loss.copy.voter_set}
    name = f"Node {number}{f', directory.id {directories[number]}' if number in directories else ''}"
    if number not in loss.copy.image.brokers:
        return f"{name}: never with its old disk."
    if number in loss.dead:
        return f"{name} is a broker too. With the old disk, first move {METADATA_DIRECTORY} elsewhere."
    return f"{name} is a broker too. Keep its disk, and start the node only as a broker."


def rescue_command(verb: str, arguments: Sequence[str], dead: Iterable[int]) -> str:
    """Return the command that plans a rescue of the metadata."""
    words = [word for number in sorted({*dead}) for word in ("--dead", str(number))]
    return shell_line(["kcheck", "recover", verb, *arguments, *words])


def runbook(verdict: Sequence[str], steps: Sequence[QuorumStep], title: str, progress: str) -> str:
    """Return recovery.md; `progress` is the command that says how far the cluster is."""
    parts = [f"# {title}", *map(markdown_text, verdict)]
    parts += ["After each step, ask what to do now:", fenced((progress,), "sh")]
    for place, step in enumerate(steps, start=1):
        parts += (f"## {place}. {markdown_text(step.title)}", *map(markdown_text, step.notes))
        if step.commands:
            parts.append(fenced(step.commands, "properties" if step.is_text else "sh"))
    return "\n\n".join(parts) + "\n"
