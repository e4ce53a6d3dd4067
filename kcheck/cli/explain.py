"""`kcheck explain`: the pages of rules."""

from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, leave
from kcheck.cli.options import with_leaving


@with_leaving
def explain(
    rules: Annotated[list[str], typer.Argument(metavar="RULE...", help="Rule ids or names: KC201, epoch-order.")],
    leaving: Leaving,
) -> None:
    """Explain rules: what it means, and what to do."""
    from kcheck.verbs.explain import named_rules

    leave(named_rules(rules).report(), leaving)
