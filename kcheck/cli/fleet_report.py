"""`kcheck fleet report` and `kcheck fleet diff`: summaries, pages and metrics of finished runs."""

import json
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from kcheck.cli.options import FindingFilter, format_option, with_judging, with_output_options
from kcheck.cli.report_output import OutputOptions, end, keep_outside, write, write_answer, written_line
from kcheck.errors import UsageError
from kcheck.model.finding import Chosen

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A directory run=ID, or the --out directory for its newest run.")
]
Metrics = Annotated[
    str | None, typer.Option("--prometheus", metavar="FILE", help="Write metrics to FILE for the textfile collector.")
]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour, like NO_COLOR in the environment.")]
StorageOption = Annotated[
    list[str] | None,
    typer.Option("--storage-option", metavar="NAME=VALUE", help="Option for fsspec when a path is a URL."),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Only errors on stderr.")]


@with_judging
def report(
    run: Run,
    judging: FindingFilter,
    page: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Write the HTML page to FILE.")
    ] = "report.html",
    prometheus: Metrics = None,
    storage_option: StorageOption = None,
    format: format_option(None, "Format of the summary.") = "text",  # type: ignore[valid-type]  # typer reads it
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Summarize a run, worst first, and write an HTML page."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import newest, open_runs
    from kcheck.fleet.runs.report import report as summarize

    can_be_written("-o", page)
    can_be_written("--prometheus", prometheus)
    shown, fails = judging.chosen()
    with mounted([run], storage_options(storage_option)):
        runs = open_runs([run])
        summary = summarize(newest(runs), shown, fails, runs)
    how = OutputOptions(format="html", output=page, no_color=no_color, quiet=quiet)
    written = {page: "html"} if prometheus is None else {page: "html", prometheus: "prometheus"}
    for file in written:
        keep_outside(summary.checked, file)
    for file, style in written.items():
        write(summary, how._replace(format=style, output=file))
    write_answer(summary, how._replace(format=format, output=None), last_line=written_line(" and ".join(written)))
    end(summary, failed=bool(summary.body["failing"]))


@with_output_options
@with_judging
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier run, as for report.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The later run.")],
    judging: FindingFilter,
    output_options: OutputOptions,
    storage_option: StorageOption = None,
) -> None:
    """Show what is new, gone and changed between two runs."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import open_run
    from kcheck.fleet.runs.diff import diff as compare

    shown, fails = judging.chosen()
    with mounted([before, after], storage_options(storage_option)):
        summary, has_failed = compare(open_run(before), open_run(after), shown, fails)
        write_answer(summary, output_options)
    end(summary, failed=has_failed())


@with_output_options
@with_judging
def history(
    runs: Annotated[list[str], typer.Argument(metavar="RUNS...", help="Runs, or an --out directory for all its runs.")],
    judging: FindingFilter,
    output_options: OutputOptions,
    storage_option: StorageOption = None,
) -> None:
    """Show when findings appeared, and which are gone."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import open_runs
    from kcheck.fleet.runs.history import history as over_runs

    shown, fails = judging.chosen()
    with mounted(runs, storage_options(storage_option)):
        answer, has_failed = over_runs(open_runs(runs), shown, fails)
        write_answer(answer, output_options)
    end(answer, failed=has_failed())


@with_output_options
def prune(
    out: Annotated[str, typer.Argument(metavar="OUT", help="The --out directory of scans.")],
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=0, help="How many of the newest runs stay.")],
    output_options: OutputOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed; remove nothing.")] = False,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="In a store: also runs without manifest; let no scan write there.")
    ] = False,
    storage_option: StorageOption = None,
) -> None:
    """Remove old runs, and what scans that were killed have left."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.runs.prune import prune as remove

    with mounted([out], storage_options(storage_option)):
        answer = remove(out, keep, dry_run=dry_run, unfinished=unfinished)
    write_answer(answer, output_options)
    end(answer, failed=False)


@with_output_options
def publish(
    run: Run,
    iceberg: Annotated[
        str, typer.Option("--iceberg", metavar="CATALOG.NAMESPACE", help="Iceberg tables to append the run to.")
    ],
    output_options: OutputOptions,
    catalog_option: Annotated[
        list[str] | None,
        typer.Option("--catalog-option", metavar="NAME=VALUE", help="Option of the catalog, beside its configuration."),
    ] = None,
    storage_option: StorageOption = None,
) -> None:
    """Append a run to Iceberg tables."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import open_run
    from kcheck.fleet.runs.iceberg import publish as append

    options = {}
    for text in catalog_option or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--catalog-option {text}: write NAME=VALUE")
        options[name] = value
    with mounted([run], storage_options(storage_option)):
        answer = append(open_run(run), iceberg, options)
    write_answer(answer, output_options)
    end(answer, failed=False)


def sql(
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="Whose SQL to write: duckdb or spark.")],
    run: Annotated[str, typer.Argument(metavar="[RUN]", help="A run, or an --out directory for all its runs.")] = ".",
    storage_option: StorageOption = None,
) -> None:
    """Print the tables of complete runs as SQL views."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import open_runs
    from kcheck.fleet.runs.sql import views

    with mounted([run], storage_options(storage_option)):
        print(*views(engine, open_runs([run])), sep="\n", end="")


def storage_options(texts: Sequence[str] | None) -> dict[str, object]:
    """Return the options of a file system; a value that is JSON is decoded, any other is text."""
    options: dict[str, object] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--storage-option {text}: write NAME=VALUE")
        try:
            options[name] = json.loads(value)
        except (ValueError, RecursionError):
            options[name] = value
    return options


def measure(run: str, shown: Chosen, file: str) -> None:
    """Write the metrics of a run."""
    from kcheck.fleet.run import open_run
    from kcheck.fleet.runs.report import report as summarize

    write(summarize(open_run(run), shown), OutputOptions(format="prometheus", output=file, no_color=True, quiet=True))


def can_be_written(option: str, file: str | None) -> None:
    """Raise UsageError before the work begins if the output file cannot be written."""
    folder = os.path.dirname(file or "") or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{option} {file}: no such directory: {folder}")
    if file is not None and os.path.isdir(file):
        raise UsageError(f"{option} {file} is a directory")
