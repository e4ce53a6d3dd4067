"""`kcheck recover quorum`: bring the controllers of a cluster back from the disks that are left."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from kcheck.core.rescue.quorum_loss import NewVoter, QuorumLoss, RescueNode, is_usable, quorum_loss
from kcheck.core.rescue.refusals import (
    NO_COPY,
    DiskNews,
    refusals_of_disks,
    refusals_of_news,
    refusals_of_quorum,
    refusals_of_way,
)
from kcheck.core.rescue.ways import Choice, Rescue, StandIn, Way, checks_voters, choices, rescue, target_of
from kcheck.disk.local import LOCAL
from kcheck.disk.new_files import write_files
from kcheck.disk.paths import join
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.recovery_quorum import loss_row, rescue_row, verdict
from kcheck.errors import UsageError
from kcheck.formats import meta_properties
from kcheck.handouts.quorum_steps import QuorumContext, QuorumStep, quorum_steps
from kcheck.model.java import INT_MAX
from kcheck.model.names import META_PROPERTIES, FileKind
from kcheck.model.release import Release
from kcheck.model.report import Report, Row
from kcheck.plans.rescue_answer import RECOVERY, RUNBOOK, RescueAnswer, overruled, voter_words
from kcheck.plans.rescue_files import NodePlan, node_files, node_plans, plan_row, plan_texts
from kcheck.views.rescue_nodes import later_on_disks, proven_end, rescue_nodes, rifts
from kcheck.views.targets import paths_of, replica_targets
from kcheck.words import shell_line

_VOTER = re.compile(r"([0-9]{1,10})(?:@(.+):([0-9]{1,5}))?")
_PORT_MAX = 65535
_BOOTSTRAP_SIZE_MAX = 1 << 20


class QuorumQuestion(NamedTuple):
    """A question about the disks."""

    dead: tuple[int, ...] = ()
    """The nodes that never come back."""
    voter: NewVoter | None = None
    """The controller that is to lead."""
    way: Way | None = None
    """The way that the user wants; None for the gentlest."""
    force: bool = False
    """True if refusals that a user can overrule count as warnings."""


@dataclass(frozen=True, kw_only=True)
class QuorumRecovery(RescueAnswer):
    """The answer of `kcheck recover quorum`."""

    question: QuorumQuestion
    """The question."""
    loss: QuorumLoss | None
    """The remaining quorum; None if no copy of the metadata is here."""
    choices: tuple[Choice, ...]
    """Every way, the gentlest first."""
    rescue: Rescue | None
    """The way that is taken; None if it is refused."""
    plans: tuple[NodePlan, ...]
    """The changes on the disk of each node."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The loss and its meaning."""
        if self.loss is None:
            return ("No copy of the metadata is left, or none is in these paths.",)
        return tuple(verdict(self.loss))

    @cached_property
    def steps(self) -> tuple[QuorumStep, ...]:
        """The steps, one after the other."""
        if self.loss is None or self.rescue is None:
            return ()
        files = node_files(self.plans, self.folder)
        checked = checks_voters(self.release)
        return quorum_steps(QuorumContext(self.loss, self.rescue, files, self.folder, self.arguments, checked))

    @property
    def next_command(self) -> str | None:
        """The command to type next; None if first something has to be brought."""
        if self.rescue is None:
            return None
        if self.written:
            return self.first_command
        question = self.question
        words = [word for number in question.dead for word in ("--dead", str(number))]
        words += voter_words(question.voter)
        words += [] if question.way is None else ["--way", str(question.way)]
        words += ["--force"] if question.force else []
        return f"{shell_line(['kcheck', 'recover', 'quorum', *self.arguments, *words])} --output-dir {FOLDER}"

    def with_plan(self, out: str) -> "QuorumRecovery":
        """Return the answer once its files are written; UsageError if one cannot be, or if there is no plan."""
        if self.rescue is None:
            return self
        planned = replace(self, folder=out)
        texts = plan_texts(self.plans)
        stand_ins = {
            f"stand-in-{stand_in.node_id}/{name}": data
            for stand_in in self.rescue.stand_ins
            for name, data in _files_of(self.rescue, stand_in).items()
        }
        names = (*texts, RUNBOOK, RECOVERY, *stand_ins)
        planned = replace(planned, written=tuple(join(out, name) for name in names))
        texts |= planned.documents("Recovery of the controller quorum")
        write_files(out, (), texts | stand_ins, apart_from=self.checked)
        return planned

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "recovery-quorum",
            self.release.name,
            body=self._body(),
            collected=self.collected,
            checked=self.checked,
            evidence=self.release.evidence,
            kinds={"copies": "copy", "ways": "way", "steps": "step", "refusals": "refusal"},
        )

    def _body(self) -> Row:
        return {
            "verdict": " ".join(self.sentences),
            **({} if self.loss is None else loss_row(self.loss)),
            "ways": tuple({"way": str(choice.way), "why_not": choice.why_not} for choice in self.choices),
            "rescue": rescue_row(self.rescue),
            **self.last_rows(map(plan_row, self.plans)),
        }


def _files_of(way: Rescue, stand_in: StandIn) -> dict[str, bytes]:
    """Return the files that an empty log dir needs to replace a lost voter."""
    bootstrap = LOCAL.read_whole(join(way.target.log_dir, FileKind.BOOTSTRAP), size_max=_BOOTSTRAP_SIZE_MAX)
    identity = {
        "node.id": str(stand_in.node_id), "directory.id": stand_in.directory_id, "version": "1",
        "cluster.id": str(way.target.cluster_id),
    }  # fmt: skip
    properties = meta_properties.serialize(meta_properties.MetaProperties(identity))
    return {META_PROPERTIES: properties, str(FileKind.BOOTSTRAP): bootstrap}


def new_voter(text: str) -> NewVoter:
    """Return the controller in `NODE` or `NODE@HOST:PORT`; UsageError for another text."""
    match = _VOTER.fullmatch(text)
    if match is None or int(match[1]) > INT_MAX or (match[3] is not None and not 0 < int(match[3]) <= _PORT_MAX):
        raise UsageError(f"--voter {text}: write NODE or NODE@HOST:PORT, such as 201@controller-1:9093")
    return NewVoter(int(match[1]), match[2], None if match[3] is None else int(match[3]))


def recover_quorum(arguments: list[str], question: QuorumQuestion, *, release: Release) -> QuorumRecovery:
    """Return the way back to a quorum from these disks; UsageError for a path that is no node's log dir."""
    targets = replica_targets(arguments)
    nodes = rescue_nodes(targets, frozenset(question.dead))
    loss = quorum_loss(nodes, question.dead, compares=checks_voters(release))
    answer = QuorumRecovery(
        release=release, question=question, arguments=tuple(arguments), loss=loss, refusals=(), warnings=(),
        choices=(), rescue=None, plans=(), checked=paths_of(targets), collected=[],
    )  # fmt: skip
    if loss is None:
        return replace(answer, refusals=(*refusals_of_disks(nodes, ()), NO_COPY))
    same = {node.cluster_id for node in nodes} - {None} == {loss.newest.cluster_id}
    torn = tuple(rifts(LOCAL, loss.newest, nodes)) if same else ()
    if torn:
        loss = loss._replace(is_one_history=False, committed_to=None)
    elif loss.may_be_behind and not loss.behind:
        loss = loss.proven_to(proven_end(LOCAL, loss.newest, targets))
    is_told = same and not torn and is_usable(loss.newest)
    news = later_on_disks(loss.copy.image, targets) if is_told else DiskNews((), ())
    loss = loss._replace(is_stale=bool(news.later))
    answer = replace(answer, loss=loss)
    target = target_of(loss, question.voter)
    every = [
        *refusals_of_disks(nodes, torn),
        *refusals_of_news(loss.newest, news),
        *refusals_of_quorum(loss),
        *refusals_of_way(loss, question.voter, target, question.way),
    ]
    refusals, warnings = overruled(every, force=question.force)
    answer = replace(
        answer, refusals=refusals, warnings=warnings, choices=() if target is None else choices(loss, target)
    )
    return answer if answer.refusals or target is None else _planned(answer, loss, target)


def _planned(answer: QuorumRecovery, loss: QuorumLoss, target: RescueNode) -> QuorumRecovery:
    question = answer.question
    gentlest = next(choice.way for choice in answer.choices if choice.why_not is None)
    way = rescue(loss, target, question.way or gentlest, question.voter, answer.release)
    return replace(answer, rescue=way, plans=node_plans(LOCAL, way.edits, answer.release))
