"""The page of a recommendation, without paths of a user."""

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import steps_of
from kcheck.handouts.group_resets import resets_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.runbook import runbook
from kcheck.handouts.step_words import step_texts


def page_of(recovery: Recovery) -> str:
    """Return the page with the steps of a recommendation."""
    context = PlanContext(recovery, resets_of(recovery), {}, {}, {}, "aside")
    return runbook(recovery, step_texts(context, steps_of(recovery)), (), "kcheck verify")
