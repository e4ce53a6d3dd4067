"""The page and the files of a recommendation, without paths of a user."""

from collections.abc import Mapping

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import steps_of
from kcheck.handouts.election_files import files_of
from kcheck.handouts.group_resets import resets_of
from kcheck.handouts.plan_context import PlanContext
from kcheck.handouts.runbook import runbook
from kcheck.handouts.step_words import step_texts


def page_of(recovery: Recovery) -> str:
    """Return the page with the steps of a recommendation."""
    context = PlanContext(recovery, resets_of(recovery), {}, {}, {}, "aside")
    return runbook(recovery, step_texts(context, steps_of(recovery)), (), "kcheck verify")


def files_for(recovery: Recovery) -> Mapping[str, str]:
    """Return the files for the steps of a recommendation."""
    return files_of(recovery, steps_of(recovery))
