"""A consumer group has committed an offset that its partition does not have.

What is wrong: After its last commit in `__consumer_offsets`, the group reads below the log start or above the log end.
Below it, retention or `kafka-delete-records.sh` removed records that the group had not read yet. Above it, the
partition lost the end of its log, or it was deleted and created again.

What the broker does: It answers the first fetch of the group with OFFSET_OUT_OF_RANGE. The consumer then starts as
`auto.offset.reset` says. At the log end it skips every record in the log. At the log start it reads all of them again.
With `none` it stops.

kcheck compares with the replicas in the given directories. Replicas on other brokers may reach further. Then a finding
about an offset above the log end is an info. It reads at most 256 MiB of `__consumer_offsets`, with --depth records all
of it.

What to do: While no consumer of the group runs, set the offset (`kafka-consumer-groups.sh --reset-offsets`).

See: operations/unclean-election.md
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kcheck.model.coordinators import Coordinated, CoordinatedLog
from kcheck.model.entries import Offset
from kcheck.model.finding import Finding, Severity
from kcheck.model.release import Release
from kcheck.rules._contract import Rule, Scope
from kcheck.rules._words import DATA_MAX, escaped, kafka
from kcheck.words import agree, counted, partition_name, shell_word, some_of

_PLAIN = re.compile(r"[\w.-]+", re.ASCII)
"""The name of a group that a command can hold as it is."""


class _Outside(NamedTuple):
    """The groups on one side of a log."""

    log: CoordinatedLog
    """The replica with this end of the log."""
    edge: Offset
    """The beginning, or the end, of the log."""
    groups: tuple[tuple[str, Offset], ...]
    """The groups and their offsets."""
    begins: bool
    """True if these are below the log start."""
    is_certain: bool
    """True if no other replica can have the offsets."""


def check(view: Coordinated, release: Release) -> Iterable[Finding]:
    """Compare each committed offset with the replicas of its partition."""
    for key, groups in view.commits.items():
        for outside in _outside(groups, view.logs.get(key, ()), view.brokers):
            yield _finding(outside, release)


def _outside(
    groups: tuple[tuple[str, Offset], ...], logs: tuple[CoordinatedLog, ...], brokers: frozenset[int]
) -> Iterator[_Outside]:
    """Yield the groups below the lowest log start and above the highest log end; nothing if one is not known."""
    begins = min(((log.start, log) for log in logs if log.start is not None), default=None, key=lambda item: item[0])
    ends = max(((log.end, log) for log in logs if log.end is not None), default=None, key=lambda item: item[0])
    if begins is None or ends is None or any(None in (log.start, log.end) for log in logs):
        return
    below = tuple(group for group in groups if group[1] < begins[0])
    above = tuple(group for group in groups if group[1] > ends[0])
    if below:
        yield _Outside(begins[1], begins[0], below, begins=True, is_certain=True)
    if above:
        replicas = next((log.replicas for log in logs if log.replicas is not None), None)
        whole = replicas is not None and brokers.issuperset(replicas)
        yield _Outside(ends[1], ends[0], above, begins=False, is_certain=whole)


def _finding(outside: _Outside, release: Release) -> Finding:
    log, edge, groups = outside.log, outside.edge, outside.groups
    name = partition_name(log.topic, log.partition)
    names = [f"{escaped(group)}{agree(len(groups), ' is', '')} at {offset}" for group, offset in groups[:DATA_MAX]]
    shown, noun = some_of(names, count=len(groups)), agree(len(groups), "group", "groups")
    one = groups[0][0] if len(groups) == 1 and _PLAIN.fullmatch(groups[0][0]) else "GROUP"
    side = f"its log begins at {edge}" if outside.begins else f"its log ends at {edge}"
    skipped = edge - min(offset for _, offset in groups)
    effect = (
        f"{counted(skipped, 'offset')} that the farthest group had not read {agree(skipped, 'is', 'are')} gone. "
        if outside.begins
        else ""
    )
    doubt = "" if outside.is_certain else "; another replica may reach further"
    return RULE.finding(
        log.where,
        f"{noun} {shown} of {name}, {side}{doubt}",
        effect=f"{effect}{kafka(release)} refuses the fetch; the consumers start again where auto.offset.reset says.",
        advice="While no consumer of the group runs: kafka-consumer-groups.sh --bootstrap-server HOST:9092 --group"
        f" {one} --topic {shell_word(f'{log.topic}:{log.partition}')} --reset-offsets --to-offset {edge} --execute",
        severity=Severity.WARNING if outside.is_certain else Severity.INFO,
        data={
            "count": len(groups), "log_start_offset" if outside.begins else "log_end_offset": edge,
            "groups": [{"group": group, "offset": offset} for group, offset in groups[:DATA_MAX]],
        },
    )  # fmt: skip


RULE = Rule(severity=Severity.WARNING, scope=Scope.COORDINATORS, check=check)
