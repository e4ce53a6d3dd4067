"""The offsets of consumer groups beyond the new log ends, in the form of kafka-consumer-groups.sh.

In 2.2 and earlier a file has the topics, partitions and offsets of one group. In 2.3 and later its first column can be
the group. The tool splits the file at line feeds before it looks at quotes (ConsumerGroupCommand.parseResetPlan).
"""

from collections import defaultdict
from typing import NamedTuple

from kcheck.core.election.recovery_plan import Recovery

RESET_OFFSETS = "reset-offsets.csv"


class GroupReset(NamedTuple):
    """One run of kafka-consumer-groups.sh."""

    groups: tuple[str, ...]
    """The groups that it resets."""
    file: str
    """The file that it reads."""
    text: str
    """The content of the file."""


def resets_of(recovery: Recovery) -> tuple[GroupReset, ...]:
    """Return the runs that reset each group to the log ends of the recommended leaders.

    The result is empty if no offset is beyond a log end, or without a tool in the release. The file of the first run is
    reset-offsets.csv; others have a number.
    """
    rows = _rows(recovery)
    if not recovery.release.resets_offsets:
        return ()
    together = [group for group in rows if recovery.release.resets_several_groups and _fits_column(group)]
    runs = []
    if together:
        texts = [f"{_quoted(group)},{row}\n" for group in together for row in rows[group]]
        runs.append((tuple(together), "".join(texts)))
    runs += [((group,), "".join(f"{row}\n" for row in rows[group])) for group in rows if group not in together]
    return tuple(GroupReset(groups, _name(number), text) for number, (groups, text) in enumerate(runs, start=1))


def _rows(recovery: Recovery) -> dict[str, list[str]]:
    """Return the rows topic, partition, offset of each group."""
    rows = defaultdict[str, list[str]](list)
    for partition in recovery.partitions:
        leader = partition.recommended
        if leader is None or leader.log_end_offset is None:
            continue
        for group, committed in partition.groups or ():
            if committed > leader.log_end_offset:
                rows[group].append(f"{partition.topic},{partition.partition},{leader.log_end_offset}")
    return dict(sorted(rows.items()))


def _name(number: int) -> str:
    return RESET_OFFSETS if number == 1 else f"reset-offsets-{number}.csv"


def _fits_column(group: str) -> bool:
    """Return whether a name can be a field of the file, in UTF-8, without a line feed."""
    return "\n" not in group and group.encode(errors="ignore").decode() == group


def _quoted(group: str) -> str:
    """Return a field of CSV as Jackson reads it."""
    escaped = group.replace('"', '""')
    return f'"{escaped}"'
