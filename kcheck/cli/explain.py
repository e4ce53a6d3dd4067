"""`kcheck explain`: a rule's page."""

from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, leave
from kcheck.cli.options import with_leaving


@with_leaving
def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="An id or a name: KC201, epoch-order.")],
    leaving: Leaving,
) -> None:
    """Print a rule's page: what it means, and what to do."""
    from kcheck.verbs.explain import one_rule

    leave(one_rule(rule).report(), leaving)
