"""`kcheck recover metadata`: make the metadata of a cluster again from the disks of its brokers."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from kcheck.core.cluster.metadata_replay import METADATA_VERSION
from kcheck.core.rescue.answers import NONE, SCHEMA, MetadataAnswers, answers_of
from kcheck.core.rescue.broker_role import ROLES, VOTERS, roles_of, seat
from kcheck.core.rescue.held import HeldDisks
from kcheck.core.rescue.quorum_loss import NO_DIRECTORY, NewVoter, RescueNode
from kcheck.core.rescue.rebuild import Rebuild, Wanted, rebuild, records_of, template
from kcheck.core.rescue.rebuild_refusals import (
    refusals_of_bootstrap,
    refusals_of_controller,
    refusals_of_held,
    refusals_of_rebuild,
    refusals_of_zookeeper,
)
from kcheck.core.rescue.refusals import RescueRefusal, refusals_of_disks
from kcheck.core.rescue.ways import checks_voters, corrupt_files, dropped_votes
from kcheck.core.rescue.znodes import MadeZnode, znodes, zookeeper_script
from kcheck.disk.local import LOCAL
from kcheck.disk.new_files import write_files
from kcheck.disk.paths import join
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.recovery_metadata import disks_row, rebuild_row, sentences
from kcheck.errors import UsageError, why_not_text
from kcheck.formats import metadata_snapshot
from kcheck.handouts.metadata_steps import MetadataContext, metadata_steps, zookeeper_steps
from kcheck.handouts.quorum_steps import QuorumStep
from kcheck.model.cluster import Voter
from kcheck.model.names import METADATA_DIRECTORY, FileKind, segment_bases
from kcheck.model.release import Release
from kcheck.model.report import Report, Row
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.held_disks import held_disks, partition_directories
from kcheck.plans.rebuild_files import place_of_snapshot, rebuild_plans, with_ids
from kcheck.plans.rescue_answer import RECOVERY, RUNBOOK, ZNODES, RescueAnswer, overruled, voter_words
from kcheck.plans.rescue_files import NodePlan, node_files, plan_row, plan_texts
from kcheck.views.metadata_copy import read_copy
from kcheck.views.metadata_paths import identity_of
from kcheck.views.rescue_nodes import rescue_nodes
from kcheck.views.targets import Target, paths_of, replica_targets
from kcheck.words import shell_line

ANSWERS = "answers.json"
_DATA_DIR = "ZOOKEEPER_DATA_DIR"
"""Stands for the dataDir of the new ZooKeeper."""
_SMALL_SIZE_MAX = 64 << 20
_FORMATTED = f"{0:020}-{0:010}.checkpoint"
"""The snapshot with which kafka-storage.sh names the first voters."""
_PROTOCOLS = "listener.security.protocol.map"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataQuestion:
    """A question about the disks."""

    dead: tuple[int, ...] = ()
    """The nodes that never come back."""
    voter: NewVoter | None = None
    """The controller that is to lead."""
    answers: MetadataAnswers = NONE
    """The answers of the user."""
    answers_path: str | None = None
    """The file that says it."""
    standalone: bool = False
    """True if the cluster is one broker, for reading."""
    bootstrap: bool = False
    """True if the controller gets the metadata as its first records, not as a snapshot."""
    zookeeper: bool = False
    """True if an empty ZooKeeper gets the metadata, not a controller."""
    force: bool = False
    """True if refusals that a user can overrule count as warnings."""


@dataclass(frozen=True, kw_only=True)
class MetadataRecovery(RescueAnswer):
    """The answer of `kcheck recover metadata`."""

    question: MetadataQuestion
    """The question."""
    disks: HeldDisks
    """The contents of the disks."""
    rebuild: Rebuild
    """The metadata that the plan writes."""
    controller: RescueNode | None
    """The new controller."""
    place: tuple[int, int] | None
    """The offset and the epoch of the snapshot; None with bootstrap.checkpoint."""
    voters: tuple[Voter, ...]
    """The voters in the snapshot; empty if the configuration names them."""
    plans: tuple[NodePlan, ...]
    """The changes on the disk of each node."""
    znodes: tuple[MadeZnode, ...] = ()
    """The znodes for an empty ZooKeeper."""
    brokers: tuple[RescueNode, ...] = ()
    """The nodes that come back as brokers."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The recovered metadata, and facts that only the user knows."""
        return tuple(sentences(self.disks, self.rebuild))

    @cached_property
    def steps(self) -> tuple[QuorumStep, ...]:
        """The steps, one after the other."""
        if self.znodes:
            return zookeeper_steps(self.rebuild, join(self.folder, ZNODES))
        if self.controller is None or not self.plans:
            return ()
        files = node_files(self.plans, self.folder)
        return metadata_steps(
            MetadataContext(
                self.disks, self.rebuild, self.controller, files, self.arguments, is_dynamic=bool(self.voters),
                address=_address(self.controller, self.voters), standalone=self.question.standalone,
                is_bootstrap=self.place is None, dead=self.question.dead, brokers=self.brokers,
            )
        )  # fmt: skip

    @property
    def next_command(self) -> str | None:
        """The command to type next; None if first something has to be brought."""
        if not self.plans and not self.znodes:
            return None
        if self.written:
            return self.script_command if self.znodes else self.first_command
        question = self.question
        words = [word for number in question.dead for word in ("--dead", str(number))]
        words += [] if question.answers_path is None else ["--answers", question.answers_path]
        words += voter_words(question.voter)
        chosen = {"--standalone": question.standalone, "--bootstrap": question.bootstrap}
        chosen |= {"--zookeeper": question.zookeeper, "--force": question.force}
        words += [option for option, is_wanted in chosen.items() if is_wanted]
        return f"{shell_line(['kcheck', 'recover', 'metadata', *self.arguments, *words])} --output-dir {FOLDER}"

    @property
    def progress_command(self) -> str:
        """The command for the progress with the plan, which reads the files of the new ZooKeeper, too."""
        line = super().progress_command
        return f"{line} --metadata {_DATA_DIR}" if self.znodes else line

    @property
    def script_command(self) -> str:
        """The command that makes the znodes."""
        return next(command for step in self.steps for command in step.commands)

    def with_plan(self, out: str) -> "MetadataRecovery":
        """Return the answer once its files are written; without a plan the answers file alone, unless one is there.

        UsageError if one cannot be written.
        """
        planned = replace(self, folder=out)
        texts = plan_texts(self.plans)
        document = {"schema": SCHEMA, **template(self.rebuild)}
        texts[ANSWERS] = (json.dumps(document, indent=1) + "\n").encode(errors="backslashreplace")
        if LOCAL.exists(join(out, ANSWERS)):
            del texts[ANSWERS]
        if self.znodes:
            texts[ZNODES] = zookeeper_script(self.znodes).encode()
        if not (self.plans or self.znodes) and not texts:
            return planned
        names = (*texts, RUNBOOK, RECOVERY) if self.plans or self.znodes else (ANSWERS,)
        planned = replace(planned, written=tuple(join(out, name) for name in names))
        if self.plans or self.znodes:
            documents = planned.documents("Recovery of the metadata of a cluster")
            texts |= {name: text for name, text in documents.items() if name in names}
        write_files(out, (), texts, apart_from=self.checked)
        return planned

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "recovery-metadata",
            self.release.name,
            body=self._body(),
            collected=self.collected,
            checked=self.checked,
            evidence=self.release.evidence,
            kinds={"topics": "topic", "steps": "step", "refusals": "refusal"},
        )

    def _body(self) -> Row:
        controller = self.controller
        return {
            "verdict": " ".join(self.sentences),
            "controller": None if controller is None else controller.node_id,
            "snapshot": None if self.place is None else dict(zip(("end_offset", "epoch"), self.place, strict=True)),
            **disks_row(self.disks),
            **rebuild_row(self.rebuild, self.disks),
            "znodes": tuple(row._asdict() for row in self.znodes),
            **self.last_rows(map(plan_row, self.plans)),
        }


def kept_answers(out: str) -> str | None:
    """Return the answers file that an earlier refusal left in a directory without a plan; None without one."""
    path = join(out, ANSWERS)
    return path if LOCAL.exists(path) and not LOCAL.exists(join(out, RECOVERY)) else None


def read_answers(path: str) -> MetadataAnswers:
    """Return the answers in a file; UsageError if it cannot be read, or has no answers."""
    try:
        document = json.loads(LOCAL.read_whole(path, follow=True, size_max=_SMALL_SIZE_MAX))
    except (UnreadableError, ValueError) as error:
        raise UsageError(f"--answers {path}: {why_not_text(error)}") from error
    return answers_of(document, os.urandom(32))


def recover_metadata(arguments: Sequence[str], question: MetadataQuestion, *, release: Release) -> MetadataRecovery:
    """Return the metadata rebuilt from these disks; UsageError for a path that is no log dir of a node."""
    targets = tuple(_with_number(target) for target in replica_targets([*arguments]))
    nodes = rescue_nodes(targets, frozenset(question.dead))
    with_partitions = {target.broker_id for target in targets if _has_partitions(target)}
    controller = None if question.zookeeper else _controller(nodes, with_partitions, question.voter)
    brokers = tuple(
        target for target in targets if target.broker_id in with_partitions or not _is_other(target, nodes, controller)
    )
    others = [node for node in nodes if controller is None or node.node_id != controller.node_id]
    voters = () if controller is None else _voters(controller, question.voter)
    disks = with_ids(
        held_disks(brokers, others, release, _as_planned(others, controller, voters), as_they_are=question.zookeeper)
    )
    features = {} if controller is None else _features(controller)
    wanted = Wanted(question.answers, features, question.dead, question.standalone)
    plan = rebuild(disks, wanted)
    every = [
        *refusals_of_held(nodes, disks, wanted),
        *(row for row in refusals_of_disks(nodes, ()) if row.name == "node-twice"),
        *(
            refusals_of_zookeeper(disks, wanted)
            if question.zookeeper
            else refusals_of_controller(controller, disks, wanted, is_empty=controller is None or _is_new(controller))
        ),
        *(refusals_of_rebuild(disks, plan, wanted) if disks.partitions else ()),
        *(_of_bootstrap(others, plan, disks) if question.bootstrap else ()),
    ]
    refusals, warnings = overruled(every, force=question.force)
    place = None if question.bootstrap or question.zookeeper else place_of_snapshot(others)
    plans: tuple[NodePlan, ...] = ()
    if not refusals and controller is not None:
        edits = (
            *dropped_votes(others, (), names_voters=not voters and checks_voters(release)),
            *corrupt_files(others, ()),
        )
        plans = rebuild_plans(LOCAL, plan, disks, controller, place, voters, release, edits)
    return MetadataRecovery(
        release=release, question=question, arguments=tuple(arguments), disks=disks, rebuild=plan, refusals=refusals,
        warnings=warnings, controller=controller,
        place=place, voters=voters, plans=plans, checked=paths_of(targets), collected=[],
        znodes=znodes(plan, disks) if question.zookeeper and not refusals else (),
        brokers=tuple(node for node in others if node.node_id in disks.brokers and not node.dead),
    )  # fmt: skip


def _as_planned(
    nodes: Iterable[RescueNode], controller: RescueNode | None, voters: Sequence[Voter]
) -> dict[int, dict[str, str]]:
    """Return the settings that the plan changes, by broker. A broker of ZooKeeper becomes a broker of KRaft."""
    number, address = (0, None) if controller is None else (controller.node_id, _address(controller, voters))
    name, value = seat(number, address, is_dynamic=bool(voters))
    return {node.node_id: {**_role(node), VOTERS: "", name: value} for node in nodes}


def _role(node: RescueNode) -> dict[str, str]:
    """Return the changed settings of a node of another role, or of ZooKeeper, which becomes a broker of KRaft."""
    if node.role is not None or node.config is None or roles_of(node.settings):
        return {} if node.role is None else {**node.role.settings}
    protocols = node.settings.get(_PROTOCOLS, "")
    own = {_PROTOCOLS: f"{protocols},CONTROLLER:PLAINTEXT"} if protocols and "CONTROLLER:" not in protocols else {}
    return {
        ROLES: "broker", "node.id": str(node.node_id), "controller.listener.names": "CONTROLLER", "broker.id": "",
        "zookeeper.connect": "", **own,
    }  # fmt: skip


def _address(controller: RescueNode, voters: Sequence[Voter]) -> str | None:
    """Return HOST:PORT of the listener of a controller; None if not known."""
    every = controller.listeners or tuple(end for voter in voters for end in voter.endpoints)
    return next((end.partition("://")[2] for end in every), None)


def _of_bootstrap(others: Sequence[RescueNode], plan: Rebuild, disks: HeldDisks) -> Iterator[RescueRefusal]:
    count = sum(1 for _ in records_of(plan, disks))
    return refusals_of_bootstrap(others, count, plan.features.get(METADATA_VERSION, 0))


def _with_number(target: Target) -> Target:
    own = identity_of(target.tree, target.path).node_id
    return target if target.broker_id is not None else target._replace(broker_id=own)


def _has_partitions(target: Target) -> bool:
    """Return whether a log dir has partitions; an unreadable log dir is refused later."""
    with suppress(UnreadableError):
        names = target.tree.directory(target.path).entries().directories
        return any(True for _ in partition_directories(name for name in names if name != METADATA_DIRECTORY))
    return False


def _controller(nodes: Iterable[RescueNode], brokers: set[int | None], wanted: NewVoter | None) -> RescueNode | None:
    """Return the node that gets the metadata, named by the user, or else the only node without any metadata."""
    new = [node for node in nodes if node.node_id not in brokers and not node.dead]
    if wanted is not None:
        return next((node for node in new if node.node_id == wanted.node_id and node.unread is None), None)
    empty = [node for node in new if node.copy is None and node.unread is None]
    return empty[0] if len(empty) == 1 else None


def _is_other(target: Target, nodes: Iterable[RescueNode], controller: RescueNode | None) -> bool:
    """Return whether a log dir is of a controller, the new one or a former one."""
    if controller is not None and target.broker_id == controller.node_id:
        return True
    return any(node.node_id == target.broker_id and node.copy is not None for node in nodes)


def _is_new(controller: RescueNode) -> bool:
    """Return whether a controller has no more metadata than kafka-storage.sh writes."""
    path = join(controller.log_dir, METADATA_DIRECTORY)
    if not LOCAL.is_directory(path):
        return True
    names = LOCAL.directory(path).entries().sizes
    return not segment_bases(names) and all(name == _FORMATTED for name in names if name.endswith(".checkpoint"))


def _features(controller: RescueNode) -> dict[str, int]:
    """Return the levels of features with which a controller was formatted."""
    try:
        data = LOCAL.read_whole(join(controller.log_dir, FileKind.BOOTSTRAP), size_max=_SMALL_SIZE_MAX)
    except UnreadableError:
        return {}
    return dict(metadata_snapshot.parse(data).value.features)


def _voters(controller: RescueNode, wanted: NewVoter | None) -> tuple[Voter, ...]:
    """Return the controller as the only voter, if its metadata log names voters; empty if configurations do."""
    path = join(controller.log_dir, METADATA_DIRECTORY)
    first = read_copy(LOCAL, path, controller.node_id).voter_set if LOCAL.is_directory(path) else ()
    endpoints = next((voter.endpoints for voter in first if voter.voter_id == controller.node_id), ())
    if wanted is not None and wanted.host is not None:
        name = next((end.partition("://")[0] for end in (*endpoints, *controller.listeners)), "CONTROLLER")
        endpoints = (f"{name}://{wanted.host}:{wanted.port}",)
    if not first and not (wanted is not None and wanted.host is not None):
        return ()
    return (Voter(controller.node_id, controller.directory_id or NO_DIRECTORY, endpoints),)
