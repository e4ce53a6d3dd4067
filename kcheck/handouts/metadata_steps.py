"""The steps with rebuilt metadata, in words and commands, for the screen and recovery.md."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcheck.core.rescue.broker_role import seat
from kcheck.core.rescue.held import HeldDisks
from kcheck.core.rescue.progress import RescueAction
from kcheck.core.rescue.quorum_loss import RescueNode
from kcheck.core.rescue.rebuild import ELR, Rebuild
from kcheck.handouts.quorum_steps import JOINS, NodeFile, QuorumStep, apply_step, format_command, role_steps
from kcheck.words import agree, counted, listed, shell_line, shell_word

_SERVER, _NEW = "--bootstrap-server HOST:9092", "controller.properties"
_TOPIC_COUNT_MAX = 3
_KRAFT = 1


class MetadataContext(NamedTuple):
    """The inputs for the words of the steps."""

    disks: HeldDisks
    plan: Rebuild
    controller: RescueNode
    files: tuple[NodeFile, ...]
    """The plan files, by node."""
    arguments: tuple[str, ...]
    """NODE=PATH of every node."""
    is_dynamic: bool
    """True if the snapshot names the voters."""
    address: str | None
    """The address of the controller; None if it is not known."""
    standalone: bool
    is_bootstrap: bool = False
    """True if the controller gets the metadata as its first records."""
    dead: tuple[int, ...] = ()
    """The brokers that are given up."""
    brokers: tuple[RescueNode, ...] = ()
    """The nodes that come back as brokers."""

    @property
    def too(self) -> tuple[int, ...]:
        """The brokers that were controllers too."""
        return tuple(node.node_id for node in self.brokers if node.role is not None)


def metadata_steps(context: MetadataContext) -> tuple[QuorumStep, ...]:
    """Return the steps, in order."""
    return (
        _stop(context),
        _apply(context),
        *_settings(context),
        *_start(context),
        _check(context),
        *_configs_of(context.plan),
        *_grow(context),
        *_later(context),
        _retire(context),
    )


def _stop(context: MetadataContext) -> QuorumStep:
    if context.standalone:
        note = "Work with copies of the disks. This cluster is for reading."
    elif context.too:
        note = f"Keep the disks of {_nodes(context.too)}. They start again as brokers alone."
    else:
        note = "Keep the disks of the former controllers, and do not start them."
    return QuorumStep("Stop every controller and every broker", notes=(note,), action=RescueAction.STOP)


def _nodes(numbers: Sequence[int]) -> str:
    return f"{agree(len(numbers), 'node', 'nodes')} {listed(numbers)}"


def _retire(context: MetadataContext) -> QuorumStep:
    history = "A former controller would lead with its own history."
    if not context.too:
        return QuorumStep("Never start a former controller with its old disk", notes=(history,))
    title = f"Never start {_nodes(context.too)} as controllers again"
    return QuorumStep(title, notes=("As brokers they keep their disks and their logs.", history))


def _apply(context: MetadataContext) -> QuorumStep:
    older = "Brokers with an older copy of the metadata delete it by themselves."
    return apply_step(context.files, *(() if context.is_bootstrap else (older,)))


def zookeeper_steps(plan: Rebuild, script: str) -> tuple[QuorumStep, ...]:
    """Return the steps where an empty ZooKeeper gets the metadata."""
    empty = "Before the command, the servers must be empty. Then ls / of zookeeper-shell.sh shows zookeeper alone."
    secure = "With zookeeper.set.acl=true, run zookeeper-security-migration.sh --zookeeper.acl=secure afterwards."
    has_access = any(name in _ACCESS for name, _ in plan.records)
    path = "If zookeeper.connect has a path, create that path before the command, and write HOST:2181/PATH."
    best = "At first only the best replica of a partition is in sync, and the others follow."
    return (
        QuorumStep("Stop every broker", action=RescueAction.STOP),
        QuorumStep(
            "Start new ZooKeeper servers, and make the znodes",
            (f"zookeeper-shell.sh HOST:2181 < {shell_word(script)}",),
            (empty, path, secure),
            action=RescueAction.APPLY,
        ),
        QuorumStep("Start the brokers", notes=(best, *_offline(plan)), action=RescueAction.BROKERS),
        QuorumStep(
            "See that every partition has its leader",
            (f"kafka-topics.sh {_SERVER} --describe --under-replicated-partitions",),
            action=RescueAction.CHECK,
        ),
        *_configs_of(plan),
        *(() if has_access else (_ADD_ACCESS,)),
    )


_ACCESS = ("AccessControlEntryRecord", "UserScramCredentialRecord", "ClientQuotaRecord")
_ADD_ACCESS = QuorumStep(
    "Set ACLs, SCRAM users and quotas again", notes=("No disk of a broker has them. The answers file can name them.",)
)


def _offline(plan: Rebuild) -> Iterator[str]:
    if plan.without_disk:
        count = counted(len(plan.without_disk), "partition")
        yield f"{count} without a disk stay offline, so that no empty log counts as a full one."


def _settings(context: MetadataContext) -> Iterator[QuorumStep]:
    line = "=".join(seat(context.controller.node_id, context.address, is_dynamic=context.is_dynamic))
    title = "Set this in server.properties of every node"
    if all(row.version == _KRAFT for row in context.disks.log_dirs):
        yield QuorumStep(title, (line,), is_text=True, action=RescueAction.SETTINGS)
        yield from role_steps(context.brokers, context.disks.brokers if not context.is_dynamic else ())
        return
    lines = ("process.roles=broker", "node.id=THE FORMER broker.id", "controller.listener.names=CONTROLLER", line)
    title = "Set this in server.properties of every broker"
    note = "Remove zookeeper.connect and broker.id. Map the listener CONTROLLER in listener.security.protocol.map."
    yield QuorumStep(title, lines, (note,), is_text=True, action=RescueAction.SETTINGS)


def _start(context: MetadataContext) -> Iterator[QuorumStep]:
    number = context.controller.node_id
    notes = ["At first only the best replica of a partition is in sync; the others follow it."]
    if context.is_bootstrap:
        command = f"kcheck cluster {shell_line([f'{number}={context.controller.log_dir}'])}"
        waits = ("Start no broker before this shows the topics. Without them it renames every replica to -stray.",)
        title = f"Start controller {number}, alone"
        yield QuorumStep(title, (command,), waits, action=RescueAction.CONTROLLER)
    else:
        notes.insert(0, "Brokers may start at the same moment. They wait for its metadata.")
    notes += _offline(context.plan)
    title = "Start the brokers" if context.is_bootstrap else f"Start controller {number}, then the brokers"
    yield QuorumStep(title, notes=tuple(notes), action=RescueAction.BROKERS)


def _check(context: MetadataContext) -> QuorumStep:
    commands = (
        f"kafka-metadata-quorum.sh {_SERVER} describe --status",
        f"kafka-topics.sh {_SERVER} --describe --under-replicated-partitions",
        f"kcheck cluster {shell_line(context.arguments)}",
    )
    note = "No log dir may have a directory that ends in -stray. If one has, stop all brokers and ask again."
    title = "See that the quorum has a leader, and the cluster its topics"
    return QuorumStep(title, commands, (note,), action=RescueAction.CHECK)


def _configs_of(plan: Rebuild) -> Iterator[QuorumStep]:
    names = [topic.name for topic in plan.topics if "configs" in topic.assumed]
    if names:
        commands = [
            f"kafka-configs.sh {_SERVER} --alter --entity-type topics --entity-name {shell_line([name])}"
            " --delete-config retention.ms,retention.bytes"
            for name in names[:_TOPIC_COUNT_MAX]
        ]
        more = len(names) - len(commands)
        others = (f"The same for {counted(more, 'more topic')}.",) if more else ()
        notes = ("Without this, their logs only grow.", *others)
        yield QuorumStep("Set the retention of topics again", tuple(commands), notes)
    offline = [topic.name for topic in plan.topics if topic.placeholders]
    if offline:
        notes = (
            f"They are of {listed(offline, most=3)}.",
            "Bring their disk back, or delete the topic and create it again.",
        )
        yield QuorumStep("Decide about the partitions without a disk", notes=notes)


def _later(context: MetadataContext) -> Iterator[QuorumStep]:
    """Yield the step for the disks of brokers that are given up, if they come back after all."""
    if context.dead:
        count, numbers = len(context.dead), listed(context.dead)
        who = f"{agree(count, 'broker', 'brokers')} {numbers} {agree(count, 'starts', 'start')}"
        moved = (
            "Move directories with needed records elsewhere first, and restore them with kcheck recover topic TOPIC."
        )
        notes = (
            "First move __cluster_metadata-0 of the disk elsewhere, because that log can be newer than this metadata.",
            "Replicas and topic ids can differ. The broker renames those to -stray (3.6 and earlier: deletes them).",
            moved,
        )
        command = f"kcheck recover {shell_line([f'{context.dead[0]}=PATH', '--metadata', context.controller.log_dir])}"
        yield QuorumStep(
            f"Before {who} with an old disk, ask which directories stay",
            (command,),
            notes,
        )


def _grow(context: MetadataContext) -> Iterator[QuorumStep]:
    if context.standalone:
        return
    if context.is_dynamic:
        commands = (
            format_command(context.controller.cluster_id, JOINS),
            f"kafka-metadata-quorum.sh --command-config {_NEW} {_SERVER} add-controller",
        )
        note = "Format a new controller, start it, and add it. Then the next one."
        yield QuorumStep("Add controllers, one after the other", commands, (note,))
    if context.disks.old is None and ELR not in context.plan.features and "group.version" in context.plan.features:
        command = f"kafka-features.sh {_SERVER} upgrade --feature {ELR}=1"
        yield QuorumStep("Turn eligible leader replicas on, if the cluster had them", (command,))
