"""`kcheck rules`: lists the rules."""

from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, write_answer


@with_output_options
def rules(output_options: OutputOptions) -> None:
    """List all rules: id, severity, name and scope."""
    from kcheck.verbs.explain import every_rule

    write_answer(every_rule().report(), output_options)
