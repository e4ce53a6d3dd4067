"""`kcheck PATH`: the verdict on the next start, then what is wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, Self

from kcheck.core.start.verdicts import worst_first
from kcheck.documents.answer import Answer, Outcomes
from kcheck.documents.next_commands import (
    explain_command,
    first_of_broker,
    keeping_command,
    next_of_broker,
    repairable_log_dirs,
)
from kcheck.documents.predict import log_dir_row, partition_row
from kcheck.documents.unserved import unserved_row
from kcheck.model.depth import Depth
from kcheck.model.finding import Finding, Severity
from kcheck.model.premises import JudgedPremise
from kcheck.model.release import Release
from kcheck.model.report import Report, Row
from kcheck.startup.options import StartOptions
from kcheck.verbs.check import CheckReport, Watch, check
from kcheck.verbs.next_starts import NextStarts
from kcheck.verbs.prediction import Prediction
from kcheck.views.log_dir import LogDirs
from kcheck.views.targets import Target, TargetKind, replica_targets
from kcheck.words import shell_line

if TYPE_CHECKING:
    from kcheck.core.election.first_rescue import FirstRescue
    from kcheck.core.election.scenarios import Scenario


class StartOfAll(NamedTuple):
    """The fate of the partitions of several brokers if all of them start."""

    brokers: int
    """Number of brokers."""
    scenario: "Scenario"
    """Its cost."""
    is_safe: bool
    """True if every partition gets a leader and no committed record is lost, in every order of registrations.

    The plan must not lose any record either. Without metadata: true if the best leaders lose none."""

    sentences: tuple[str, ...] = ()
    """Its cost, and the cost of the plan of `kcheck recover`."""
    losses: frozenset[str] = frozenset()
    """The sentences that say that something is lost."""
    counted: frozenset[str] = frozenset()
    """The partitions of which it is known exactly how many records are lost."""
    rescue: str | None = None
    """The command that brings the metadata back before any start; None if the controllers can elect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview(Answer):
    """The answer of `kcheck PATH`."""

    paths: tuple[str, ...]
    """The arguments."""
    check: CheckReport
    """The result of `kcheck check`."""
    prediction: Prediction
    """The predicted next start of the log dirs."""
    metadata: tuple[str, ...] = ()
    """The copies of the cluster's metadata that the user names."""
    start_of_all: StartOfAll | None = None
    """The cost of starting all brokers; None for one broker, or if their elections cannot be judged."""
    if_lost: "FirstRescue | None" = None
    """The first rescue if controllers that are not here are lost; None with a majority here."""

    @property
    def can_elect(self) -> bool:
        """True if the paths are log dirs, of several brokers."""
        brokers = {log_dir.broker_id for log_dir in self.prediction.log_dirs} - {None}
        is_whole = all(target.kind is TargetKind.LOG_DIR for target in replica_targets([*self.paths]))
        return is_whole and len(brokers) > 1

    @property
    def severity(self) -> Severity:
        """The severity of the worst start, or of all starts together."""
        is_bad = self.start_of_all is not None and not self.start_of_all.is_safe
        predicted = replace(self.prediction, premises=self.premises).severity
        return max(predicted, Severity.ERROR if is_bad else Severity.INFO, key=lambda one: one.rank)

    @property
    def badness(self) -> tuple[float, ...]:
        """Return the worst severity of starts and findings, and the loss of all starts together, as a sort key."""
        worst = max(self.severity.rank, *(finding.severity.rank for finding in self.collected), 0)
        if self.start_of_all is None:
            return (worst,)
        from kcheck.core.election.scenarios import costs  # only for several brokers

        return worst, *costs(self.start_of_all.scenario)

    @property
    def premises(self) -> tuple[JudgedPremise, ...]:
        """The premises of the next starts, without the ones that `start_of_all` counts on the disks of all brokers."""
        if self.start_of_all is None:
            return self.prediction.premises
        from kcheck.core.premises.elections import FOLLOWED  # only for several brokers
        from kcheck.documents.premises import needs_every_disk

        counted = self.start_of_all.counted
        return tuple(
            row
            for row in self.prediction.premises
            if not ((row.id == FOLLOWED and row.partition in counted) or needs_every_disk(row))
        )

    @property
    def next_command(self) -> str | None:
        """The command to type next; None if nothing is wrong.

        Several brokers are decided together, and so is a broker whose loss depends on the others. For one broker a
        repair comes first, then its page, its metadata, or the next start in detail.
        """
        said = self.check.release.evidence
        named = [word for path in self.metadata for word in ("--metadata", path)]
        named += ["--kafka", self.check.release.name] if said is not None and said.given else []
        if self.start_of_all is not None:
            return self.start_of_all.rescue or shell_line(("kcheck", "recover", *self.paths, *named))
        prediction, premises, others = self.prediction, self.premises, self.prediction.others

        def options(_: str) -> list[str]:
            return named

        repairable = repairable_log_dirs(self.collected)
        first = first_of_broker(self.paths, options, premises, others, repairable)
        kept = None if prediction.loses_otherwise else keeping_command(prediction.log_dirs)
        if first is not None or (kept is None and self.severity.rank < Severity.WARNING.rank):
            return first or explain_command(self.collected)
        return next_of_broker("", self.paths, options, prediction.log_dirs, premises, others, kept)

    def outcomes(self) -> tuple[Self, Outcomes | None]:
        """Return the outcomes of the check and of the prediction."""
        of_check, predicted = self.check.outcomes()[1], self.prediction.outcomes()[1]
        if of_check is None or predicted is None:
            return self, None
        return self, {**of_check, **predicted, ("start of all",): self.start_of_all}

    def of_release(self, release: Release) -> Self:
        """Return the same answer with another account of its release."""
        return replace(self, check=self.check.of_release(release))

    @property
    def collected(self) -> list[Finding]:
        """The findings of the check."""
        return self.check.collected

    def report(self) -> Report:
        """Return the report of the check, with the next command to type.

        Before it come the verdict on each log dir and the partitions that cause it, worst first.
        """
        report = self.check.report()
        verdicts = tuple(
            {**log_dir_row(log_dir), "partitions": tuple(map(partition_row, worst_first(log_dir.partitions)))}
            for log_dir in self.prediction.log_dirs
        )
        rows = tuple(map(unserved_row, self.prediction.unserved))
        more = {
            "start_all": _all_row(self.start_of_all), "predictions": verdicts, "unserved": rows,
            "if_lost": None if self.if_lost is None else self.if_lost.sentence, "next": self.next_command,
        }  # fmt: skip
        return report._replace(body={**more, **report.body}, answer=self)


def _all_row(start: StartOfAll | None) -> Row | None:
    if start is None:
        return None
    from kcheck.documents.truncation import amounts_row  # only for several brokers

    scenario = start.scenario
    return {
        "verdict": " ".join(start.sentences),
        "brokers": start.brokers,
        "lost": amounts_row(scenario.lost),
        "offline_partitions": scenario.offline_partitions,
        "safe": start.is_safe,
    }


def overview(arguments: list[str], options: StartOptions, log_dirs: LogDirs, watch: Watch | None = None) -> Overview:
    """Check batch headers and predict the next start; both share each opened log dir."""
    every = replica_targets(arguments)
    targets = tuple(target for target in every if target.kind is not TargetKind.FILE)
    if targets or options.metadata:
        from kcheck.verbs.predict import prediction_of, with_copies  # not to check a file

        options = with_copies(targets, options, log_dirs)
        prediction = prediction_of(targets, options, log_dirs)
    else:
        prediction = Prediction(
            release=options.release, log_dirs=(), premises=(), unserved=(), collected=[], checked=()
        )
    starts = NextStarts(every, lambda: options, log_dirs, named=bool(options.metadata))
    starts.know(prediction.log_dirs, prediction.premises)
    check_result = check(
        arguments,
        depth=Depth.HEADERS,
        as_kind=None,
        wanted=options.wanted,
        release=options.release,
        log_dirs=log_dirs,
        starts=starts,
        watch=watch,
    )
    # What hides a start from kcheck and not its files, such as a directory in the place of one.
    known = {(finding.where.log_dir, finding.where.dir) for finding in check_result.collected}
    unseen = (finding for finding in prediction.collected if (finding.where.log_dir, finding.where.dir) not in known)
    check_result.collected.extend(unseen)
    return Overview(
        paths=tuple(arguments), metadata=options.metadata, check=check_result, prediction=prediction,
        if_lost=_if_lost(arguments, targets, options),
    )  # fmt: skip


def _if_lost(arguments: Sequence[str], targets: Iterable[Target], options: StartOptions) -> "FirstRescue | None":
    """Return the rescue if the controllers that are not here are lost; None without log dirs of one KRaft cluster."""
    copies = [rows for rows in options.copies.values() if rows]
    if len(copies) != 1 or any(target.kind is not TargetKind.LOG_DIR for target in targets):
        return None
    from kcheck.verbs.lost_metadata import rescue_if_lost  # only for KRaft

    return rescue_if_lost(arguments, options.metadata, (), copies[0])
