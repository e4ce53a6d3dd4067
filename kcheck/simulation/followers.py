"""A follower, which finds where to truncate, fetches, and takes over its leader's high watermark."""

from kcheck.core.replication import replication
from kcheck.core.replication.dialogue import Branch, OutOfRange, Replica
from kcheck.core.replication.leader_epochs import latest_epoch
from kcheck.core.replication.offsets_for_leader_epoch import Error
from kcheck.core.replication.truncation import (
    begins_at_high_watermark,
    handle_out_of_range,
    offset_truncation_state,
    raise_log_start,
    truncate_fully_and_start_at,
    truncate_to,
)
from kcheck.model.cluster import NO_LEADER
from kcheck.model.entries import Epoch, EpochEndOffset, Offset
from kcheck.model.release import Follower, Release
from kcheck.simulation.decisions import Decision
from kcheck.simulation.logs import appended, as_leader, as_replica, crashed, truncated
from kcheck.simulation.state import (
    NO_EPOCH,
    EpochQuestion,
    EpochReply,
    Fetched,
    FetcherEpoch,
    Node,
    PartitionState,
    ReplicaFetch,
    ReplicaMode,
    StopReplica,
    TruncationDue,
)
from kcheck.simulation.world import World

_FOLLOWS = (ReplicaMode.TRUNCATING, ReplicaMode.FETCHING, ReplicaMode.FAILED)


def make_follower(world: World, number: int, state: PartitionState) -> None:
    """Make a broker a follower of the leader that it is told of (ReplicaManager.makeFollowers)."""
    node = world.nodes[number]
    is_older = not world.conditions.begins_at_newer_epoch_alone and state.partition_epoch < node.partition_epoch
    informed = node._replace(
        leader=state.leader,
        leader_epoch=state.leader_epoch,
        partition_epoch=node.partition_epoch if is_older else state.partition_epoch,
        unheard=node.unheard if node.leader == state.leader else -1,
        in_session=node.in_session and node.leader == state.leader,
        lead=None if world.conditions.forgets_followers else node.lead,
    )
    if state.leader == NO_LEADER:
        world.nodes[number] = informed._replace(mode=ReplicaMode.NONE)
        world.decide(Decision.NO_LEADER)
        return
    same_leader = node.leader == state.leader and node.mode in _FOLLOWS
    again = replication.begins_again(
        known_epoch=node.leader_epoch, epoch=state.leader_epoch, same_leader=same_leader, release=world.release
    )
    if not again and world.conditions.begins_at_newer_epoch_alone:
        world.nodes[number] = informed
        if state.leader_epoch > node.leader_epoch:
            world.decide(Decision.FOLLOWER_KEPT)
        return
    world.decide(Decision.MADE_FOLLOWER)
    informed = informed._replace(fetcher_epoch=FetcherEpoch.FIRST)
    if not world.conditions.truncates_by_epochs or begins_at_high_watermark(node.epochs, world.release):
        after = informed._replace(mode=ReplicaMode.FETCHING)
        if world.conditions.truncates:
            replica = as_replica(node)
            after = truncated(after, _cut(world, replica, min(node.high_watermark, node.log_end_offset)))
            world.decide(Decision.TO_HIGH_WATERMARK)
        world.nodes[number] = after
        return
    asks = world.release.rules.follower is not Follower.FETCH and world.conditions.truncates
    world.nodes[number] = informed._replace(mode=ReplicaMode.TRUNCATING if asks else ReplicaMode.FETCHING)


def _cut(world: World, replica: Replica, offset: int) -> Replica:
    after = truncate_to(replica, Offset(offset), release=world.release)
    return after if world.conditions.truncates_epochs else after._replace(cache=replica.cache)


def ask(world: World, number: int) -> None:
    """Send a follower's next request."""
    node = world.nodes[number]
    if not node.running or node.mode not in (ReplicaMode.TRUNCATING, ReplicaMode.FETCHING):
        world.decide(Decision.STALE_ANSWER, "refused: it fetches from nobody")
        return
    if any(held.source == held.target == number for held in world.held):
        world.notes.append("refused: it has to truncate first")
        return
    if node.mode is ReplicaMode.TRUNCATING:
        carries = world.release.rules.reply_carries_epoch
        world.decide(Decision.EPOCH_AND_OFFSET_ASKED if carries else Decision.EPOCH_ASKED)
        world.send(number, node.leader, EpochQuestion(node.leader_epoch, int(latest_epoch(node.epochs))))
        return
    sends_epoch = world.release.rules.follower is Follower.FETCH and node.epochs and world.conditions.truncates
    if node.fetcher_epoch is FetcherEpoch.FORGOTTEN:
        world.decide(Decision.FORGETS_EPOCH)
        sends_epoch = False
    last_epoch = int(latest_epoch(node.epochs)) if sends_epoch else None
    broker_epoch = node.incarnation if world.rules.election.kraft else 0
    fetch = ReplicaFetch(node.leader_epoch, node.log_end_offset, last_epoch, broker_epoch, node.in_session)
    world.send(number, node.leader, fetch)


def take_epoch(world: World, number: int, source: int, reply: EpochReply) -> None:
    """Truncate after the leader's answer to OffsetsForLeaderEpoch."""
    node = world.nodes[number]
    question = reply.question
    if not _is_current(node, source, question.leader_epoch) or node.mode is not ReplicaMode.TRUNCATING:
        world.decide(Decision.STALE_ANSWER)
        return
    if reply.error != Error.NONE.value:
        _refused(world, number, reply.error)
        return
    end = EpochEndOffset(None if reply.epoch is None else Epoch(reply.epoch), Offset(reply.end_offset))
    replica = as_replica(node)
    branch, to, completed = offset_truncation_state(
        replica, end, initial_offset=replica.high_watermark, release=world.release
    )
    to = Offset(min(to, replica.log_end_offset)) if branch is Branch.UNDEFINED else to
    after = truncated(node, _cut(world, replica, to))
    world.decide(Decision.TRUNCATED)
    world.nodes[number] = after._replace(mode=ReplicaMode.FETCHING if completed else ReplicaMode.TRUNCATING)


def _is_current(node: Node, source: int, leader_epoch: int) -> bool:
    return node.mode is not ReplicaMode.LEADER and node.leader == source and node.leader_epoch == leader_epoch


def take_fetched(world: World, number: int, source: int, answer: Fetched) -> None:
    """Follow the answer to a fetch (append, truncate, or begin at another offset)."""
    node, release = world.nodes[number], world.release
    if release.sessions_forget_leader_epochs and node.leader == source:
        node = world.nodes[number] = node._replace(in_session=True)
    current = _is_current(node, source, answer.fetch.leader_epoch) and node.mode is ReplicaMode.FETCHING
    matches = node.log_end_offset == answer.fetch.offset or not world.conditions.compares_fetch_offsets
    if not (current and matches):
        if answer.diverging is not None and release.truncates_removed_partitions:
            world.decide(Decision.TRUNCATES_WITHOUT_FETCHER)
            if _take_over(world, number, answer):
                _truncate(world, number, answer)
        else:
            world.decide(Decision.STALE_ANSWER)
    elif answer.error != Error.NONE.value:
        world.nodes[number] = node._replace(unheard=-1)
        if answer.error == "OFFSET_OUT_OF_RANGE":
            _out_of_range(world, number, source)
        else:
            _refused(world, number, answer.error)
    elif answer.diverging is None:
        _append(world, number, answer)
    elif not release.applies_diverging_fetches:
        _truncate(world, number, answer)
    elif _take_over(world, number, answer):
        world.send(number, number, TruncationDue(answer))


def _refused(world: World, number: int, error: str) -> None:
    """Fetch no more in a leader epoch that is over, until the controller tells of another (onPartitionFenced)."""
    if error == Error.FENCED_LEADER_EPOCH.value:
        _fail(world, number)


def _take_over(world: World, number: int, answer: Fetched) -> bool:
    """Take over log start and high watermark of a diverging answer before the truncation; whether it succeeds."""
    node = world.nodes[number]
    if answer.log_start_offset > node.log_end_offset:
        world.decide(Decision.UNEXPECTED_START)
        _fail(world, number)
        return False
    replica = raise_log_start(as_replica(node), Offset(answer.log_start_offset), world.release)
    world.decide(Decision.HIGH_WATERMARK_BEFORE_TRUNCATION)
    world.nodes[number] = _with_high_watermark(truncated(node, replica), answer.high_watermark)
    return True


def truncate_due(world: World, number: int, answer: Fetched) -> None:
    """Truncate after an answer that was taken over before, unless the replica has another leader by now."""
    node = world.nodes[number]
    if node.mode is ReplicaMode.FETCHING and node.leader_epoch == answer.fetch.leader_epoch:
        _truncate(world, number, answer)
    elif world.release.truncates_removed_partitions:
        world.decide(Decision.TRUNCATES_WITHOUT_FETCHER)
        _truncate(world, number, answer)
    else:
        world.decide(Decision.STALE_ANSWER)


def _truncate(world: World, number: int, answer: Fetched) -> None:
    assert answer.diverging is not None
    node, release = world.nodes[number], world.release
    replica = as_replica(node)
    epoch, end_offset = answer.diverging
    reply = EpochEndOffset(Epoch(epoch), Offset(end_offset))
    _, to, _ = offset_truncation_state(replica, reply, initial_offset=replica.log_end_offset, release=release)
    world.decide(Decision.TRUNCATED)
    unheard = -1 if release.applies_diverging_fetches else answer.high_watermark
    world.nodes[number] = truncated(node, _cut(world, replica, to))._replace(unheard=unheard)


def _heard(node: Node, *, records: bool, release: Release) -> FetcherEpoch:
    """Return whether a follower's fetches name an epoch after an answer (PartitionFetchState.lastFetchedEpoch)."""
    if not release.forgets_epoch_after_empty_answer:
        return FetcherEpoch.FIRST
    if records:
        return FetcherEpoch.NAMED
    return FetcherEpoch.FORGOTTEN if node.fetcher_epoch is FetcherEpoch.FIRST else node.fetcher_epoch


def _append(world: World, number: int, answer: Fetched) -> None:
    node, release = world.nodes[number], world.release
    is_new = answer.batches or answer.log_start_offset > node.log_start_offset
    if not is_new and answer.high_watermark == node.unheard:
        world.decide(Decision.LEFT_OUT)
        return
    node = node._replace(unheard=-1, fetcher_epoch=_heard(node, records=bool(answer.batches), release=release))
    first = answer.batches[0].base_offset if answer.batches else node.log_end_offset
    if first < node.log_end_offset == node.log_start_offset and release.begins_empty_log_with_batch:
        world.decide(Decision.BEGINS_WITH_BATCH)
        node = truncated(node, truncate_fully_and_start_at(as_replica(node), Offset(first)))
    after = appended(node, answer.batches, release)
    if after is None or answer.log_start_offset > after.log_end_offset:
        world.decide(Decision.UNEXPECTED_OFFSET)
        _fail(world, number)
        return
    if answer.log_start_offset > after.log_start_offset:
        replica = raise_log_start(as_replica(after), Offset(answer.log_start_offset), release)
        after = truncated(after, replica)
    world.decide(Decision.FOLLOWER_HIGH_WATERMARK)
    world.nodes[number] = _with_high_watermark(after, answer.high_watermark)


def _with_high_watermark(node: Node, high_watermark: int) -> Node:
    return node._replace(
        high_watermark=replication.follower_high_watermark(
            high_watermark, log_start=node.log_start_offset, log_end=node.log_end_offset
        )
    )


def _out_of_range(world: World, number: int, source: int) -> None:
    """Ask the leader where its log starts and ends; the answer is not held."""
    node, leader = world.nodes[number], world.nodes[source]
    if not world.leads(source) or leader.leader_epoch != node.leader_epoch != NO_EPOCH:
        return
    if not world.conditions.truncates:
        return
    step, replica = handle_out_of_range(as_replica(node), as_leader(leader), world.release)
    world.decide(Decision.OUT_OF_RANGE)
    exits = world.release.exits_out_of_range_without_unclean_election and not world.rules.unclean
    if step.action is OutOfRange.TO_LEADER_LOG_END and exits:
        world.decide(Decision.EXITS)
        world.nodes[number] = crashed(node)
        return
    heard = _heard(node, records=True, release=world.release)  # Where it goes on is named with its epoch.
    world.nodes[number] = truncated(node, replica)._replace(fetcher_epoch=heard)


def end_sessions(world: World, leader: int) -> None:
    """End the fetch sessions of a stopped leader."""
    for number, node in enumerate(world.nodes):
        if node.leader == leader:
            end_session(world, number)


def end_session(world: World, number: int) -> None:
    """End a follower's fetch session. The next one repeats everything (FetchSessionHandler.handleError, KIP-227)."""
    node = world.nodes[number]
    if node.unheard != -1 or node.in_session:
        world.nodes[number] = node._replace(unheard=-1, in_session=False)


def stop_replica(world: World, number: int, request: StopReplica) -> None:
    """Delete a replica that the partition has no more (ReplicaManager.stopReplicas, applyDelta)."""
    node = world.nodes[number]
    if request.controller_epoch < node.controller_epoch:
        world.decide(Decision.OLD_CONTROLLER)
        return
    delete_replica(world, number, request.controller_epoch)


def delete_replica(world: World, number: int, controller_epoch: int) -> None:
    """Leave nothing of a replica but the broker itself."""
    world.decide(Decision.REPLICA_DELETED)
    world.nodes[number] = Node(incarnation=world.nodes[number].incarnation, controller_epoch=controller_epoch)


def _fail(world: World, number: int) -> None:
    world.nodes[number] = world.nodes[number]._replace(mode=ReplicaMode.FAILED)
