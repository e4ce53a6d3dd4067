"""KC505: what a scan of a fleet lacks."""

import pytest

from kcheck.core.releases.releases import release
from kcheck.model.finding import Location
from kcheck.model.lost import AtStake, Lost, LostKind, RunView, SharedBroker, SharedCluster, WentBack
from kcheck.survey.rule_runner import check_run


@pytest.mark.parametrize(
    ("lost", "severity", "message"),
    [
        (
            Lost(LostKind.EMPTY, 3, "/d"),
            "error",
            "the log dir is empty, without meta.properties and partition directories",
        ),
        (
            Lost(LostKind.BROKER, 3, source="/m", counted=1),
            "error",
            "broker 3 has 1 replica according to /m, and no log dir of it was scanned",
        ),
        (
            Lost(LostKind.REGISTERED, 3, counted=2, names=("abc",)),
            "error",
            "broker 3 registered 2 log dirs, and abc was not scanned",
        ),
        (
            Lost(LostKind.LOG_DIR, 3, "/d", "id", "r1", 2),
            "error",
            "the log dir is not in this scan; run r1 has 2 partition directories in it",
        ),
        (
            Lost(LostKind.PARTITIONS, 3, None, None, "r1", 4, ("a-0", "a-1", "a-2", "b-0")),
            "warning",
            "4 partition directories of run r1 are missing on this broker: a-0, a-1, a-2 and 1 more",
        ),
    ],
)
def test_what_is_lost_is_a_finding(lost: Lost, severity: str, message: str) -> None:
    """It names the place, and what says that it should be there."""
    (finding,) = check_run(lost, release("4.3"))
    assert ("KC505", severity, message) == (finding.id, finding.severity, finding.message)
    assert (lost.broker_id, lost.log_dir) == (finding.where.broker_id, finding.where.log_dir)
    assert finding.data["kind"] == lost.kind


def test_a_cluster_id_of_two_clusters_is_a_finding() -> None:
    """The copy would join the original."""
    (finding,) = check_run(SharedCluster("u", ("south", "west")), release("4.3"))
    assert ("KC506", "warning", "clusters south and west have the same cluster.id u") == (
        finding.id,
        finding.severity,
        finding.message,
    )


def test_a_broker_id_of_two_brokers_is_an_error() -> None:
    """One of two hosts has old disks."""
    (finding,) = check_run(SharedBroker(1, ("host-a", "host-b")), release("4.3"))
    assert ("KC506", "error", "host-a and host-b have log dirs of the same broker 1", 1) == (
        finding.id,
        finding.severity,
        finding.message,
        finding.where.broker_id,
    )


@pytest.mark.parametrize(
    ("view", "found"),
    [
        (AtStake(20, 0, "x"), ("KC507", "error", "if all brokers start now, at most 20 committed records are lost")),
        (
            AtStake(1, 0, "x", is_least=True),
            ("KC507", "error", "even under the best leaders at most 1 committed record is lost"),
        ),
        (AtStake(0, 0, "x", words="Find it."), ("KC507", "error", "a person has to act: Find it.")),
        (AtStake(0, 2, "x"), ("KC507", "error", "if all brokers start now, 2 partitions get no leader")),
        (
            AtStake(1, 1, "x"),
            (
                "KC507", "error",
                "if all brokers start now, at most 1 committed record is lost and 1 partition gets no leader",
            ),
        ),
        (
            WentBack(Location(), "r1", 0, 3, 0, 5),
            ("KC508", "error", "the log end went back from 5 in run r1 to 3"),
        ),
        (
            WentBack(Location(), "r1", 0, 5, 2, 5),
            ("KC508", "warning", "the log begins at 0, and began at 2 in run r1"),
        ),
    ],
)  # fmt: skip
def test_a_run_shows_clusters_at_stake_and_older_logs(view: RunView, found: tuple[str, str, str]) -> None:
    """The first says what is lost, the second what was there before."""
    (finding,) = check_run(view, release("4.3"))
    assert found == (finding.id, finding.severity, finding.message)
