"""`kcheck elect`: who should lead each partition, in which order brokers should start, and what each way costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from kcheck.core.cluster.quorum import quorum, started_together
from kcheck.core.election.balance import balanced
from kcheck.core.election.early_elections import means_for, means_of
from kcheck.core.election.election import BrokerStart
from kcheck.core.election.fencing import fencing_order
from kcheck.core.election.first_repairs import FirstRepair
from kcheck.core.election.phases import order_of_starts
from kcheck.core.election.plans import (
    BrokerGap,
    CopyState,
    PartitionElection,
    is_safe,
    lost_ranges,
)
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.scenarios import START_ALL, Scenario, in_doubt, planned, scenarios
from kcheck.core.election.start_order import StartOrder
from kcheck.core.premises.age import DISK_NOT_OLDER
from kcheck.core.premises.table import UNCOUNTED, WRONG_METADATA, why_not_started
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.disk.new_files import NewFiles
from kcheck.disk.tree import Tree
from kcheck.documents.answer import COMPARED_COUNT_MAX, BrokerAnswer, Outcomes, name_of
from kcheck.documents.election import controller_row, election_body
from kcheck.documents.election_verdict import verdict
from kcheck.documents.first_repairs import repair_row
from kcheck.documents.premises import loses, may_lack, premise_rows
from kcheck.errors import UsageError
from kcheck.handouts.election_files import files_of
from kcheck.model.cluster import ClusterImage
from kcheck.model.finding import Finding
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report, Row
from kcheck.replicas.candidates import ClusterHere, ReplicaCopy, election_of
from kcheck.replicas.distinct_records import LostRange, distinct
from kcheck.replicas.partition_directories import PartitionDirectories
from kcheck.replicas.saved_records import SavedRecords, save_lost
from kcheck.startup.log_manager import StartOptions
from kcheck.survey.selection import require_match
from kcheck.verbs.overview import StartOfAll
from kcheck.views.broker_settings import settings_of
from kcheck.views.log_dir import LogDirs
from kcheck.views.metadata_at_hand import image_at_hand
from kcheck.views.targets import Target, TargetKind, directory_wanted, paths_of, replica_targets
from kcheck.words import partition_name

_AS_THEY_LIE: Mapping[str, Tree] = {}
_KINDS = {
    "scenarios": "scenario", "partitions": "partition", "gaps": "gap", "premises": "premise", "repairs": "repair",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ElectionQuestion:
    """What is asked of the elections of a cluster."""

    dead: tuple[int, ...] = ()
    """The brokers that are given up."""
    incomplete_ok: bool = False
    """Whether to recommend a leader although replicas are not known."""
    metadata: tuple[str, ...] = ()
    """Copies of the cluster's metadata outside of the log dirs."""
    aside: tuple[str, ...] = ()
    """`BROKER=PATH`: directories that somebody moved aside, or that hold such ones."""
    config: str | None = None
    """The server.properties of a controller; None for the first among the paths."""


class SavedReplica(NamedTuple):
    """What was saved of a replica."""

    topic: str
    partition: int
    broker_id: int
    records: SavedRecords
    """The files, and how much they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterElection(BrokerAnswer):
    """What `kcheck elect` answers."""

    kraft: bool
    """Whether KRaft controllers elect."""
    image: ClusterImage | None
    """The metadata of the cluster; None without any."""
    brokers: tuple[int, ...]
    """The brokers here."""
    question: ElectionQuestion
    """What was asked."""
    starts: Mapping[int, BrokerStart]
    """How the brokers register that start, by id."""
    fenced: tuple[int, ...]
    """The brokers that run by the metadata, in the order in which the controller notices that they are gone."""
    verdict: str
    """What to do, and what that costs, in sentences."""
    gaps: tuple[BrokerGap, ...]
    """The brokers whose replicas are not part of the picture."""
    order: StartOrder
    """The order in which the brokers here should start."""
    scenarios: tuple[Scenario, ...]
    """What a person compares."""
    partitions: tuple[PartitionElection, ...]
    """Every partition, by topic and number."""
    copies: Callable[[str, int], tuple[ReplicaCopy, ...]]
    """Returns the directories of a partition, as the next starts leave them."""
    arguments: tuple[str, ...]
    """The arguments that name the brokers."""
    premises: tuple[JudgedPremise, ...] = ()
    """What the answer rests on."""
    predicted: Mapping[str, LogDirPrediction] = field(default_factory=dict)
    """The next starts of the log dirs, by the paths of the targets."""
    repairs: tuple[FirstRepair, ...] = ()
    """The repairs that come before any start: the answer is for the log dirs as these leave them."""
    saved: tuple[SavedReplica, ...] = ()
    """What was saved of each replica that some candidate's election would cut."""
    saved_in: str | None = None
    """The directory that holds it."""
    written: tuple[str, ...] = ()
    """The files of the plan."""

    @property
    def start_of_all(self) -> StartOfAll:
        """What starting all brokers here costs."""
        scenario = next(scenario for scenario in self.scenarios if scenario.name == START_ALL)
        keeps_all = self.image is None or (scenario.lost.committed, scenario.offline_partitions) == (0, 0)
        return StartOfAll(
            brokers=len(self.brokers),
            scenario=scenario,
            is_safe=self.is_safe and keeps_all,
        )

    @property
    def is_safe(self) -> bool:
        """Whether every partition has a recommended leader, and no record is lost by the recommended steps.

        A cluster that is to be repaired first is not safe yet, nor is one of whose brokers one does not start.
        """
        stopped = (gap for gap in self.gaps if gap.why is not None and gap.broker_id not in self.question.dead)
        is_empty = not self.partitions and why_not_started(self.premises) is not None
        return not (self.repairs or is_empty or self.uncounted or any(stopped)) and is_safe(self.partitions)

    @property
    def uncounted(self) -> tuple[JudgedPremise, ...]:
        """The refuted premises whose losses no election counts."""
        return _uncounted(self.premises, self.partitions)

    def recovery(self, folder: str) -> Recovery:
        """Return what is recommended, with the directory that its files are for."""
        return Recovery(
            partitions=self.partitions,
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
        )

    def with_plan(self, out: str) -> Self:
        """Return the answer once its plan is written to a directory: files for Kafka's tools, and for people.

        UsageError if a file exists already or cannot be written, or if the directory is in a log dir.
        """
        return replace(self, written=write_plan(self.recovery(out), apart_from=self.checked))

    def with_saved(self, out: str) -> Self:
        """Return the answer once what the election of any candidate would cut is saved below a directory.

        UsageError if a file exists already or cannot be written, or if the directory is in a log dir.
        """
        return replace(self, saved=tuple(self._saved(out)), saved_in=out)

    def _saved(self, out: str) -> Iterator[SavedReplica]:
        for election in self.partitions:
            ranges = lost_ranges(election)
            copies = self.copies(election.topic, election.partition) if ranges else ()
            logs = {copy.state.broker_id: copy.state.logs for copy in copies if copy.role is CopyState.CURRENT}
            for broker_id, (start, end) in ranges.items():
                name = partition_name(election.topic, election.partition)
                records = save_lost(out, name, broker_id, logs[broker_id], start, end)
                yield SavedReplica(election.topic, election.partition, broker_id, records)

    @property
    def saved_count(self) -> int | None:
        """How many distinct records were saved, whichever replicas they are of; None if a batch cannot be decoded."""
        ranges: dict[tuple[str, int], list[LostRange]] = {}
        for topic, partition, broker_id, (_, start, end, *_) in self.saved:
            copies = (copy for copy in self.copies(topic, partition) if copy.role is CopyState.CURRENT)
            logs = {copy.state.broker_id: copy.state.logs for copy in copies}
            if start is not None and end is not None:
                ranges.setdefault((topic, partition), []).append(LostRange(logs[broker_id], start, end))
        counts = [distinct(lost, ()).records for lost in ranges.values()]
        return None if None in counts else sum(count for count in counts if count is not None)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the order of starts, and for each partition whom Kafka elects and what each candidate costs."""
        if len(self.partitions) > COMPARED_COUNT_MAX:
            return self, None
        of_partitions: Outcomes = {
            (f"elect {name_of(row.topic, row.partition)}",): [
                (row.kafka_clean, row.kafka_unclean, row.best),
                *((part.broker_id, part.state, part.clean, part.problem, part.lost) for part in row.candidates),
            ]
            for row in self.partitions
        }
        return self, {**of_partitions, ("start order",): self.order.brokers}

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "elect",
            body={
                **election_body(
                    self.order, self.scenarios, self.partitions, self.gaps, kraft=self.kraft, verdict=self.verdict
                ),
                **controller_row(self.image, kraft=self.kraft),
                "running_in_metadata": self.fenced,
                "repairs": tuple(map(repair_row, self.repairs)),
                "saved": tuple(map(_saved_row, self.saved)),
                "written": self.written,
                "premises": premise_rows(self.premises),
            },
            kinds={
                "scenarios": "scenario",
                "partitions": "partition",
                "gaps": "gap",
                "premises": "premise",
                "repairs": "repair",
            },
        )


def _saved_row(saved: SavedReplica) -> Row:
    records = saved.records
    return {
        "topic": saved.topic,
        "partition": saved.partition,
        "broker_id": saved.broker_id,
        "paths": (*(() if records.path is None else (records.path,)), *records.more),
        "from": records.start,
        "to": records.end,
        "batches": records.batches,
        "records": records.records,
        "bytes": records.bytes,
        "sha256": records.sha256,
    }


def elect(
    arguments: list[str],
    question: ElectionQuestion,
    *,
    wanted: PartitionFilter,
    release: Release,
    trees: Mapping[str, Tree] = _AS_THEY_LIE,
    log_dirs: LogDirs | None = None,
) -> ClusterElection:
    """Return who should lead the partitions of the brokers in the paths, without any repair before.

    `trees` are what log dirs are read from, by path, where that is not the disk: log dirs that are not repaired yet.
    `log_dirs` are those that are open already.
    UsageError: a path is a file, a log dir has no broker id, or a broker is both here and dead.
    """
    targets = _targets(arguments, trees)
    require_match(targets, wanted)
    log_dirs = log_dirs or LogDirs(release)
    image = image_at_hand(targets, question.metadata, log_dirs, question.config)
    collected: list[Finding] = []
    options = StartOptions(
        None, settings_of(arguments, question.config, (), release), release, wanted, metadata=question.metadata,
        controller_config=question.config,
    )  # fmt: skip
    directories = PartitionDirectories(targets, options, image, collected, log_dirs, aside=question.aside)
    cluster = _cluster_here(directories, image, question, release)
    every = (
        election_of(topic, number, directories.of(topic, number), cluster)
        for topic, number in _wanted_partitions(directories, image, wanted)
    )
    elections = tuple(election for election in every if election.is_of_cluster)
    elections = in_doubt(elections if image is None else balanced(elections, image))
    controllers = quorum(directories.copies) if directories.copies else None
    together = () if controllers is None else started_together(controllers, sorted(cluster.starts))
    means = means_of(elections, cluster.starts, release, at_once=max(1, len(together)))
    order = order_of_starts(elections, cluster.starts, means)
    if controllers is not None:
        order = order.after(started_together(controllers, order.brokers))
    means = means_for(elections, order.brokers, cluster.starts, means)
    elections = planned(elections, cluster.starts, order.brokers, means)
    rows = scenarios(elections, cluster.starts, order.brokers)
    gaps = tuple(gaps_of(elections, cluster))
    words = verdict(
        elections, cluster.starts, order, means, is_part=any(wanted), failing=failing_of(gaps, cluster),
        why_empty=why_not_started(directories.premises),
        uncounted=[row.id for row in _uncounted(directories.premises, elections) if row.id not in WRONG_METADATA],
    )  # fmt: skip
    return ClusterElection(
        release=release,
        kraft=directories.kraft,
        image=image,
        brokers=tuple(directories.brokers),
        question=question,
        starts=cluster.starts,
        fenced=cluster.fenced,
        verdict=words,
        gaps=gaps,
        order=order,
        scenarios=rows,
        partitions=elections,
        copies=directories.of,
        collected=collected,
        checked=paths_of(targets),
        arguments=tuple(arguments),
        premises=directories.premises,
        predicted=directories.starts,
    )


def _uncounted(premises: Iterable[JudgedPremise], elections: Iterable[PartitionElection]) -> tuple[JudgedPremise, ...]:
    """Return the premises without which a broker loses, or may lack, what no election counts.

    A disk that is older than the cluster costs what was written since: where another replica is here, it has that.
    """
    premises = tuple(premises)
    old = {row.broker_id for row in premises if loses(row) and row.id == DISK_NOT_OLDER}
    logs = ({row.broker_id for row in part.candidates if row.state is CopyState.CURRENT} for part in elections)
    ids = WRONG_METADATA | UNCOUNTED | ({DISK_NOT_OLDER} if any(own and own <= old for own in logs) else frozenset())
    return tuple(row for row in premises if (loses(row) and row.id in ids) or may_lack(row))


def _cluster_here(
    directories: PartitionDirectories, image: ClusterImage | None, question: ElectionQuestion, release: Release
) -> ClusterHere:
    """Return what is known of the cluster; UsageError if a broker is both here and dead."""
    both = sorted(directories.brokers.keys() & set(question.dead))
    if both:
        raise UsageError(f"--dead {both[0]}: broker {both[0]} is among the paths")
    return ClusterHere(
        image=image,
        brokers=directories.brokers,
        dead=frozenset(question.dead),
        kraft=directories.kraft,
        release=release,
        incomplete_ok=question.incomplete_ok,
        offsets=directories.offsets,
        marks=directories.marks,
        fenced=() if image is None or not directories.kraft else fencing_order(image.brokers, release),
    )


def _targets(arguments: list[str], trees: Mapping[str, Tree]) -> tuple[Target, ...]:
    """Return the targets, read from their trees; UsageError for a file."""
    targets = replica_targets(arguments)
    for target in targets:
        if target.kind is TargetKind.FILE:
            raise directory_wanted(target, "an election")
    return tuple(target._replace(tree=trees.get(target.log_dir, target.tree)) for target in targets)


def write_plan(recovery: Recovery, *, apart_from: Iterable[str]) -> tuple[str, ...]:
    """Write the files of a plan into its directory; return their paths. UsageError as `ClusterElection.with_plan`."""
    return write_texts(recovery.folder, files_of(recovery), apart_from=apart_from)


def write_texts(folder: str, texts: Mapping[str, str], *, apart_from: Iterable[str]) -> tuple[str, ...]:
    """Write new files into a directory; return their paths. UsageError as `ClusterElection.with_plan`."""
    with NewFiles(folder, (), apart_from=apart_from) as files:
        written = []
        for name, text in texts.items():
            written.append(files.begin(name))
            files.write(text.encode(errors="backslashreplace"))
    return tuple(written)


def _wanted_partitions(
    directories: PartitionDirectories, image: ClusterImage | None, wanted: PartitionFilter
) -> list[tuple[str, int]]:
    """Return every partition that has a directory here or is in the metadata; the metadata log is none."""
    named = {(topic.name, number) for topic, number, _ in image.partitions()} if image is not None else set()
    return sorted(key for key in {*directories.partitions, *named} if wanted.has(*key))


def gaps_of(elections: Iterable[PartitionElection], cluster: ClusterHere) -> Iterator[BrokerGap]:
    """Yield the brokers whose replicas are not part of the picture."""
    replicas = Counter(number for election in elections for number in _replicas(election))
    for number in sorted(replicas):
        broker = cluster.brokers.get(number)
        if broker is None:
            yield BrokerGap(number, replicas[number], "given up" if number in cluster.dead else None)
        elif broker.problem is not None:
            yield BrokerGap(number, replicas[number], broker.problem)


def failing_of(gaps: Iterable[BrokerGap], cluster: ClusterHere) -> tuple[BrokerGap, ...]:
    """Return the brokers that are here and do not start."""
    return tuple(gap for gap in gaps if gap.broker_id in cluster.brokers)


def _replicas(election: PartitionElection) -> Iterable[int]:
    if election.registration is not None:
        return election.registration.replicas
    return (candidate.broker_id for candidate in election.candidates)
