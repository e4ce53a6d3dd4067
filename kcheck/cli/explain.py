"""`kcheck explain`: the pages of rules."""

from typing import Annotated

import typer

from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, write_answer


@with_output_options
def explain(
    rules: Annotated[list[str], typer.Argument(metavar="RULE...", help="Rule ids or names: KC201, epoch-order.")],
    output_options: OutputOptions,
) -> None:
    """Explain rules: what it means, and what to do."""
    from kcheck.verbs.explain import named_rules

    write_answer(named_rules(rules).report(), output_options)
