"""A history as a shell script for a real cluster, in the words of the release's own tools."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcheck.model.cluster import NO_LEADER
from kcheck.model.release import Release
from kcheck.simulation.directories import TOPIC, broker_id
from kcheck.simulation.events import Event, EventKind
from kcheck.simulation.replay import HistoryStep, Replay
from kcheck.simulation.state import CONTROLLER, Acks, EpochsFile


class _Typed(NamedTuple):
    """The commands for one event."""

    commands: tuple[str, ...] = ()
    unforced: str | None = None
    """A timing that no command can force."""


def script(run: Replay) -> str:
    """Return the script: settings, functions, then the events in their order."""
    parts = [_head(run), _FUNCTIONS, _tools(run.rules.release, kraft=run.rules.election.kraft), *_body(run)]
    return "\n".join(parts) + "\n"


def _head(run: Replay) -> str:
    kraft, release = run.rules.election.kraft, run.rules.release
    brokers = ", ".join(f"{name} is {broker_id(number)}" for number, name in enumerate(run.script.names))
    session = "broker.session.timeout.ms" if kraft else "zookeeper.session.timeout.ms"
    beside = "a controller process of its own" if kraft else "one more broker, started first, as the controller"
    return f"""#!/bin/sh
# A history for a real cluster of Kafka {release.name}, {"KRaft" if kraft else "ZooKeeper"}. Read it before you run it.
# Brokers: {brokers}; and {beside}.
# server.properties of each broker, in $CONFIG/broker-N.properties, each with one log dir $DATA/broker-N:
#   auto.leader.rebalance.enable=false
#   unclean.leader.election.enable={str(run.rules.unclean).lower()}
#   min.insync.replicas={run.rules.min_isr}
#   replica.lag.time.max.ms=3600000          a stopped follower stays in the ISR
#   replica.fetch.wait.max.ms=500
#   replica.high.watermark.checkpoint.interval.ms={run.rules.checkpoint_interval or 5000}
#   {session}=30000          longer than any step with a stopped process
# KAFKA: the release. BOOTSTRAP: host:port of every broker. ADDRESS_1, ADDRESS_2, ...: of each. ZOOKEEPER: its address.
# Timing that no command can force is named where it matters, in lines that begin with "# not forced:".
set -eu
: "${{KAFKA:?}}" "${{CONFIG:?}}" "${{DATA:?}}" "${{BOOTSTRAP:?}}"
TOPIC={TOPIC} SESSION=30
"""


_FUNCTIONS = """
pid() { pgrep -f "kafka.Kafka .*broker-$1.properties"; }
start() { "$KAFKA/bin/kafka-server-start.sh" -daemon "$CONFIG/broker-$1.properties"; sleep 10; }
stop() { p=$(pid "$1"); kill -CONT "$p"; kill -TERM "$p"; while kill -0 "$p" 2>/dev/null; do sleep 1; done; }
crash() { kill -9 "$(pid "$1")"; }
pause() { kill -STOP "$(pid "$1")"; }
resume() { kill -CONT "$(pid "$1")"; }
session_ends() { sleep $((SESSION + 5)); }
fetched() { sleep 3; }
checkpointed() { sleep 6; }
log_of() { ls "$DATA/broker-$1/$TOPIC-0/"*.log | tail -n 1; }
cut() {  # broker, offset: remove the batches from this offset on, as a power loss removes pages that were not flushed
  at=$("$KAFKA/bin/kafka-run-class.sh" "$DUMP" --files "$(log_of "$1")" |
    sed -nE 's/^(baseO|o)ffset: ([0-9]+) .*position: ([0-9]+) .*/\\2 \\3/p' |
    awk -v to="$2" '$1 >= to { print $2; exit }')
  [ -z "$at" ] || truncate -s "$at" "$(log_of "$1")"
}
tear() {  # broker: leader-epoch-checkpoint is as long as it was, of zeros, as after a power loss (KAFKA-16541)
  file=$(dirname "$(log_of "$1")")/leader-epoch-checkpoint
  size=$(wc -c < "$file") && : > "$file" && truncate -s "$size" "$file"
}
address() { eval "echo \\"\\$ADDRESS_$1\\""; }"""


def _tools(release: Release, *, kraft: bool) -> str:
    """Return the functions whose tools differ between releases."""
    zookeeper = '--zookeeper "$ZOOKEEPER"'
    topics = '--bootstrap-server "$BOOTSTRAP"' if release.describes_by_bootstrap_server else zookeeper
    reassign = '--bootstrap-server "$BOOTSTRAP"' if release.reassigns_by_bootstrap_server else zookeeper
    row = f'{{"topic":"{TOPIC}","partition":0'
    if release.has_leader_election_tool:
        tool = f'kafka-leader-election.sh" --bootstrap-server "$BOOTSTRAP" --topic {TOPIC} --partition 0'
        preferred = f'"$KAFKA/bin/{tool} --election-type preferred'
        unclean = f'"$KAFKA/bin/{tool} --election-type unclean'
    else:
        chosen = f"echo '{{\"partitions\":[{row}}}]}}' > elect.json"
        preferred = (
            f'{chosen}; "$KAFKA/bin/kafka-preferred-replica-election.sh" {zookeeper} --path-to-json-file elect.json'
        )
        unclean = (
            f'"$KAFKA/bin/kafka-configs.sh" {zookeeper} --alter --entity-type topics --entity-name {TOPIC} '
            "--add-config unclean.leader.election.enable=true; new_controller"
        )
    controller = (
        'kill -9 "$(pgrep -f "kafka.Kafka .*controller.properties")"; sleep 5; '
        '"$KAFKA/bin/kafka-server-start.sh" -daemon "$CONFIG/controller.properties"; sleep 10'
        if kraft
        else 'echo "delete /controller" | "$KAFKA/bin/zookeeper-shell.sh" "$ZOOKEEPER"'
    )
    dump = f"{'org.apache.' * release.dumps_by_tools_class}kafka.tools.DumpLogSegments"
    brokers = "--bootstrap-server" if release.produces_by_bootstrap_server else "--broker-list"
    return f"""DUMP={dump}
produce() {{  # broker, records, acks: one batch
  seq "$2" | "$KAFKA/bin/kafka-console-producer.sh" {brokers} "$(address "$1")" --topic "$TOPIC" \\
    --producer-property acks="$3" --producer-property linger.ms=1000 --producer-property retries=0 || true
}}
create() {{ "$KAFKA/bin/kafka-topics.sh" {topics} --create --topic "$TOPIC" --replica-assignment "$1"; sleep 3; }}
reassign() {{
  echo '{{"version":1,"partitions":[{row},"replicas":['"$1"']}}]}}' > replicas.json
  "$KAFKA/bin/kafka-reassign-partitions.sh" {reassign} --execute --reassignment-json-file replicas.json; sleep 3
}}
elect() {{ reassign "$1"; {preferred}; sleep 3; }}  # the replicas, the new leader first
elect_uncleanly() {{ {unclean}; sleep 3; }}
new_controller() {{ {controller}; }}
consume() {{
  timeout 10 "$KAFKA/bin/kafka-console-consumer.sh" --bootstrap-server "$(address "$1")" --topic "$TOPIC" \\
    --partition 0 --offset "$2" --max-messages "$3" || true
}}
delete_below() {{
  echo '{{"version":1,"partitions":[{row},"offset":'"$1"'}}]}}' > delete.json
  "$KAFKA/bin/kafka-delete-records.sh" --bootstrap-server "$BOOTSTRAP" --offset-json-file delete.json
}}
"""


def _body(run: Replay) -> Iterator[str]:
    names = run.script.names
    first = run.steps[0].state.controller.seats
    order = [first.leader, *(number for number in first.replicas if number != first.leader)]
    yield f"\n# {run.steps[0].event}"
    yield f"create {':'.join(str(broker_id(number)) for number in order)}"
    paused: set[int] = set()
    events = [line.action for line in run.script.lines if isinstance(line.action, Event)]
    for at, event in enumerate(events):
        before = run.steps[at]
        yield f"\n# {run.steps[at + 1].event}"
        if event.kind is EventKind.APPEND:
            yield from _hold_back(_followers_left_behind(events[at + 1 :], before), paused)
        elif _touched(event) in paused or event.kind is EventKind.FETCH_ALL:
            woken = sorted(paused) if event.kind is EventKind.FETCH_ALL else [_touched(event)]
            yield from (f"resume {broker_id(number)}" for number in woken)
            paused.difference_update(woken)
        torn = event.torn and run.steps[at + 1].state.nodes[event.broker].epochs_file is EpochsFile.TORN
        lines = _lines_of(event._replace(torn=torn), before, paused)
        yield from lines.commands
        if lines.unforced:
            yield f"# not forced: {lines.unforced}"
    yield "\n# the end"
    yield from (f"resume {broker_id(number)}" for number in sorted(paused))
    yield "fetched"
    for number, node in enumerate(run.steps[-1].state.nodes):
        epochs = ",".join(f"{entry.epoch}@{entry.start_offset}" for entry in node.epochs) or "none"
        yield f"# {names[number]} should have: log end {node.log_end_offset}, epochs {epochs}"


def _touched(event: Event) -> int:
    """Return the broker that an event needs awake; the controller where it needs none."""
    if event.kind in (EventKind.DELIVER, EventKind.DROP):
        return event.target if event.broker == CONTROLLER else event.broker
    return CONTROLLER if event.kind in (EventKind.DELAY, EventKind.APPEND) else event.broker


def _followers_left_behind(later: Sequence[Event], before: HistoryStep) -> list[int]:
    """Return the followers that run and do not fetch what is appended now at once."""
    leader = before.state.controller.seats.leader
    left = {number for number, node in enumerate(before.state.nodes) if node.running and number != leader}
    for event in later:
        if event.kind is EventKind.FETCH_ALL:
            return []
        if event.kind is not EventKind.FETCH:
            break
        left.discard(event.broker)
    return sorted(left)


def _hold_back(numbers: Sequence[int], paused: set[int]) -> Iterator[str]:
    for number in numbers:
        if number not in paused:
            paused.add(number)
            yield f"pause {broker_id(number)}"


def _lines_of(event: Event, before: HistoryStep, paused: set[int]) -> _Typed:
    """Return the commands for an event."""
    number = broker_id(event.broker)
    match event.kind:
        case EventKind.APPEND:
            return _append(event, before)
        case EventKind.FETCH | EventKind.FETCH_ALL:
            one = event.kind is EventKind.FETCH
            return _Typed(
                ("fetched",), "a follower does not stop after one request, nor after its answer" if one else None
            )
        case EventKind.CHECKPOINT:
            return _Typed(("checkpointed",), "every other broker writes its high watermarks too")
        case EventKind.FLUSH:
            return _Typed(
                (), "nothing to type: a killed process keeps its page cache, and `cut` below removes the rest"
            )
        case EventKind.CRASH:
            return _Typed((f"crash {number}",))
        case EventKind.POWER_LOSS:
            node = before.state.nodes[event.broker]
            end = max(node.flushed, node.flushed if event.offset is None else event.offset)
            tear = [f"tear {number}"] if event.torn else []
            return _Typed((*([f"crash {number}"] if node.running else []), f"cut {number} {end}", *tear))
        case EventKind.STOP:
            return _Typed((f"stop {number}",))
        case EventKind.START:
            if before.state.nodes[event.broker].running:
                return _Typed((), "a broker that runs registers again by itself as soon as it is not stopped")
            return _Typed((f"start {number}",), "it fetches at once if its leader runs")
        case EventKind.FENCE if before.state.nodes[event.broker].running:
            paused.add(event.broker)
            return _Typed((f"pause {number}", "session_ends"))
        case EventKind.FENCE:
            return _Typed(("session_ends",))
        case _:
            return _steering(event, before, paused)


def _append(event: Event, before: HistoryStep) -> _Typed:
    leader = before.state.controller.seats.leader if event.broker < 0 else event.broker
    if leader == NO_LEADER:
        return _Typed((), "no leader takes it")
    acks = "all" if event.acks is Acks.ALL else str(int(event.acks))
    waits = " &" if event.acks is Acks.ALL else ""  # Its followers may have to wake first.
    return _Typed((f"produce {broker_id(leader)} {event.amount} {acks}{waits}", "sleep 3"))


def _steering(event: Event, before: HistoryStep, paused: set[int]) -> _Typed:
    """Return the commands for an event of the controller, the network or a client."""
    number = broker_id(event.broker)
    replicas = before.state.controller.seats.replicas
    match event.kind:
        case EventKind.ELECT if event.unclean:
            return _Typed(("elect_uncleanly",), "the controller chooses the first replica that runs")
        case EventKind.ELECT:
            order = [event.broker, *(replica for replica in replicas if replica != event.broker)]
            return _Typed((f"elect {','.join(str(broker_id(replica)) for replica in order)}",))
        case EventKind.REASSIGN:
            return _Typed((f"reassign {','.join(str(broker_id(replica)) for replica in event.brokers)}",))
        case EventKind.CONTROLLER:
            return _Typed(("new_controller",))
        case EventKind.DELAY if event.broker == CONTROLLER:
            paused.add(event.target)
            return _Typed((f"pause {broker_id(event.target)}",))
        case EventKind.DELAY | EventKind.DELIVER | EventKind.DROP if event.broker != CONTROLLER:
            return _Typed((), f"{event.kind} of one link: a stopped process holds all of its links")
        case EventKind.DROP:
            return _Typed((), "nothing drops a message and keeps the connection: it arrives")
        case EventKind.SHRINK | EventKind.EXPAND:
            return _Typed((), "for this the follower must be stopped longer than replica.lag.time.max.ms, then resumed")
        case EventKind.READ:
            return _Typed((f"consume {number} {event.offset or 0} {event.end - (event.offset or 0)}",))
        case EventKind.TRIM:
            return _Typed((f"delete_below {event.offset}",))
        case EventKind.WAIT:
            return _Typed((f"sleep {-(-event.amount // 1000)}",))
        case _:
            assert event.kind in (EventKind.DELIVER, EventKind.OVERTAKE, EventKind.TELL), event.kind
            return _Typed(("sleep 3",))
