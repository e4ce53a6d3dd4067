"""`kcheck rules`: lists the rules."""

from kcheck.cli.leaving import Leaving, leave
from kcheck.cli.options import with_leaving


@with_leaving
def rules(leaving: Leaving) -> None:
    """List every rule."""
    from kcheck.verbs.explain import every_rule

    leave(every_rule().report(), leaving)
