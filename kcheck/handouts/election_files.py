"""The files of `elect --output-dir`, which are inputs of Kafka's own tools, and the plan for scripts.

The formats are for LeaderElectionCommand, ReassignPartitionsCommand and ConsumerGroupCommand, 0.11 to 4.3.1.
"""

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kcheck.core.election.early_elections import by_broker
from kcheck.core.election.recovery_plan import Recovery, saved_plan
from kcheck.core.election.steps import RecoveryAction, RecoveryStep
from kcheck.handouts.group_resets import resets_of
from kcheck.handouts.saved_plan import serialize
from kcheck.model.report import Row

PLAN = "election-plan.json"
OLD_PLAN = "plan.json"
"""The earlier name of the same file, written for one more release."""
PAGE = "plan.md"
"""The steps for people, which callers of `files_of` write."""
ELECTION, REASSIGNMENT, RESTORE, ROLLBACK = "election.json", "reassignment.json", "restore.json", "rollback.json"


class Assignment(NamedTuple):
    """The replicas of a partition, the preferred leader first."""

    topic: str
    partition: int
    replicas: tuple[int, ...]


def files_of(recovery: Recovery, steps: Iterable[RecoveryStep]) -> Mapping[str, str]:
    """Return the texts by file name. Empty files are left out, as the tools refuse an empty list.

    Steps without any start find disks, or put them in their place. Their only file is the plan itself.
    """
    is_ordered = any(step.kind is RecoveryAction.START for step in steps)
    plan = serialize(saved_plan(recovery), is_ordered=is_ordered)
    return {**(_of_tools(recovery) if is_ordered else {}), PLAN: plan, OLD_PLAN: plan}


def _of_tools(recovery: Recovery) -> dict[str, str]:
    files = dict[str, str]()
    elections = {ELECTION: recovery.unclean}
    for number, rows in by_broker(recovery.displaced).items():
        elections[f"election-before-{number}.json"] = tuple(row.partition for row in rows)
    for name, parts in elections.items():
        if parts:
            keys = ({"topic": part.topic, "partition": part.partition} for part in parts)
            files[name] = f"{{{_listed(keys)}}}\n"
    for name, assignments in _assignments(recovery).items():
        if assignments:
            files[name] = f'{{"version": 1, {_listed(assignment._asdict() for assignment in assignments)}}}\n'
    files |= {reset.file: reset.text for reset in resets_of(recovery)}
    files["start-order.txt"] = "".join(f"{number}\n" for number in recovery.live)
    return files


def _assignments(recovery: Recovery) -> dict[str, list[Assignment]]:
    """Return the inputs of kafka-reassign-partitions.sh before the elections, to roll that back, and afterwards."""
    files: dict[str, list[Assignment]] = {REASSIGNMENT: [], ROLLBACK: [], RESTORE: []}
    for partition, replicas in recovery.reassigned:
        registration = partition.registration
        assert registration is not None
        wanted = tuple(number for number in registration.replicas if number not in registration.removing)
        full = tuple(number for number in wanted if number not in recovery.dead) or wanted
        key = partition.topic, partition.partition
        files[REASSIGNMENT].append(Assignment(*key, replicas))
        files[ROLLBACK].append(Assignment(*key, registration.replicas))
        files[RESTORE].append(Assignment(*key, full))
    return files


def _listed(rows: Iterable[Row]) -> str:
    """Return the partitions, one a line."""
    lines = ",\n".join(map(json.dumps, rows))
    return f'"partitions": [\n{lines}\n]'
