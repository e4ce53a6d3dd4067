"""recovery.md, the steps of a recovery as a page."""

from collections.abc import Iterator, Sequence

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import StepText
from kcheck.handouts.leader_table import leaders
from kcheck.handouts.markdown_words import fenced, markdown_text
from kcheck.handouts.step_words import CANNOT_BE_UNDONE, NO_LOSS, NOTHING
from kcheck.words import capital


def runbook(
    recovery: Recovery,
    texts: Sequence[StepText],
    head: Sequence[str],
    last: str,
    first: StepText | None = None,
    *,
    place: str = "",
) -> str:
    """Return recovery.md, with the cost, the steps, and the command to type after each of them.

    `first` is the step 0. `place` is the directory in which the user asked.
    """
    parts = [
        "# Recovery",
        *map(markdown_text, head),
        (
            f"For Kafka {recovery.release.name}. Relative paths begin in {markdown_text(place)}. bin/ and config/ are"
            " in Kafka's directory. Type each step on its host. Begin a step only once the step before is done. After"
            " each step this says whether it is:"
        ),
        fenced([last]),
    ]
    if first is not None:
        parts += (f"## 0. {first.title}", fenced(first.commands))
    for number, text in enumerate(texts, start=1):
        parts += (
            f"## {number}. {markdown_text(text.title)}",
            f"Needs: {text.needs}.",
            *([f"On {markdown_text(text.where)}:"] if text.where else ()),
            *([fenced(text.commands)] if text.commands else ()),
            f"Go on once {markdown_text(text.until)}{_seen_by(text)}",
        )
        parts += (*([fenced(text.check)] if text.check else ()), *_final(text))
    return "\n\n".join((*parts, *leaders(recovery))) + "\n"


def _final(text: StepText) -> Iterator[str]:
    """Yield the part of a step that cannot be undone, or how to undo the step, as a sentence."""
    undo = text.final.removeprefix(NOTHING)
    if undo != text.final:
        if undo:
            yield f"Can be undone: {markdown_text(undo.removeprefix(': '))}."
    elif text.is_loss or not text.final.startswith(NO_LOSS):
        yield f"{CANNOT_BE_UNDONE}: {markdown_text(text.final)}."
    else:
        yield f"{capital(markdown_text(text.final))}."


def _seen_by(text: StepText) -> str:
    return ":" if text.check else "."
