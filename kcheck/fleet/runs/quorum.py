"""The controllers of a cluster by the tables of a run, and the rescue without a majority."""

from collections.abc import Collection, Iterable
from itertools import chain
from typing import NamedTuple

from kcheck.core.cluster.quorum import Quorum, rival_copy
from kcheck.core.election.first_rescue import FirstRescue, MetadataHere, RescueVerb, first_rescue
from kcheck.core.premises.age import OLDER_METADATA
from kcheck.core.premises.facts import BrokerFacts
from kcheck.core.premises.metadata import MAJORITY_STARTS
from kcheck.core.premises.rivals import ONE_QUORUM
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
    """Return the premises of each broker that no majority of the controllers starts, or that two leaders are elected.

    Empty if neither is so.
    """
    if controllers is None:
        return ()
    premises = BY_ID[MAJORITY_STARTS], BY_ID[ONE_QUORUM]
    copies = tuple(row.copy for row in controllers.copies)
    facts = (
        BrokerFacts(number, release, Mode.KRAFT, (), copies=copies, stopped=nodes.stopped)
        for number in brokers
        if number not in nodes.stopped
    )
    rows = (row for own in facts for premise in premises for row in premise.judge(premise, own))
    return tuple(row for row in rows if row.status is PremiseStatus.REFUTED)


def rescue_of(
    controllers: Quorum | None, nodes: RunNodes, premises: Iterable[JudgedPremise], dead: Collection[int],
    *, starts: bool,
) -> FirstRescue | None:  # fmt: skip
    """Return the rescue that comes before any start, with its command; None without need.

    `starts`: whether any broker starts.
    """
    judged = tuple(premises)
    copies = () if controllers is None else tuple(row.copy for row in controllers.copies)
    whole = {copy.node_id for copy in copies}
    here = MetadataHere(
        voters=frozenset() if controllers is None else controllers.voters,
        holders=nodes.holders,
        without=nodes.without,
        dead=frozenset(dead),
        damaged=frozenset(nodes.holders - whole),
        starts=starts,
        rival=None if (rival := rival_copy(copies)) is None else rival.node_id,
        all_lost=bool(nodes.without) and {number for number, _ in nodes.log_dirs} == nodes.without,
    )
    rescue = first_rescue(with_premises(here, judged))
    if controllers is not None:
        rescue = _of_stale(judged, rescue)
    if rescue is None:
        return None
    if rescue.first is not None:
        words = ["kcheck", "preflight", _settings_of(rescue.first, nodes, judged)]
        if rescue.verb is RescueVerb.FORMAT and controllers is not None:
            words += ["--metadata", controllers.newest.path.rpartition("/")[0]]
        return rescue._replace(command=shell_line(words))
    named = [f"{number}={path}" for number, path in nodes.log_dirs]
    return rescue._replace(command=rescue_command(rescue.verb, named, dead))


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
