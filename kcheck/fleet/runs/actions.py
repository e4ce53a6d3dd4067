"""The actions for a fleet, at most seven, one of a kind, each about the worst of its kind."""

from collections.abc import Callable, Container, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

from kcheck.core.premises.table import BY_ID, ENDS_START
from kcheck.core.start.startup import Outcome
from kcheck.documents.premises import is_losing
from kcheck.fleet.lost import RULE as LOST
from kcheck.fleet.lost import LostPlace
from kcheck.fleet.risk import AT_STAKE, is_at_stake
from kcheck.fleet.runs.commands import RunCommands
from kcheck.fleet.went_back import RULE as WENT_BACK
from kcheck.model.finding import Severity
from kcheck.model.report import Row
from kcheck.words import agree, counted, listed, partition_name

_MOST = 7
"""Number of actions that a person can begin with."""
_NAMED = 3
"""Clusters or brokers with the same action that are named."""


class Action(NamedTuple):
    """The action about the first of `rows`; `command` looks closer."""

    kind: str
    rows: Sequence[Any]
    what: Callable[[Any], str]
    thing: str
    command: Callable[[Any], str]


def actions_of(
    commands: RunCommands, clusters: Sequence[Row], brokers: Sequence[Row], starts: Sequence[Row],
    partitions: Sequence[Row], premises: Sequence[Row], lost: Sequence[LostPlace],
    worst: Sequence[Row],
) -> tuple[Row, ...]:  # fmt: skip
    """Return the first actions, given the rows of a report, each worst first. What was not found comes before all.

    A cluster with a plan gets its steps. Actions for its single partitions would be another plan.
    """
    every = every_action(
        commands, clusters, brokers, starts, partitions, premises, [place._asdict() for place in lost], worst
    )
    return tuple(_row(action) for action in [action for action in every if action.rows][:_MOST])


def every_action(
    commands: RunCommands, clusters: Sequence[Any], brokers: Sequence[Any], starts: Sequence[Any],
    partitions: Sequence[Any], premises: Sequence[Any], lost: Sequence[Any],
    worst: Sequence[Any],
) -> Iterator[Action]:  # fmt: skip
    """Yield the actions in their order; some have no rows."""
    planned: list[Any] = sorted(filter(_is_at_stake, clusters), key=_stake)
    names = {row["cluster"] for row in planned}
    others = [row for row in partitions if row["cluster"] not in names]
    decided = {row["cluster"] for row in clusters if row["safe"] is not None}
    apart = [row for row in premises if row["cluster"] not in names and _costs(row, decided)]
    nodes = [row for row in brokers if not _is_told(row, names)]
    first = (_not_found(lost, commands), _of_plans(planned, premises), _went_back(worst, commands))
    return chain(first, _actions(commands, nodes, starts, others, apart))


def _costs(premise: Any, decided: Container[object]) -> bool:
    """Return whether a broker starts and loses, as a premise is refuted. A decision contains the cost of some."""
    return is_losing(premise["id"]) or (premise["id"] not in ENDS_START and premise["cluster"] not in decided)


def _is_told(broker: Any, planned: Container[object]) -> bool:
    """Return whether other actions are about all findings of a row of `brokers`."""
    is_of_plan = broker["broker"] is None and broker["cluster"] in planned
    return is_of_plan or {*broker["rule_ids"]} <= {LOST, WENT_BACK, AT_STAKE}


def _is_at_stake(row: Any) -> bool:
    """Return whether starting a decided cluster loses committed records, or leaves a partition without a leader."""
    return bool(row["decision"] and is_at_stake(row))


def _stake(row: Any) -> tuple[int, ...]:
    """Return the sort key, with the cluster with the largest loss first."""
    return tuple(-(row[name] or 0) for name in ("start_all_committed", "start_all_offline", "start_all_lost"))


def _of_plans(planned: Sequence[Any], premises: Sequence[Any]) -> Action:
    """Return the action for clusters with a plan.

    A refuted premise comes before the steps. These would use what is left without the disk that the premise asks for.
    """
    refuted: dict[object, Any] = {}
    for row in premises:
        if row["id"] in ENDS_START or is_losing(row["id"]):
            refuted.setdefault(row["cluster"], row)

    def what(row: Any) -> str:
        first = refuted.get(row["cluster"])
        if first is None:
            steps = "; ".join(step["title"] for step in row["first_steps"])
            return f"Cluster {row['cluster']}: {row['decision']}{f' First steps: {steps}.' if steps else ''}"
        decision = "" if first["id"] in ENDS_START else f" {row['decision']}"
        return f"Cluster {row['cluster']}: {first_words(first)}{decision}"

    return Action("recover", planned, what, "cluster", lambda row: row["recover"])


def first_words(premise: Any) -> str:
    """Return the first step of a cluster, by a refuted premise of one of its brokers."""
    words = f"First look at {named(premise)}: {premise['sentence']}. {BY_ID[premise['id']].remedy}"
    if premise["id"] in ENDS_START:
        words += " Until then, do not start or stop this broker, and elect no leader by hand."
    return words


def _not_found(lost: Sequence[Any], commands: RunCommands) -> Action:
    def what(row: Any) -> str:
        if row["broker"] is None:
            return f"Cluster {row['cluster']} was not found. Mount its disks, or name its folder in ROOT."
        return f"Log dirs of {named(row)} were not found. Mount its disks before this broker starts."

    return Action("not-found", lost, what, "broker", commands.lost)


def _went_back(worst: Sequence[Any], commands: RunCommands) -> Action:
    older = [row for row in worst if row["id"] == WENT_BACK and row["severity"] == Severity.ERROR]
    return Action(
        "went-back", older,
        lambda row: f"Do not restart {named(row)} yet: {row['dir']}: {row['message']}. Find the newest disk.",
        "replica", lambda row: commands.lost(row, WENT_BACK),
    )  # fmt: skip


def _row(action: Action) -> Row:
    first, more = action.rows[0], len(action.rows) - 1
    alike = f" Also look at {_others(action)}." if more else ""
    return {
        "kind": action.kind,
        "cluster": first["cluster"],
        "broker": first.get("broker"),
        "what": action.what(first) + alike,
        "command": action.command(first),
        "more": more,
    }


def _others(action: Action) -> str:
    """Return the other clusters or brokers of an action by name if they are few, or else their number."""
    others = action.rows[1:]
    names = {"cluster": lambda row: str(row["cluster"]), "broker": named}.get(action.thing)
    if names is None or len(others) > _NAMED:
        return counted(len(others), f"more {action.thing}")
    return listed([names(row) for row in others])


def _actions(
    commands: RunCommands, brokers: Sequence[Any], starts: Sequence[Any], partitions: Sequence[Any],
    premises: Sequence[Any],
) -> Iterator[Action]:  # fmt: skip
    predict = commands.predict
    by_outcome = {
        outcome: [row for row in starts if row["next_start"] == outcome]
        for outcome in (Outcome.ABORT, Outcome.LOST, Outcome.OFFLINE)
    }
    yield Action(
        "will-not-boot", by_outcome[Outcome.ABORT],
        lambda row: f"Do not stop {named(row)}: it will not boot again{_why(row)}.", "broker", predict,
    )  # fmt: skip
    losing = [row for row in starts if row["losing_partitions"] and row["next_start"] != Outcome.ABORT]
    yield Action(
        "loses-records", losing,
        lambda row: f"Do not restart {named(row)}: it will lose {_records(row['lost_records'])}.", "broker", predict,
    )  # fmt: skip
    yield Action(
        "premise-refuted", premises,
        lambda row: f"Do not restart {named(row)} yet: {row['sentence']}. {BY_ID[row['id']].remedy}",
        "premise", predict,
    )  # fmt: skip
    yield Action(
        "goes-offline", by_outcome[Outcome.OFFLINE],
        lambda row: f"Before {named(row)} restarts, repair its log dirs. Some will go offline{_why(row)}.",
        "broker", predict,
    )  # fmt: skip
    unserved = [row for row in starts if row["unserved_partitions"] and row["next_start"] != Outcome.ABORT]
    yield Action(
        "stops-serving", unserved,
        lambda row: f"Before {named(row)} restarts, fix {_unserved(row)} and stop serving {_them(row)}.",
        "broker", predict,
    )  # fmt: skip
    yield Action(
        "no-clean-leader", [row for row in partitions if row["lost_below_high_watermark"]],
        lambda row: (
            f"Elect no leader of {_partition(row)} by hand yet. Even under the best one, {_broker(row['best_leader'])},"
            f" others lose {_records(row['lost_below_high_watermark'], 'committed ')}."
        ),
        "partition", commands.elect,
    )  # fmt: skip
    yield Action(
        "on-one-disk", [row for row in partitions if row["at_risk_below_high_watermark"]],
        lambda row: (
            f"Keep {_broker(row['best_leader'])} running: the only copy of"
            f" {_records(row['at_risk_below_high_watermark'], 'committed ')} of {_partition(row)} is on its disk."
        ),
        "partition", commands.elect,
    )  # fmt: skip
    yield Action(
        "damaged", [row for row in brokers if row["fatal"] or row["error"]],
        lambda row: f"Look at {named(row)}: {_counts(row)}.", "broker", commands.check,
    )  # fmt: skip


def _why(row: Row) -> str:
    return f": {row['why']}" if row["why"] else ""


def _counts(row: Row) -> str:
    known: Any = ((row["fatal"], "fatal finding"), (row["error"], "error"))
    return ", ".join(f"{count:,} {agree(count, word, f'{word}s')}" for count, word in known if count)


def _records(count: int | None, kind: str = "") -> str:
    return f"{kind}records" if count is None else f"{count:,} {kind}{agree(count, 'record', 'records')}"


def _unserved(row: Any) -> str:
    """Return the partitions that a broker stops to serve, in words."""
    count, name = row["unserved_partitions"], row["first_unserved"] or "a partition"
    more = f" and {counted(count - 1, 'more partition')}" if count > 1 else ""
    will = "delete" if row["unserved_by"] == Outcome.DELETED else "rename"
    return f"{name}{more}. The broker will {will} {_them(row)}{'' if will == 'delete' else ' to -stray'}"


def _them(row: Any) -> str:
    return agree(row["unserved_partitions"], "it", "them")


def _broker(name: object) -> str:
    text = "?" if name is None else str(name)
    return text if text.startswith("broker") else f"broker {text}"


def named(row: Row) -> str:
    """Return the name of a broker and its cluster, or of a cluster."""
    if row["broker"] is None and row["cluster"] is not None:
        return f"cluster {row['cluster']}"
    of_cluster = "" if row["cluster"] is None else f" of {row['cluster']}"
    return f"{_broker(row['broker'])}{of_cluster}"


def _partition(row: Row) -> str:
    of_cluster = "" if row["cluster"] is None else f" of {row['cluster']}"
    return f"{partition_name(row['topic'], row['partition'])}{of_cluster}"
