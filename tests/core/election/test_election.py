"""Whom a controller elects: PartitionChangeBuilder 3.3 to 4.3.1, with ZooKeeper Election.leaderForOffline."""

import pytest

from kcheck.core.election.election import (
    BrokerStart,
    Elected,
    ElectionRules,
    Seats,
    after_fencing,
    allows_unclean,
    controllers_otherwise,
    elect,
    election_seat,
    first_leader,
    keeps_eligible_leader_replicas,
    leader_by_tool,
    leader_of_all,
    leaders_of_all,
    registered,
    standing,
)
from kcheck.core.releases.releases import release
from kcheck.model.cluster import (
    NO_LEADER,
    UNCLEAN,
    BrokerRegistration,
    ClusterImage,
    ControllerRegistration,
    ElectionKind,
    PartitionRegistration,
    Seat,
    TopicImage,
)

CLEAN, UNCLEAN_KIND = ElectionKind.CLEAN, ElectionKind.UNCLEAN
KRAFT, ZOOKEEPER = ElectionRules(kraft=True), ElectionRules(kraft=False)
ELR = ElectionRules(kraft=True, eligible_leader_replicas=True, min_isr=2)


def stopped(*numbers: int, clean: bool = False) -> list[BrokerStart]:
    """Return brokers that start in this order."""
    return [BrokerStart(number, clean) for number in numbers]


def test_the_first_replica_in_sync_leads() -> None:
    """The order of the assignment decides among those in sync; without an ISR, those in the ELR."""
    assert elect(Seats((3, 1, 2), (1, 2)), {1, 2, 3}, KRAFT) == Elected(1, Seat.ISR)
    assert elect(Seats((3, 1, 2), (), (2, 1)), {1, 2, 3}, ELR) == Elected(1, Seat.ELR)
    assert elect(Seats((3, 1, 2), (1,), (2,)), {2, 3}, ELR) is None


def test_the_last_known_leader_needs_no_permission() -> None:
    """Only where ISR and ELR are empty, and it is the only one that is named (canElectLastKnownLeader)."""
    seats = Seats((1, 2, 3), (), (), (2,))
    assert elect(seats, {1, 2}, ELR) == Elected(2, Seat.LAST_KNOWN)
    assert elect(seats, {1}, ELR) is None
    assert elect(seats, {1, 2}, KRAFT) is None
    assert elect(seats._replace(last_known=(2, 3)), {1, 2}, ELR) is None
    assert elect(seats._replace(elr=(3,)), {1, 2}, ELR) is None


def test_an_unclean_election_takes_the_first_replica() -> None:
    """No release looks at the length of a log."""
    seats, rules = Seats((3, 1, 2), (1,)), KRAFT._replace(unclean=True)
    assert elect(seats, {2, 3}, rules) == Elected(3, Seat.NONE)
    assert elect(seats, {2, 3}, KRAFT) is None
    assert elect(seats, (), rules) is None


def test_fencing_moves_the_leader_and_empties_the_isr() -> None:
    """Without an ELR the last replica in sync stays; with one, those that leave join it."""
    seats = Seats((1, 2, 3), (1, 2, 3), leader=1)
    assert after_fencing(seats, (1, 2, 3), KRAFT) == Seats((1, 2, 3), (3,))
    assert after_fencing(seats, (3, 1, 2), KRAFT) == Seats((1, 2, 3), (2,))
    with_elr = after_fencing(seats, (1, 2, 3), ELR)
    assert with_elr == Seats((1, 2, 3), (), (2, 3), (3,))
    alone = after_fencing(seats, (1, 2, 3), ELR._replace(min_isr=1))
    assert alone == Seats((1, 2, 3), (), (3,), (3,))
    assert after_fencing(Seats((1, 2), (2,), leader=2), (1,), KRAFT) == Seats((1, 2), (2,))


def test_fencing_may_elect_uncleanly() -> None:
    """The controller elects at each change, if it may."""
    rules = KRAFT._replace(unclean=True)
    assert after_fencing(Seats((1, 2), (1,), leader=1), (1, 2), rules) == Seats((1, 2), (2,))


def test_the_last_known_leader_is_set_once() -> None:
    """When the partition becomes leaderless for the first time (maybeUpdateLastKnownLeader)."""
    seats = Seats((1, 2), (1,), (2,), (2,), NO_LEADER)
    after = registered(seats, BrokerStart(1, clean=False), ELR)
    assert after == Seats((1, 2), (), (2,), (2,), NO_LEADER)


def test_an_unclean_restart_costs_the_places() -> None:
    """A clean one keeps the place in the ELR; without an ELR the last replica in sync stays."""
    seats = Seats((1, 2), (), (1, 2), (1,))
    assert registered(seats, BrokerStart(1, clean=True), ELR) == seats
    assert registered(seats, BrokerStart(1, clean=False), ELR).elr == (2,)
    assert registered(seats, BrokerStart(3, clean=False), ELR) == seats
    assert registered(Seats((1, 2), (1,)), BrokerStart(1, clean=False), KRAFT) == Seats((1, 2), (1,))
    assert registered(Seats((1, 2), (1,)), BrokerStart(1, clean=False), ZOOKEEPER) == Seats((1, 2), (1,))
    late = KRAFT._replace(unfenced=(1, 2))
    assert registered(Seats((1, 2), (1, 2)), BrokerStart(1, clean=False), late) == Seats((1, 2), (1, 2))


def test_an_elr_member_is_elected_into_the_isr() -> None:
    """It leaves the ELR (PartitionChangeBuilder.tryElection)."""
    seats = Seats((1, 2, 3), (1,), (2,), leader=1)
    assert after_fencing(seats, (1, 2), ELR) == Seats((1, 2, 3), (), (1, 2), (2,))


def test_the_first_broker_that_may_lead_does() -> None:
    """The others wait; a replica that cannot lead counts as absent."""
    seats = Seats((1, 2, 3), (3,))
    assert first_leader(seats, stopped(1, 2, 3), {1, 2, 3}, KRAFT) == Elected(3, Seat.ISR)
    assert first_leader(seats, stopped(1, 2, 3), {1, 2}, KRAFT) is None
    uncleanly = KRAFT._replace(unclean=True)
    assert first_leader(seats, stopped(1, 2, 3), {2, 3}, uncleanly) == Elected(2, Seat.NONE)
    killed = Seats((1, 2, 3), (), (1,), (1,))
    assert first_leader(killed, stopped(2, 1), {1, 2}, ELR) == Elected(1, Seat.LAST_KNOWN)
    assert first_leader(killed, stopped(2, 1, clean=True), {1, 2}, ELR) == Elected(1, Seat.ELR)


def test_up_to_3_9_the_first_to_register_is_not_fenced() -> None:
    """The others are, as real controllers of 3.3.2, 3.6.2 and 3.9.2 did after a whole cluster had lost power."""
    seats, rules = Seats((1, 2, 3), (1, 2, 3), leader=1), KRAFT._replace(unfenced=(1, 2, 3))
    for number in (1, 2, 3):
        assert first_leader(seats, stopped(number), {1, 2, 3}, rules) == Elected(number, Seat.ISR)
    assert leader_of_all(seats, stopped(3, 2), {2, 3}, rules) == Elected(2, Seat.ISR)
    alone = KRAFT._replace(unfenced=(1,))
    assert first_leader(Seats((1,), (1,), leader=1), stopped(1), {1}, alone) == Elected(1, Seat.ISR)


def test_all_together() -> None:
    """The assignment decides once all are there; ZooKeeper's controller takes the first in sync as it was."""
    seats = Seats((2, 1, 3), (3, 1))
    assert leader_of_all(seats, stopped(1, 2, 3), {1, 2, 3}, ZOOKEEPER) == Elected(1, Seat.ISR)
    assert leader_of_all(seats, stopped(1, 3, 9), {3}, ZOOKEEPER) == Elected(3, Seat.ISR)
    assert leader_of_all(seats, stopped(2), {2}, ZOOKEEPER) is None
    assert leader_of_all(seats, stopped(2), {2}, ZOOKEEPER._replace(unclean=True)) == Elected(2, Seat.NONE)


def test_who_can_lead_first_if_all_start_at_once() -> None:
    """Who registers first, up to 3.9 also where another broker is the first; from 4.0 on a restart costs the ISR."""
    seats, everyone = Seats((1, 2, 3), (2, 3)), {start.broker_id: start for start in stopped(1, 2, 3, 9)}
    assert leaders_of_all(seats, everyone, {1, 2, 3}, ZOOKEEPER) == {2, 3}
    assert leaders_of_all(seats, everyone, {1, 3}, ZOOKEEPER) == {3}
    assert leaders_of_all(seats, everyone, {1}, ZOOKEEPER) == {None}
    assert leaders_of_all(seats, everyone, {1, 2, 3}, ZOOKEEPER._replace(unclean=True)) == {1, 2, 3}
    late = KRAFT._replace(unfenced=(1, 2, 3))
    assert leaders_of_all(Seats((1, 2, 3), (1, 2), leader=1), everyone, {2}, late) == {None, 2}
    assert leaders_of_all(Seats((1, 2, 3), (1, 2, 3)), everyone, {1, 2, 3}, KRAFT) == {1, 2, 3}


def test_the_kind_of_an_election() -> None:
    """A replica that nobody can elect without permission is an unclean candidate."""
    assert election_seat(BrokerStart(1, clean=True), Seats((1, 2), (1,)), KRAFT).kind is CLEAN
    assert election_seat(BrokerStart(2, clean=True), Seats((1, 2), (1,)), KRAFT).kind is UNCLEAN_KIND
    # Up to 3.9 its registration fences the others, by the rules of the controller: nobody is elected uncleanly then.
    fences = KRAFT._replace(unfenced=(1, 2, 3))
    assert election_seat(BrokerStart(2, clean=True), Seats((1, 2, 3), (1, 2), leader=1), fences).kind is CLEAN
    first = [BrokerStart(3, clean=True), BrokerStart(2, clean=True)]
    assert leader_by_tool(Seats((1, 2, 3), (1,)), first, (2, 3), fences) == Elected(2, Seat.NONE)
    assert (
        election_seat(BrokerStart(3, clean=True), Seats((1, 2), (1,)), KRAFT._replace(kraft=False)).kind is UNCLEAN_KIND
    )


def image(**configs: str) -> ClusterImage:
    """Return metadata with this configuration of the topic `t`."""
    return ClusterImage(topics={}, configs={("topic", "t"): configs})


@pytest.mark.parametrize(
    ("kafka", "kraft", "stated", "allowed"),
    [
        ("4.3", True, "true", True),
        ("4.3", True, "false", False),
        ("4.3", True, None, False),
        ("3.8", True, "true", False),
        ("3.8", False, "true", True),
        ("0.10.2", False, None, True),
        ("0.11.0", False, None, False),
    ],
)
def test_whether_the_configuration_allows_it(kafka: str, stated: str | None, *, kraft: bool, allowed: bool) -> None:
    """KRaft ignores it up to 3.8; the default was true up to 0.10.2 (KIP-106)."""
    metadata = image() if stated is None else image(**{UNCLEAN: stated})
    assert allows_unclean(metadata, "t", release(kafka), kraft=kraft) is allowed


def test_the_elr_is_a_feature() -> None:
    """4.0 knows it, and the cluster has to turn it on."""
    on = ClusterImage(topics={}, features={"eligible.leader.replicas.version": 1})
    assert keeps_eligible_leader_replicas(on, release("4.0"))
    assert not keeps_eligible_leader_replicas(on, release("3.9"))
    assert not keeps_eligible_leader_replicas(image(), release("4.0"))


def broker(number: int, epoch: int | None, *, fenced: bool = False) -> BrokerRegistration:
    """Return a registered broker."""
    return BrokerRegistration(number, epoch, fenced)


def test_what_decides_a_partition() -> None:
    """From 4.0 the brokers are fenced before any starts, up to 3.9 after the first has registered."""
    topic = TopicImage("t", None, {})
    partition = PartitionRegistration((1, 2), (1, 2), leader=1)
    metadata = ClusterImage(topics={}, brokers={1: broker(1, 5), 2: broker(2, 6)})
    new = standing(metadata, topic, partition, (1, 2), release("4.3"), kraft=True)
    assert (new.seats, new.rules.unfenced) == (Seats((1, 2), (2,)), ())
    old = standing(metadata, topic, partition, (1, 2), release("3.9"), kraft=True)
    assert (old.seats, old.rules.unfenced) == (Seats((1, 2), (1, 2), leader=1), (1, 2))
    described = standing(ClusterImage(topics={}), topic, partition, (), release("4.3"), kraft=True)
    assert described.seats.isr == (1, 2)
    zookeeper = standing(metadata, topic, partition, (), release("2.8"), kraft=False)
    assert zookeeper.seats == Seats((1, 2), (1, 2))
    without_state = PartitionRegistration((2, 1), ())
    assert standing(metadata, topic, without_state, (), release("2.8"), kraft=False).seats == Seats((2, 1), (2, 1))
    assert standing(metadata, topic, without_state, (), release("4.3"), kraft=True).seats == Seats((2, 1), ())


@pytest.mark.parametrize(("controller", "allowed"), [(100, True), (101, False), (None, False)])
def test_a_controller_obeys_its_own_configuration(controller: int | None, allowed: bool) -> None:
    """Before the cluster's default and its static one, after that of the topic."""
    metadata = ClusterImage(
        {}, controller=controller, controllers=dict.fromkeys((100, 101, 102), ControllerRegistration(100, "", (), {})),
        configs={
            ("broker", "1"): {UNCLEAN: "true"}, ("broker", "100"): {UNCLEAN: "true"}, ("broker", ""): {UNCLEAN: "false"}
        },
    )  # fmt: skip
    assert allows_unclean(metadata, "t", release("4.3"), kraft=True) is allowed
    assert controllers_otherwise(metadata, kraft=True) == ((101, 102) if allowed else (100,))
    assert controllers_otherwise(metadata._replace(controllers={}), kraft=True) == (() if allowed else (1, 100))
    brokers = metadata._replace(brokers={1: BrokerRegistration(1, 1, fenced=False)})
    assert controllers_otherwise(brokers, kraft=False) == (() if allowed else (1,))
    stated = metadata._replace(configs={**metadata.configs, ("topic", "t"): {UNCLEAN: str(not allowed).lower()}})
    assert allows_unclean(stated, "t", release("4.3"), kraft=True) is not allowed
