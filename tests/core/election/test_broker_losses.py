"""What goes with a broker, and who is in sync without all committed records."""

from kcheck.core.election.broker_losses import BrokerLoss, Lacking, broker_losses, lacking
from kcheck.core.election.election import ElectionRules
from kcheck.core.election.plans import CopyState
from kcheck.core.replication.leader_costs import Amounts
from kcheck.model.entries import Offset
from tests.core.election.test_plans import NOTHING, STARTS, UNKNOWN, candidate, election

IN_ZOOKEEPER = ElectionRules(kraft=False)
"""There a start changes no ISR."""


def test_a_broker_takes_what_nobody_else_has() -> None:
    """Its partitions are offline if nobody that is left is in sync; gone if nobody else can lead them."""
    shared = election(candidate(1), candidate(2, Amounts(4, 3, 40)), isr=(1, 2), rules=IN_ZOOKEEPER)
    single = election(candidate(1))
    behind = election(candidate(1), candidate(2), isr=(1,))
    assert broker_losses((shared, single, behind), STARTS) == (
        BrokerLoss(1, partitions=3, offline=2, only_copy=1, lost=Amounts(4, 3, 40)),
        BrokerLoss(2, partitions=2, offline=0, only_copy=0, lost=NOTHING),
        BrokerLoss(3, partitions=0, offline=0, only_copy=0, lost=NOTHING),
    )


def test_partitions_of_the_same_places_are_counted_each() -> None:
    """Their leader is the same."""
    alike = election(candidate(1), candidate(2), isr=(1,))
    assert [2, 0, 0] == [loss.offline for loss in broker_losses((alike, alike), STARTS)]


def test_an_unclean_election_keeps_a_partition_online() -> None:
    """If the cluster's own configuration allows it."""
    allowed = election(candidate(1), candidate(2), isr=(1,), rules=ElectionRules(kraft=True, unclean=True))
    assert [0, 0, 0] == [loss.offline for loss in broker_losses((allowed,), STARTS)]


def test_what_is_not_known_is_not_survived() -> None:
    """Without metadata nobody knows who is elected, without counts nobody knows what is lost."""
    unseen = election(candidate(1), candidate(2, UNKNOWN), isr=None)
    first, second, third = broker_losses((unseen,), STARTS)
    assert BrokerLoss(1, 1, None, 0, UNKNOWN) == first
    assert BrokerLoss(2, 1, None, 0, NOTHING) == second
    assert [None, None, True] == [loss.is_survived for loss in (first, second, third)]
    assert BrokerLoss(1, 1, 0, 0, UNKNOWN).is_survived is None


def test_a_cluster_survives_if_nothing_committed_is_lost() -> None:
    """Records that no consumer can have read do not count."""
    assert BrokerLoss(1, 1, 0, 0, Amounts(7, 0, 70)).is_survived is True
    for offline, only_copy, lost in ((0, 1, NOTHING), (1, 0, NOTHING), (0, 0, Amounts(7, 1))):
        assert BrokerLoss(1, 1, offline, only_copy, lost).is_survived is False


def test_a_replica_in_sync_has_all_committed_records() -> None:
    """One that ends below the high watermark lacks some; strays, replicas out of sync and unknown ends do not count."""
    partition = election(
        candidate(1, log_end_offset=Offset(8)),
        candidate(2, log_end_offset=Offset(9)),
        candidate(3, log_end_offset=Offset(1)),
        candidate(1, log_end_offset=Offset(1), state=CopyState.STRAY),
        candidate(2, log_end_offset=None),
        isr=(1, 2),
    )
    assert [Lacking("t", 0, 1, Offset(8), Offset(9))] == [*lacking(partition)]
    assert [] == [*lacking(partition._replace(registration=None))]
    assert [] == [*lacking(partition._replace(high_watermark=None))]
