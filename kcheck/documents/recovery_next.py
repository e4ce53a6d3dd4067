"""The progress of a cluster with the plan of an election or of a rescue, as fields of `kcheck recover DIR --next`."""

from collections.abc import Iterable, Sequence

from kcheck.core.election.progress import PlanState, StepState
from kcheck.model.report import Row


def go_on_words(at: int, count: int, title: str) -> str:
    """Return the sentences that name the next step of `count`; `at` begins with 0."""
    return f"Go on with step {at + 1} of {count}. {title}."


def wait_words(at: int, count: int, title: str) -> str:
    """Return the sentences that name a begun step that is not settled."""
    return f"Wait. Step {at + 1} of {count} is not settled ({title})."


def progress_body(
    state: PlanState, sentences: Iterable[str], at: int | None, steps: Sequence[tuple[str, str, StepState]],
    *, commands: Sequence[str], until: str | None, check: Sequence[str] = (), differs: Sequence[Row] = (),
    fails: Sequence[str], next_command: str | None, needs: str | None = None, where: str | None = None,
    final: str | None = None,
) -> Row:  # fmt: skip
    """Return the fields. `at` is the place of the first step left; each of `steps` has its kind, title and progress."""
    return {
        "state": str(state),
        "verdict": " ".join(sentences),
        "step": None if at is None or state is PlanState.STOP else at + 1,
        "commands": tuple(commands),
        "until": until,
        "check": tuple(check),
        "needs": needs or None,
        "where": where or None,
        "final": final,
        "steps": tuple(
            {"step": number, "action": kind, "title": title, "state": str(progress)}
            for number, (kind, title, progress) in enumerate(steps, 1)
        ),
        "differs": tuple(differs),
        "fails": tuple(fails),
        "next": next_command,
    }
