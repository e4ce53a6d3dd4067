"""A leader, which takes records, answers followers, and keeps its high watermark and the ISR."""

from kcheck.core.replication import replication
from kcheck.core.replication.dialogue import FetchAnswer
from kcheck.core.replication.offsets_for_leader_epoch import Error, Hosted, refusal
from kcheck.core.replication.truncation import elected, fetch_check, leader_epoch_reply, truncate_to
from kcheck.model.entries import UNDEFINED_EPOCH, Epoch, EpochEndOffset, Offset
from kcheck.simulation.controllers import write_isr
from kcheck.simulation.decisions import Decision
from kcheck.simulation.logs import appended, as_leader, as_replica, sent_from, truncated, with_epochs
from kcheck.simulation.state import (
    CONTROLLER,
    NO_EPOCH,
    Acks,
    AlterIsr,
    Append,
    EpochQuestion,
    EpochReply,
    Fetched,
    FetcherEpoch,
    LeaderState,
    LogBatch,
    PartitionState,
    ReplicaFetch,
    ReplicaMode,
)
from kcheck.simulation.world import World


def make_leader(world: World, number: int, state: PartitionState) -> None:
    """Make a broker the leader, or take over a new epoch or ISR (Partition.makeLeader)."""
    node = world.nodes[number]
    if not world.conditions.leader_keeps_log and node.mode is not ReplicaMode.LEADER:
        to = Offset(min(node.high_watermark, node.log_end_offset))
        node = truncated(node, truncate_to(as_replica(node), to, release=world.release))
    was = node.lead if node.mode is ReplicaMode.LEADER else None
    if was is not None and state.leader_epoch == node.leader_epoch:
        lead = was._replace(isr=state.isr, proposed=state.isr)
        world.nodes[number] = node._replace(lead=lead, partition_epoch=state.partition_epoch)
        advance(world, number)
        return
    world.decide(Decision.MADE_LEADER)
    epochs = elected(as_leader(node), Epoch(state.leader_epoch), release=world.release).cache
    if epochs != node.epochs:
        world.decide(Decision.EPOCH_AT_ELECTION)
    remotes = tuple(
        replication.reset(
            in_sync=other in state.isr,
            again=was is not None,
            leader_end=node.log_end_offset,
            now=world.now,
            release=world.release,
        )
        for other in range(len(world.nodes))
    )
    if node.lead is not None and (was is not None or not world.conditions.forgets_followers):
        remotes = tuple(
            new._replace(log_end_offset=before.log_end_offset, broker_epoch=before.broker_epoch)
            for new, before in zip(remotes, node.lead.remotes, strict=True)
        )
    lead = LeaderState(node.log_end_offset, state.isr, state.isr, remotes)
    world.nodes[number] = with_epochs(node, epochs)._replace(
        mode=ReplicaMode.LEADER,
        leader=number,
        leader_epoch=state.leader_epoch,
        partition_epoch=state.partition_epoch,
        unheard=-1,
        in_session=False,
        fetcher_epoch=FetcherEpoch.FIRST,
        lead=lead,
    )
    if not world.conditions.forgets_followers:
        for other in world.controller.seats.replicas:
            expand(world, number, other)
    advance(world, number)


def produce(world: World, number: int, count: int, acks: Acks) -> None:
    """Append records as the leader; refused if the broker does not lead, or too few replicas are in sync."""
    node = world.nodes[number]
    if not world.leads(number):
        world.decide(Decision.NOT_LEADER, "refused: it does not lead")
        return
    assert node.lead is not None
    if acks is Acks.ALL and len(node.lead.isr) < _min_isr(world):
        world.decide(Decision.TOO_FEW_IN_SYNC, "refused: the ISR is below min.insync.replicas")
        return
    base = node.log_end_offset
    epoch = node.leader_epoch if world.rules.batch_epochs else NO_EPOCH
    batch = LogBatch(base, base + count, epoch, len(world.appends))
    after = appended(node, (batch,), world.release)
    assert after is not None
    world.nodes[number] = after
    acked = {Acks.ALL: None, Acks.LEADER: True, Acks.NONE: False}[acks]
    acked = acked if world.conditions.acknowledges_after_replication else True
    world.appends.append(Append(base, base + count, acks, number, node.leader_epoch, acked, world.is_replaced(number)))
    world.decide(Decision.APPENDED)
    advance(world, number)


def advance(world: World, number: int) -> None:
    """Advance a leader's high watermark as far as its followers allow, and tell the producers that wait."""
    node, release, rules, conditions = world.nodes[number], world.release, world.rules, world.conditions
    lead = node.lead
    assert lead is not None
    min_isr = _min_isr(world) if conditions.waits_for_min_isr else 1
    bounds = []
    for other in world.controller.seats.replicas:
        if other == number or node.high_watermark >= node.log_end_offset:
            continue
        member = world.member(other, node)
        counts = replication.bounds_high_watermark(
            member,
            in_isr=other in lead.isr,
            joining=other in lead.proposed,
            now=world.now,
            lag_time_max=rules.lag_time_max,
            release=release,
        )
        if counts:
            bounds.append(member.remote.log_end_offset)
    if not (conditions.waits_for_followers and conditions.waits_for_whole_isr):
        waits_for = rules.min_isr - 1 if conditions.waits_for_followers else 0
        bounds = sorted(bounds, reverse=True)[:waits_for]
    high_watermark = replication.high_watermark(
        node.high_watermark,
        leader_end=node.log_end_offset,
        bounds=bounds,
        isr=lead.isr,
        min_isr=min_isr,
        release=release,
    )
    if high_watermark != node.high_watermark:
        world.nodes[number] = node._replace(high_watermark=high_watermark)
        world.decide(Decision.LEADER_HIGH_WATERMARK)
    elif len(lead.isr) < min_isr and release.min_isr_bounds_high_watermark and node.log_end_offset > high_watermark:
        world.decide(Decision.HIGH_WATERMARK_WAITS_FOR_MIN_ISR)
    for at, append in world.waiting(number):
        if append.end_offset <= high_watermark:
            safe = len(lead.isr) >= _min_isr(world)
            world.tell_producer(at, acked=safe)
            world.decide(Decision.ACKED if safe else Decision.TOO_FEW_AFTER_APPEND)


def _min_isr(world: World) -> int:
    return world.rules.min_isr if world.conditions.refuses_below_min_isr else 1


def answer_epoch(world: World, number: int, source: int, question: EpochQuestion) -> None:
    """Answer OffsetsForLeaderEpoch."""
    error = _refusal(world, number, question.leader_epoch)
    if error is Error.NONE:
        reply = leader_epoch_reply(as_leader(world.nodes[number]), Epoch(question.epoch), world.release)
    else:
        reply = EpochEndOffset(None, Offset(-1))
    world.send(number, source, EpochReply(question, error.value, reply.epoch, int(reply.end_offset)))


def _refusal(world: World, number: int, leader_epoch: int) -> Error:
    node = world.nodes[number]
    fenced = world.conditions.compares_leader_epochs
    error = refusal(
        hosted=Hosted.LEADER if node.mode is ReplicaMode.LEADER else Hosted.FOLLOWER,
        leader_epoch=Epoch(node.leader_epoch),
        current_leader_epoch=Epoch(leader_epoch) if fenced else UNDEFINED_EPOCH,
        release=world.release,
    )
    if error is not Error.NONE:
        world.decide(Decision.FENCED, error.value)
    return error


def answer_fetch(world: World, number: int, source: int, fetch: ReplicaFetch) -> None:
    """Answer a follower's fetch, and remember how far the follower is."""
    if fetch.epoch_forgotten:
        world.decide(Decision.SESSION_WITHOUT_EPOCH)
    error = _refusal(world, number, NO_EPOCH if fetch.epoch_forgotten else fetch.leader_epoch)
    if error is not Error.NONE:
        world.send(number, source, Fetched(fetch, error.value))
        return
    node, release = world.nodes[number], world.release
    last_epoch = None if fetch.last_epoch is None else Epoch(fetch.last_epoch)
    last_epoch = last_epoch if world.conditions.compares_last_epochs else None
    answer = fetch_check(as_leader(node), Offset(fetch.offset), last_epoch, release=release)
    if isinstance(answer, FetchAnswer) and answer is not FetchAnswer.RECORDS:
        world.send(number, source, Fetched(fetch, answer.value))
        return
    before = node.high_watermark
    diverging = None
    batches: tuple[LogBatch, ...] = ()
    if isinstance(answer, EpochEndOffset):
        assert answer.epoch is not None
        diverging = (int(answer.epoch), int(answer.end_offset))
        world.decide(Decision.DIVERGING)
    else:
        batches = sent_from(node.batches, fetch.offset)
    if diverging is None or not release.diverging_fetches_leave_leo:
        _remember(world, number, source, fetch)
    node = world.nodes[number]
    high_watermark = before if batches else node.high_watermark
    log_start = node.log_start_offset if release.has_log_start_checkpoint else 0  # KIP-107 brought both.
    reply = Fetched(fetch, Error.NONE.value, batches, diverging, high_watermark, log_start)
    world.send(number, source, reply)


def _remember(world: World, number: int, source: int, fetch: ReplicaFetch) -> None:
    node = world.nodes[number]
    lead = node.lead
    assert lead is not None
    remotes = list(lead.remotes)
    remotes[source] = replication.fetched(
        remotes[source],
        fetch.offset,
        leader_end=node.log_end_offset,
        now=world.now,
        broker_epoch=fetch.broker_epoch,
    )
    world.nodes[number] = node._replace(lead=lead._replace(remotes=tuple(remotes)))
    expand(world, number, source)
    advance(world, number)


def expand(world: World, number: int, source: int) -> None:
    """Ask for a follower to join the ISR if the rules let it."""
    node = world.nodes[number]
    lead = node.lead
    assert lead is not None
    if source in lead.proposed or source not in world.controller.seats.replicas or lead.proposed != lead.isr:
        return
    conditions = world.conditions
    may_join = replication.may_join_isr(
        world.member(source, node),
        high_watermark=node.high_watermark if conditions.joins_isr_at_high_watermark else 0,
        epoch_start=lead.epoch_start,
        release=world.release,
        checks_epoch_start=conditions.joins_isr_at_epoch_start,
    )
    if not may_join:
        world.decide(Decision.STAYS_OUTSIDE_ISR)
        return
    world.decide(Decision.JOINS_ISR)
    _ask_for_isr(world, number, (*lead.isr, source))


def shrink(world: World, number: int, member: int) -> None:
    """Ask for a follower to leave the ISR, as after replica.lag.time.max.ms; refused where the rules keep it."""
    node = world.nodes[number]
    lead = node.lead
    assert lead is not None
    if member == number or member not in lead.isr or lead.proposed != lead.isr:
        world.decide(Decision.LEAVES_ISR, "refused: it is not a follower in the ISR, or the ISR changes already")
    elif not replication.may_leave_isr(lead.remotes[member], leader_end=node.log_end_offset, release=world.release):
        world.decide(Decision.STAYS_IN_ISR, "refused: its log ends where the leader's does")
    else:
        world.decide(Decision.LEAVES_ISR)
        remotes = list(lead.remotes)
        remotes[member] = remotes[member]._replace(caught_up_at=replication.NEVER)  # It has been slow for so long.
        world.nodes[number] = node._replace(lead=lead._replace(remotes=tuple(remotes)))
        _ask_for_isr(world, number, tuple(other for other in lead.isr if other != member))


def _ask_for_isr(world: World, number: int, isr: tuple[int, ...]) -> None:
    node = world.nodes[number]
    lead = node.lead
    assert lead is not None
    lead = lead._replace(proposed=isr)
    if not world.conditions.awaits_smaller_isr and len(isr) < len(lead.isr):
        lead = lead._replace(isr=isr)
    world.nodes[number] = node._replace(lead=lead)
    epochs = tuple(
        node.incarnation if other == number else remote.broker_epoch for other, remote in enumerate(lead.remotes)
    )
    request = AlterIsr(node.leader_epoch, node.partition_epoch, isr, epochs)
    if world.release.has_alter_partition:
        world.send(number, CONTROLLER, request)
        if not world.conditions.awaits_smaller_isr:
            advance(world, number)
    else:  # A leader writes into ZooKeeper and waits: nothing happens before the write has succeeded or failed.
        write_isr(world, number, request)
        advance(world, number)


def resign(world: World, number: int) -> None:
    """Tell the producers that wait for a former leader that it leads no more."""
    for at, _ in world.waiting(number):
        world.tell_producer(at, acked=False)
