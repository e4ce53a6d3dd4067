"""The commands of the repairs that come before any broker starts."""

from collections.abc import Iterator, Sequence

from kcheck.core.election.first_repairs import FirstRepair
from kcheck.handouts.markdown_words import fenced, markdown_text
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.words import agree, shell_line


def commands(repair: FirstRepair) -> tuple[str, str]:
    """Return the commands that plan a repair and apply the plan.

    For a bundle the second command asks for the log dirs.
    """
    name = f"broker-{repair.broker_id}"
    places = " --map NAME=PATH" if any(BUNDLE_SUFFIX in argument for argument in repair.arguments) else ""
    return (
        shell_line(["kcheck", "repair", *repair.arguments, "-o", f"{name}.json"]),
        f"kcheck apply {name}.json --backup {name}.backup{places}",
    )


def repair_steps(repairs: Sequence[FirstRepair]) -> list[str]:
    """Return the part of plan.md that comes before all others; nothing where there is nothing to repair."""
    if not repairs:
        return []
    brokers = agree(len(repairs), "this broker", "these brokers")
    return [
        f"## Repair {brokers} first",
        (
            f"All else in this plan is for the log dirs as the repairs leave them. Before you start any broker, repair "
            f"{brokers}. `kcheck apply` asks you to type `apply`, and keeps what it replaces for `kcheck undo`."
        ),
        *_steps(repairs),
        "Run `kcheck elect` on the same paths again: it names no repair any more.",
    ]


def _steps(repairs: Sequence[FirstRepair]) -> Iterator[str]:
    for repair in repairs:
        yield f"Broker {repair.broker_id}: without the repair {markdown_text(repair.why)}."
        yield fenced(commands(repair))
