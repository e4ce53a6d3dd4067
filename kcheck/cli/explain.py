"""`kcheck explain`: the page of a rule."""

from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, leave
from kcheck.cli.options import with_leaving


@with_leaving
def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="Rule id or name: KC201, epoch-order.")],
    leaving: Leaving,
) -> None:
    """Explain a rule: what it means, and what to do."""
    from kcheck.verbs.explain import one_rule

    leave(one_rule(rule).report(), leaving)
