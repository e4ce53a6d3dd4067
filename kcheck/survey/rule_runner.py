"""Runs the rules over views."""

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING

from kcheck.model.finding import Finding
from kcheck.model.names import DirectoryState, ids_differ
from kcheck.model.release import Release
from kcheck.registry import discover, plug, plug_names
from kcheck.rules import SERIES, Check, Precondition, Rule, Scope, id_and_name

if TYPE_CHECKING:
    from kcheck.core.cluster.quorum import Quorum
    from kcheck.model.coordinators import Coordinated
    from kcheck.model.lost import RunView
    from kcheck.model.remote_log import Store, StoredLog
    from kcheck.model.segments import SegmentView
    from kcheck.model.views import FileView, LogDirView, PartitionView, ReplicasView
    from kcheck.repairs import Repair
    from kcheck.views.metadata_copy import CopyIn


def all_rules(series: tuple[str, ...] = ("KC",)) -> tuple[Rule, ...]:
    """Return the rules whose id has this prefix, sorted by id."""
    begins = tuple(prefix.lower() for prefix in series)
    rules = [rule for rule in discover("kcheck.rules", "RULE", begins) if isinstance(rule, Rule)]
    return tuple(sorted(rules, key=lambda rule: rule.id))


@cache
def rule_names() -> dict[str, str]:
    """Return `KC201 epoch-order` by the id and by the name of each rule, in lower case. This imports no rule."""
    named = [id_and_name(module) for module in plug_names("kcheck.rules")]
    return {word: f"{rule_id} {name}" for rule_id, name in named for word in (rule_id.lower(), name)}


def rule_named(name: str) -> Rule:
    """Return the rule that `rule_names` has by this id or name; imports no other rule."""
    rule_id, rule_name = rule_names()[name.lower()].split()
    rule: Rule = plug("kcheck.rules", f"{rule_id.lower()}_{rule_name.replace('-', '_')}", "RULE")
    return rule


Checks = tuple[tuple[Precondition | None, tuple[Check, ...]], ...]
"""The checks for a view, grouped by the same precondition of neighboring rules."""


@cache
def _checks(*scopes: Scope) -> Checks:
    return tuple(chain.from_iterable(_by_precondition(_rules(scope)) for scope in scopes))


@cache
def _checks_of_kind(kind: str) -> Checks:
    return tuple(_by_precondition([rule for rule in _rules(Scope.FILE) if kind in rule.kinds]))


def _rules(scope: Scope) -> list[Rule]:
    return [rule for rule in all_rules(SERIES[scope]) if rule.scope is scope]


def _by_precondition(rules: list[Rule]) -> Iterator[tuple[Precondition | None, tuple[Check, ...]]]:
    for when, neighbours in groupby(rules, key=lambda rule: rule.when):
        yield when, tuple(rule.check for rule in neighbours)


def all_repairs() -> "tuple[Repair, ...]":
    """Return every repair, in the order in which `kcheck repair` tries them."""
    from kcheck.repairs import Repair  # only if there are findings

    repairs = [repair for repair in discover("kcheck.repairs", "REPAIR") if isinstance(repair, Repair)]
    return tuple(sorted(repairs, key=lambda repair: (repair.rank, repair.name)))


@cache
def _names_of_repairs(rule: str) -> tuple[str, ...]:
    return tuple(repair.name for repair in all_repairs() if rule in repair.rules)


def check_file(view: "FileView", release: Release) -> list[Finding]:
    """Run the rules of one file."""
    return _run(_checks_of_kind(view.kind), view, release)


def check_segment(view: "SegmentView", release: Release) -> list[Finding]:
    """Run the rules of a segment that was read completely."""
    return _run(_checks(Scope.FAULTY_SEGMENT, Scope.SEGMENT), view, release)


def check_partition(view: "PartitionView", release: Release) -> list[Finding]:
    """Run the rules of a partition directory, of its small files, and of its read segments."""
    findings: list[Finding] = []
    for file in (view.epochs, view.metadata):
        if file is not None:
            findings += check_file(file, release)
    for segment in view.read or ():
        findings += check_segment(segment, release)
    findings += _check(Scope.PARTITION, view, release)
    if view.read is not None:
        findings += _check(Scope.READ_PARTITION, view, release)
    return findings


def check_log_dir(view: "LogDirView", release: Release) -> Iterator[Finding]:
    """Run the rules of a log dir and its files, not of its partitions."""
    for file in view.files.values():
        yield from check_file(file, release)
    yield from _check(Scope.LOG_DIR, view, release)


def check_broker(views: "tuple[LogDirView, ...]", release: Release, copy_in: "CopyIn") -> list[Finding]:
    """Run the rules that compare the log dirs of one broker; `copy_in` reads the metadata in them."""
    if len(views) > 1 and release.may_migrate_to_kraft:
        from kcheck.views.metadata_copy import with_modes  # imports the metadata decoders: only if a broker may migrate

        views = with_modes(views, copy_in)
    return _check(Scope.BROKER, views, release)


def check_replicas(view: "ReplicasView", release: Release) -> Iterator[Finding]:
    """Run the rules that compare the replicas of one partition, for each topic id separately."""
    topics = {replica.where.broker_id: replica.topic_id for replica in view.replicas}
    findings = _check(Scope.REPLICAS, view, release)
    return (finding for finding in findings if not release.has_partition_metadata or _about_one_topic(finding, topics))


def check_cluster(view: "Quorum", release: Release) -> list[Finding]:
    """Run the rules about the metadata of a cluster."""
    return _check(Scope.CLUSTER, view, release)


def check_coordinators(view: "Coordinated", release: Release) -> list[Finding]:
    """Run the rules about what the coordinators of a cluster know."""
    return _check(Scope.COORDINATORS, view, release)


def check_store(view: "Store", logs: "Iterable[StoredLog]", release: Release) -> Iterator[Finding]:
    """Run the rules about the objects of a remote store, and of the partitions in it."""
    for log in logs:
        yield from _check(Scope.STORED_LOG, log, release)
    yield from _check(Scope.STORE, view, release)


def check_run(view: "RunView", release: Release) -> list[Finding]:
    """Run the rules about a run of a fleet (missing parts, doubled parts, clusters at stake)."""
    return _check(Scope.RUN, view, release)


def _about_one_topic(finding: Finding, topics: Mapping[int | None, str | None]) -> bool:
    other = finding.data.get("other_broker_id")
    return not (isinstance(other, int) and ids_differ(topics.get(finding.where.broker_id), topics.get(other)))


def _check(scope: Scope, view: object, release: Release) -> list[Finding]:
    return _run(_checks(scope), view, release)


def _run(checks: Checks, view: object, release: Release) -> list[Finding]:
    """Return the findings with the names of possible repairs."""
    findings: list[Finding] = []
    for when, neighbours in checks:
        if when is None or when(view):
            for check in neighbours:
                findings += check(view, release)
    return [_with_repairs(finding) for finding in findings] if findings else findings


def _with_repairs(finding: Finding) -> Finding:
    names = _names_of_repairs(finding.id)
    return finding._replace(repair={"names": names}) if names else finding


def topic_ids_of(view: "PartitionView") -> frozenset[str]:
    """Return the ids that a directory and the metadata of its cluster have for its topic."""
    own = view.topic_id if view.state is DirectoryState.CURRENT else None
    known = (own, None if view.in_cluster is None else view.in_cluster.topic_id)
    return frozenset(topic_id for topic_id in known if topic_id is not None)


def with_evidence(finding: Finding, topic_ids: Mapping[str, AbstractSet[str]]) -> Finding:
    """Return a finding with the repairs that have their evidence, by the known ids of each topic."""
    if finding.repair is None:
        return finding
    ids = topic_ids.get(finding.where.topic or "", frozenset())
    names = tuple(
        repair.name for repair in all_repairs() if finding.id in repair.rules and repair.has_evidence(finding, ids)
    )
    return finding._replace(repair={"names": names} if names else None)
