"""The commands of Kafka's own tools that a plan needs, as its release takes them."""

import re
from collections.abc import Iterable, Iterator, Mapping

from kcheck.core.election.recovery_plan import Recovery
from kcheck.handouts.group_resets import GroupReset
from kcheck.model.cluster import UNCLEAN
from kcheck.words import shell_word

BOOTSTRAP, ZOOKEEPER = '--bootstrap-server "$BOOTSTRAP"', '--zookeeper "$ZOOKEEPER"'
"""The address of the cluster, as shell variables that a plan sets."""
_MASKED = re.compile(r"^x{2,}(?=:)")
"""A host in the metadata of a bundle."""


def address(recovery: Recovery, numbers: Iterable[int], own: Mapping[int, str]) -> str:
    """Return the first listener of these brokers, by their registration, else by their `own` settings.

    A placeholder if none is known, or for the host in a bundle.
    """
    brokers, numbers = {} if recovery.image is None else recovery.image.brokers, tuple(numbers)
    known = (brokers[number] for number in numbers if number in brokers)
    endpoints = [endpoint.rpartition("//")[2] for broker in known for endpoint in broker.endpoints]
    endpoints += [own[number] for number in numbers if number in own]
    return shell_word(_MASKED.sub("HOST", endpoints[0])) if endpoints else "localhost:9092"


def host(recovery: Recovery, number: int) -> str:
    """Return the host of a broker in the metadata; empty if unknown, or masked in a bundle."""
    broker = None if recovery.image is None else recovery.image.brokers.get(number)
    endpoints = () if broker is None else broker.endpoints
    name = endpoints[0].rpartition("//")[2] if endpoints else ""
    return "" if _MASKED.match(name) else name.rpartition(":")[0]


def plan_file(recovery: Recovery, name: str) -> str:
    """Return a file of the plan as a word of a command."""
    return shell_word(f"{recovery.folder.rstrip('/')}/{name}")


def describe(recovery: Recovery, option: str) -> str:
    """Return the command that lists partitions in trouble."""
    server = BOOTSTRAP if recovery.release.describes_by_bootstrap_server else ZOOKEEPER
    return f"bin/kafka-topics.sh {server} --describe {option}"


def elect(recovery: Recovery, name: str) -> str:
    """Return the command that elects the partitions of a file uncleanly (2.4 and later)."""
    option = f"--election-type UNCLEAN --path-to-json-file {plan_file(recovery, name)}"
    return f"bin/kafka-leader-election.sh {BOOTSTRAP} {option}"


def allow_unclean(recovery: Recovery, verb: str) -> list[str]:
    """Return the commands that allow unclean elections of the plan's topics, or forbid them again (2.3 and earlier)."""
    topics = " ".join(dict.fromkeys(shell_word(partition.topic) for partition in recovery.unclean))
    alter = f'bin/kafka-configs.sh {ZOOKEEPER} --alter --entity-type topics --entity-name "$topic"'
    return [f"for topic in {topics}; do", f"  {alter} --{verb}-config {UNCLEAN}{'=true' * (verb == 'add')}", "done"]


def move_controller(recovery: Recovery) -> Iterator[str]:
    """Yield the command that makes another broker the controller, where only a new one reads what a topic allows."""
    if not recovery.release.elects_at_config_change:
        yield 'bin/zookeeper-shell.sh "$ZOOKEEPER" delete /controller'


def reassign(recovery: Recovery, name: str, option: str) -> str:
    """Return the command that gives partitions the replicas of a file.

    While others move, the tool executes nothing without --additional (ReassignPartitionsCommand 2.6 to 4.3.1).
    """
    is_new = recovery.release.reassigns_by_bootstrap_server
    if is_new and option == "--execute" and _is_reassigning(recovery):
        option += " --additional"
    server = BOOTSTRAP if is_new else ZOOKEEPER
    return f"bin/kafka-reassign-partitions.sh {server} --reassignment-json-file {plan_file(recovery, name)} {option}"


def _is_reassigning(recovery: Recovery) -> bool:
    """Return whether the cluster was moving replicas when its metadata was written."""
    rows = () if recovery.image is None else recovery.image.partitions()
    return any(partition.adding or partition.removing for _, _, partition in rows)


def reset(recovery: Recovery, run: GroupReset) -> list[str]:
    """Return the lines of the command that puts consumer groups back."""
    groups = [f"  --group {shell_word(group)} \\" for group in run.groups]
    return [
        f"bin/kafka-consumer-groups.sh {BOOTSTRAP} --reset-offsets \\",
        *groups,
        f"  --from-file {plan_file(recovery, run.file)} --execute",
    ]
