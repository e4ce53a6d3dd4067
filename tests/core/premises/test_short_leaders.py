"""Followers of 2.0.0 and earlier that end their brokers, by the logs of brokers of 1.1.1.

The leader came back with an older copy of its disk. It ended at 20 without the last leader epoch, the others at 22.
"""

import pytest

from kcheck.core.premises.facts import BrokerFacts, LogFacts
from kcheck.core.premises.table import judged_together
from kcheck.core.releases.releases import release
from kcheck.core.replication.dialogue import Replica
from kcheck.core.start.startup import Mode
from kcheck.model.entries import EpochEntry, Offset
from kcheck.model.names import TopicPartition
from tests.core.premises.test_premises import facts, image, log_dir

FIRST, SECOND = EpochEntry(0, 0), EpochEntry(1, 20)
FULL = Replica((FIRST, SECOND), Offset(22), Offset(22))
OLD = Replica((FIRST,), Offset(20), Offset(20))
SENTENCE = (
    "broker 2 ends when broker 1 leads orders-0: that log ends at {}, before the high watermark here. Brokers of 2.0.0"
    " and earlier then end, as log truncation is not allowed"
)
UNCLEAN = "unclean.leader.election.enable"


def log(replica: Replica | None) -> LogFacts:
    """Return the log of orders-0."""
    end = Offset(0) if replica is None else replica.log_end_offset
    return LogFacts(TopicPartition("orders", 0), "d1", end=end, replica=replica)


def broker(number: int, *replicas: Replica | None, **fields: object) -> BrokerFacts:
    """Return a broker of 1.1.1 with ZooKeeper and these logs."""
    given = facts(
        log_dir(identity={"version": "0", "broker.id": str(number), "cluster.id": "C"}), broker_id=number,
        release=release("1.1.1"), mode=Mode.ZOOKEEPER, copies=(), image=image(1, 2, isr=(1, 2)),
        config={"broker.id": str(number)}, logs=tuple(map(log, replicas)),
    )  # fmt: skip
    return given._replace(**fields)


def said(leader: BrokerFacts, follower: BrokerFacts) -> list[tuple[str, str, str]]:
    """Return what P352 says of two brokers."""
    rows = judged_together({1: leader, 2: follower}, ())
    return [(row.sentence, row.status, row.log_dir or "") for own in rows.values() for row in own if row.id == "P352"]


@pytest.mark.parametrize(
    ("leader", "end"), [((OLD,), 20), ((), 0), ((None,), 0)], ids=["old copy", "no directory", "no log"]
)
def test_a_leader_that_is_back_with_less(leader: tuple[Replica | None, ...], end: int) -> None:
    """The brokers 2 and 3 of 1.1.1 ended with "log truncation is not allowed" in two incidents."""
    assert said(broker(1, *leader), broker(2, FULL)) == [(SENTENCE.format(end), "refuted", "d1")]


def test_a_leader_that_leads_only_if_it_is_first() -> None:
    """The controller gives the lead to the first replica in sync that is there."""
    of = image(2, 1, isr=(2, 1))
    assert said(broker(1, OLD, image=of), broker(2, FULL, image=of)) == [(SENTENCE.format(20), "not-seen", "d1")]
    assert said(broker(1, OLD), broker(2, FULL, config=None)) == [(SENTENCE.format(20), "not-seen", "d1")]


IN_BOTH = image(1, 2, isr=(1, 2))


@pytest.mark.parametrize(
    ("leader", "follower"),
    [
        (broker(1, FULL), broker(2, FULL)),
        (broker(1, OLD), broker(2, FULL._replace(high_watermark=Offset(20)))),
        (broker(1, OLD), broker(2, FULL, release=release("2.0.1"))),
        (broker(1, OLD), broker(2, FULL, config={UNCLEAN: "true"})),
        (broker(1, OLD), broker(2, FULL, image=IN_BOTH._replace(configs={("topic", "orders"): {UNCLEAN: "true"}}))),
        (broker(1, OLD), broker(2, FULL, release=release("0.10.2.2"))),
        (broker(1, OLD), broker(2, FULL, image=None)),
        (broker(1, OLD), broker(2, FULL, image=image(1, 2, isr=(2,)))),
        (broker(1, OLD), broker(2, FULL, image=image(1, 2)._replace(topics={}))),
        (broker(1, OLD._replace(high_watermark=Offset(0))), broker(2, None)),
        (broker(1, is_complete=False), broker(2, FULL)),
        (broker(3, OLD), broker(2, FULL)),
        (broker(1, OLD, release=release("1.1.1"), config={"broker.id": "2"}), broker(2, FULL)),
    ],
)
def test_a_leader_that_ends_nobody(leader: BrokerFacts, follower: BrokerFacts) -> None:
    """It has enough, is not in sync, does not start, or truncation is allowed. Its log dirs may be incomplete."""
    assert said(leader, follower) == []
