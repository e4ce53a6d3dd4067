"""`kcheck elect`: who should lead each partition, in which order brokers should start, and what each way costs."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from typing import Self

from kcheck.core.cluster.quorum import quorum
from kcheck.core.election.balance import balanced
from kcheck.core.election.choice import ElectionChoice, choice_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.fencing import fences_alone, fencing_order
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.first_rescue import FirstRescue, RescueVerb
from kcheck.core.election.misplaced import HeldLog, Misplaced, misplaced
from kcheck.core.election.plans import BrokerGap, CopyState, PartitionElection, decided, is_safe, only_aside
from kcheck.core.election.recovery_plan import BrokerLogDir, Recovery
from kcheck.core.election.scenarios import (
    OF_METADATA,
    START_ALL,
    Scenario,
    badness,
    in_doubt,
    not_known,
    of_start_all,
    scenarios,
)  # fmt: skip
from kcheck.core.election.start_losses import RemovedAtStart
from kcheck.core.election.start_order import NO_ORDER, StartOrder
from kcheck.core.premises.table import OTHER_RECORDS
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.topic_settings import being_deleted
from kcheck.core.start.unserved import Unserved, lost_in_starts
from kcheck.disk.signals import held_back
from kcheck.disk.tree import Tree
from kcheck.documents.answer import COMPARED_COUNT_MAX, BrokerAnswer, Outcomes
from kcheck.documents.election import controller_row, election_body, election_outcomes, interrupted_row, repair_row
from kcheck.documents.election_verdict import verdict, why_empty
from kcheck.documents.election_words import discards
from kcheck.documents.premises import premise_rows, with_old_disk
from kcheck.documents.removed_records import readable_words
from kcheck.documents.uncounted import missing_words, nothing_words
from kcheck.documents.unserved import not_counted_words
from kcheck.errors import UsageError
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Finding
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.model.source import Files
from kcheck.replicas.broker_gaps import failing_of, gaps_of, is_out_of_place, mistaken_of
from kcheck.replicas.candidates import ClusterHere, ReplicaCopy, election_of
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.loading import election_targets, opened
from kcheck.replicas.partition_directories import PartitionDirectories, held_logs
from kcheck.replicas.saved_records import SavedReplica, saved_row
from kcheck.replicas.uncounted import apart_of, not_counted, uncounted_premises
from kcheck.startup.options import StartOptions
from kcheck.survey.selection import require_match
from kcheck.verbs.lost_metadata import rescue_first, rescue_if_lost
from kcheck.verbs.overview import StartOfAll
from kcheck.views.broker_settings import settings_of
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, paths_of
from kcheck.words import LISTED_MAX, broker_names, capital, counted

_AS_THEY_LIE: Mapping[str, Tree] = {}
_MAY_LOSE = attrgetter("may_lose_history")


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionQuestion:
    """A question about the elections of a cluster."""

    dead: tuple[int, ...] = ()
    """The brokers that are given up."""
    incomplete_ok: bool = False
    """True if a leader is recommended although replicas are not known."""
    metadata: tuple[str, ...] = ()
    """Copies of the cluster's metadata outside of the log dirs."""
    aside: tuple[str, ...] = ()
    """`BROKER=PATH`: directories that were moved aside, or that hold such ones."""
    config: str | None = None
    """The server.properties of a controller; None for the first among the paths."""
    without: tuple[BrokerLogDir, ...] = ()
    """The log dirs that are given up, as if they were not in log.dirs."""
    added: tuple[BrokerLogDir, ...] = ()
    """The log dirs that log.dirs lacks, as if it named them."""
    without_newest: tuple[int, ...] = ()
    """The brokers whose newest disk is lost for good. Their old copy counts."""
    planned: Mapping[int, Mapping[str, str]] = field(default_factory=dict)
    """The settings that a plan changes, by broker; an empty value removes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterElection(BrokerAnswer):
    """The answer of `kcheck elect`."""

    kraft: bool
    """True if KRaft controllers elect."""
    image: ClusterImage | None
    """The metadata of the cluster; None without any."""
    brokers: tuple[int, ...]
    """The brokers here."""
    question: ElectionQuestion
    """The question."""
    starts: Mapping[int, BrokerStart]
    """The registrations of the brokers that do start, by id."""
    fenced: tuple[int, ...]
    """The running brokers of the metadata, in the order in which the controller notices that they have stopped."""
    verdict: str
    """The next steps and their cost, in sentences."""
    gaps: tuple[BrokerGap, ...]
    """The brokers whose replicas are not part of the picture."""
    order: StartOrder
    """The order in which the brokers here should start."""
    scenarios: tuple[Scenario, ...]
    """The courses to compare."""
    partitions: tuple[PartitionElection, ...]
    """The wanted partitions, by topic and number."""
    of_cluster: tuple[PartitionElection, ...]
    """Every partition: they decide the order of starts, and who leads by the plan."""
    copies: Callable[[str, int], tuple[ReplicaCopy, ...]]
    """Returns the directories of a partition, as the next starts leave them."""
    choose: Callable[[tuple[PartitionElection, ...]], ElectionChoice]
    """Returns what partitions decide together."""
    disk_of: Callable[[RemovedAtStart], Files]
    """Returns the files of a partition directory before its broker starts."""
    arguments: tuple[str, ...]
    """The arguments that name the brokers."""
    premises: tuple[JudgedPremise, ...] = ()
    """The assumptions of the answer."""
    predicted: Mapping[str, LogDirPrediction] = field(default_factory=dict)
    """The next starts of the log dirs, by the paths of the targets."""
    interrupted: str | None = None
    """Parts that were not looked at when the user interrupted, as a clause; None without an interrupt."""
    is_part: bool = False
    """True if ^C came before every log dir and partition was looked at. No order, plan or sum holds for all."""
    left_out: tuple[BrokerLogDir, ...] = ()
    """The log dirs with partitions that are not in the settings of their broker, which does not load them."""
    repairs: tuple[FirstRepair, ...] = ()
    """The repairs that come before any broker starts. The answer is for the log dirs after these repairs."""
    saved: tuple[SavedReplica, ...] = ()
    """The saved records of each replica that would truncate its log under some candidate."""
    saved_at_start: tuple[SavedReplica, ...] = ()
    """The saved records that brokers would truncate for good when they start (`removed`)."""
    saved_in: str | None = None
    """The directory that holds both."""
    written: tuple[str, ...] = ()
    """The files of the plan."""
    unserved: tuple[Unserved, ...] = ()
    """The directories with records that no election counts; none where not all partitions are asked for."""
    removed: tuple[RemovedAtStart, ...] = ()
    """The records that brokers remove for good when they start, because their logs are corrupt."""
    rescue: FirstRescue | None = None
    """The rescue of the metadata that comes before any start; None if none is needed."""
    if_lost: FirstRescue | None = None
    """The first rescue if controllers that are not here are lost; None with a majority here."""
    misplaced: tuple[Misplaced, ...] = ()
    """The directories that belong at another place."""

    def whole(self) -> Self:
        """Return the same answer; KeyboardInterrupt if the user interrupted it."""
        if self.interrupted is not None:
            raise KeyboardInterrupt
        return self

    @property
    def start_of_all(self) -> StartOfAll:
        """The cost of starting all brokers here."""
        scenario = next(scenario for scenario in self.scenarios if scenario.name == START_ALL)
        keeps_all = self.image is None or scenario.keeps_all
        return StartOfAll(
            brokers=len(self.brokers),
            scenario=scenario,
            is_safe=self.is_safe and keeps_all,
            rescue=None if self.rescue is None else self.rescue.command,
        )

    @property
    def is_safe(self) -> bool:
        """True if every partition has a recommended leader, and the recommended steps lose no record.

        A cluster that needs a repair first is not safe yet. Nor is a cluster with a broker here that does not start.
        """
        is_empty = not self.partitions and why_empty(self.premises, self.image) is not None
        is_open = (
            self.rescue or self.repairs or self.question.added or is_empty or self.uncounted or self.unserved
            or self.unseen_history or self.is_out_of_place or self.interrupted or failing_of(self.gaps)
        )  # fmt: skip
        return not is_open and is_safe(self.partitions)

    @property
    def is_unregistered(self) -> bool:
        """True if no metadata show the other replicas of a partition, and the user does not accept that."""
        return not self.question.incomplete_ok and any(row.registration is None for row in self.of_cluster)

    @property
    def refuted(self) -> tuple[JudgedPremise, ...]:
        """The premises of the next starts that do not hold."""
        return tuple(row for row in self.premises if row.status is PremiseStatus.REFUTED)

    @property
    def uncounted(self) -> tuple[JudgedPremise, ...]:
        """The refuted premises whose losses no election counts, of any partition."""
        return uncounted_premises(self.premises, self.of_cluster)

    @property
    def unseen_history(self) -> tuple[JudgedPremise, ...]:
        """The premises without which controllers that are not here can elect another history."""
        return tuple(row for row in self.premises if row.may_lose_history)

    @property
    def is_misnamed(self) -> bool:
        """True if a directory has, or may have, the name of another partition or topic. Nothing is planned then."""
        return any(row.id in OTHER_RECORDS for row in self.refuted)

    @property
    def is_out_of_place(self) -> bool:
        """True if disks or directories are in a wrong place. No broker should start before that is solved."""
        return bool(self.misplaced) or is_out_of_place(self.gaps, self.premises)

    @property
    def nothing_words(self) -> str:
        """The words for no loss, which say how much of the cluster they are about."""
        rest = [*self.unserved, *filter(discards, self.repairs), *only_aside(self.of_cluster), *failing_of(self.gaps)]
        elsewhere = [*self.gaps, *self.uncounted, *self.unseen_history, *self.question.without]
        return nothing_words(elsewhere, rest, self.partitions)

    def broker_of(self, target: Target) -> int | None:
        """Return the broker of a log dir; None for a directory that no broker loads, such as one moved aside."""
        start = self.predicted.get(target.path)
        return None if start is None else start.broker_id if target.broker_id is None else target.broker_id

    def recovery(self, folder: str) -> Recovery:
        """Return the recommendation, with the directory for its files."""
        return Recovery(
            partitions=self.of_cluster,
            order=(*self.order.brokers, *(number for number in self.brokers if number not in self.starts)),
            starts=self.starts,
            dead=frozenset(self.question.dead),
            release=self.release,
            kraft=self.kraft,
            image=self.image,
            paths=self.arguments,
            folder=folder,
            together=self.order.together,
            saved=self.saved_in,
            repairs=self.repairs,
            without=self.question.without,
            added=self.question.added,
            fenced=self.fenced if self.is_fenced_alone else (),
            rescue=self.rescue,
            truncated=self.removed,
            misplaced=self.misplaced,
            uncounted=tuple(missing_words(self.uncounted, self.question.dead, self.of_cluster)),
        )

    @property
    def is_fenced_alone(self) -> bool:
        """True if the first step of a plan starts controllers without a broker, which fence several brokers."""
        return fences_alone(self.fenced, {*self.brokers, *self.question.dead}, self.release, self.order)

    def if_unclean(self) -> Self:
        """Return the answer if settings that were not seen turn on unclean elections."""
        is_complete = self.question.incomplete_ok
        rows = tuple(
            decided(row._replace(rules=row.rules._replace(unclean=True)), self.starts, complete=is_complete)
            if row.rules.unclean_unseen
            else row
            for row in self.of_cluster
        )
        rows = tuple(
            row._replace(rules=row.rules._replace(unclean_unseen=False), race_unseen=frozenset()) for row in rows
        )
        chosen = self.choose(rows)
        return replace(
            self, order=chosen.order, partitions=chosen.partitions, of_cluster=chosen.partitions,
            scenarios=scenarios(chosen.partitions, self.starts, chosen.order.brokers),
        )  # fmt: skip

    @property
    def saved_count(self) -> int | None:
        """Number of distinct saved records of all replicas; None if a batch cannot be decoded."""
        ranges: dict[tuple[str, int], list[LostRange]] = {}
        for topic, partition, broker_id, (_, start, end, *_) in self.saved:
            copies = (copy for copy in self.copies(topic, partition) if copy.role is CopyState.CURRENT)
            logs = {copy.state.broker_id: copy.state.logs for copy in copies}
            if start is not None and end is not None:
                ranges.setdefault((topic, partition), []).append(LostRange(logs[broker_id], start, end))
        counts = [distinct(lost, ()).records for lost in ranges.values()]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the loss as a sort key."""
        return badness(self.scenarios, is_safe=self.is_safe)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcomes; see `election_outcomes`."""
        if self.interrupted or len(self.partitions) > COMPARED_COUNT_MAX:
            return self, None
        return self, election_outcomes(self.order, self.partitions)

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "elect",
            body={
                **interrupted_row(self.interrupted),
                **election_body(
                    NO_ORDER if self.is_out_of_place else self.order,
                    self.scenarios,
                    self.partitions,
                    self.gaps,
                    kraft=self.kraft,
                    verdict=self.verdict,
                ),
                **controller_row(self.image, kraft=self.kraft),
                "if_lost": None if self.if_lost is None else self.if_lost.sentence,
                "running_in_metadata": self.fenced,
                "repairs": tuple(map(repair_row, self.repairs)),
                "saved": tuple(map(saved_row, self.saved)),
                "written": self.written,
                "premises": premise_rows(self.premises),
            },
            kinds={name: name[:-1] for name in ("scenarios", "partitions", "gaps", "premises", "repairs")},
        )


NOT_REPAIRED = "the repairs that come first not looked for"
"""The part that is missing in an answer whose elections are all there."""


def elect(
    arguments: list[str],
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    release: Release,
    trees: Mapping[str, Tree] = _AS_THEY_LIE,
    log_dirs: LogDirs | None = None,
) -> ClusterElection:
    """Return the recommended leaders of the partitions in the paths, without any repair before.

    All partitions decide the plan. The answer is about the wanted partitions. `trees` hold log dirs before their
    repair. UsageError if a path is a file, a log dir has no broker id, or a broker is both here and dead.
    """
    targets = election_targets(arguments, trees, {lost.path for lost in question.without})
    log_dirs = log_dirs or opened(targets, trees, release)
    image = image_at_hand(targets, question.metadata, log_dirs, question.config)
    require_match(targets, wanted, lambda: image)
    deleting = being_deleted(image, release)
    image = None if image is None else image.without_topics(deleting)
    collected: list[Finding] = []
    options = StartOptions(
        None, settings_of(arguments, question.config, (), release), release, metadata=question.metadata,
        controller_config=question.config, without=frozenset(lost.path for lost in question.without),
        added=frozenset(row.path for row in question.added), planned=question.planned,
    )  # fmt: skip
    directories = PartitionDirectories(targets, options, image, collected, log_dirs, aside=question.aside)
    cluster = _cluster_here(directories, image, question, release)._replace(deleting=deleting)
    elections, moved, interrupted = _elections(directories, cluster)
    if directories.unread:
        interrupted = f"the log dirs of {broker_names(directories.unread, LISTED_MAX)} not read"
    with held_back() as came:
        answer = _decided(
            arguments, question, wanted, release, directories, cluster, elections, interrupted,
            options.settings.delete_delay_ms, moved,
        )  # fmt: skip
    answer = replace(answer, collected=collected, checked=paths_of(targets))
    return replace(answer, interrupted=answer.interrupted or NOT_REPAIRED) if came else answer


def _decided(
    arguments: list[str], question: ElectionQuestion, wanted: PartitionFilter, release: Release,
    directories: PartitionDirectories, cluster: ClusterHere, elections: tuple[PartitionElection, ...],
    interrupted: str | None, delete_delay_ms: int | None, moved: tuple[Misplaced, ...],
) -> ClusterElection:  # fmt: skip
    """Return the answer by the elections of all partitions, or of those so far."""
    image = cluster.image
    controllers = quorum(directories.copies) if directories.copies else None
    choose = partial(choice_of, cluster.starts, release, controllers)
    elections, order, course = choose(elections)
    shown = tuple(election for election in elections if wanted.has(election.topic, election.partition))
    gaps = tuple(gaps_of(shown, cluster))
    failing, is_mistaken = failing_of(gaps), bool(mistaken_of(gaps, directories.premises))
    starts, is_all = directories.starts.values(), len(shown) == len(elections)
    apart = apart_of(lost_in_starts(starts, image, delete_delay_ms, cluster.deleting), elections) if is_all else ()
    uncounted, unserved = uncounted_premises(directories.premises, elections), only_aside(elections)
    removed = directories.removed(elections)
    elsewhere = [*gaps, *uncounted, *filter(_MAY_LOSE, directories.premises), *question.without]
    words = verdict(
        shown, cluster.starts, order, course, failing=failing, is_mistaken=is_mistaken, is_all=shown == elections,
        moved=moved, why_empty=why_empty(directories.premises, image), uncounted=uncounted, apart=[
            *not_counted_words(not_counted(apart, elections)), *(f"{capital(row)}." for row in readable_words(removed)),
        ], nothing=nothing_words(elsewhere, [*apart, *unserved, *failing], shown),
    )  # fmt: skip
    rescue = rescue_first(
        arguments, question.metadata, question.dead, copies=directories.copies, premises=directories.premises,
        starts=bool(cluster.starts), kraft=directories.kraft,
    )  # fmt: skip
    is_open = rescue is None and interrupted is None
    lost = rescue_if_lost(arguments, question.metadata, question.dead, directories.copies) if is_open else None
    compared = scenarios(shown, cluster.starts, order.brokers)
    compared = of_start_all(compared) if is_out_of_place(gaps, directories.premises) else compared
    if interrupted is not None:
        rescue, order = None, order._replace(is_proven=False)
        words = f"The best order of starts and its loss are not known: {interrupted}."
    is_unknown = interrupted is not None or (not elections and image is None)
    compared = _as_known(compared, shown, rescue, is_unknown=is_unknown)
    return ClusterElection(
        release=release,
        kraft=directories.kraft,
        image=image,
        brokers=tuple(directories.brokers),
        question=question,
        starts=cluster.starts,
        fenced=cluster.fenced,
        verdict=words if rescue is None else rescue.sentence,
        rescue=rescue,
        if_lost=lost,
        unserved=apart,
        removed=removed,
        gaps=gaps,
        order=order,
        scenarios=compared,
        partitions=shown,
        of_cluster=elections,
        copies=directories.of,
        disk_of=directories.disk_of,
        collected=[],
        checked=(),
        choose=choose,
        interrupted=interrupted,
        is_part=interrupted is not None,
        arguments=tuple(arguments),
        premises=directories.premises,
        predicted=directories.starts,
        left_out=directories.left_out,
        misplaced=moved,
    )


def _as_known(
    compared: tuple[Scenario, ...], shown: Iterable[PartitionElection], rescue: FirstRescue | None, *, is_unknown: bool
) -> tuple[Scenario, ...]:
    """Return the courses without the amounts that depend on metadata which a rescue brings back."""
    if is_unknown or (rescue is not None and all(row.recommended is None for row in shown)):
        return not_known(compared)
    return compared if rescue is None or rescue.verb is RescueVerb.NONE else not_known(compared, OF_METADATA)


def _elections(
    directories: PartitionDirectories, cluster: ClusterHere
) -> tuple[tuple[PartitionElection, ...], tuple[Misplaced, ...], str | None]:
    """Return the elections of partitions, their misplaced directories, and how many an interrupt left out."""
    image, names, every = cluster.image, directories.every(cluster), list[PartitionElection]()
    held = list[HeldLog]()
    with suppress(KeyboardInterrupt):
        for topic, number in () if directories.is_interrupted else names:
            copies = directories.of(topic, number)
            every.append(election_of(topic, number, copies, cluster))
            held += held_logs(topic, number, copies)
    left = len(names) - len(every)
    interrupted = f"{counted(left, 'partition')} of {len(names)} not looked at" if left else None
    elections = tuple(election for election in every if election.is_of_cluster)
    decided_together = in_doubt(elections if image is None else balanced(elections, image))
    return decided_together, misplaced(every, held), interrupted


def _cluster_here(
    directories: PartitionDirectories, image: ClusterImage | None, question: ElectionQuestion, release: Release
) -> ClusterHere:
    """Return the known facts of the cluster; UsageError if a broker is both here and dead."""
    present = sorted(directories.brokers.keys() & set(question.dead))
    if present:
        raise UsageError(
            f"--dead {present[0]}: broker {present[0]} is among the paths; name only the others, as BROKER=PATH"
        )
    # The broker makes the replicas of a log dir that log.dirs names no more again, empty, as with a new disk.
    remade = {lost.broker_id for lost in question.without}
    return ClusterHere(
        image=image,
        brokers={
            number: broker._replace(has_new_log_dir=True) if number in remade else broker
            for number, broker in directories.brokers.items()
        },
        dead=frozenset(question.dead),
        kraft=directories.kraft,
        release=release,
        incomplete_ok=question.incomplete_ok,
        offsets=directories.offsets,
        marks=directories.marks,
        old=with_old_disk(directories.premises),
        fenced=() if image is None or not directories.kraft else fencing_order(image.brokers, release),
    )
