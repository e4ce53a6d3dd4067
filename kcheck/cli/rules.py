"""`kcheck rules`: every rule."""

from kcheck.cli.options import Leaving, leave, with_leaving


@with_leaving
def rules(leaving: Leaving) -> None:
    """List every rule."""
    from kcheck.scan.rule_pages import every_rule

    leave(every_rule(), leaving)
