"""KC235 to KC239, KC407, KC5xx: files against the metadata of the cluster, and copies of these against each other."""

from typing import Any

import pytest

from kcheck.core.cluster.copies import MetadataCopy
from kcheck.core.cluster.quorum import NodeDirectory, quorum
from kcheck.model.cluster import (
    BrokerRegistration,
    ClusterImage,
    Levels,
    PartitionRegistration,
    QuorumState,
    ReplicaInCluster,
    Stray,
    StrayCause,
    TopicImage,
    UncleanElection,
    Voter,
)
from kcheck.model.finding import Claimed, Finding
from kcheck.model.views import PartitionView, ReplicasView
from kcheck.rules import Scope
from tests.core.cluster.test_quorum import copy
from tests.rules.build import batch, epochs, found_by_all, partition

REGISTRATION = PartitionRegistration((1, 2), (2,), leader_epoch=3)
IN_CLUSTER = ReplicaInCluster("m", "T", REGISTRATION, end=9, is_certain=True, broker_epoch=5, shutdown_epoch=5)
OLDER = "; this copy of the metadata may be older than the directory"


def replica(in_cluster: ReplicaInCluster | None = IN_CLUSTER, broker_id: int = 1, **view: Any) -> PartitionView:
    """Return a partition of topic id T on a broker, and what its cluster says of it."""
    plain = partition(clean=True, topic_id="T")._replace(**view)
    return plain._replace(where=plain.where._replace(broker_id=broker_id), in_cluster=in_cluster)


def found(view: PartitionView, kafka: str = "4.3") -> list[Finding]:
    """Return what the rules find that hold a replica against the metadata."""
    return [finding for finding in found_by_all(view, Scope.PARTITION, kafka) if "KC235" <= finding.id <= "KC239"]


def rows(view: PartitionView, kafka: str = "4.3") -> list[tuple[str, str]]:
    """Return the ids and severities of these findings."""
    return [(finding.id, str(finding.severity)) for finding in found(view, kafka)]


def with_registration(**fields: Any) -> ReplicaInCluster:
    """Return what the metadata say with another registration."""
    return IN_CLUSTER._replace(registration=REGISTRATION._replace(**fields))


@pytest.mark.parametrize(
    ("fields", "severity", "end"), [({}, "error", ", according to m"), ({"is_certain": False}, "warning", OLDER)]
)
def test_another_topic_id(fields: dict[str, Any], severity: str, end: str) -> None:
    """It is the one finding of a stray; an id of another topic that has this partition here keeps it from that."""
    stray = IN_CLUSTER._replace(topic_id="U", registration=None, stray=Stray(StrayCause.TOPIC, "T"), **fields)
    (finding,) = found(replica(stray))
    assert (finding.id, str(finding.severity)) == ("KC235", severity)
    assert finding.message.endswith(end)
    assert [claim.claimed for claim in finding.claims] == [Claimed.STRAY]
    (refused,) = found(replica(stray._replace(stray=None)))
    assert "InconsistentTopicIdException" in refused.effect
    assert not refused.claims


@pytest.mark.parametrize(
    ("assigned", "own", "speaks"), [("A", "B", True), ("A", "A", False), (None, "B", False), ("A", None, False)]
)
def test_another_log_dir(assigned: str | None, own: str | None, *, speaks: bool) -> None:
    placed = IN_CLUSTER._replace(directory_id=assigned, own_directory_id=own)
    assert rows(replica(placed)) == ([("KC237", "info")] if speaks else [])


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        ({}, None),
        ({"epochs": epochs(b"0\n1\n3 0\n")}, None),
        ({"epochs": epochs(b"0\n1\n4 0\n")}, (4, "leader-epoch-checkpoint")),
        ({"last_batch": batch(0, 1, 3)}, None),
        ({"last_batch": batch(0, 1, None)}, None),
        ({"last_batch": batch(0, 1, 5), "epochs": epochs(b"0\n1\n2 0\n")}, (5, None)),
    ],
)
def test_an_epoch_that_the_controller_never_gave(view: dict[str, Any], expected: tuple[int, str | None] | None) -> None:
    """In the file or in the last batch; what the cluster does not place here is another finding."""
    findings = found(replica(**view))
    assert [(row.data["latest_epoch"], row.where.file) for row in findings] == ([expected] if expected else [])
    older = rows(replica(IN_CLUSTER._replace(is_certain=False), **view))
    assert older == ([("KC238", "info")] if expected else [])
    assert "KC238" not in dict(rows(replica(IN_CLUSTER._replace(stray=Stray(StrayCause.REPLICA, 1)), **view)))
    assert not rows(replica(with_registration(leader_epoch=None), **view))


@pytest.mark.parametrize(
    ("view", "fields", "why"),
    [
        ({}, {}, None),
        ({"clean_shutdown": False}, {}, "did not stop cleanly"),
        ({}, {"shutdown_epoch": None}, ".kafka_cleanshutdown names no broker epoch"),
        ({}, {"shutdown_epoch": 4}, ".kafka_cleanshutdown names broker epoch 4, not 5"),
    ],
)
def test_a_member_of_the_elr_that_did_not_stop_cleanly(
    view: dict[str, Any], fields: dict[str, Any], why: str | None
) -> None:
    """With others left it is a warning; an error if it is the last one, unless no other replica exists."""
    cases = (
        (with_registration(elr=(1,)), "warning", "ISR and ELR then hold only broker 2."),
        (with_registration(isr=(), elr=(1, 2)), "warning", "ISR and ELR then hold only broker 2."),
        (with_registration(isr=(), elr=(1,)), "error", "gives the partition a leader."),
        (with_registration(isr=(), elr=(1,), last_known_elr=(2,)), "error", "elects broker 2, which led last"),
        (with_registration(isr=(), elr=(1,))._replace(is_certain=False), "warning", "gives the partition a leader."),
        (with_registration(replicas=(1,), isr=(), elr=(1,)), "info", "gives the partition a leader."),
    )
    for in_cluster, severity, effect in cases:
        findings = found(replica(in_cluster._replace(**fields), **view))
        assert [(row.id, str(row.severity)) for row in findings] == ([("KC239", severity)] if why else [])
        for finding in findings:
            assert why is not None
            assert why in finding.message
            assert effect in finding.effect
        assert not rows(replica(in_cluster._replace(**fields), **view), "3.9")
        assert not rows(replica(in_cluster._replace(**fields), broker_id=3, **view))


def test_a_replica_in_sync_that_ends_below_the_high_watermark() -> None:
    """KC403 or KC407, never both: metadata have to be as new as the high watermark, and say who is in sync."""

    def lag(mine: ReplicaInCluster | None, other: ReplicaInCluster | None) -> list[tuple[str, str, int | None]]:
        replicas = (
            replica(mine, 1, log_end_offset=70), replica(other, 2, log_end_offset=90, high_watermark=80),
        )  # fmt: skip
        findings = found_by_all(ReplicasView(replicas), Scope.REPLICAS)
        return [(finding.id, str(finding.severity), finding.where.broker_id) for finding in findings]

    member = with_registration(isr=(1, 2))
    behind, lost = [("KC403", "info", 1)], [("KC407", "error", 1)]
    assert lag(member, member) == lost
    assert lag(IN_CLUSTER, IN_CLUSTER) == behind
    for mine, other in ((None, member), (member, None), (member, member._replace(is_certain=False))):
        assert lag(mine, other) == behind
    assert lag(member._replace(registration=None), member) == behind


def test_a_topic_that_its_configuration_lets_the_cleaner_compact() -> None:
    """Gaps are no damage then, as if cleaner-offset-checkpoint named it."""
    assert replica(IN_CLUSTER._replace(compacted=True)).is_compacted
    assert not replica().is_compacted
    assert not replica(None).is_compacted


def of_cluster(*copies: MetadataCopy, kafka: str = "4.3") -> list[tuple[str, str, int | None]]:
    """Return what the rules about copies find."""
    findings = found_by_all(quorum(copies), Scope.CLUSTER, kafka)
    return [(finding.id, str(finding.severity), finding.where.broker_id) for finding in findings]


def test_voters_that_no_majority_names() -> None:
    """Those of the configuration, or of the log with kraft.version 1; each controller counts by its newest copy."""
    three, two = frozenset({1, 2, 3}), frozenset({2, 3})
    static = {voters: QuorumState(1, 2, -1, tuple(voters)) for voters in (three, two)}

    def node(number: int | None, voters: frozenset[int], end: int = 30, *, configured: bool = True) -> MetadataCopy:
        named = copy(number, end, voters=voters)
        return named._replace(elected=static[voters]) if configured else named

    assert not of_cluster(node(1, three), node(2, three), node(3, two))
    assert of_cluster(node(1, three), node(2, two), node(3, two)) == [("KC502", "error", 1)]
    assert of_cluster(node(9, three, 40), node(2, two), node(3, two)) == [("KC502", "error", 9)]
    logged = (node(1, three, 40, configured=False), node(2, two, configured=False))
    assert of_cluster(*logged) == [("KC502", "warning", 1)]
    assert not of_cluster(node(1, three), node(1, two, 20), node(None, two), node(3, frozenset(), configured=False))
    assert not of_cluster(node(9, three))
    assert not of_cluster(node(1, frozenset(), 50, configured=False), node(2, two))


@pytest.mark.parametrize(
    ("kafka", "level", "highest", "expected"),
    [
        ("4.3", 30, 30, 0),
        ("4.2", 30, 30, 1),
        ("3.9", 30, 21, 2),
        ("4.3", 30, 29, 1),
        ("3.6", 14, 14, 0),
        ("2.8", None, 1, 0),
        ("4.3", 30, None, 0),
    ],
)
def test_metadata_that_the_software_does_not_know(
    kafka: str, level: int | None, highest: int | None, expected: int
) -> None:
    """That of `--kafka`, or that of a registered broker."""
    features = {} if highest is None else {"metadata.version": Levels(1, highest)}
    brokers = {1: BrokerRegistration(1, 5, fenced=True, features=features)}
    finalized = {} if level is None else {"metadata.version": level}
    image = ClusterImage({"t": TopicImage("t", "T", {})}, brokers=brokers, features=finalized)
    findings = of_cluster(copy(1, 30)._replace(image=image), kafka=kafka)
    assert findings == [("KC503", "fatal", 1)] * expected


@pytest.mark.parametrize(
    ("features", "kafka", "refused"),
    [
        ({}, "4.3", None),
        ({"metadata.version": 30, "share.version": 1}, "4.3", None),
        ({"metadata.version": 25, "share.version": 1}, "4.0", "share.version is 1, of Kafka 4.1"),
        ({"metadata.version": 25, "share.version": 0}, "4.0", None),
        ({"metadata.version": 30, "share.version": 1}, "4.0", "metadata.version is 30, of Kafka 4.3"),
        ({"kraft.version": 1}, "3.8", "kraft.version is 1, of Kafka 3.9"),
        ({"metadata.version": 4}, "3.9", None),
        ({"metadata.version": 4}, "4.0", "metadata.version is 4, of Kafka 3.3"),
        ({"metadata.version": 7}, "4.0", None),
    ],
)
def test_features_that_a_release_does_not_support(features: dict[str, int], kafka: str, refused: str | None) -> None:
    """4.0 and later do not read a metadata.version below 7; an unknown feature says nothing."""
    image = ClusterImage({}, features=features | {"of.tomorrow": 1})
    standing = quorum((copy(1, 30)._replace(image=image),))
    findings = found_by_all(standing, Scope.CLUSTER, kafka)
    assert [finding.message for finding in findings] == ([refused] if refused else [])


def unclean(**view: Any) -> list[Finding]:
    """Return what is found of an election of broker 3 at epoch 7."""
    plain = replica(IN_CLUSTER._replace(unclean=UncleanElection(3, 7, 90)), **view)
    return [finding for finding in found_by_all(plain, Scope.PARTITION) if finding.id == "KC254"]


def test_an_unclean_election() -> None:
    """The epoch begins where the log was cut; a replica that does not know it has not followed yet."""
    (cut,) = unclean(epochs=epochs(b"0\n3\n5 0\n7 40\n8 60\n"))
    assert cut.message.startswith(
        "an unclean election of epoch 7 truncated t-0 at 40: broker 3 became the leader at metadata"
    )
    assert cut.data == {"leader": 3, "epoch": 7, "metadata_offset": 90, "cut_at": 40}
    (behind,) = unclean(epochs=epochs(b"0\n1\n5 0\n"))
    assert "is not known to this replica of t-0 yet" in behind.message
    assert "kcheck recover" in behind.advice
    assert not [finding for finding in found_by_all(replica(), Scope.PARTITION) if finding.id == "KC254"]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], None),
        ([NodeDirectory(3, "C", "d", has_metadata_log=True, is_empty=False)], None),
        ([NodeDirectory(3, None, "d", has_metadata_log=True, is_empty=False)], None),
        ([NodeDirectory(4, "X", "d", has_metadata_log=True, is_empty=False)], None),
        ([NodeDirectory(3, "X", "d", has_metadata_log=False, is_empty=False)], None),
        (
            [NodeDirectory(3, "X", "d", has_metadata_log=True, is_empty=False)],
            "node 3 has directory X, the voter set has C: it has no vote",
        ),
        (
            [NodeDirectory(3, "Y", "d", has_metadata_log=False, is_empty=True)],
            "node 3 has directory Y, the voter set has C: it has no vote",
        ),
    ],
)
def test_the_directory_of_a_voter(nodes: list[NodeDirectory], message: str | None) -> None:
    """The log dir with the metadata log counts, or all if none of them has anything."""
    voters = (Voter(3, "C", ("CONTROLLER://h:1",)),)
    view = quorum([copy(1, 30)._replace(voter_set=voters)], nodes)
    messages = [finding.message for finding in found_by_all(view, Scope.CLUSTER) if finding.id == "KC504"]
    assert messages == ([] if message is None else [message])


def test_a_controller_with_voters_of_its_own_is_another_finding() -> None:
    """It votes for itself, so only KC509 speaks of it."""
    voters, own = (Voter(1, "A", ()), Voter(3, "C", ())), (Voter(3, "X", ()),)
    newest = copy(1, 30)._replace(voter_set=voters, directory_id="A")
    rival = copy(3, 0)._replace(voter_set=own, directory_id="X")
    view = quorum([newest, rival], [NodeDirectory(3, "X", "d", has_metadata_log=True, is_empty=False)])
    found = {finding.id for finding in found_by_all(view, Scope.CLUSTER)}
    assert ("KC509" in found, "KC504" in found) == (True, False)


def orphan(cause: StrayCause = StrayCause.TOPIC, **view: Any) -> Finding:
    """Return what is found of a directory whose topic ZooKeeper does not have."""
    stray = IN_CLUSTER._replace(
        topic_id=None, registration=None, of_zookeeper=True, stray=Stray(cause, None, doubt=None)
    )
    (finding,) = found(replica(stray, **view), "3.9")
    return finding


def test_an_orphan_that_holds_records() -> None:
    """ZooKeeper may have lost its data: the new topic must not take the old logs for its own (2.8.2)."""
    held = orphan(log_end_offset=40)
    assert (held.id, str(held.severity)) == ("KC236", "warning")
    assert held.message.endswith("; the directory is an orphan that holds records (offsets 0-39)")
    assert "Do not create the topic while its directories are in the log dirs. kcheck recover topic t" in held.advice
    assert orphan().message.endswith("that holds records")
    assert str(orphan(size=0, segments=()).severity) == "info"
    assert str(orphan(StrayCause.REPLICA).severity) == "info"
