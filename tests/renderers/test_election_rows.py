"""What comes before the verdict of `kcheck elect`."""

from dataclasses import replace

import pytest

from kcheck.core.election.choice import ElectionChoice
from kcheck.core.election.course import Later, LaterLeader
from kcheck.core.election.early_elections import Means
from kcheck.core.election.phases import Course
from kcheck.core.election.start_order import StartOrder
from kcheck.core.releases.releases import release
from kcheck.core.replication.leader_costs import Amounts
from kcheck.disk.local import LOCAL
from kcheck.documents.election_words import course_words
from kcheck.model.cluster import UNCLEAN, BrokerRegistration, ClusterImage
from kcheck.renderers._election_rows import partition_cells, warnings
from kcheck.replicas.elect import ClusterElection, ElectionQuestion
from tests.core.election.test_plans import candidate, election

IMAGE = ClusterImage(
    topics={},
    brokers={number: BrokerRegistration(number, None, fenced=False) for number in (1, 2, 3)},
    configs={("broker", str(number)): {UNCLEAN: "true"} for number in (2, 3)},
)
"""The metadata of a cluster with ZooKeeper: two brokers elect otherwise than the first."""
ELECTION = ClusterElection(
    release=release("3.4"),
    kraft=False,
    image=IMAGE,
    brokers=(1, 2, 3),
    question=ElectionQuestion(),
    starts={},
    fenced=(),
    verdict="",
    gaps=(),
    order=StartOrder((), is_proven=True),
    scenarios=(),
    partitions=(),
    of_cluster=(),
    copies=lambda *_: (),
    choose=lambda rows: ElectionChoice(rows, StartOrder((), is_proven=True), Course(Means(1), ())),
    disk_of=lambda row: LOCAL.directory(row.path),
    collected=[],
    checked=(),
    arguments=(),
)


@pytest.mark.parametrize(("assumed", "whose"), [(1, "node 1"), (None, "the cluster's default")])
def test_controllers_that_are_configured_otherwise_are_named(assumed: int | None, whose: str) -> None:
    """An operator then looks which one is active."""
    election = replace(ELECTION, image=IMAGE._replace(controller=assumed))
    text = f"Nodes 2,3 are configured otherwise than {whose}, which kcheck assumes."
    assert [*warnings(election)] == [f"The setting of the active controller counts for unclean elections. {text}"]
    assert [*warnings(replace(election, image=IMAGE._replace(configs={})))] == []
    assert [*warnings(replace(election, image=None))] == []


@pytest.mark.parametrize(
    ("later", "words"),
    [
        (None, ": nothing that is on these disks is lost."),
        (LaterLeader(1, Later.PREFERRED), ", then broker 1 (the preferred replica, once in sync): 5 records are lost"),
        (LaterLeader(3, Later.REASSIGNED), ", then broker 3 (the first that is left): 5 records are lost"),
    ],
)
def test_who_leads_one_after_the_other(later: LaterLeader | None, words: str) -> None:
    """With the reason, and what is lost when nothing changes any more."""
    lost = None if later is None else Amounts(5, 2, 50)
    row = election(candidate(2, later=later, lost_later=lost), isr=(2,))
    assert course_words(row).startswith(f"If all start, broker 2 leads (in the ISR){words}")
    shown = partition_cells(row)
    assert shown[3:5] == (("2", "0") if later is None else (f"2, later {later.broker_id}", "5"))


def test_nobody_leads_at_first() -> None:
    """Who is in sync is not here."""
    row = election(candidate(2), isr=(9,))
    assert course_words(row) == "If all start, Kafka elects no leader."
    assert partition_cells(row)[3:5] == ("-", "-")
