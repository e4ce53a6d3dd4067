"""plan.md, the commands for an incident of a complete cluster, in order, with their output in this release."""

from collections.abc import Collection, Iterator, Sequence

from kcheck.core.election.early_elections import Displaced, by_broker
from kcheck.core.election.plans import PartitionElection
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.replication.leader_costs import total
from kcheck.handouts import tool_commands
from kcheck.handouts.aside_copies import AsideCopy, aside_words
from kcheck.handouts.group_resets import GroupReset
from kcheck.handouts.leader_table import leaders
from kcheck.handouts.markdown_words import fenced, markdown_code, markdown_partition, markdown_text
from kcheck.handouts.repair_steps import repair_steps
from kcheck.handouts.tool_commands import address, describe
from kcheck.model.cluster import UNCLEAN
from kcheck.words import (
    NAMED_MAX,
    agree,
    broker_names,
    counted,
    record_count,
    shell_line,
    shell_word,
    some_of,
)


def guide(recovery: Recovery, files: Collection[str], resets: Sequence[GroupReset]) -> str:
    """Return the text of plan.md; `files` are the other files of the directory."""
    displaced = recovery.displaced
    early = by_broker(displaced)
    unwanted = [row for row in displaced if row.before is None]
    parts = [
        ["# Recovery plan", f"For Kafka {recovery.release.name}. Read all of it before you start a broker."],
        repair_steps(recovery.repairs),
        _gaps(recovery, unwanted),
        _costs(recovery),
        _settings(recovery),
        _starts(recovery),
        *(_kept_out(number, rows) for number, rows in recovery.kept_out.items()),
        *(_early(recovery, number, rows) for number, rows in early.items()),
        _elections(recovery, files),
        _groups(recovery, resets),
        _restarts(recovery),
        _stuck(recovery),
        _checks(recovery),
        _restore(recovery, files),
        [*leaders(recovery)],
    ]
    return "\n\n".join(line for part in parts for line in part) + "\n"


def _gaps(recovery: Recovery, unwanted: Sequence[Displaced]) -> list[str]:
    """Return the facts that the plan lacks, which come first."""
    gaps = [*map(markdown_text, recovery.uncounted), *_missing(recovery)]
    if recovery.undecided:
        gaps.append(f"{_counted(recovery.undecided)}: no leader is recommended, so this plan leaves them as they are.")
    aborting = [number for number in recovery.order if number not in recovery.starts]
    for number in aborting:
        gaps.append(
            f"Broker {number} is here, but it does not start: `kcheck predict` says why. Solve that first, and make"
            " this plan again. With its logs less may be lost."
        )
    gaps += _aside(recovery)
    for partition, leader, *_ in unwanted[:NAMED_MAX]:
        gaps.append(
            f"{_name(partition)}: the controller elects broker {leader} as soon as it starts, although broker "
            f"{partition.best} costs less. If this partition matters most, start broker {partition.best} alone first, "
            "and make it lead before the others start."
        )
    more = len(unwanted) - NAMED_MAX
    if more > 0:
        gaps.append(f"{counted(more, 'more partition')} {agree(more, 'is', 'are')} like that.")
    return ["## What this plan does not cover", "\n".join(f"- {gap}" for gap in gaps)] if gaps else []


def _aside(recovery: Recovery) -> Iterator[str]:
    """Yield which directories that no broker serves have what no replica has."""
    copies = (
        AsideCopy(
            only.records, copy.broker_id, _name(part), markdown_text(copy.dir or ""), copy.state, part.has_unloaded
        )
        for part, copy in recovery.only_aside
        if (only := copy.only_here) is not None
    )
    words = [f"{text}." for text in aside_words(copies)]
    yield from words
    if words:
        yield "To bring a directory back, do so before any broker starts."


def _missing(recovery: Recovery) -> Iterator[str]:
    if recovery.image is None:
        yield (
            "Without cluster metadata the ISR is not known. Add `--metadata PATH` to `kcheck "
            "elect`. Without it there are no files for elections."
        )
    if recovery.by_run:
        yield (
            "Tables of `kcheck fleet scan` gave this answer, not the logs. So it does not name consumer groups with "
            "offsets beyond the new log ends, or open transactions."
        )
    elif any(partition.groups is None for partition in recovery.partitions):
        yield (
            "The logs of `__consumer_offsets` here are not complete, so groups beyond a new log end are missing from "
            "this plan."
        )
    unknown = [number for partition in recovery.partitions for number in partition.unknown_replicas]
    for number in sorted(set(unknown)):
        yield (
            f"Broker {number} holds {counted(unknown.count(number), 'replica')} and is not here, so their records are "
            f"unknown. Bring its disks and run `kcheck elect` again, or give it up with `--dead {number}`."
        )
    for number in sorted(recovery.dead):
        yield f"Broker {number} is given up. Records that only it has are lost."


def _costs(recovery: Recovery) -> list[str]:
    chosen = [part for part in recovery.partitions if part.recommended is not None]
    lost = total(part.lost_planned for part in chosen)
    losing = [part for part in chosen if part.lost_planned is None or part.lost_planned.records != 0]
    text = "With this plan no partition loses a record that is here."
    if losing:
        committed = lost.upper_committed
        share = "unknown how many" if committed is None else f"{'at most ' * (lost.committed is None)}{committed}"
        verb = agree(len(losing), "loses", "lose")
        text = f"With this plan {_counted(losing)} {verb} {record_count(lost.records, at_most=lost.at_most)}"
        text += f"; {share} of them committed."
    if recovery.saved is not None:
        text += f"\n\nThe lost records are saved in {markdown_code(recovery.saved)}."
        text += " `kcheck export` writes them for a producer."
    return ["## What it costs", text]


def _settings(recovery: Recovery) -> list[str]:
    lines = [f"BOOTSTRAP={address(recovery, recovery.live)}"]
    if not recovery.release.reassigns_by_bootstrap_server:
        lines.append("ZOOKEEPER=localhost:2181")
    option = "--command-config" if recovery.release.elects_by_command_config else "--admin.config"
    commands = (
        "each command" if recovery.release.reassigns_by_bootstrap_server else "commands with `--bootstrap-server`"
    )
    security = f"If the cluster asks for a login, add `--command-config client.properties` to {commands}."
    if recovery.release.has_leader_election_tool and option == "--admin.config":
        security += " For `kafka-leader-election.sh` the option is `--admin.config` in this release."
    return ["## Set this once", fenced(lines), f"Type the commands in Kafka's directory. {security}"]


def _starts(recovery: Recovery) -> list[str]:
    started = "KafkaRaftServer" if recovery.kraft else "KafkaServer"
    steps: list[str] = []
    waiting = [*recovery.live]
    for phase in recovery.phases:
        first = [number for number in phase.starts if number in waiting]
        if phase.stops:
            steps.append(f"Stop {broker_names(phase.stops)}: broker {first[0]} has to be alone when it is elected.")
        steps += (
            f'Move directories aside, as "Directories of broker {number}" says below.'
            for number in first
            if number in recovery.kept_out
        )
        is_quorum = phase.starts == recovery.together
        why = " together, because with fewer controllers none starts" if is_quorum else ""
        steps.append(f"Start {broker_names(phase.starts)}{'' if first else ' again'}{why}.")
        waiting = [number for number in waiting if number not in first]
        if phase.elects:
            number = (waiting or recovery.live)[0]
            steps.append(f'Elect, as "Before broker {number} starts" says below.')
    order = "\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1))
    return [
        "## Start the brokers, in this order",
        (
            f"{'After the first step, do' if recovery.together else 'Do'} not start two at once. After each one, wait"
            " until its server.log has a line that ends with\n"
            f"`started (kafka.server.{started})`. Then wait until this prints the same lines twice, 30 seconds apart:"
        ),
        fenced([describe(recovery, "--under-replicated-partitions")]),
        order,
        (
            f"After the last start, this prints {_counted(recovery.unclean)}, as in election.json:"
            if recovery.unclean
            else "After the last start, this prints nothing, because every partition has a leader."
        ),
        fenced([describe(recovery, "--unavailable-partitions")]),
    ]


def _kept_out(number: int, rows: Sequence[PartitionElection]) -> list[str]:
    """Return which directories to move aside before a broker starts."""
    names = [f"- {_code_name(part)}" for part in rows]
    return [
        f"## Directories of broker {number}",
        (
            f"The logs of broker {number} in {_counted(rows)} lack records of their leader that no fetch brings back. "
            f"Once it leads, they are lost, and the preferred replica leads within minutes. Before it starts, move "
            f"these directories outside every log dir. It then fetches these replicas again. Keep them until "
            "`kcheck verify` is content."
        ),
        *_without_rebalance(rows),
        "\n".join(names),
    ]


def _without_rebalance(rows: Sequence[PartitionElection]) -> Iterator[str]:
    """Yield how to keep a replica from leading that deletes remote segments of the others once it leads."""
    plans = (candidate.plan for row in rows for candidate in row.candidates)
    if any(plan is not None and plan.remote_lost for plan in plans):
        yield (
            "A part of them is in remote storage, and Kafka deletes it there once one of these replicas leads. Set"
            " `auto.leader.rebalance.enable=false` on the controllers until `kcheck verify` is content."
        )


def _early(recovery: Recovery, number: int, rows: Sequence[Displaced]) -> list[str]:
    """Return how to elect the leaders that cost less before a broker starts, and what that saves."""
    parts = [row.partition for row in rows]
    better = total(row.partition.leaders[row.instead].lost for row in rows if row.instead is not None)
    alone = [row.instead for row in rows if row.alone and row.instead is not None]
    worse = total(row.partition.leaders[row.leader].lost for row in rows)
    saved, lost = ("?" if amount.records is None else str(amount.records) for amount in (better, worse))
    return [
        f"## Before broker {number} starts",
        (
            f"As soon as {_any_broker(rows)} starts, the controller elects its replica of {_counted(parts)}. It is in"
            " sync, but a broker that runs by now has records that it lacks. After an unclean election here"
            f" {saved} records are lost, without it {lost}:"
        ),
        *((fenced([f"BOOTSTRAP={address(recovery, alone)}"]),) if alone else ()),
        *_elect(recovery, f"election-before-{number}.json"),
    ]


def _any_broker(rows: Sequence[Displaced]) -> str:
    return f"broker {' or '.join(map(str, sorted({row.leader for row in rows})))}"


def _elect(recovery: Recovery, name: str) -> list[str]:
    """Return the command that elects the partitions of a file uncleanly, and what it prints."""
    return [
        fenced([tool_commands.elect(recovery, name)]),
        (
            "It prints `Successfully completed leader election (UNCLEAN) for partitions ...`. "
            "`Valid replica already elected` means that a partition has a leader already."
        ),
    ]


def _elections(recovery: Recovery, files: Collection[str]) -> list[str]:
    if not recovery.unclean:
        return []
    lines = ["## Elect leaders", f"An unclean election alone gives {_counted(recovery.unclean)} a leader."]
    if "reassignment.json" in files:
        lines += [
            "Kafka elects the first replica that is alive. First put the wanted replicas first:",
            fenced([tool_commands.reassign(recovery, "reassignment.json", "--execute")]),
            (
                f"It prints `{_reassigned(recovery)}`. To undo this before the election, use rollback.json in the same"
                " way. All its brokers must be alive."
            ),
        ]
    if recovery.release.has_leader_election_tool:
        lines += ["Elect:", *_elect(recovery, "election.json")]
        if recovery.kraft and not recovery.release.kraft_obeys_unclean_election:
            lines.append(f"Do not set `{UNCLEAN}`: KRaft controllers of this release ignore it.")
        return lines
    return [*lines, *_by_configuration(recovery)]


def _by_configuration(recovery: Recovery) -> Iterator[str]:
    """Yield how to elect if no tool can, by allowing it in the topic for a while."""
    yield "This release has no tool for that. Allow unclean elections of these topics for a short time:"
    yield fenced(tool_commands.allow_unclean(recovery, "add"))
    yield "For each topic it prints `Completed Updating config for entity: topic '...'.`"
    if not recovery.release.elects_at_config_change:
        yield "Only a new controller looks at this. Make the controller move:"
        yield fenced(['bin/zookeeper-shell.sh "$ZOOKEEPER" delete /controller'])
    yield "Wait until this prints nothing:"
    yield fenced([describe(recovery, "--unavailable-partitions")])
    if recovery.release.exits_out_of_range_without_unclean_election:
        yield (
            "Then wait until the other replicas are in sync. In this release a broker exits if its log is longer than "
            "its leader's and unclean elections are off. This prints what is not in sync:"
        )
        yield fenced([describe(recovery, "--under-replicated-partitions")])
    yield "Then forbid it again:"
    yield fenced(tool_commands.allow_unclean(recovery, "delete"))


def _groups(recovery: Recovery, resets: Sequence[GroupReset]) -> list[str]:
    if not resets:
        return []
    lines = [
        "## Reset consumer groups",
        (
            f"{counted(sum(len(reset.groups) for reset in resets), 'group')} committed offsets beyond the new log ends."
            " Stop the consumers, then put the groups back to the log ends:"
        ),
    ]
    lines += (fenced(tool_commands.reset(recovery, run)) for run in resets)
    return [*lines, "It prints a line with the new offset for each group and partition."]


def _restarts(recovery: Recovery) -> list[str]:
    """Return which brokers fail to truncate a replica, and follow after one more restart."""
    rows = recovery.restarted
    if not rows:
        return []
    brokers = [*dict.fromkeys(number for _, number in rows)]
    partitions = [*dict.fromkeys(_code_name(partition) for partition, _ in rows)]
    return [
        "## Restart once more",
        (
            f"A broker of this release fails as it truncates a log below an open transaction: {some_of(partitions)}."
            f" Once these partitions have a leader, restart {broker_names(brokers)}: the replicas follow then."
        ),
    ]


def _stuck(recovery: Recovery) -> list[str]:
    """Return the steps for replicas that cannot follow the recommended leaders."""
    rows = [*recovery.stuck]
    if not rows:
        return []
    shown = [f"- broker {number}: {_code_name(partition)}" for partition, number in rows[:NAMED_MAX]]
    rest = len(rows) - NAMED_MAX
    more = [f"- {rest} more; election-plan.json has `follows: false` there"] if rest > 0 else []
    return [
        "## Replicas that cannot follow",
        "The logs of these replicas differ from the leader's, and no broker truncates them:",
        "\n".join((*shown, *more)),
        (
            "Once the partition has a leader, stop the broker and move the directory outside every log dir. Start the "
            "broker again. It fetches the replica from the leader. Keep the directory if you need its records."
        ),
    ]


def _checks(recovery: Recovery) -> list[str]:
    gone = {number for partition in recovery.partitions for number in _absent(partition, recovery)}
    nothing = "nothing"
    if gone:
        nothing = f"only partitions with replicas on {broker_names(sorted(gone))}"
    paths = shell_line(recovery.paths)
    return [
        "## Check",
        f"Wait until this prints {nothing}:",
        fenced([describe(recovery, "--under-replicated-partitions")]),
        "Then `kcheck verify` shows which steps came true, and which are left:",
        fenced([f"kcheck verify {shell_word(recovery.folder)} {paths}"]),
    ]


def _absent(partition: PartitionElection, recovery: Recovery) -> Iterator[int]:
    """Yield the brokers of a partition that this plan does not start."""
    replicas = () if partition.registration is None else partition.registration.replicas
    return (number for number in replicas if number not in recovery.starts)


def _restore(recovery: Recovery, files: Collection[str]) -> list[str]:
    lines = []
    if "restore.json" in files:
        lines += [
            "When every broker in restore.json runs again, give the partitions all their replicas:",
            fenced([tool_commands.reassign(recovery, "restore.json", "--execute")]),
            f"It prints `{_reassigned(recovery)}`. Repeat this until no line has `still in progress`:",
            fenced([tool_commands.reassign(recovery, "restore.json", "--verify")]),
        ]
    short = [part for part in recovery.partitions if _on_dead(part, recovery)]
    if short:
        lines.append(
            f"{_counted(short)} had replicas on {broker_names(sorted(recovery.dead))}. Choose other brokers for them, "
            "and reassign them the same way."
        )
    return ["## Restore the replication factor", *lines] if lines else []


def _on_dead(partition: PartitionElection, recovery: Recovery) -> bool:
    return partition.registration is not None and not recovery.dead.isdisjoint(partition.registration.replicas)


def _reassigned(recovery: Recovery) -> str:
    """Return the output of the tool for the partitions in both files."""
    if recovery.release.reassigns_by_bootstrap_server:
        noun = agree(len(recovery.reassigned), "reassignment", "reassignments")
        return f"Successfully started partition {noun} for ..."
    return "Successfully started reassignment of partitions."


def _counted(partitions: Sequence[PartitionElection]) -> str:
    """Return how many partitions these are, and the names of the first ones."""
    return f"{counted(len(partitions), 'partition')} ({some_of([*map(_name, partitions)])})"


def _name(partition: PartitionElection) -> str:
    return markdown_partition(partition.topic, partition.partition)


def _code_name(partition: PartitionElection) -> str:
    return markdown_code(partition.name)
