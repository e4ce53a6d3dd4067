"""recovery.md, the steps of a recovery as a page, and plan.md of an election, which has the same steps."""

from collections.abc import Iterator, Sequence

from kcheck.core.election.recovery_plan import Recovery
from kcheck.core.election.steps import StepText
from kcheck.handouts.leader_table import leaders
from kcheck.handouts.markdown_words import fenced, markdown_text
from kcheck.handouts.step_words import CANNOT_BE_UNDONE, NO_LOSS, NOTHING
from kcheck.words import broker_names, capital, counted, some_of


def runbook(
    recovery: Recovery,
    texts: Sequence[StepText],
    head: Sequence[str],
    last: str,
    first: StepText | None = None,
    *,
    place: str = "",
) -> str:
    """Return the page, with the cost, the steps, and the command that shows which of them are done.

    `first` is the step 0. `place` is the directory in which the user asked.
    """
    parts = [
        "# Recovery",
        *map(markdown_text, head),
        (
            f"For Kafka {recovery.release.name}. Relative paths begin in {markdown_text(place)}. bin/ and config/ are"
            " in Kafka's directory. Type each step on its host. Begin a step only once the step before is done."
            f"{_login(recovery)} This shows what is done:"
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
    return "\n\n".join((*parts, *_without_dead(recovery), *leaders(recovery))) + "\n"


def _login(recovery: Recovery) -> str:
    """Return the option of Kafka's tools for a cluster that asks for a login."""
    release = recovery.release
    commands = "each command" if release.reassigns_by_bootstrap_server else "commands with `--bootstrap-server`"
    words = f" If the cluster asks for a login, add `--command-config client.properties` to {commands} of Kafka."
    if release.has_leader_election_tool and not release.elects_by_command_config:
        words += " For `kafka-leader-election.sh` the option is `--admin.config` in this release."
    return words


def _without_dead(recovery: Recovery) -> Iterator[str]:
    """Yield what remains for partitions with replicas on brokers that are given up."""
    short = [
        markdown_text(part.name)
        for part in recovery.partitions
        if part.registration is not None and not recovery.dead.isdisjoint(part.registration.replicas)
    ]
    if short:
        yield "## Replicas on brokers that are given up"
        yield (
            f"{counted(len(short), 'partition')} ({some_of(short)}) had replicas on"
            f" {broker_names(sorted(recovery.dead))}. Choose other brokers for them, and reassign them."
        )


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
