"""A rule sees every view of its scope, whatever the other rules look for."""

from collections.abc import Iterator

import pytest

from kcheck.core.cluster.quorum import quorum
from kcheck.core.releases.releases import release
from kcheck.model.coordinators import Coordinated
from kcheck.model.finding import Finding, Location, Severity
from kcheck.model.release import Release
from kcheck.model.views import ReplicasView
from kcheck.rules import Rule, Scope
from kcheck.survey import rule_runner
from tests.core.cluster.test_quorum import copy
from tests.rules.build import NEWEST, batch, epochs, log_dir, offsets, partition
from tests.rules.test_segments import OFFSETS, VIEW

SEGMENT = VIEW._replace(offset_index=OFFSETS, time_index=OFFSETS._replace(last_timestamp=5))
PARTITION = partition(
    epoch_file=epochs(b"0\n1\n0 0\n"), log_end=10, log_start=0, recovery_point=10, high_watermark=10,
    last_batch=batch(0, 9, 0), clean=True,
)._replace(read=(SEGMENT,))  # fmt: skip
QUORUM = quorum([copy(1, 30), copy(2, 30)])
COORDINATED = Coordinated({}, frozenset(), {}, {}, knows_all=True)
HIGH_WATERMARKS = offsets("replication", b"0\n1\nt 0 10\n")
RECOVERY_POINTS = offsets("recovery-point", b"0\n1\nt 0 10\n")


@pytest.fixture(autouse=True)
def _no_cache() -> Iterator[None]:
    """Other tests must not run the rules made here."""
    yield
    for cached in (rule_runner._checks, rule_runner._checks_of_kind):
        cached.cache_clear()


def _run_all() -> list[Finding]:
    """Run every rule on a broker whose files all agree; it has no meta.properties."""
    view = log_dir(HIGH_WATERMARKS, RECOVERY_POINTS, partitions=(PARTITION,))
    runs = (
        rule_runner.check_partition(PARTITION, NEWEST), rule_runner.check_log_dir(view, NEWEST),
        rule_runner.check_broker((view,), NEWEST, lambda *_: None),
        rule_runner.check_replicas(ReplicasView((PARTITION,)), NEWEST),
        rule_runner.check_cluster(QUORUM, NEWEST),
        rule_runner.check_coordinators(COORDINATED, NEWEST),
    )  # fmt: skip
    return [finding for run in runs for finding in run]


def _with_new_rule(monkeypatch: pytest.MonkeyPatch, rule: Rule) -> None:
    known = rule_runner.all_rules()
    monkeypatch.setattr(rule_runner, "all_rules", lambda *_: (*known, rule))
    rule_runner._checks.cache_clear()
    rule_runner._checks_of_kind.cache_clear()


@pytest.mark.parametrize("scope", [scope for scope in Scope if scope not in (Scope.STORED_LOG, Scope.STORE, Scope.RUN)])
def test_a_new_rule_is_shown_what_no_other_rule_objects_to(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """No summary of what the known rules look for can keep a view from it."""
    known = _run_all()
    assert ["KC305"] == [finding.id for finding in known]
    shown: list[object] = []

    def check(view: object, kafka: Release) -> list[Finding]:
        assert kafka == NEWEST
        shown.append(view)
        return []

    kinds = ("leader-epoch-checkpoint", "offset-checkpoint") if scope is Scope.FILE else ()
    _with_new_rule(monkeypatch, Rule(severity=Severity.INFO, scope=scope, check=check, kinds=kinds))
    assert known == _run_all()
    view = log_dir(HIGH_WATERMARKS, RECOVERY_POINTS, partitions=(PARTITION,))
    expected: dict[Scope, list[object]] = {
        Scope.FILE: [PARTITION.epochs, HIGH_WATERMARKS, RECOVERY_POINTS],
        Scope.SEGMENT: [SEGMENT],
        Scope.FAULTY_SEGMENT: [SEGMENT],
        Scope.PARTITION: [PARTITION],
        Scope.READ_PARTITION: [PARTITION],
        Scope.LOG_DIR: [view],
        Scope.BROKER: [(view,)],
        Scope.REPLICAS: [ReplicasView((PARTITION,))],
        Scope.CLUSTER: [QUORUM],
        Scope.COORDINATORS: [COORDINATED],
    }
    assert expected[scope] == shown


def test_a_precondition_keeps_a_view_from_the_rules_that_name_it_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked once for neighbours."""
    asked: list[object] = []

    def when(view: object) -> bool:
        asked.append(view)
        return False

    def check(view: object, kafka: Release) -> list[Finding]:
        raise AssertionError(view, kafka)

    rule = Rule(severity=Severity.INFO, scope=Scope.PARTITION, check=check, when=when)
    monkeypatch.setattr(rule_runner, "all_rules", lambda *_: (rule, rule))
    rule_runner._checks.cache_clear()
    assert not list(rule_runner.check_partition(PARTITION, release("4.3")))
    assert [PARTITION] == asked


def test_a_repair_needs_its_evidence() -> None:
    """A topic id comes from another partition or the metadata; the files of another broker's disk stay."""
    where = Location(topic="t", partition=0, dir="t-0")
    names = {"names": ("rewrite-partition-metadata",)}
    finding = Finding("KC310", "topic-id-missing", Severity.ERROR, where, "", "", "", repair=names)
    repaired = [
        rule_runner.with_evidence(finding, known).repair for known in ({}, {"t": {"id"}}, {"t": {"id", "other"}})
    ]
    assert repaired == [None, names, None]
    assert rule_runner.with_evidence(finding._replace(repair=None), {"t": {"id"}}).repair is None
    of_disk = finding._replace(id="KC305", repair={"names": ("rewrite-meta-properties",)}, data={"readable_in": ()})
    mended = of_disk._replace(data={"readable_in": ("d1",)})
    assert [rule_runner.with_evidence(row, {}).repair for row in (of_disk, mended)] == [None, of_disk.repair]
    assert rule_runner.with_evidence(finding._replace(id="KC121", repair=of_disk.repair), {}).repair == of_disk.repair
