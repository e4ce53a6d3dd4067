"""Runs a history under a release, and holds it against what it expects."""

from collections.abc import Sequence
from typing import NamedTuple

from kcheck.core.election.election import ElectionRules, Seats
from kcheck.core.releases.releases import release as release_of
from kcheck.errors import UsageError
from kcheck.model.release import Release
from kcheck.simulation import controllers
from kcheck.simulation.decisions import Decision
from kcheck.simulation.deliveries import deliver_all
from kcheck.simulation.events import Event, EventOutcome, apply
from kcheck.simulation.mutants import without
from kcheck.simulation.script import ANYWHERE, Expected, Script, ScriptLine
from kcheck.simulation.state import ClusterState, Controller, NetworkMessage, Node, ReplicaMode, Rules, names_of
from kcheck.simulation.verdict import Verdict, judge
from kcheck.simulation.world import World


class HistoryStep(NamedTuple):
    """One event, and the cluster after it."""

    line: int
    """Its line; 0 for the state before the first event."""
    event: str
    """Its text."""
    state: ClusterState
    """The cluster after it."""
    decided_by: tuple[Decision, ...] = ()
    """The rules of Kafka that decided."""
    notes: tuple[str, ...] = ()
    """Refused steps, with the reasons."""
    messages: tuple[tuple[int, int, NetworkMessage], ...] = ()
    """The sent messages (from, to, message)."""


class Failed(NamedTuple):
    """An expectation that does not hold."""

    line: int
    message: str


class Replay(NamedTuple):
    """A history under one release."""

    script: Script
    rules: Rules
    steps: tuple[HistoryStep, ...]
    verdict: Verdict
    failed: tuple[Failed, ...]


def rules_of(script: Script, kafka: str, ibp: str | None = None, mutant: str | None = None) -> Rules:
    """Return the rules of a release for a history; UsageError where the release knows no such setting."""
    topic = script.topic
    release = release_of(kafka, ibp=ibp, message_format=topic.message_format)
    release, conditions = without(mutant, release)
    kraft = release.kraft_is_production_ready if topic.kraft is None else topic.kraft
    if (kraft and not release.has_kraft) or (not kraft and release.is_kraft_only):
        raise UsageError(f"Kafka {kafka} has no {'KRaft' if kraft else 'ZooKeeper'} mode")
    elr = release.keeps_eligible_leader_replicas_by_default if topic.elr is None else topic.elr
    unclean = release.elects_uncleanly_by_default if topic.unclean is None else topic.unclean
    min_isr = min(topic.min_isr, len(script.names) if topic.rf is None else topic.rf)
    election = ElectionRules(
        kraft=kraft,
        eligible_leader_replicas=elr and kraft and release.has_eligible_leader_replicas,
        min_isr=min_isr,
        unclean=(unclean and (not kraft or release.kraft_obeys_unclean_election))
        or not conditions.elects_in_sync_alone,
    )
    lag_time_max = 30_000 if release.has_long_replica_lag_time else 10_000
    return Rules(
        release=release,
        election=election,
        min_isr=min_isr,
        unclean=unclean,
        lag_time_max=lag_time_max if topic.lag_time_max is None else topic.lag_time_max,
        checkpoint_interval=topic.checkpoint_interval,
        batch_epochs=_writes_epochs(release, topic.message_format),
        conditions=conditions,
        mutant=mutant,
    )


def _writes_epochs(release: Release, message_format: str | None) -> bool:
    """Return whether batches carry leader epochs, as in magic 2, in 0.11 and later.

    In 3.0 and later brokers ignore an older format, unless their inter.broker.protocol.version is older too (KIP-724).
    """
    if not release.has_leader_epochs:
        return False
    if message_format is None or (release.has_kraft and release.epoch_cache):
        return True
    return release_of(message_format).has_leader_epochs


def first_state(script: Script, rules: Rules) -> ClusterState:
    """Return the cluster before the first event, with running brokers and empty logs."""
    count = len(script.names)
    replicas = tuple(range(count if script.topic.rf is None else script.topic.rf))
    seats = Seats(replicas=replicas, isr=script.isr, leader=script.leader)
    controller = Controller(
        seats=seats,
        leader_epoch=script.leader_epoch,
        live=tuple(range(count)),
        broker_epochs=(0,) * count,
    )
    world = World(ClusterState((Node(),) * count, controller), rules)
    controllers.tell(world)
    deliver_all(world)
    for number, node in enumerate(world.nodes):
        if (
            node.mode is ReplicaMode.TRUNCATING
        ):  # The partition is not so new: its followers have found nothing to truncate.
            world.nodes[number] = node._replace(mode=ReplicaMode.FETCHING)
    return world.state()


def replay(script: Script, kafka: str, *, ibp: str | None = None, mutant: str | None = None) -> Replay:
    """Run a history; the same history under the same release gives the same answer."""
    rules = rules_of(script, kafka, ibp, mutant)
    state = first_state(script, rules)
    steps = [HistoryStep(0, f"{script.names[script.leader]} leads", state)]
    failed: list[Failed] = []
    for line in script.lines:
        if isinstance(line.action, Event):
            outcome = apply(state, line.action, rules)
            state = outcome.state
            steps.append(_step(line, outcome))
        else:
            failed += [Failed(line.number, why) for why in _unmet(line.action, state, rules, script.names)]
    return Replay(script, rules, tuple(steps), judge(state, rules), tuple(failed))


def _step(line: ScriptLine, outcome: EventOutcome) -> HistoryStep:
    return HistoryStep(line.number, line.text, outcome.state, outcome.decided_by, outcome.notes, outcome.messages)


def _unmet(expected: Expected, state: ClusterState, rules: Rules, names: Sequence[str]) -> list[str]:
    """Return in words what of an expectation does not hold."""
    if expected.what in ("replica", "partition"):
        return _unmet_values(expected, state, names)
    verdict = judge(state, rules)
    match expected.what:
        case "nothing":
            is_empty = not getattr(verdict, expected.nothing)
            return [] if is_empty else [f"expected nothing {expected.nothing}; {in_words(verdict, names)}"]
        case "stuck":
            name = names[expected.broker]
            return [] if expected.broker in verdict.stuck else [f"{name} is not stuck; {in_words(verdict, names)}"]
        case "diverged":
            pair = tuple(sorted((expected.broker, expected.other)))
            places = [divergence.at for divergence in verdict.diverged if divergence.replicas == pair]
            anywhere = expected.start == ANYWHERE
            if expected.start in places or (anywhere and places):
                return []
            words = " and ".join(names_of(pair, names))
            place = "" if anywhere else f" at {expected.start}"
            return [f"{words} do not diverge{place}; {in_words(verdict, names)}"]
        case _:
            ranges = verdict.lost if expected.what == "lost" else verdict.withdrawn
            if any(start <= expected.start and expected.end <= end for start, end in ranges):
                return []
            return [f"{expected.start}..{expected.end} is not {expected.what}; {in_words(verdict, names)}"]


def _unmet_values(expected: Expected, state: ClusterState, names: Sequence[str]) -> list[str]:
    unmet = []
    for field, value in expected.values:
        seen = _seen(field, state, expected.broker)
        if seen != value:
            owner = "" if expected.broker < 0 else f"{names[expected.broker]} "
            unmet.append(f"{owner}{field} is {_shown(field, seen, names)}, expected {_shown(field, value, names)}")
    return unmet


def _seen(field: str, state: ClusterState, broker: int) -> object:
    controller = state.controller
    node = state.nodes[broker] if broker >= 0 else Node()
    values: dict[str, object] = {
        "leo": node.log_end_offset,
        "hw": node.high_watermark,
        "start": node.log_start_offset,
        "epochs": tuple((int(entry.epoch), int(entry.start_offset)) for entry in node.epochs),
        "isr": tuple(sorted(controller.seats.isr)),
        "elr": tuple(sorted(controller.seats.elr)),
        "leader": controller.seats.leader,
        "epoch": controller.leader_epoch if broker < 0 else node.leader_epoch,
        "running": node.running,
        "stopped": node.running,
    }
    return values[field]


def _shown(field: str, value: object, names: Sequence[str]) -> str:
    if field == "epochs":
        assert isinstance(value, tuple)
        return ",".join(f"{epoch}@{offset}" for epoch, offset in value) or "none"
    if field in ("isr", "elr"):
        assert isinstance(value, tuple)
        return ",".join(names_of(value, names)) or "none"
    if field == "leader":
        assert isinstance(value, int)
        return "none" if value < 0 else names[value]
    if field in ("running", "stopped"):
        return "running" if value else "stopped"
    return str(value)


def in_words(verdict: Verdict, names: Sequence[str]) -> str:
    """Return a verdict in a line."""
    words = [f"lost {start}..{end}" for start, end in verdict.lost]
    words += [f"withdrawn {start}..{end}" for start, end in verdict.withdrawn]
    words += [
        f"{' and '.join(names_of(pair.replicas, names))} diverged at {pair.at}"
        + ("" if pair.detected else ", which nothing notices")
        for pair in verdict.diverged
    ]
    words += [f"{names[number]} is stuck" for number in verdict.stuck]
    words += ["no leader"] if verdict.offline else []
    return "; ".join(words) or "nothing lost, nothing diverged"
