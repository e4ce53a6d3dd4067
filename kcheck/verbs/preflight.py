"""`kcheck preflight`: whether a broker may start, for a unit file, an init container or a rolling restart."""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from kcheck.core.cluster.copies import MetadataCopy, newest_copy
from kcheck.core.election.first_rescue import FirstRescue
from kcheck.core.premises.age import OLDER_METADATA
from kcheck.core.premises.outside import not_looked_at
from kcheck.core.rescue.refusals import stale_words
from kcheck.core.start.predictions import LogDirPrediction
from kcheck.core.start.preflight import ReasonKind
from kcheck.core.start.startup import SETTINGS
from kcheck.core.start.unserved import Unserved
from kcheck.disk.paths import join, split
from kcheck.disk.tree import tree_of
from kcheck.documents.answer import BrokerAnswer, Outcomes
from kcheck.documents.preflight import PreflightReason, cluster_reasons, premise_reasons, start_reasons
from kcheck.documents.premises import premise_rows
from kcheck.documents.unserved import unserved_row
from kcheck.errors import UsageError
from kcheck.model.cluster import PROVIDER
from kcheck.model.finding import Severity
from kcheck.model.premises import JudgedPremise
from kcheck.model.report import Report, Row
from kcheck.startup.options import StartOptions
from kcheck.verbs.lost_metadata import rescue_if_lost
from kcheck.verbs.predict import prediction_of, with_copies
from kcheck.views.log_dir import LogDirs
from kcheck.views.rescue_nodes import later_on_disks
from kcheck.views.targets import SERVER_PROPERTIES, Target, TargetKind, paths_of, read_properties, replica_targets

DEFAULT_LOG_DIR = "/tmp/kafka-logs"  # noqa: S108 - Kafka's own default of log.dir
_OLDER = "whether the brokers have newer metadata than this copy, which --metadata with a broker's log dir shows"
_NEEDED = ("log.dirs", "log.dir", "metadata.log.dir", "node.id", "broker.id", "process.roles", "zookeeper.connect")
"""The settings that must be known to find what the broker starts on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight(BrokerAnswer):
    """The answer of `kcheck preflight`."""

    reasons: tuple[PreflightReason, ...]
    """The reasons against starting."""
    allowed: frozenset[str]
    """The kinds and the ids of premises that the user accepts."""
    starts: tuple[LogDirPrediction, ...]
    """The predicted start of each log dir."""
    unresolved: tuple[str, ...]
    """The settings whose values a config provider would give."""
    premises: tuple[JudgedPremise, ...]
    """The premises of the answer."""
    unserved: tuple[Unserved, ...] = ()
    """The directories with records that the broker does not serve."""
    not_looked_at: tuple[str, ...] = ()
    """The needs of the broker that no file shows, as clauses about the host, the network and passwords."""
    others: tuple[int, ...] = ()
    """The other brokers of the cluster by its metadata."""
    if_lost: FirstRescue | None = None
    """The first rescue if controllers that are not here are lost; None with a majority here."""

    @property
    def may_start(self) -> bool | None:
        """True if the user accepts every reason against starting; None if that is not known."""
        against = {reason.kind for reason in self.reasons if not self.accepts(reason)}
        return None if against == {ReasonKind.UNKNOWN} else not against

    def accepts(self, reason: PreflightReason) -> bool:
        """Return whether the user accepts a reason by kind, or by premise if the broker can start without it."""
        return reason.kind in self.allowed or (reason.kind is not ReasonKind.ABORT and reason.premise in self.allowed)

    @property
    def badness(self) -> tuple[float, ...]:
        """Return a sort key, with the worst answer last."""
        return ((True, None, False).index(self.may_start),)

    def outcomes(self) -> tuple["Preflight", Outcomes | None]:
        """Return the reasons by place."""
        return self, {(f"preflight {reason.kind}", reason.log_dir, _dir(reason)): reason.why for reason in self.reasons}

    def report(self) -> Report:
        """Return the answer as rows."""
        return self.document(
            "preflight",
            body={
                "may_start": self.may_start,
                "reasons": tuple(map(self._row, self.reasons)),
                "log_dirs": tuple({"path": start.path, "outcome": str(start.outcome)} for start in self.starts),
                "unresolved": self.unresolved,
                "not_looked_at": self.not_looked_at,
                "if_lost": None if self.if_lost is None else self.if_lost.sentence,
                "premises": premise_rows(self.premises),
                "unserved": tuple(map(unserved_row, self.unserved)),
            },
            kinds={"reasons": "reason", "log_dirs": "log-dir", "premises": "premise", "unserved": "unserved"},
        )

    def _row(self, reason: PreflightReason) -> Row:
        directory = None if reason.partition is None else reason.partition.directory
        return {
            "kind": str(reason.kind),
            "allowed": self.accepts(reason),
            "log_dir": reason.log_dir,
            "dir": _dir(reason),
            "topic": None if directory is None else directory.topic,
            "partition": None if directory is None else directory.partition,
            "why": reason.why,
            "premise": reason.premise,
        }


def _dir(reason: PreflightReason) -> str | None:
    return None if reason.partition is None else reason.partition.dir


def configuration_in(path: str) -> str:
    """Return the path of a server.properties: the path itself, or the file at the top of a bundle or folder.

    UsageError: the bundle or folder has none.
    """
    tree, below = tree_of(path), join(path, SERVER_PROPERTIES)
    if not tree.is_directory(path):
        return path
    if not tree.exists(below) or tree.is_directory(below):
        hint = "; capture it with: kcheck capture FILE.properties" if tree.is_bundle else ""
        raise UsageError(f"{path}: no {SERVER_PROPERTIES} in it{hint}")
    return below


def log_dirs_of(properties: str) -> list[str]:
    """Return the server.properties as argument for its log dirs, or Kafka's default log dir.

    A server.properties in a bundle is not about the directories of this host.
    """
    config = read_properties(properties)
    has_named = config.get("log.dirs") or config.get("log.dir") or tree_of(properties).is_bundle
    return [properties] if has_named else [DEFAULT_LOG_DIR]


def unresolved(properties: str, defined: Iterable[str]) -> tuple[str, ...]:
    """Return the settings that the next start depends on and whose values come from a config provider.

    `defined` are texts `KEY=VALUE` that override them. UsageError: the file cannot be read.
    """
    known = {text.partition("=")[0].strip() for text in defined} - {*_NEEDED}
    config = read_properties(properties)
    names = dict.fromkeys((*_NEEDED, *SETTINGS))
    return tuple(name for name in names if PROVIDER in config.get(name, "") and name not in known)


def preflight(
    properties: str, options: StartOptions, allowed: frozenset[str], unknown: tuple[str, ...] = ()
) -> Preflight:
    """Return the reasons against starting the broker with this server.properties.

    `unknown` are the settings that are `unresolved`. UsageError: the file cannot be read, or contradicts itself.
    """
    config = read_properties(properties)
    providers = tuple(sorted(name for name, value in config.items() if PROVIDER in value))
    answer = Preflight(
        release=options.release, reasons=(), allowed=allowed, starts=(), unresolved=providers, premises=(),
        collected=[], checked=(properties,), not_looked_at=tuple(not_looked_at(config, options.release)),
    )  # fmt: skip
    if unknown:
        words = "comes from a config provider, which kcheck does not ask"
        return replace(
            answer, reasons=tuple(PreflightReason(ReasonKind.UNKNOWN, f"{name} {words}") for name in unknown)
        )
    targets = tuple(target._replace(kind=TargetKind.LOG_DIR) for target in replica_targets(log_dirs_of(properties)))
    opened = LogDirs(options.release)
    options = with_copies(targets, options, opened)
    prediction = prediction_of(targets, options, opened)
    reasons = tuple(premise_reasons(prediction.premises))
    aborts = tuple(reason for reason in reasons if reason.kind is ReasonKind.ABORT)
    if aborts:
        reasons = aborts  # A broker that does not start loads nothing.
    else:
        of_starts = (reason for start in prediction.log_dirs for reason in start_reasons(start))
        reasons = (*of_starts, *_of_cluster(prediction.log_dirs, options), *reasons)
        if not reasons and any(finding.severity is Severity.ERROR for finding in prediction.collected):
            reasons = (PreflightReason(ReasonKind.UNKNOWN, "kcheck could not look at all of it"),)
    copies = [rows for rows in options.copies.values() if rows]
    lost = rescue_if_lost(log_dirs_of(properties), options.metadata, (), copies[0]) if len(copies) == 1 else None
    if any(len(rows) == 1 and rows[0].is_only_voter for rows in copies):
        answer = replace(answer, not_looked_at=(_OLDER, *answer.not_looked_at))
    return replace(
        answer,
        if_lost=lost,
        reasons=reasons,
        premises=prediction.premises,
        unserved=prediction.unserved,
        starts=prediction.log_dirs,
        others=prediction.others,
        collected=prediction.collected,
        checked=(*paths_of(targets), properties),
    )


def _of_cluster(starts: tuple[LogDirPrediction, ...], options: StartOptions) -> Iterator[PreflightReason]:
    """Yield the reasons that the metadata of the cluster give."""
    broker_id = next((start.broker_id for start in starts if start.broker_id is not None), None)
    for copies in options.copies.values():
        newest = newest_copy(copies)
        if newest is not None:
            yield from cluster_reasons(newest.image, broker_id, starts, options.release)
            yield from _of_disks(newest, copies, {start.path for start in starts})


def _of_disks(newest: MetadataCopy, copies: Iterable[MetadataCopy], own: Container[str]) -> Iterator[PreflightReason]:
    """Yield that the metadata is older than the disks on which its copies are."""
    places = dict.fromkeys(split(copy.path)[0] for copy in copies)
    others = (Target(TargetKind.LOG_DIR, place, tree=tree_of(place)) for place in places if place not in own)
    news = later_on_disks(newest.image, others)
    if news.later:
        effect = "the controllers elect replicas without the last records"
        yield PreflightReason(ReasonKind.LOSS, f"{stale_words(newest.node_id, news)}: {effect}", premise=OLDER_METADATA)
