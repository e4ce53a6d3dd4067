"""Elections that give up records of replicas that do not take part."""

from kcheck.core.election.plans import CopyState
from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import RecoveryAction, RecoveryStep
from kcheck.words import agree, broker_names, some_of


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


def forced_words(step: RecoveryStep) -> str:
    """Return the unclean elections by the controller, and what they give up."""
    leaders = broker_names(sorted({row.leader for row in step.forces}))
    missing = sorted({number for row in step.forces for number in row.missing})
    names = some_of([row.partition.name for row in step.forces])
    only = f"Records there that only {broker_names(missing)} {agree(len(missing), 'has', 'have')} are lost then"
    return f"unclean elections are on, so the controller lets {leaders} lead {names} at once. {only}"
