"""The unseen facts of a scan. Without them brokers may lack a log dir or partitions."""

import json
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.core.premises.premise import PremiseKind
from kcheck.core.premises.table import BY_ID
from kcheck.fleet.run import FleetRun
from kcheck.model.premises import PremiseStatus, request
from kcheck.words import counted, some_of

SHOWN_COUNT = 10
"""Facts that are listed one by one."""


class _Unseen(NamedTuple):
    """A fact that was not seen of some brokers."""

    sentence: str
    """Its sentence about the first of these."""
    provide: str
    nodes: int


def not_known(run: FleetRun) -> tuple[str, ...]:
    """Return unseen facts about expected disks and files, with their source; each once for all brokers."""
    groups: dict[tuple[str, str], _Unseen] = {}
    for rule, status, sentence, provide in run.values("premises", ("id", "status", "sentence", "provide")):
        premise = BY_ID.get(rule)
        is_shown = status == PremiseStatus.NOT_SEEN and provide is not None
        if is_shown and premise is not None and premise.kind is PremiseKind.PRESENCE:
            first = groups.get((rule, provide), _Unseen(sentence, provide, 0))
            groups[rule, provide] = first._replace(nodes=first.nodes + 1)
    rows = [(rule, row) for (rule, _), row in groups.items()][:SHOWN_COUNT]
    facts = (
        f"not known ({rule}): {row.sentence}; {request(row.provide)}"
        + (f". The same for {counted(row.nodes - 1, 'more node')}" if row.nodes > 1 else "")
        for rule, row in rows
    )
    return (*facts, *_without_controllers(run))


def _without_controllers(run: FleetRun) -> Iterator[str]:
    """Yield the clusters of which the scan has brokers alone. Their copies end where the brokers stopped."""
    clusters = [
        str(cluster)
        for cluster, voters, ends in run.values("clusters", ("cluster", "voters", "copy_ends"))
        if voters and {*json.loads(voters)}.isdisjoint(node_id for node_id, *_ in json.loads(ends or "[]"))
    ]
    if clusters:
        yield (f"not known: the newest metadata of {some_of(clusters)}; name the log dirs of controllers in ROOT")
