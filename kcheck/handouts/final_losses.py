"""The final losses of a step (removed records, and elections that give up records of other replicas)."""

from collections.abc import Iterator

from kcheck.core.election.plans import CopyState
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import RecoveryAction, RecoveryStep
from kcheck.handouts.plan_context import PlanContext
from kcheck.words import agree, bare_range, broker_names, partition_name, some_of


def gives_up(step: RecoveryStep, recovery: Recovery) -> bool:
    """Return whether a step elects a leader that perhaps lacks records of another replica, here or elsewhere."""
    for part in step.partitions if step.kind is RecoveryAction.ELECT else ():
        leader = part.leaders.get(-1 if part.planned is None else part.planned, part.recommended)
        replicas = () if part.registration is None else part.registration.replicas
        here = {number for number, row in part.leaders.items() if row.state is CopyState.CURRENT} - recovery.old
        absent = [number for number in replicas if number not in here]
        if leader is None or leader.lost is None or leader.lost.records != 0 or absent:
            return True
    return False


def _forced(step: RecoveryStep) -> str:
    """Return the unclean elections by the controller, and what they give up."""
    leaders = broker_names(sorted({row.leader for row in step.forces}))
    missing = sorted({number for row in step.forces for number in row.missing})
    names = some_of([row.partition.name for row in step.forces])
    only = f"Records there that only {broker_names(missing)} {agree(len(missing), 'has', 'have')} are lost then"
    return f"unclean elections are on, so the controller lets {leaders} lead {names} at once. {only}"


def losses_of(step: RecoveryStep, plan: PlanContext) -> Iterator[str]:
    """Yield the final losses of a step."""
    if step.kind is RecoveryAction.START:
        yield from (plan.old_copies[number] for number in step.brokers if number in plan.old_copies)
        yield from (words for number in step.brokers if not step.is_again for words in plan.at_start.get(number, ()))
    if step.forces:
        yield _forced(step)
    if step.cuts:
        yield _removed(step, plan)


def _removed(step: RecoveryStep, plan: PlanContext) -> str:
    """Return the records that a step removes, and where they are saved."""
    removed: dict[int, list[str]] = {}
    for cut in step.cuts:
        words = f"{bare_range(cut.lost.start, cut.lost.end)} of {partition_name(cut.topic, cut.partition)}"
        removed.setdefault(cut.broker_id, []).append(words)
    rows = [f"broker {number} removes offsets {some_of(words)}" for number, words in sorted(removed.items())]
    copied = sorted(plan.recovery.bundles & {*removed})
    saved = f"{plan.saved} has them"
    if plan.saved is None:
        saved = "Before this step, save them with kcheck recover --output-dir"
        if plan.save_step:
            saved = f"Step {plan.save_step} saves them"
    kept = [saved] if {*removed} - plan.recovery.bundles else []
    if copied:
        of_brokers = f", without the ones of {broker_names(copied)}" if kept else ""
        kept = [f"{row}{of_brokers}" for row in kept]
        where = f"where {broker_names(copied)} {agree(len(copied), 'was', 'were')} captured"
        kept.append(f"A bundle has no records, so copy the directories first, {where}")
    return f"{'; '.join(rows)}. {'. '.join(kept)}"
