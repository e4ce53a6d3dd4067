"""`kcheck recover`: one decision for one incident, as steps that a person follows."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

from kcheck.core.election.misplaced import other_logs
from kcheck.core.election.plans import PartitionElection, held_elsewhere, is_at_stake, with_records
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.scenarios import START_ALL, Scenario, harm, lost_by_all
from kcheck.core.election.steps import RecoveryAction, RecoveryStep, StepText, steps_of
from kcheck.core.premises.judged import EVERY_DISK
from kcheck.core.premises.presence import lacks_log_dirs
from kcheck.core.start.predictions import PartitionPrediction
from kcheck.documents.answer import Answer, Outcomes
from kcheck.documents.comes_first import ComesFirst, brokers_words, comes_first
from kcheck.documents.election import interrupted_row, is_least, partition_row, repair_row, scenario_row
from kcheck.documents.election_words import Sentence, decision_words, discarded_words, rescue_words
from kcheck.documents.next_commands import FOLDER
from kcheck.documents.premises import premise_rows, unseen_words, with_old_disk
from kcheck.documents.recovery import step_rows
from kcheck.documents.removed_records import readable_words
from kcheck.documents.uncounted import exchanged_words, risked, uncounted_words
from kcheck.documents.unserved import kept_elsewhere_words, not_counted_words, other_log_words
from kcheck.handouts.aside_copies import aside_words
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.step_words import nodes_first, step_texts
from kcheck.model.cluster import UNCLEAN
from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState
from kcheck.model.premises import PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import EVERY_PARTITION, PartitionFilter, Report, Row
from kcheck.plans.first_repairs import elect, failed_starts
from kcheck.plans.past_elections import causes
from kcheck.plans.plan_context import by_broker, plan_context
from kcheck.plans.recovery_cases import Case, case_folder, if_lost, if_newest_lost
from kcheck.replicas.broker_gaps import mistaken_of
from kcheck.replicas.elect import ClusterElection, ElectionQuestion
from kcheck.replicas.uncounted import not_counted
from kcheck.survey.selection import require_match
from kcheck.verbs.overview import StartOfAll
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import replica_targets
from kcheck.words import broker_names, capital, shell_line

SAVED, MANIFEST = "saved", "manifest.json"
UNREAD = "whether all batches are intact, because starts read few of them (kcheck check --depth crc reads all)"
"""Words for the batches that no start reads completely."""


def _has_unread(row: PartitionPrediction) -> bool:
    """Return whether a log has batches that neither the broker nor kcheck reads.

    LogLoader reads from the recovery point.
    """
    log, is_read = row.replica_log, row.batches is not None and row.batches.is_complete
    if log is None or is_read or log.log_end_offset <= log.log_start_offset:
        return False
    return not row.scan_bytes or len(log.bases) > 1


class KeptElsewhere(NamedTuple):
    """A directory that is not served any more, and needs no step."""

    partition: PartitionElection
    broker_id: int
    prediction: PartitionPrediction
    holders: tuple[int, ...]
    """The brokers whose replicas have all records."""


@dataclass(frozen=True, kw_only=True)
class ClusterRecovery(Answer):
    """The answer of `kcheck recover`."""

    election: ClusterElection
    """The recommended leaders, after the repairs that come first."""
    folder: str = FOLDER
    """The directory of the plan's files."""
    cases: tuple[Case, ...] = ()
    """The steps if something unseen differs from the assumptions."""
    written: tuple[str, ...] = ()
    """The files of the plan."""
    wanted: PartitionFilter = EVERY_PARTITION
    """The shown partitions. The decision is for all."""

    @property
    def release(self) -> Release:
        """The Kafka release that is modelled."""
        return self.election.release

    @cached_property
    def recovery(self) -> Recovery:
        """The recommendation that the steps follow."""
        rows = (row for row in self.election.unserved if row.state is DirectoryState.DELETED)
        removed = {row.broker_id: tuple(part.dir for part in row.directories) for row in rows}
        own = {number: names for number, names in removed.items() if number is not None}
        bundles = frozenset(
            number for number, rows in by_broker(self.election).items() if any(row.tree.is_bundle for row in rows)
        )
        return self.election.recovery(self.folder)._replace(
            metadata=self.election.question.metadata,
            removed=own,
            sought=tuple(sorted(self.first.disks)),
            bundles=bundles,
            old=with_old_disk(self.election.uncounted),
        )

    @cached_property
    def first(self) -> ComesFirst:
        """The missing log dirs and brokers that come before the steps."""
        election = self.election
        first = comes_first(
            election.gaps, election.uncounted, election.of_cluster, election.brokers,
            incomplete_ok=election.question.incomplete_ok, without_newest=election.question.without_newest,
            without=[row.broker_id for row in election.question.without],
        )  # fmt: skip
        return first if election.rescue is None else ComesFirst(disks=first.disks)

    @cached_property
    def is_held(self) -> bool:
        """True if no broker should start before the operator looks for the newest disk of an old copy.

        A case then has the steps for a lost disk.
        """
        return if_newest_lost(self.election) is not None

    @property
    def waits_for_disks(self) -> bool:
        """True if no step comes before the disks that are not here. A case has the steps for lost disks."""
        return self.is_held or any(case.dead or case.election.question.without for case in self.cases)

    @cached_property
    def steps(self) -> tuple[RecoveryStep, ...]:
        """The steps, one after the other; none for a part of the cluster, or while something comes before all."""
        if self.election.is_part or self.first.log_dirs or self.first.brokers or self.mistaken:
            return ()
        if self.election.is_misnamed and not self.recovery.misplaced:
            return ()  # No name is proven.
        steps = steps_of(self.recovery)
        sought = tuple(step for step in steps if step.kind is RecoveryAction.BRING)
        return sought if sought and self.waits_for_disks else steps

    @cached_property
    def mistaken(self) -> tuple[int, ...]:
        """The brokers with disks, settings or arguments of another broker or cluster. No step is known then."""
        election = self.election
        return () if election.rescue is not None else mistaken_of(election.gaps, election.premises)

    @property
    def is_open(self) -> bool:
        """True if something comes first that may change every step."""
        return bool(self.first.log_dirs or self.waits_for_disks or self.mistaken or self.election.is_out_of_place)

    @cached_property
    def texts(self) -> tuple[StepText, ...]:
        """The steps in words, with the commands to type."""
        return step_texts(self._context, self.steps)

    @property
    def nodes_first(self) -> StepText | None:
        """The step 0, which starts the controllers or ZooKeeper; None if a step of the plan does."""
        return None if self.first.log_dirs else nodes_first(self._context, self.steps)

    @cached_property
    def _context(self) -> PlanContext:
        context = plan_context(self.election, self.recovery, self.folder, self.saver)
        return context._replace(sought=self.first.disks, save=self.write_command)

    @cached_property
    def saver(self) -> str | None:
        """The subject and verb of a sentence about saved records; None if no step saves them."""
        number = next((at for at, step in enumerate(self.steps, 1) if step.kind is RecoveryAction.SAVE), None)
        if number is None or self.election.saved_in is not None:
            return None if number is None else f"{self.election.saved_in} has"
        return f"step {number} saves"

    @cached_property
    def case_plans(self) -> tuple["ClusterRecovery", ...]:
        """The plan of each case, with its files in a directory below the one of this plan."""
        election = self.election
        return tuple(
            replace(
                self,
                election=replace(
                    case.election,
                    saved=election.saved,
                    saved_at_start=election.saved_at_start,
                    saved_in=election.saved_in,
                ),
                folder=case_folder(self.folder, number),
                cases=(),
            )
            for number, case in enumerate(self.cases, start=1)
        )

    def scenario(self, name: str) -> Scenario:
        """Return a course; the course of starting all brokers is without the repairs."""
        rows = {row.name: row for row in self.election.scenarios}
        return rows.get(f"{name}-unrepaired", rows[name])

    @property
    def start_of_all(self) -> StartOfAll:
        """The cost of starting all brokers here, and the cost of the plan."""
        start = self.election.start_of_all
        counted = frozenset(
            row.name
            for row in self.election.partitions
            if row.race and None not in row.race and lost_by_all(row).records is not None
        )
        return start._replace(
            scenario=self.scenario(START_ALL), sentences=self.sentences, losses=self.losses, counted=counted
        )

    @property
    def is_safe(self) -> bool:
        """True if starting all brokers is safe, and the metadata show every replica."""
        return self.start_of_all.is_safe and not self.election.is_unregistered

    @property
    def sentences(self) -> tuple[str, ...]:
        """The loss of starting everything now, the loss of the plan, and how far that is proven."""
        return tuple(dict.fromkeys(row.text for row in self._said))

    @cached_property
    def _said(self) -> tuple[Sentence, ...]:
        election, rescue = self.election, self.election.rescue
        if election.is_part or (rescue is None and not election.partitions):
            return (Sentence(election.verdict),)
        if rescue is not None:
            return tuple(map(Sentence, rescue_words(rescue, election.refuted)))
        if self.first.brokers:
            return tuple(map(Sentence, brokers_words(self.first.brokers, election.gaps)))
        start, plan, best = self.scenario(START_ALL), self.scenario("plan"), self.scenario("best")
        uncounted = (
            *self.uncounted,
            *(f"Not counted: {discarded_words(row)}." for row in election.repairs if row.discards is not None),
            *not_counted_words(not_counted(election.unserved, election.of_cluster)),
            *(f"{row}." for row in aside_words(election.of_cluster)),
            *(f"{capital(row)}." for row in readable_words(election.removed, self.saver)),
            *(
                kept_elsewhere_words(row.broker_id, row.prediction.dir, row.prediction, row.holders)
                for row in self.kept_elsewhere
            ),
            *map(other_log_words, other_logs(election.of_cluster)),
            *(exchanged_words(election.refuted) if self.mistaken else ()),
        )
        words = decision_words(
            start, plan, best, election.partitions, uncounted=uncounted, nothing=election.nothing_words,
            is_planned=not self.is_open,
            unmarked=failed_starts(election),
        )  # fmt: skip
        return (*map(Sentence, self.first.log_dirs), *words)

    @property
    def causes(self) -> tuple[str, ...]:
        """The unclean elections that a disk has not followed, as sentences."""
        return causes(self.election, self.at_stake)

    @cached_property
    def bundle_words(self) -> tuple[str, ...]:
        """The sentence about bundles, which show no later step; none for log dirs."""
        if not any(target.tree.is_bundle for target in replica_targets([*self.election.arguments])):
            return ()
        return (
            "A bundle shows the disks as they were. Capture new bundles after each step, and name those to --next.",
        )

    @property
    def losses(self) -> frozenset[str]:
        """The sentences about a loss, or about partitions without a leader."""
        return frozenset(row.text for row in self._said if row.is_loss)

    @property
    def uncounted(self) -> tuple[str, ...]:
        """The brokers that do not start, the records that no disk here shows, and the first steps, as sentences."""
        election = self.election
        return tuple(
            uncounted_words(
                election.gaps,
                election.uncounted,
                election.of_cluster,
                without=election.question.without,
                without_newest=election.question.without_newest,
                has_steps=bool(election.starts) and not self.is_open,
            )
        )

    @cached_property
    def risked(self) -> frozenset[str]:
        """The partitions that can lose records of missing disks."""
        return risked((own := self.election).gaps, own.uncounted, own.of_cluster, own.question.without)

    @cached_property
    def kept_elsewhere(self) -> tuple[KeptElsewhere, ...]:
        """The directories that brokers rename or remove when they start, and whose records replicas here have."""
        rows: dict[tuple[int | None, str | None], PartitionPrediction] = {
            (start.broker_id, row.dir): row
            for start in self.election.predicted.values()
            for row in start.partitions
            if row.directory.state in (DirectoryState.CURRENT, DirectoryState.DELETED) and row.whole is not None
        }
        return tuple(
            KeptElsewhere(part, copy.broker_id, rows[copy.broker_id, copy.dir], with_records(part))
            for part, copy in held_elsewhere(self.election.of_cluster)
            if (copy.broker_id, copy.dir) in rows
        )

    @property
    def at_stake(self) -> tuple[PartitionElection, ...]:
        """The partitions that can lose records or their leader, in the order of losses if no operator acts.

        With a filter: every wanted partition.
        """
        if self.wanted == EVERY_PARTITION:
            return tuple(sorted(filter(is_at_stake, self.election.partitions), key=harm))
        rows = (row for row in self.election.partitions if self.wanted.has(row.topic, row.partition))
        return tuple(sorted(rows, key=harm))

    @property
    def next_command(self) -> str | None:
        """The next command, which writes the files, or tells whether a step is done; None without any step."""
        if self.written:
            return shell_line(["kcheck", "recover", self.folder, "--next", *self.words])
        if self.first.brokers:
            return shell_line(["kcheck", "recover", *self.words, *(f"{number}=PATH" for number in self.first.brokers)])
        if self.mistaken:
            return None if self.again else shell_line(["kcheck", "recover", *self.words])
        if self.election.rescue is not None:
            return self.election.rescue.command
        return self.write_command if self.steps or self.cases or self.first.log_dirs or self.election.is_part else None

    @property
    def write_command(self) -> str:
        """The command that writes the files of the plan, and saves records."""
        question = self.election.question
        more = (("--dead", map(str, question.dead)), ("--aside", question.aside))
        named = [word for option, values in more for value in values for word in (option, value)]
        if self.first.log_dirs:
            rows = [row for row in self.election.uncounted if lacks_log_dirs(row) and row.log_dir is not None]
            lacking = [f"{row.broker_id}={row.log_dir}" for row in rows]
            return shell_line(["kcheck", "recover", *self.words, *lacking, *named])
        return f"{shell_line(['kcheck', 'recover', *self.words, *named])} --output-dir {FOLDER}"

    @property
    def again(self) -> str | None:
        """The command for the time when every broker here can start; None without need or before a rescue."""
        fails = any(gap.fails for gap in self.election.gaps)
        is_open = fails and not self.first.brokers and self.election.rescue is None
        return shell_line(["kcheck", "recover", *self.words]) if is_open else None

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments that name the brokers, their metadata and settings, and the release if the user named it."""
        question, said = self.election.question, self.release.evidence
        named = (word for path in question.metadata for word in ("--metadata", path))
        config = () if question.config is None else ("--config", question.config)
        kafka = ("--kafka", self.release.name) if said is None or said.given else ()
        return (*self.election.arguments, *named, *config, *kafka)

    @property
    def not_known(self) -> tuple[str, ...]:
        """Unseen facts, and the evidence that would show them.

        Facts that the log dirs of all brokers would show are only counted.
        """
        rows = [
            f"what only broker {gap.broker_id} holds; name {gap.broker_id}=PATH"
            for gap in self.election.gaps
            if gap.why is None and self.election.interrupted is None
        ]
        fenced = self.election.fenced
        if len(fenced) > 1 and self.steps and not self.recovery.fenced:
            rows.append(
                f"the order in which the controller removes {broker_names(fenced)} from the ISR. The plan assumes this"
                " order. After each step --next reads the ISR, and plans again if it differs"
            )
        is_shown = (PremiseStatus.NOT_SEEN, False)
        unseen = [
            premise
            for premise in self.election.premises
            if (premise.status, (premise.provide or EVERY_DISK).startswith(EVERY_DISK)) == is_shown
            and not (self.first.log_dirs and lacks_log_dirs(premise))
        ]
        rows += unseen_words(unseen)
        if any(_has_unread(row) for start in self.election.predicted.values() for row in start.partitions):
            rows.append(UNREAD)
        return tuple(dict.fromkeys(rows))

    @property
    def collected(self) -> list[Finding]:
        """The findings about the files that were read."""
        return self.election.collected

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the loss as a sort key."""
        return self.election.badness

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcomes of the election."""
        return self, self.election.outcomes()[1]

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, election=self.election.of_release(release))

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.as_report(
            "recovery",
            self.release.name,
            body=self._body(),
            collected=self.collected,
            checked=self.election.checked,
            evidence=self.release.evidence,
            kinds={"steps": "step", "partitions": "partition", "premises": "premise", "cases": "case"},
        )

    def _body(self) -> Row:
        election = self.election
        return {
            **interrupted_row(election.interrupted),
            "verdict": " ".join(self.sentences),
            "if_lost": None if election.if_lost is None else election.if_lost.sentence,
            "start_all": scenario_row(self.scenario(START_ALL)),
            "plan": scenario_row(self.scenario("plan")),
            "best": scenario_row(self.scenario("best")),
            "proven": not self.is_open and (election.order.is_proven or is_least(election.scenarios)),
            "steps": step_rows(self.steps, self.texts),
            "partitions": tuple(map(partition_row, self.at_stake)),
            "partition_count": len(election.partitions),
            "not_known": self.not_known,
            "cases": tuple(map(_case_row, self.cases, self.case_plans)),
            "repairs": tuple(map(repair_row, election.repairs)),
            "premises": premise_rows(election.premises),
            "written": self.written,
            "next": self.next_command,
        }


def recover(
    arguments: list[str],
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    release: Release,
    log_dirs: LogDirs | None = None,
) -> ClusterRecovery:
    """Return the recovery of a cluster from these log dirs; `log_dirs` are the open ones.

    UsageError if a path is a file, or a log dir has no broker id or no wanted partition. UsageError also if a broker is
    both here and dead.
    """
    targets = replica_targets(arguments)
    require_match(targets, wanted, lambda: image_at_hand(targets, question.metadata, LogDirs(release), question.config))
    election = elect(arguments, question, wanted=EVERY_PARTITION, release=release, log_dirs=log_dirs)
    return recovery_of(election, wanted)


def recovery_of(election: ClusterElection, wanted: PartitionFilter = EVERY_PARTITION) -> ClusterRecovery:
    """Return the recovery by the answer of an election, with the plans for other cases."""
    answer = ClusterRecovery(election=election, wanted=wanted)
    if answer.election.interrupted is not None or answer.first.brokers or answer.mistaken:
        return answer
    try:
        old, lost = if_newest_lost(election), if_lost(election, [*election.arguments], election.release)
        known = (*lost, *(() if old is None else (old,)))
        return replace(answer, cases=(*known, *_if_unclean(answer, old)))
    except KeyboardInterrupt:
        return replace(answer, election=replace(election, interrupted="the plans for other cases not made"))


def _if_unclean(answer: ClusterRecovery, case: Case | None) -> Iterator[Case]:
    """Yield what to do if a controller elects uncleanly by itself, where no settings show that and the plan differs.

    While a case holds all brokers back, this is about its plan.
    """
    words = f"{UNCLEAN} is true on a controller"
    if case is not None:
        answer, words = replace(answer, election=case.election), f"{words}, and {case.condition}"
    comes_first = answer.first.log_dirs or answer.election.rescue is not None
    if not comes_first and any(row.rules.unclean_unseen for row in answer.election.of_cluster):
        other = ClusterRecovery(election=answer.election.if_unclean())
        if (other.steps, other.scenario("plan")) != (answer.steps, answer.scenario("plan")):
            yield Case(words, "the server.properties of the controllers", other.election)


def _case_row(case: Case, recovery: ClusterRecovery) -> Row:
    return {
        "if": case.condition,
        "decided_by": case.decided_by,
        "dead": case.dead,
        "verdict": " ".join(recovery.sentences),
        "plan": scenario_row(recovery.scenario("plan")),
        "steps": step_rows(recovery.steps, recovery.texts),
    }
