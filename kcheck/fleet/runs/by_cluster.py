"""The decision for each cluster of a run, from the actions about the cluster and the unknown facts."""

from collections.abc import Sequence
from typing import Any

from kcheck.core.premises.table import ENDS_START
from kcheck.fleet.run import FleetRun
from kcheck.fleet.runs.actions import every_action, first_words, named
from kcheck.fleet.runs.commands import RunCommands
from kcheck.fleet.runs.told import RunRows, Told
from kcheck.model.depth import Depth
from kcheck.model.report import Row
from kcheck.model.when import When
from kcheck.words import counted

_ALSO = 3
"""Number of further actions about a cluster that are named."""

_ORDER = tuple(When)
_WHEN = {
    "not-found": When.NOW, "will-not-boot": When.NOW, "damaged": When.SOON, "on-one-disk": When.SOON,
}  # fmt: skip
"""The time of each kind of action; of all others, before a restart."""


def needing_a_person(run: FleetRun) -> tuple[Row, ...]:
    """Return the decisions about the clusters of a run that need a person."""
    known = RunRows(run)
    return tuple(filter(needs_a_person, decisions_by_cluster(known.commands, known.told, run.depth)))


def needs_a_person(decision: Row) -> bool:
    """Return whether a person has to act now, or before a broker restarts. Then a command is never green."""
    return decision["when"] in (When.NOW, When.RESTART)


def decisions_by_cluster(commands: RunCommands, told: Told, depth: str) -> tuple[Row, ...]:
    """Return one decision for each cluster, the most urgent first, given what a scan to this depth has read."""
    missing: list[Any] = [place._asdict() for place in told.lost]
    tables: tuple[Sequence[Any], ...] = told._replace(lost=missing)  # type: ignore[arg-type]  # as rows
    own: dict[object, list[list[Any]]] = {}
    for at, rows in enumerate(tables):
        for row in rows:
            own.setdefault(row["cluster"], [[] for _ in tables])[at].append(row)
    names = dict.fromkeys(row["cluster"] for rows in (told.clusters, missing) for row in rows)
    decisions = [_decision(commands, name, own[name], Depth(depth)) for name in names]
    return tuple(sorted(decisions, key=lambda row: _ORDER.index(When(str(row["when"])))))


def _decision(commands: RunCommands, name: object, tables: Sequence[Sequence[Any]], depth: Depth) -> Row:
    """Return the decision about one cluster, by its rows of each table."""
    cluster, nodes, premises = next(iter(tables[0]), None), tables[1], tables[4]
    bound = f" {depth.bound}" if depth.bound else ""
    actions = [action for action in every_action(commands, *tables) if action.rows]
    is_safe = None if cluster is None else cluster["safe"]
    disks = None if cluster is None or is_safe else cluster["recover"]
    ended = next((row for row in premises if row["id"] in ENDS_START), None)
    if ended is not None and actions and actions[0].kind != "not-found":
        when, what, command = When.NOW, first_words(ended), actions[0].command(actions[0].rows[0])
        actions = actions[:1]
    elif actions:
        first = actions[0]
        what = first.what(first.rows[0]).removeprefix(f"Cluster {name}: ")
        when, command = _WHEN.get(first.kind, When.RESTART), first.command(first.rows[0])
        is_open = (when is When.SOON or is_safe is None) and first.kind not in ("not-found", "went-back")
        if disks is not None and is_open:
            what, command = f"{what} The disks show what a restart loses, and the plan.", disks
            when = When.UNKNOWN if when is When.SOON else when
    elif disks is not None:
        when, command = When.UNKNOWN, disks
        what = "Nothing while its brokers run. The run does not show what a restart loses, but the disks do."
    elif nodes and (cluster is None or cluster["safe"] is None):
        when, command = When.UNKNOWN, nodes[0]["command"]
        what = "Nothing while its brokers run. The run has no metadata of this cluster, so elections are not known."
    elif nodes and nodes[0]["warning"]:
        when, command = When.SOON, nodes[0]["command"]
        what = (
            f"A restart loses nothing{bound}. Read {counted(nodes[0]['warning'], 'warning')} about {named(nodes[0])}."
        )
    else:
        when, what, command = When.NOTHING, f"Nothing{bound}.", None
    also = [action.what(action.rows[0]) for action in actions[1 : 1 + _ALSO] if actions[0].kind != "recover"]
    return {"cluster": name, "when": str(when), "what": what, "command": command, "also": tuple(also)}
