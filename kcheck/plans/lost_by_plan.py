"""The partitions that lose records by the plan of `kcheck recover`, with offsets, steps, and log ends."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kcheck.core.election.plans import Candidate, CopyState, PartitionElection
from kcheck.core.election.scenarios import harm
from kcheck.core.election.steps import Cut, RecoveryAction, RecoveryStep
from kcheck.core.replication.leader_costs import Amounts
from kcheck.core.start.startup import Outcome
from kcheck.documents.election_words import amount_lost
from kcheck.documents.removed_records import lost_offsets
from kcheck.handouts.markdown_words import markdown_text
from kcheck.model.names import CONSUMER_OFFSETS, TRANSACTION_STATE, DirectoryState
from kcheck.model.report import PartitionFilter
from kcheck.replicas.elect import ClusterElection
from kcheck.words import agree, bare_range, capital, listed

_MEANINGS = {
    CONSUMER_OFFSETS: " Groups whose offsets are lost start again where auto.offset.reset says.",
    TRANSACTION_STATE: " Open transactions whose state is lost never end, and read_committed consumers stop at them.",
}
LOST_TITLE = "Lost by this plan"
"""The title of the list."""


class LostByPlan(NamedTuple):
    """One partition that loses records by the plan."""

    sentence: str
    """Its offsets, the steps that take them, and the count."""
    replicas: tuple[str, ...]
    """The end of each replica after its broker has started, with the reason."""


def lost_by_plan(
    election: ClusterElection, steps: Sequence[RecoveryStep], wanted: PartitionFilter | None = None
) -> tuple[LostByPlan, ...]:
    """Return the wanted partitions that lose records by the steps, the worst first."""
    if any(step.kind is RecoveryAction.PUT_BACK for step in steps):
        return ()  # Another plan follows it.
    rows = sorted(election.partitions, key=harm)
    chosen = [row for row in rows if wanted is None or wanted.has(row.topic, row.partition)]
    return tuple(_lost(election, chosen, steps))


def _lost(
    election: ClusterElection, rows: Sequence[PartitionElection], steps: Sequence[RecoveryStep]
) -> Iterator[LostByPlan]:
    cuts = [cut for step in steps for cut in step.cuts]
    offsets = lost_offsets(election.removed, cuts)
    reasons = {
        (start.broker_id, row.directory.topic, row.directory.partition): (row.reason or "").split("; ")[0]
        for start in election.predicted.values()
        for row in start.partitions
        if row.outcome is Outcome.LOST and row.directory.state is DirectoryState.CURRENT
    }
    for part in rows:
        if not steps or part.planned is None or part.lost_planned is None or part.lost_planned.records == 0:
            continue
        place = (part.topic, part.partition)
        where = f" offsets {offsets[place]}" if place in offsets else " records"
        numbers = [number for number, step in enumerate(steps, 1) if _takes(election, step, place)]
        whens = f" in {agree(len(numbers), 'step', 'steps')} {listed(numbers, most=len(numbers))}" if numbers else ""
        yield LostByPlan(
            f"{part.name} loses{where}{whens}. {_amount(part.lost_planned)}.{_alone(part)}{_meaning(part)}",
            tuple(
                capital(_end(election, part, copy, cuts, reasons.get((copy.broker_id, *place), "")))
                for copy in sorted(part.candidates, key=lambda copy: (copy.broker_id != part.planned, copy.broker_id))
                if copy.can_lead or copy.problem
            ),
        )


def _amount(lost: Amounts) -> str:
    return "Their number is not known" if lost.upper_records is None else capital(amount_lost(lost, ""))


def _alone(part: PartitionElection) -> str:
    is_alone = part.registration is not None and len(part.registration.replicas) == 1
    return " The partition has no other replica." if is_alone else ""


def _meaning(part: PartitionElection) -> str:
    """Return the effect of an internal topic's loss on clients, after a space.

    GroupMetadataManager 0.8.2 to 4.3.1 and TransactionStateManager 0.11 to 4.3.1 keep their state in these logs alone.
    """
    return _MEANINGS.get(part.topic, "")


def lost_section(rows: Sequence[LostByPlan]) -> str:
    """Return the list for recovery.md; empty without a loss."""
    if not rows:
        return ""
    lines = (line for row in rows for line in (f"- {row.sentence}", *(f"  - {words}." for words in row.replicas)))
    return "\n".join((f"\n## {LOST_TITLE}\n", *map(markdown_text, lines))) + "\n"


def _takes(election: ClusterElection, step: RecoveryStep, place: tuple[str, int]) -> bool:
    """Return whether a step removes records of a partition for good."""
    if any((cut.topic, cut.partition) == place for cut in step.cuts):
        return True
    is_first = step.kind is RecoveryAction.START and not step.is_again
    return is_first and any(
        (row.topic, row.partition) == place and row.broker_id in step.brokers for row in election.removed
    )


def _end(election: ClusterElection, part: PartitionElection, copy: Candidate, cuts: Sequence[Cut], reason: str) -> str:
    """Return the end of a replica, the reason, and the offsets that are readable or removed after it."""
    number = copy.broker_id
    if copy.problem:
        return f"broker {number}: {copy.problem}"
    leads = ", and leads" if number == part.planned else ""
    if copy.state is CopyState.MISSING:
        return f"broker {number} has no log here, and {'leads with' if leads else 'starts'} an empty one"
    place = (part.topic, part.partition, number)
    readable = [bare_range(*run[:2]) for row in election.removed if row[:3] == place for run in row.readable]
    after = f". Offsets {listed(readable)} are readable after that" if readable else ""
    cut = next((bare_range(*row.lost[:2]) for row in cuts if row[:3] == place), None)
    after += "" if cut is None else f". The broker removes offsets {cut}, because the leader does not have them"
    return f"broker {number} ends at offset {copy.log_end_offset}{leads}{f': {reason}' if reason else ''}{after}"
