"""The steps of a recovery in words, with commands, expected results, and final losses."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from kcheck.core.election.early_elections import saved_by
from kcheck.core.election.first_rescue import RescueVerb
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import RecoveryAction, RecoveryStep, StepText
from kcheck.core.replication.leader_costs import NOT_KNOWN
from kcheck.handouts import tool_commands
from kcheck.handouts.final_losses import gives_up, losses_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.repair_steps import commands as repair_commands
from kcheck.words import (
    LISTED_MAX,
    agree,
    broker_names,
    capital,
    counted,
    listed,
    partition_name,
    record_count,
    repair_title,
    shell_line,
    shell_word,
    some_of,
)

CANNOT_BE_UNDONE = "Cannot be undone"
"""The label of the final losses of a step."""
NOTHING, NO_LOSS = "nothing", "no record is lost"
"""The begin of the final losses of a step without any, and of one without lost records."""
_SHELL_WORDS = re.compile(r""""'"|\$'(?:[^'\\]|\\.)*'|'[^']*'|"\$(BOOTSTRAP|ZOOKEEPER)\"""")
"""Quoted words of a name, and the variables, as a name may have the text of a variable."""


def step_texts(plan: PlanContext, steps: Sequence[RecoveryStep]) -> tuple[StepText, ...]:
    """Return the steps in words, each with commands that can be typed as they are."""
    running: tuple[int, ...] = ()
    texts = []
    kinds = [step.kind for step in steps]
    if RecoveryAction.SAVE in kinds:
        plan = plan._replace(save_step=kinds.index(RecoveryAction.SAVE) + 1)
    for step in steps:
        if step.kind is RecoveryAction.STOP:
            running = tuple(number for number in running if number not in step.brokers)
        elif step.kind is RecoveryAction.START:
            running = (*running, *step.brokers)
        text = _WORDS[step.kind](step, plan)
        bootstrap = tool_commands.address(plan.recovery, running or plan.recovery.live, plan.addresses)
        typed = (*_copies(step, plan), *(_addressed(command, bootstrap) for command in text.commands))
        check = tuple(_addressed(command, bootstrap) for command in text.check)
        losses = "; ".join(losses_of(step, plan))
        where = _where(step, plan) if typed else ""
        texts.append(
            text._replace(
                commands=typed,
                final=losses or text.final,
                check=check,
                where=where,
                is_loss=bool(losses) or gives_up(step, plan.recovery),
            )
        )
    return tuple(texts)


def nodes_first(plan: PlanContext, steps: Sequence[RecoveryStep]) -> StepText | None:
    """Return the step 0, which starts the controllers or ZooKeeper; None if a step does that, or no broker starts."""
    kinds = {step.kind for step in steps}
    recovery = plan.recovery
    if RecoveryAction.START not in kinds or RecoveryAction.FENCE in kinds or recovery.together:
        return None
    if recovery.kraft:
        return StepText(
            f"Start the controllers unless they run, and wait for longer than {_session(plan)}",
            "nothing",
            _controller_commands(plan),
            "a controller leads",
            "nothing",
        )
    command = "bin/zookeeper-server-start.sh -daemon config/zookeeper.properties"
    title = f"Start ZooKeeper unless servers run, and wait for longer than {_session(plan)}"
    return StepText(title, "nothing", (command,), "ZooKeeper answers", "nothing")


def _where(step: RecoveryStep, plan: PlanContext) -> str:
    """Return the host on which the commands of a step are typed, with its name in the metadata."""
    if step.kind is RecoveryAction.FENCE:
        return "the host of each controller"
    if step.kind in (RecoveryAction.RESCUE, RecoveryAction.SAVE) or not step.brokers:
        return "any host that has these files and reaches the brokers"
    known = {number: tool_commands.host(plan.recovery, number) for number in step.brokers}
    names = [f"broker {number}{f' ({name})' if name else ''}" for number, name in known.items()]
    return f"the {agree(len(names), 'host', 'hosts')} of {listed(names)}"


def _session(plan: PlanContext) -> str:
    """Return the setting after which a cluster treats a broker as stopped, with its value."""
    name, usual = ("broker", "9 s") if plan.recovery.kraft else ("zookeeper", "18 s")
    return f"{name}.session.timeout.ms ({plan.session or f'{usual} by default'})"


def _controller_commands(plan: PlanContext) -> tuple[str, ...]:
    settings = plan.controllers or ("config/controller.properties",)
    return tuple(f"bin/kafka-server-start.sh -daemon {shell_word(path)}" for path in settings)


def _addressed(text: str, bootstrap: str) -> str:
    """Return a text with the address of the cluster in place of the variables of the shell."""
    places = {"BOOTSTRAP": bootstrap, "ZOOKEEPER": "localhost:2181"}
    return _SHELL_WORDS.sub(lambda word: places[word[1]] if word[1] else word[0], text)


def _copies(step: RecoveryStep, plan: PlanContext) -> Iterator[str]:
    """Yield the commands that copy directories on brokers in bundles, before the step removes records from them."""
    places: dict[int, list[str]] = {}
    for cut in step.cuts:
        if cut.broker_id in plan.recovery.bundles:
            name = partition_name(cut.topic, cut.partition)
            places.setdefault(cut.broker_id, []).append(plan.places.get((cut.broker_id, name), name))
    for number, paths in sorted(places.items()):
        yield f"mkdir broker-{number}.copy"
        yield shell_line(["cp", "-a", *paths, f"broker-{number}.copy/"])


def _rescue(_: RecoveryStep, plan: PlanContext) -> StepText:
    rescue = plan.recovery.rescue
    assert rescue is not None
    if rescue.first is not None:
        return StepText(
            "Solve what the command names, then ask kcheck recover again",
            "no broker of the cluster runs",
            (rescue.command,),
            "a majority of the controllers may start",
            "nothing: the command only reads",
        )
    what = "the quorum of the controllers" if rescue.verb is RescueVerb.QUORUM else "the metadata"
    return StepText(
        f"Bring {what} back, then ask kcheck recover again",
        "no node of the cluster runs",
        (rescue.command,),
        "a controller leads, and has the topics",
        "nothing: the command prints a plan, and each plan that kcheck apply writes can be undone",
    )


def _bring(step: RecoveryStep, plan: PlanContext) -> StepText:
    (number,) = step.brokers
    return StepText(
        f"{plan.sought.get(number, f'Find the newest disk of broker {number}')}. Then ask kcheck recover again",
        f"broker {number} is stopped",
        (),
        "that is done, or these records are lost for good",
        "nothing",
    )


def _save(_: RecoveryStep, plan: PlanContext) -> StepText:
    if plan.saved is not None:
        saved = shell_word(plan.saved)
        title = f"Keep {saved}, which has the records that later steps remove"
        return StepText(title, "nothing", (), f"{saved} exists", "nothing")
    title = "Save the records that later steps remove"
    return StepText(title, "no broker of this plan runs", (plan.save,), "DIR/saved exists", "nothing")


def _repair(step: RecoveryStep, plan: PlanContext) -> StepText:
    (repair,) = (row for row in plan.recovery.repairs if row.broker_id in step.brokers)
    return StepText(
        repair_title(repair.broker_id, repair.why),
        f"broker {repair.broker_id} is stopped",
        repair_commands(repair),
        "kcheck recover names no repair of this broker any more",
        f"nothing: kcheck undo broker-{repair.broker_id}.backup reverts this step",
    )


def _put_back(step: RecoveryStep, plan: PlanContext) -> StepText:
    extra = [row for row in step.misplaced if row.is_extra]
    own = [row for row in step.misplaced if row.broker_id == row.to_broker]
    exchanged = [row for row in own if row.records is None and not row.is_extra]
    held = {row: _place(plan, row.broker_id, row.dir) for row in (*extra, *exchanged)}
    commands = [shell_line(["mv", held[row], f"{held[row]}.held"]) for row in exchanged if row.replaces is not None]
    for row in exchanged:
        if row.replaces is None:
            commands.append(shell_line(["mv", held[row], f"{held[row].rpartition('/')[0]}/{row.holds}"]))
        else:
            commands.append(shell_line(["mv", f"{held[row]}.held", _place(plan, row.to_broker, row.replaces)]))
    for row in extra:
        folder = f"{plan.backup}/broker-{row.broker_id}"
        commands += [shell_line(["mkdir", "-p", folder]), shell_line(["mv", held[row], f"{folder}/"])]
    words = [f"Broker {row.broker_id} holds {row.holds} in {row.dir}" for row in held]
    for row in step.misplaced:
        if row in held:
            continue
        home = plan.homes.get((row.to_broker, row.log_dir)) or next(iter(plan.log_dirs.get(row.to_broker, ())), "")
        if row.replaces is not None:
            old, folder = _place(plan, row.to_broker, row.replaces), f"{plan.backup}/broker-{row.to_broker}"
            home = old.rpartition("/")[0]
            commands += [shell_line(["mkdir", "-p", folder]), shell_line(["mv", old, f"{folder}/"])]
        source = _place(plan, row.broker_id, row.dir)
        if row in own and "/" not in row.dir:
            home = source.rpartition("/")[0]  # A name is free in the log dir of the directory.
        move = ["mv"] if row in own else ["cp", "-a"]
        commands.append(shell_line([*move, source, f"{home}/{row.holds}"]))
        serves = "that broker" if row in own else f"broker {row.to_broker}"
        words.append(
            f"Only broker {row.broker_id} has {record_count(row.records)} of {row.holds}, in {row.dir}, and {serves}"
            " serves this partition"
        )
    title = f"{'. '.join(words[:LISTED_MAX])}. Put"
    reached = ", and this host has the disks of both" if len(step.brokers) > 1 else ""
    return StepText(
        f"{title} {agree(len(words), 'this directory', 'these directories')} back. Then ask kcheck recover again",
        f"{broker_names(step.brokers)} {agree(len(step.brokers), 'is', 'are')} stopped{reached}",
        tuple(commands),
        "kcheck recover names no such directory any more",
        "nothing: no command removes a record, and mv takes each directory back",
    )


def _place(plan: PlanContext, number: int, name: str) -> str:
    return plan.places.get((number, name), name)


def _log_dirs(step: RecoveryStep, plan: PlanContext) -> StepText:
    (number,) = step.brokers
    lost, added = (
        [row.path for row in rows if row.broker_id == number] for rows in (plan.recovery.without, plan.recovery.added)
    )
    changes = (f"take {listed(lost)} out of" if lost else "", f"add {listed(added)} to" if added else "")
    properties = shell_word(plan.settings.get(number, "config/server.properties"))
    line = shell_word(f"s|^log\\.dirs *[=:].*|log.dirs={','.join(plan.log_dirs.get(number, ()))}|")
    return StepText(
        capital(f"{' and '.join(filter(None, changes))} log.dirs of broker {number}"),
        f"broker {number} is stopped",
        (f"sed -i.before {line} {properties}",),
        "log.dirs in its server.properties has the log dirs that exist, and no others",
        f"nothing: {properties}.before is the file of before",
        (f"grep log.dirs {properties}",),
    )


def _fence(step: RecoveryStep, plan: PlanContext) -> StepText:
    brokers = broker_names(sorted(step.brokers))
    check = (shell_line(["kcheck", "cluster", *plan.metadata]),) if plan.metadata else ()
    return StepText(
        f"Start the controllers alone, and wait until they have fenced {brokers}",
        "no broker runs",
        _controller_commands(plan),
        f"{_session(plan)} has passed{', and this shows no active broker' if check else ''}",
        "the ISR of each partition. If it is another than the plan assumes, --next plans again",
        check,
    )


def _set_aside(step: RecoveryStep, plan: PlanContext) -> StepText:
    (number,) = step.brokers
    names = step.directories or [part.name for part in step.partitions]
    sources = [plan.places.get((number, name), name) for name in names]
    moved = [shell_word(source) for source in sources]
    count, folder = len(names), shell_word(f"{plan.backup}/broker-{number}")
    outside = f"{plan.backup} is outside of its log dirs"
    it, which = agree(count, "it", "them"), agree(count, "directory", "directories")
    what = f"Move {count} {which} of broker {number} aside: {agree(count, 'it lacks', 'they lack')} records, and only a"
    what += " complete new copy brings them back"
    if any(_deletes_remotely(part) for part in step.partitions):
        what += ". Once one of them leads, Kafka deletes records in remote storage. Set"
        what += " auto.leader.rebalance.enable=false on the controllers until every replica is in sync"
    if step.directories:
        moved = [
            f"{shell_word(log_dir)}/*-delete"
            for log_dir in dict.fromkeys(source.rpartition("/")[0] for source in sources)
        ]
        what = f"If {agree(count, 'its topic', 'their topics')} should come back, move {count} -delete {which} of"
        what += f" broker {number} aside: the broker removes {it} soon after it starts"
    return StepText(
        what,
        f"broker {number} is stopped, and {outside}",
        (f"mkdir -p {folder}", *(f"mv {source} {folder}/" for source in moved)),
        "its log dirs no longer have the directories",
        f"nothing: move them back before broker {number} starts",
    )


def _deletes_remotely(part: PartitionElection) -> bool:
    """Return whether a candidate, once it leads, makes Kafka delete segments in remote storage."""
    return any(row.plan is not None and row.plan.remote_lost for row in part.candidates)


def _start(step: RecoveryStep, plan: PlanContext) -> StepText:
    recovery = plan.recovery
    brokers = broker_names(step.brokers)
    here = "" if all(row.registration is not None for row in recovery.partitions) else " that is on these disks"
    is_group = len(step.brokers) > 1 and step.brokers == recovery.together
    together = " together, because with fewer controllers none starts" if is_group else ""
    started = "KafkaRaftServer" if recovery.kraft else "KafkaServer"
    commands = (
        f"bin/kafka-server-start.sh -daemon {shell_word(plan.settings.get(number, 'config/server.properties'))}"
        for number in step.brokers
    )
    return StepText(
        f"Start {brokers}{' again' if step.is_again else together}",
        f"{_controllers(step, plan)}{_producers(recovery)}",
        tuple(commands),
        f'server.log of {brokers} has "started (kafka.server.{started})", and this prints the same twice, 30 seconds'
        f" apart",
        f"{NO_LOSS}{here}; the brokers register",
        (tool_commands.describe(recovery, "--under-replicated-partitions"),),
    )


def _producers(recovery: Recovery) -> str:
    """Return the condition for clients if brokers stop again. Consumers write too, as they commit offsets.

    Another leader may truncate records that a leader received while it ran alone.
    """
    return "; no client connects before the last step" if any(phase.stops for phase in recovery.phases) else ""


def _controllers(step: RecoveryStep, plan: PlanContext) -> str:
    """Return the condition before a broker starts, as the controllers first treat it as running."""
    recovery = plan.recovery
    if step.brokers == recovery.together:
        return "no other node of the cluster runs"
    if recovery.fenced or recovery.together:
        return "the controllers run"
    if recovery.kraft:
        return f"the controllers run, for longer than {_session(plan)}"
    return f"ZooKeeper runs, for longer than {_session(plan)}"


def _stop(step: RecoveryStep, plan: PlanContext) -> StepText:
    brokers, recovery, script = broker_names(step.brokers), plan.recovery, "bin/kafka-server-stop.sh"
    has_ids = recovery.kraft and recovery.release.stops_one_node
    alone = "" if has_ids else ". The script stops every Kafka process of that host, controllers too"
    return StepText(
        f"Stop {brokers}: the next broker has to be alone when it is elected{alone}",
        "unclean elections are off on every controller; where they are on, the next broker would take over",
        tuple(f"{script} --node-id={number}" for number in step.brokers) if has_ids else (script,),
        f"the {agree(len(step.brokers), 'process of', 'processes of')} {brokers} ended by"
        f" {agree(len(step.brokers), 'itself', 'themselves')}",
        f"nothing: {brokers} will lead again what {agree(len(step.brokers), 'it leads', 'they lead')} now",
    )


def _elect(step: RecoveryStep, plan: PlanContext) -> StepText:
    recovery = plan.recovery
    wait = "" if step.before is None else f" before broker {step.before} starts"
    check: tuple[str, ...] = ()
    if recovery.release.has_leader_election_tool:
        assert step.file is not None
        commands: tuple[str, ...] = (tool_commands.elect(recovery, step.file),)
        until = 'it prints "Successfully completed leader election (UNCLEAN)" or "Valid replica already elected"'
    else:
        commands = (*tool_commands.allow_unclean(recovery, "add"), *tool_commands.move_controller(recovery))
        until = "this prints nothing; then forbid it again, in the same way, with --delete-config"
        check = (tool_commands.describe(recovery, "--unavailable-partitions"),)
        if recovery.release.exits_out_of_range_without_unclean_election:
            until += (
                ". Wait first until every replica of these topics is in sync. A broker of this release exits if its"
            )
            until += " log is longer than the one of its leader and unclean elections are off"
    return StepText(
        f"Let {_led(step)}{wait}, by an unclean election{_saves(step, recovery)}",
        "the brokers started so far run, and no other",
        commands,
        until,
        "a replica that has other records than the new leader loses them when its broker starts",
        check,
    )


def _saves(step: RecoveryStep, recovery: Recovery) -> str:
    """Return the gain of an election before a broker starts, as a second sentence; empty if not known."""
    names = {part.name for part in step.partitions}
    rows = [row for row in recovery.displaced if row.before == step.before and row.partition.name in names]
    gain = saved_by(rows) if step.before is not None else NOT_KNOWN
    return f". This saves {record_count(gain.records, at_most=gain.at_most)}" if gain.upper_records else ""


def _led(step: RecoveryStep) -> str:
    """Return which broker is to lead which partitions."""
    led: dict[int | None, list[str]] = {}
    for part in step.partitions:
        led.setdefault(part.best if part.planned is None else part.planned, []).append(part.name)
    rows = sorted(led.items(), key=lambda row: (row[0] is None, row[0]))
    words = [f"broker {number} lead {some_of(names)}" for number, names in rows[:LISTED_MAX]]
    return ", and ".join([*words, *(["the others the rest"] if len(rows) > LISTED_MAX else [])])


def _reassign(step: RecoveryStep, plan: PlanContext) -> StepText:
    return StepText(
        f"Put the wanted leaders of {counted(len(step.partitions), 'partition')} first: {_names(step)}",
        "all brokers of this plan run",
        (tool_commands.reassign(plan.recovery, "reassignment.json", "--execute"),),
        'it prints "Successfully started"',
        "nothing: rollback.json gives the replicas back, in the same way",
    )


def _follow(step: RecoveryStep, plan: PlanContext) -> StepText:
    (number,) = step.brokers
    follow = agree(len(step.partitions), "its replica follows", "its replicas follow")
    what, final = f"Restart broker {number}, so that {follow}: {_names(step)}", NO_LOSS
    moved: tuple[str, ...] = ()
    if step.emptied:
        folder = shell_word(f"{plan.backup}/broker-{number}")
        count = len(step.emptied)
        what += f". No broker truncates {counted(count, 'log')} of them, so move {agree(count, 'it', 'them')} aside"
        sources = [shell_word(_place(plan, number, part.name)) for part in step.emptied]
        moved = (f"mkdir -p {folder}", *(f"mv {source} {folder}/" for source in sources))
        final = f"{NO_LOSS}: {plan.backup} keeps what the leader does not have"
    stop = _stop(step, plan).commands
    start = _start(step, plan).commands
    return StepText(
        what,
        "each of these partitions has a leader, and this broker runs",
        (*stop, *moved, *start),
        f"this no longer shows {agree(len(step.partitions), 'this partition', 'these partitions')}",
        final,
        (tool_commands.describe(plan.recovery, "--under-replicated-partitions"),),
    )


def _reset(_: RecoveryStep, plan: PlanContext) -> StepText:
    groups = sum(len(run.groups) for run in plan.resets)
    return StepText(
        f"Stop the consumers, and reset {counted(groups, 'group')} whose offsets are beyond the new log ends",
        "no member of these groups runs",
        tuple(line for run in plan.resets for line in tool_commands.reset(plan.recovery, run)),
        "it prints a line with the new offset for each group and partition",
        "the offsets of before are overwritten",
    )


def _restore(step: RecoveryStep, plan: PlanContext) -> StepText:
    return StepText(
        f"Give {counted(len(step.partitions), 'partition')} all replicas again",
        "every broker that restore.json names runs",
        (
            tool_commands.reassign(plan.recovery, "restore.json", "--execute"),
            tool_commands.reassign(plan.recovery, "restore.json", "--verify"),
        ),
        'no line has "still in progress"',
        "nothing",
    )


_WORDS: Mapping[RecoveryAction, Callable[[RecoveryStep, PlanContext], StepText]] = {
    RecoveryAction.RESCUE: _rescue,
    RecoveryAction.BRING: _bring,
    RecoveryAction.SAVE: _save,
    RecoveryAction.REPAIR: _repair,
    RecoveryAction.PUT_BACK: _put_back,
    RecoveryAction.LOG_DIRS: _log_dirs,
    RecoveryAction.FENCE: _fence,
    RecoveryAction.SET_ASIDE: _set_aside,
    RecoveryAction.START: _start,
    RecoveryAction.STOP: _stop,
    RecoveryAction.ELECT: _elect,
    RecoveryAction.REASSIGN: _reassign,
    RecoveryAction.FOLLOW: _follow,
    RecoveryAction.RESET: _reset,
    RecoveryAction.RESTORE: _restore,
}


def _names(step: RecoveryStep) -> str:
    return some_of([part.name for part in step.partitions])
