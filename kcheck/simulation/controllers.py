"""The controller, which watches brokers, elects, and changes the ISR as leaders ask."""

from collections.abc import Iterable

from kcheck.core.election.election import BrokerStart, Elected, Seats, changed_seats, elect, eligible, registered
from kcheck.model.cluster import NO_LEADER, ElectionKind, Seat
from kcheck.simulation.decisions import Decision
from kcheck.simulation.state import (
    CONTROLLER,
    AlterIsr,
    Controller,
    PartitionState,
    Registered,
    Registration,
    StopReplica,
)
from kcheck.simulation.world import World


def tell(world: World, brokers: Iterable[int] | None = None) -> None:
    """Send the partition's state to every broker that runs."""
    controller, seats = world.controller, world.controller.seats
    state = PartitionState(
        controller.epoch, seats.leader, controller.leader_epoch, seats.isr, controller.partition_epoch
    )
    for number in seats.replicas if brokers is None else brokers:
        if world.nodes[number].running:
            world.send(CONTROLLER, number, state)


def _change(world: World, seats: Seats, *, new_epoch: bool = False) -> None:
    """Take over new seats, that is, the leader and the ISR."""
    controller = world.controller
    before = controller.seats
    if seats == before and not new_epoch:
        return
    shrinks = bool(set(before.isr) - set(seats.isr))
    bumps = shrinks and world.rules.election.kraft and world.release.isr_shrink_bumps_leader_epoch
    bumps = (bumps or new_epoch or seats.leader != before.leader) and world.conditions.raises_epoch_at_election
    world.controller = controller._replace(
        seats=seats,
        leader_epoch=controller.leader_epoch + bumps,
        partition_epoch=controller.partition_epoch + 1,
    )


def fence(world: World, number: int) -> None:
    """Fence a broker, or let its session expire. It leaves the ISR, and another broker leads if one can."""
    if number not in world.controller.live:
        world.decide(Decision.FENCED_BROKER, "refused: it is fenced already")
        return
    world.decide(Decision.FENCED_BROKER)
    _remove(world, number)
    tell(world)


def _remove(world: World, number: int) -> None:
    live = tuple(other for other in world.controller.live if other != number)
    world.controller = world.controller._replace(live=live)
    seats = world.controller.seats
    if number not in seats.isr and number != seats.leader:
        return
    rules = world.rules.election
    isr = tuple(member for member in seats.isr if member != number)
    if rules.kraft:
        _elected(world, changed_seats(seats, isr, _acceptable(world), rules))
    elif seats.leader != number:
        _change(world, seats._replace(isr=isr or seats.isr), new_epoch=True)
    else:
        _zookeeper_election(world, seats)


def _zookeeper_election(world: World, seats: Seats) -> None:
    """Elect after the leader has stopped (Election.leaderForOffline); the last member of the ISR stays in it."""
    live = world.controller.live
    leader = elect(seats, live, world.rules.election)
    present = tuple(member for member in seats.isr if member in live)
    if leader is None:
        isr = tuple(member for member in seats.isr if member != seats.leader) or seats.isr
        _elected(world, seats._replace(leader=NO_LEADER, isr=isr))
    else:
        isr = present if leader.kind is ElectionKind.CLEAN else (leader.broker_id,)
        _elected(world, seats._replace(leader=leader.broker_id, isr=isr), new_epoch=True)


def eligible_to_lead(controller: Controller) -> tuple[int, ...]:
    """Return the replicas in sync that are there."""
    return tuple(number for number in eligible(controller.seats) if number in controller.live)


def _acceptable(world: World) -> tuple[int, ...]:
    controller = world.controller
    return tuple(number for number in controller.live if number not in controller.stopping)


def _elected(world: World, seats: Seats, *, new_epoch: bool = False) -> None:
    """Take over seats after an election, and note how it went."""
    before = world.controller.seats
    if seats.leader == NO_LEADER:
        world.decide(Decision.LEADERLESS)
    elif seats.leader != before.leader or new_epoch:
        clean = seats.leader in eligible(before)
        world.decide(Decision.CLEAN_ELECTION if clean else Decision.UNCLEAN_ELECTION)
    _change(world, seats, new_epoch=new_epoch)


def register(world: World, number: int, request: Registration) -> None:
    """Register a broker that has started, and answer; elect a leader if none leads and one can be elected."""
    world.decide(Decision.REGISTERED)
    world.send(CONTROLLER, number, Registered(request.incarnation))
    rules, controller = world.rules.election, world.controller
    if number in controller.live:
        unnoticed = not rules.kraft and not world.release.notices_bounced_brokers
        if unnoticed or not world.conditions.notices_bounces:
            world.decide(Decision.BOUNCE_MISSED)
            tell(world, [number])
            return
        _remove(world, number)
    before = world.controller.seats
    start = BrokerStart(number, request.clean or not world.conditions.unclean_start_leaves_elr)
    seats = registered(before, start, rules, _acceptable(world))
    if seats.elr != before.elr or seats.isr != before.isr:
        world.decide(Decision.UNCLEAN_SHUTDOWN)
    _change(world, seats)
    controller = world.controller
    epochs = list(controller.broker_epochs)
    epochs[number] = request.incarnation if rules.kraft else 0
    world.controller = controller._replace(live=tuple(sorted((*controller.live, number))), broker_epochs=tuple(epochs))
    if world.controller.seats.leader == NO_LEADER:
        elect_any(world)
    tell(world)


def elect_any(world: World) -> None:
    """Elect a leader for a partition without one, if the rules find one."""
    seats = world.controller.seats
    leader = elect(seats, _acceptable(world), world.rules.election)
    if leader is not None:
        _elected(world, _led(world, seats, leader), new_epoch=True)


def _led(world: World, seats: Seats, leader: Elected) -> Seats:
    number = leader.broker_id
    isr = seats.isr
    if leader.kind is ElectionKind.UNCLEAN or number not in isr:
        isr = (number,)
    elif not world.rules.election.kraft:
        isr = tuple(member for member in isr if member in world.controller.live)
    keeps_elr = leader.kind is ElectionKind.CLEAN and len(isr) < world.rules.min_isr
    elr = tuple(member for member in seats.elr if member not in isr) if keeps_elr else ()
    return seats._replace(leader=number, isr=isr, elr=elr, last_known=())


def elect_broker(world: World, number: int, *, unclean: bool) -> None:
    """Make a broker the leader, as a preferred election or a reassignment does; refused if it is not eligible."""
    seats = world.controller.seats
    if seats.leader == number:
        world.decide(Decision.CLEAN_ELECTION, "it leads already")
        return
    is_clean = number in eligible(seats)
    if number not in _acceptable(world):
        world.decide(Decision.NOT_ELIGIBLE, "refused: it is not registered, or it is fenced")
    elif not is_clean and not unclean:
        world.decide(Decision.NOT_ELIGIBLE, "refused: it is not in sync")
    else:
        leader = Elected(number, Seat.ISR if is_clean else Seat.NONE)
        _elected(world, _led(world, seats, leader), new_epoch=True)
        tell(world)


def shut_down(world: World, number: int) -> None:
    """Begin a controlled shutdown. Another replica in sync leads, and the broker leaves the ISR."""
    controller, rules = world.controller, world.rules.election
    world.controller = controller._replace(stopping=(*controller.stopping, number))
    world.decide(Decision.CONTROLLED_SHUTDOWN)
    seats = world.controller.seats
    isr = tuple(member for member in seats.isr if member != number)
    acceptable = _acceptable(world)
    if number not in seats.isr or not isr:
        return
    if rules.kraft:
        changed = changed_seats(seats, isr, acceptable, rules._replace(unclean=False))
        if changed.leader != NO_LEADER:
            _elected(world, changed)
    elif seats.leader != number:
        _change(world, seats._replace(isr=isr), new_epoch=True)
    else:
        leader = next((member for member in seats.replicas if member in isr and member in acceptable), None)
        if leader is None:
            return
        _elected(world, seats._replace(leader=leader, isr=isr), new_epoch=True)
    tell(world)


def leave(world: World, number: int) -> None:
    """End the session of a broker that has stopped."""
    stopping = tuple(member for member in world.controller.stopping if member != number)
    if number in world.controller.live:
        _remove(world, number)
    world.controller = world.controller._replace(stopping=stopping)
    tell(world)


def alter_isr(world: World, source: int, request: AlterIsr) -> None:
    """Change the ISR as a leader asks, if what it knows is up to date."""
    controller, release = world.controller, world.release
    seats = controller.seats
    is_current = request.partition_epoch == controller.partition_epoch or not world.conditions.compares_partition_epochs
    if release.has_alter_partition:
        is_current = is_current and source == seats.leader and request.leader_epoch == controller.leader_epoch
        done, refused = Decision.ISR_CHANGED, Decision.ISR_REFUSED
    else:
        done, refused = Decision.ISR_WRITTEN, Decision.ISR_WRITE_REFUSED
    new = [member for member in request.isr if member not in seats.isr]
    if release.fenced_replicas_stay_outside_isr and world.rules.election.kraft:
        is_current = is_current and all(member in _acceptable(world) for member in new)
    if release.isr_needs_broker_epoch and world.conditions.compares_broker_epochs:
        is_current = is_current and all(
            request.broker_epochs[member] == controller.broker_epochs[member] for member in new
        )
    if not is_current:
        world.decide(refused)
        node = world.nodes[source]
        if node.lead is not None:
            world.nodes[source] = node._replace(lead=node.lead._replace(proposed=node.lead.isr))
        if source == seats.leader and release.has_alter_partition:
            tell(world, [source])
        return
    world.decide(done)
    if world.rules.election.kraft:
        _elected(world, changed_seats(seats, request.isr, _acceptable(world), world.rules.election))
    else:
        _change(world, seats._replace(isr=request.isr))
    if complete_reassignment(world) or release.has_alter_partition:
        tell(world)  # Otherwise the leader wrote into ZooKeeper: other brokers hear of it with UpdateMetadata alone.


def write_isr(world: World, source: int, request: AlterIsr) -> None:
    """Write the ISR into ZooKeeper for a leader, which learns at once whether it did (Partition.updateIsr)."""
    world.sent.append((source, CONTROLLER, request))
    node = world.nodes[source]
    assert node.lead is not None
    if (source, CONTROLLER) in world.holding:
        world.decide(Decision.ISR_WRITE_REFUSED, "ZooKeeper does not answer")
        world.nodes[source] = node._replace(lead=node.lead._replace(proposed=node.lead.isr))
        return
    alter_isr(world, source, request)
    node = world.nodes[source]
    assert node.lead is not None
    if node.lead.proposed == request.isr:
        lead = node.lead._replace(isr=request.isr)
        world.nodes[source] = node._replace(lead=lead, partition_epoch=world.controller.partition_epoch)


def complete_reassignment(world: World) -> bool:
    """Remove the replicas that a reassignment leaves out, once all others are in sync; whether it did."""
    controller, kraft = world.controller, world.rules.election.kraft
    target, seats = controller.target, controller.seats
    isr = tuple(member for member in target if member in seats.isr)
    added_alone = kraft and not world.release.reassignment_waits_for_every_replica
    if not isr or not {*(controller.added if added_alone else target)} <= {*isr}:
        return False
    world.decide(Decision.REASSIGNED)
    leader = seats.leader if seats.leader in target else isr[0]
    world.controller = controller._replace(target=(), added=())
    removes = len(target) < len(seats.replicas)
    _change(world, seats._replace(replicas=target, isr=isr, leader=leader), new_epoch=removes or not kraft)
    for number in seats.replicas:
        if number not in target and world.nodes[number].running:
            world.send(CONTROLLER, number, StopReplica(controller.epoch))
    return True


def reassign(world: World, target: tuple[int, ...]) -> None:
    """Give the partition other replicas; the old ones stay until the new ones are in sync."""
    controller = world.controller
    seats = controller.seats
    added = tuple(number for number in target if number not in seats.replicas)
    removed = tuple(number for number in seats.replicas if number not in target)
    world.controller = controller._replace(target=target, added=added)
    _change(
        world, seats._replace(replicas=(*target, *removed)), new_epoch=bool(added) and not world.rules.election.kraft
    )
    complete_reassignment(world)
    tell(world)


def fail_over(world: World) -> None:
    """Let another controller take over; it tells every broker, and elects where there is no leader."""
    controller = world.controller
    world.controller = controller._replace(epoch=controller.epoch + 1)
    if controller.seats.leader == NO_LEADER:
        elect_any(world)
    tell(world)
