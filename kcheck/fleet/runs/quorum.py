"""The controllers of a cluster by the tables of a run, and the rescue without a majority."""

from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple

from kcheck.core.cluster.quorum import Quorum
from kcheck.core.election.first_rescue import FirstRescue, MetadataHere, RescueVerb, first_rescue
from kcheck.core.premises.age import OLDER_METADATA
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.metadata import MAJORITY_STARTS
from kcheck.core.premises.table import BY_ID, with_premises
from kcheck.core.start.startup import Mode
from kcheck.handouts.quorum_steps import rescue_command
from kcheck.model.premises import JudgedPremise, PremiseStatus
from kcheck.model.release import Release
from kcheck.words import capital, shell_line


class RunNodes(NamedTuple):
    """The KRaft nodes of a cluster in a run, brokers and controllers."""

    holders: frozenset[int] = frozenset()
    """The nodes with a metadata log."""
    without: frozenset[int] = frozenset()
    """The nodes whose log dirs have none."""
    stopped: frozenset[int] = frozenset()
    """The nodes that do not start."""
    log_dirs: tuple[tuple[int, str], ...] = ()
    """The log dirs of every node, and of brokers without KRaft, by number."""


def no_majority(
    controllers: Quorum | None, nodes: RunNodes, brokers: Collection[int], release: Release
) -> tuple[JudgedPremise, ...]:
    """Return the premise of each broker that no majority of the controllers starts; empty if one does."""
    if controllers is None:
        return ()
    premise = BY_ID[MAJORITY_STARTS]
    copies = tuple(row.copy for row in controllers.copies)
    facts = (
        BrokerFacts(number, release, Mode.KRAFT, (), copies=copies, stopped=nodes.stopped)
        for number in brokers
        if number not in nodes.stopped
    )
    return tuple(row for own in facts for row in premise.judge(premise, own))


def rescue_of(
    controllers: Quorum | None, nodes: RunNodes, premises: Iterable[JudgedPremise], dead: Collection[int],
    *, starts: bool,
) -> FirstRescue | None:  # fmt: skip
    """Return the rescue that comes before any start, with its command; None without need.

    `starts`: whether any broker starts.
    """
    judged = tuple(premises)
    whole = set() if controllers is None else {row.copy.node_id for row in controllers.copies}
    here = MetadataHere(
        voters=frozenset() if controllers is None else controllers.voters,
        holders=nodes.holders,
        without=nodes.without,
        dead=frozenset(dead),
        damaged=frozenset(nodes.holders - whole),
        starts=starts,
        all_lost=bool(nodes.without) and {number for number, _ in nodes.log_dirs} == nodes.without,
    )
    rescue = first_rescue(with_premises(here, judged))
    if controllers is not None:
        rescue = _of_stale(judged, rescue)
    if rescue is None:
        return None
    if rescue.first is not None:
        return rescue._replace(command=shell_line(("kcheck", "preflight", _settings_of(rescue.first, nodes, judged))))
    words = [f"{number}={path}" for number, path in nodes.log_dirs]
    return rescue._replace(command=rescue_command(rescue.verb, words, dead))


def _of_stale(premises: Iterable[JudgedPremise], rescue: FirstRescue | None) -> FirstRescue | None:
    """Return the rescue if the newest copy is older than the disks, and no controller may lead.

    Without lost controllers the disks of two brokers have to show that.
    """
    later = {
        row.broker_id: row.sentence
        for row in premises
        if row.status is PremiseStatus.REFUTED and row.id == OLDER_METADATA
    }
    if not later or (len(later) < 2 if rescue is None else rescue.verb is not RescueVerb.QUORUM):
        return rescue
    words, _, _ = next(iter(later.values())).partition(". ")
    start = "Do not start any node" if rescue is None else rescue.why
    return FirstRescue(RescueVerb.METADATA, f"{capital(words)}. {start}. Without a newer copy")


def _settings_of(number: int, nodes: RunNodes, premises: Iterable[JudgedPremise]) -> str:
    """Return the settings that a premise of a node names, or else its first log dir."""
    named = (row.path for premise in premises if premise.broker_id == number for row in premise.evidence)
    log_dirs = (path for node, path in nodes.log_dirs if node == number)
    return next(chain((path for path in named if path.endswith(".properties")), log_dirs), f"broker-{number}")
