"""The decision for each cluster of a run, from the actions about the cluster and the unknown facts."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from kcheck.core.premises.table import ENDS_START
from kcheck.fleet.lost import LostPlace
from kcheck.fleet.runs.actions import every_action, first_words, named
from kcheck.fleet.runs.commands import RunCommands
from kcheck.model.report import Row
from kcheck.words import counted

_ALSO = 3
"""Number of further actions about a cluster that are named."""


class When(StrEnum):
    """The time by which a person has to act. Answers use the value."""

    NOW = "now"
    """A disk is missing, or a broker will not start again."""
    RESTART = "before a restart"
    """A broker that restarts loses records, or partitions."""
    SOON = "soon"
    """Something is wrong, and a restart loses nothing."""
    UNKNOWN = "not known"
    """The run does not show what a restart loses."""
    NOTHING = "nothing"


_ORDER = tuple(When)
_WHEN = {"not-found": When.NOW, "will-not-boot": When.NOW, "damaged": When.SOON}
"""The time of each kind of action; of all others, before a restart."""


def decisions_by_cluster(
    commands: RunCommands, clusters: Sequence[Row], brokers: Sequence[Row], starts: Sequence[Row],
    partitions: Sequence[Row], premises: Sequence[Row], lost: Sequence[LostPlace],
    worst: Sequence[Row],
) -> tuple[Row, ...]:  # fmt: skip
    """Return one decision for each cluster, the most urgent first, given the rows of `actions_of`."""
    missing: list[Any] = [place._asdict() for place in lost]
    tables: tuple[Sequence[Any], ...] = (clusters, brokers, starts, partitions, premises, missing, worst)
    names = dict.fromkeys(row["cluster"] for rows in (clusters, missing) for row in rows)
    own = {name: [[row for row in rows if row["cluster"] == name] for rows in tables] for name in names}
    decisions = [_decision(commands, name, own[name]) for name in names]
    return tuple(sorted(decisions, key=lambda row: _ORDER.index(When(str(row["when"])))))


def _decision(commands: RunCommands, name: object, tables: Sequence[Sequence[Any]]) -> Row:
    """Return the decision about one cluster, by its rows of each table."""
    cluster, nodes, premises = next(iter(tables[0]), None), tables[1], tables[4]
    actions = [action for action in every_action(commands, *tables) if action.rows]
    disks = None if cluster is None or cluster["safe"] is not None else cluster["recover"]
    ended = next((row for row in premises if row["id"] in ENDS_START), None)
    if ended is not None and actions and actions[0].kind != "not-found":
        when, what, command = When.NOW, first_words(ended), actions[0].command(actions[0].rows[0])
        actions = actions[:1]
    elif actions:
        first = actions[0]
        what = first.what(first.rows[0]).removeprefix(f"Cluster {name}: ")
        when, command = _WHEN.get(first.kind, When.RESTART), first.command(first.rows[0])
        if disks is not None and first.kind not in ("not-found", "went-back"):
            what, command = f"{what} The disks show what a restart loses, and the plan.", disks
    elif disks is not None:
        when, command = When.UNKNOWN, disks
        what = "Nothing while its brokers run. The run does not show what a restart loses, but the disks do."
    elif nodes and (cluster is None or cluster["safe"] is None):
        when, command = When.UNKNOWN, nodes[0]["command"]
        what = "Nothing while its brokers run. The run has no metadata of this cluster, so elections are not known."
    elif nodes and nodes[0]["warning"]:
        when, command = When.SOON, nodes[0]["command"]
        what = f"A restart loses nothing. Read {counted(nodes[0]['warning'], 'warning')} about {named(nodes[0])}."
    else:
        when, what, command = When.NOTHING, "Nothing.", None
    also = [action.what(action.rows[0]) for action in actions[1 : 1 + _ALSO] if actions[0].kind != "recover"]
    return {"cluster": name, "when": str(when), "what": what, "command": command, "also": tuple(also)}
