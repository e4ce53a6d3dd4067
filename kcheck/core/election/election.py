"""Predicts which replica a ZooKeeper or KRaft controller elects, and the changes when a broker starts.

No release compares logs. The order of the replica assignment decides among the replicas that may lead.

Sources: Election.leaderForOffline 1.1 to 3.9 and PartitionLeaderSelector 0.8.2 to 1.0.2 (ZooKeeper);
PartitionChangeBuilder.electAnyLeader, ReplicationControlManager.generateLeaderAndIsrUpdates and handleBrokerShutdown
3.3 to 4.3.1 (KRaft).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from kcheck.core.cluster.health import min_isr
from kcheck.model.cluster import (
    AUTO_REBALANCE,
    NO_LEADER,
    STATIC,
    UNCLEAN,
    ClusterImage,
    ElectionKind,
    PartitionRegistration,
    Seat,
    TopicImage,
)
from kcheck.model.release import Release

ELR_FEATURE = "eligible.leader.replicas.version"


class ElectionRules(NamedTuple):
    """The rules of an election besides the state of the partition."""

    kraft: bool
    """True if a KRaft controller elects, False if a ZooKeeper controller does."""
    eligible_leader_replicas: bool = False
    """True if the cluster keeps an ELR (KIP-966)."""
    min_isr: int = 1
    """The effective `min.insync.replicas`: with fewer in sync, replicas that leave the ISR join the ELR."""
    unclean: bool = False
    """True if the controller elects a replica that is not in sync rather than none."""
    unclean_unseen: bool = False
    """True if only settings of controllers that were not seen would say so; Kafka's default applies to them."""
    unfenced: tuple[int, ...] = ()
    """Running brokers that the controller fences, in this order, when a first broker registers (3.9 and earlier)."""
    balances: bool = True
    """True if the controller gives a preferred replica that is in sync the lead back (auto.leader.rebalance.enable)."""


class Seats(NamedTuple):
    """The places in a partition, as far as elections look at them."""

    replicas: tuple[int, ...]
    """The brokers of its replicas, in the order of the assignment."""
    isr: tuple[int, ...]
    """The replicas in sync."""
    elr: tuple[int, ...] = ()
    """The eligible leader replicas."""
    last_known: tuple[int, ...] = ()
    """The last leader, once the partition has none (last known ELR)."""
    leader: int = NO_LEADER
    """The leader, or NO_LEADER."""

    @property
    def members(self) -> frozenset[int]:
        """The brokers with a place. When another broker starts, nothing changes here, unless it is the first of all."""
        return frozenset((*self.replicas, *self.isr, *self.elr, *self.last_known))


class BrokerStart(NamedTuple):
    """The news for the controller when a broker starts."""

    broker_id: int
    """The broker."""
    clean: bool
    """True if it registers as after a clean shutdown (`strays.registers_cleanly`)."""


class Elected(NamedTuple):
    """A leader that the controller elects."""

    broker_id: int
    """The broker."""
    seat: Seat
    """The reason for its election."""

    @property
    def kind(self) -> ElectionKind:
        """The kind of its election."""
        return self.seat.kind


def seats_of(partition: PartitionRegistration) -> Seats:
    """Return the places in a partition."""
    return Seats(partition.replicas, partition.isr, partition.elr, partition.last_known_elr, partition.leader)


def eligible(seats: Seats) -> tuple[int, ...]:
    """Return the replicas that can be elected cleanly, which are the ISR, or without an ISR the ELR."""
    return seats.isr or seats.elr


def allows_unclean(image: ClusterImage, topic: str, release: Release, *, kraft: bool) -> bool:
    """Return whether the controller elects uncleanly by itself, as far as is known.

    `ClusterImage.config` names the configuration that counts. Metadata does not contain the static configuration of
    controllers. It is in their server.properties, and Kafka's default counts if none was seen. KRaft of 3.8 and earlier
    ignores the configuration (ConfigurationControlManager).
    """
    if kraft and not release.kraft_obeys_unclean_election:
        return False
    stated = image.config(topic, UNCLEAN)
    return release.elects_uncleanly_by_default if stated is None else stated.lower() == "true"


def _is_unseen(image: ClusterImage, topic: str, release: Release, *, kraft: bool) -> bool:
    """Return whether settings of controllers decide about unclean elections, and none was seen."""
    obeys = release.kraft_obeys_unclean_election or not kraft
    return obeys and STATIC not in image.configs and image.config(topic, UNCLEAN) is None


def controllers_otherwise(image: ClusterImage, *, kraft: bool) -> tuple[int, ...]:
    """Return the nodes that allow, or forbid, unclean elections by themselves, unlike the assumed controller.

    Only nodes that can be the controller count. With ZooKeeper every broker can. KRaft metadata of 3.6 and earlier does
    not list the controllers.
    """
    nodes = {*(image.controllers if kraft else image.brokers)} or {
        int(name) for kind, name in image.configs if kind == "broker" and name.isdecimal()
    }
    stated = {number: image._replace(controller=number).config("", UNCLEAN) for number in sorted(nodes)}
    assumed = image.config("", UNCLEAN)
    return tuple(number for number, value in stated.items() if value != assumed)


def keeps_eligible_leader_replicas(image: ClusterImage, release: Release) -> bool:
    """Return whether the controller keeps an ELR: the feature is on, and the release knows it."""
    return release.has_eligible_leader_replicas and image.features.get(ELR_FEATURE, 0) > 0


class Standing(NamedTuple):
    """The facts for the elections of a partition."""

    seats: Seats
    """Its places after every broker has stopped."""
    rules: ElectionRules
    """The rules of its cluster and topic."""


def standing(
    image: ClusterImage,
    topic: TopicImage,
    partition: PartitionRegistration,
    fenced: Sequence[int],
    release: Release,
    *,
    kraft: bool,
) -> Standing:
    """Return the facts for the elections of a partition after every broker has stopped.

    `fenced` is the `fencing_order` of the cluster's brokers. It is empty with ZooKeeper, where a controller finds no
    broker and changes no ISR. A controller of 4.0 and later fences brokers by itself, earlier ones only when another
    broker registers. Metadata without brokers (of kafka-topics --describe) counts unchanged.
    """
    is_kraft, kraft = kraft, kraft and bool(image.brokers)
    unclean = allows_unclean(image, topic.name, release, kraft=kraft)
    rules = ElectionRules(
        kraft=kraft,
        eligible_leader_replicas=kraft and keeps_eligible_leader_replicas(image, release),
        min_isr=min_isr(image, topic, partition),
        unclean=unclean,
        unclean_unseen=not unclean and _is_unseen(image, topic.name, release, kraft=kraft),
        unfenced=() if release.fences_in_hash_order else tuple(fenced),
        balances=image.config("", AUTO_REBALANCE) != "false",
    )
    seats = seats_of(partition)
    if partition.lacks_state and not is_kraft:
        # PartitionStateMachine treats it as new: the first replica that is there leads, and all of them are in sync.
        seats = seats._replace(isr=partition.replicas)
    return Standing(seats if rules.unfenced else after_fencing(seats, fenced, rules), rules)


def after_fencing(seats: Seats, order: Sequence[int], rules: ElectionRules) -> Seats:
    """Return the places once the controller has fenced these brokers one by one; then no broker is left.

    The last member of an ISR stays in it if there is no ELR.
    """
    active = set(order)
    for number in order:
        active.discard(number)
        if number in seats.isr:
            seats = changed_seats(seats, _without(seats.isr, number), active, rules)
    return seats._replace(leader=NO_LEADER)


def registered(seats: Seats, start: BrokerStart, rules: ElectionRules, acceptable: Collection[int] = ()) -> Seats:
    """Return the places after a broker has registered.

    An unclean shutdown removes it from ISR and ELR. `acceptable` are the brokers that run meanwhile. A leader among
    them continues. Without an ELR a registration is like a fencing, so the last member of the ISR stays in it. 4.0 and
    later do this in handleBrokerShutdown. In 3.9 and earlier a registration does not change the ISR.
    """
    if not rules.kraft or rules.unfenced or start.broker_id not in (*seats.isr, *seats.elr):
        return seats
    uncleanly = rules.eligible_leader_replicas and not start.clean
    isr = _without(seats.isr, start.broker_id)
    if not uncleanly and isr == seats.isr:
        return seats
    return changed_seats(seats, isr, acceptable, rules, left_uncleanly=start.broker_id if uncleanly else None)


def elect(seats: Seats, acceptable: Collection[int], rules: ElectionRules) -> Elected | None:
    """Return the leader that the controller elects among brokers that are there and whose log dir is online."""
    clean = next((number for number in seats.replicas if number in acceptable and number in eligible(seats)), None)
    if clean is not None:
        return Elected(clean, Seat.ISR if seats.isr else Seat.ELR)
    knows_last = rules.eligible_leader_replicas and not eligible(seats) and len(seats.last_known) == 1
    if knows_last and seats.last_known[0] in acceptable:
        return Elected(seats.last_known[0], Seat.LAST_KNOWN)
    first = next((number for number in seats.replicas if number in acceptable), None)
    return Elected(first, Seat.NONE) if rules.unclean and first is not None else None


def first_leader(
    seats: Seats, starts: Sequence[BrokerStart], acceptable: Collection[int], rules: ElectionRules
) -> Elected | None:
    """Return the first leader if brokers start one after the other; None if no broker is elected.

    `acceptable` are the brokers whose replica can lead. Each broker starts when the one before has settled.
    """
    present = set[int]()
    for start in _that_matter(starts, seats):
        seats = _joined(seats, start, rules, is_first=not present)
        present.add(start.broker_id)
        leader = elect(seats, present & set(acceptable), rules)
        if leader is not None:
            return leader
    return None


@lru_cache(4096)  # Partitions of a cluster mostly have the same few places.
def election_seat(start: BrokerStart, seats: Seats, rules: ElectionRules) -> Seat:
    """Return the place by which the controller can elect a broker that starts before all others."""
    elected = leader_by_tool(seats, [start], (start.broker_id,), rules)
    return Seat.NONE if elected is None else elected.seat


def leader_by_tool(
    seats: Seats, starts: Sequence[BrokerStart], acceptable: Collection[int], rules: ElectionRules
) -> Elected | None:
    """Return the leader that an unclean election of the tool makes, once brokers have started one after the other.

    Until then the controller has elected none by its own rules. The same rules hold while brokers are fenced.
    """
    present = set[int]()
    for start in _that_matter(starts, seats):
        seats = _joined(seats, start, rules, is_first=not present)
        present.add(start.broker_id)
    return elect(seats, present & set(acceptable), rules._replace(unclean=True))


def leader_of_all(
    seats: Seats, starts: Iterable[BrokerStart], acceptable: Collection[int], rules: ElectionRules
) -> Elected | None:
    """Return the leader if brokers start together, and the controller elects when all of them are there."""
    present = set[int]()
    for start in _that_matter(sorted(starts), seats):
        seats = _joined(seats, start, rules, is_first=not present)
        present.add(start.broker_id)
    return elect(seats, present & set(acceptable), rules)


def leaders_of_all(
    seats: Seats, starts: Mapping[int, BrokerStart], acceptable: Collection[int], rules: ElectionRules
) -> frozenset[int | None]:
    """Return every replica that can lead first if brokers start together.

    None means no leader. The order of registration is a race. The result depends on the first broker, on the last
    (`registered`), or on an earlier broker without a place.
    """
    members = seats.members
    outsider = next((start for number, start in starts.items() if number not in members), None)
    racing = tuple(starts[number] for number in sorted(members) if number in starts)
    return _winners(seats, racing, () if outsider is None else (outsider,), frozenset(acceptable), rules)


@lru_cache(4096)  # As for `election_seat`.
def _winners(
    seats: Seats,
    racing: tuple[BrokerStart, ...],
    outsider: tuple[BrokerStart, ...],
    acceptable: frozenset[int],
    rules: ElectionRules,
) -> frozenset[int | None]:
    elected = {leader_of_all(seats, (*racing, *outsider), acceptable, rules)}
    for one in racing:
        others = [start for start in racing if start is not one]
        orders = ((one, *others), (*others, one), (*outsider, one, *others), (*outsider, *others, one))
        elected.update(first_leader(seats, order, acceptable, rules) for order in orders)
    return frozenset(None if leader is None else leader.broker_id for leader in elected)


def _that_matter(starts: Iterable[BrokerStart], seats: Seats) -> Iterator[BrokerStart]:
    """Yield the first broker that starts, and every broker with a place. Other brokers change nothing."""
    members = seats.members
    return (start for at, start in enumerate(starts) if at == 0 or start.broker_id in members)


def _joined(seats: Seats, start: BrokerStart, rules: ElectionRules, *, is_first: bool) -> Seats:
    """Return the places after a broker has registered, and others that do not run are fenced."""
    seats = registered(seats, start, rules)
    others = tuple(number for number in rules.unfenced if number != start.broker_id)
    return after_fencing(seats, others, rules) if is_first and others else seats


def changed_seats(
    seats: Seats,
    isr: tuple[int, ...],
    acceptable: Collection[int],
    rules: ElectionRules,
    *,
    left_uncleanly: int | None = None,
) -> Seats:
    """Return the places after the ISR has changed (PartitionChangeBuilder.build)."""
    elr = _target_elr(seats, isr, rules, left_uncleanly)
    target = seats._replace(isr=isr, elr=elr)
    if seats.leader in eligible(target) and seats.leader in acceptable:
        leader: Elected | None = Elected(seats.leader, Seat.ISR if seats.leader in isr else Seat.ELR)
    else:
        leader = elect(target, acceptable, rules)
    if leader is not None and leader.kind is ElectionKind.UNCLEAN:
        return seats._replace(isr=(leader.broker_id,), elr=(), last_known=(), leader=leader.broker_id)
    if leader is not None and leader.broker_id in elr:
        isr, elr = (leader.broker_id,), _without(elr, leader.broker_id)
    kept = isr if isr or rules.eligible_leader_replicas else seats.isr
    last_known = seats.last_known
    if rules.eligible_leader_replicas and leader is None and not last_known and seats.leader != NO_LEADER:
        last_known = (seats.leader,)
    if leader is not None:
        last_known = ()
    number = NO_LEADER if leader is None else leader.broker_id
    return seats._replace(isr=kept, elr=elr, last_known=last_known, leader=number)


def _target_elr(
    seats: Seats, isr: tuple[int, ...], rules: ElectionRules, left_uncleanly: int | None
) -> tuple[int, ...]:
    """Return the ELR that goes with an ISR (PartitionChangeBuilder.maybePopulateTargetElr)."""
    if not rules.eligible_leader_replicas or len(isr) >= rules.min_isr:
        return ()
    members = dict.fromkeys((*seats.elr, *seats.isr))
    return tuple(number for number in members if number not in isr and number != left_uncleanly)


def _without(members: tuple[int, ...], number: int) -> tuple[int, ...]:
    return tuple(member for member in members if member != number)
