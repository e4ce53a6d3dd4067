"""`kcheck explain`: the pages of rules, and what the messages of brokers mean."""

import sys
from typing import Annotated

import typer

from kcheck.cli.options import with_output_options
from kcheck.cli.report_output import OutputOptions, end, write_answer
from kcheck.model.evidence import AUTO


@with_output_options
def explain(
    output_options: OutputOptions,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RULE|PREMISE|LINE|LOG|DIR]...",
            help="Rules (KC201, epoch-order, L008), premises (P301), pasted log lines or broker logs (.gz too). "
            "- for stdin; with a log, log dirs to compare it with.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="Only messages from this time on: ISO 8601 (UTC), or ms."),
    ] = None,
    kafka: Annotated[
        str,
        typer.Option(
            "--kafka",
            metavar="RELEASE",
            help="Kafka release of the broker. [default: detected from its log]",
            show_default=False,
        ),
    ] = AUTO,
    every: Annotated[
        bool, typer.Option("--all", help="Show every message and place; without it, text groups them.")
    ] = False,
) -> None:
    """Explain a finding, a log line, or a whole server.log."""
    from kcheck.verbs.explain import asked, explained

    wanted = asked(arguments or (["-"] if not sys.stdin.isatty() else []))
    if wanted.is_rules:
        write_answer(explained(wanted).report(), output_options)
        return
    from kcheck.cli.long_commands import parse_span
    from kcheck.verbs.explain_log import explain_log

    begin, _ = parse_span(since, None)
    answer = explain_log(wanted.logs, wanted.texts, wanted.directories, kafka=kafka, since=begin)
    report = answer.report()
    write_answer(report, output_options._replace(every=every))
    end(report, failed=bool(answer.reading.timeline.counts["fatal"]))
