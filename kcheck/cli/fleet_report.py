"""`kcheck fleet report` and the other commands for finished runs (summaries, pages, metrics, tables)."""

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, NoReturn

import typer

from kcheck.cli.options import FindingFilter, with_judging, with_output_options
from kcheck.cli.report_output import OutputOptions, end, write, write_answer, written_line
from kcheck.errors import UsageError
from kcheck.model.finding import Chosen
from kcheck.model.report import Report
from kcheck.screen.printable import printable

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A directory run=ID, or a directory with runs, for the newest one.")
]
Metrics = Annotated[
    str | None,
    typer.Option("--prometheus", metavar="FILE", help="Write metrics for the textfile collector of Prometheus."),
]
StorageOption = Annotated[
    list[str] | None,
    typer.Option("--storage-option", metavar="NAME=VALUE", help="Option for fsspec where a path is a URL; repeatable."),
]


@with_output_options
@with_judging
def report(
    run: Run,
    judging: FindingFilter,
    output_options: OutputOptions,
    page: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML page.")
    ] = None,
    prometheus: Metrics = None,
    storage_option: StorageOption = None,
) -> None:
    """Summarize a scan run, worst first; --html writes it as a page."""
    from kcheck.disk.output import keep_outside
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import newest, open_runs
    from kcheck.fleet.runs.report import report as summarize

    page, output_options = _page_of(page, output_options)
    outputs = ((page, "html", "--html"), (prometheus, "prometheus", "--prometheus"))
    files = {file: (style, option) for file, style, option in outputs if file is not None}
    can_be_written("--html", page)
    can_be_written("--prometheus", prometheus)
    shown, fails = judging.chosen()
    with mounted([run], storage_options(storage_option)):
        runs = open_runs([run])
        summary = summarize(newest(runs), shown, fails, runs)
    for file, (_, option) in files.items():
        keep_outside(summary.checked, file, option=option)
    for file, (style, option) in files.items():
        write(summary, output_options._replace(format=style, output=file, option=option))
    last_line = written_line(" and ".join(files)) if files else None
    write_answer(summary, output_options, last_line=last_line)
    end(summary, failed=bool(summary.body["failing"]))


def _page_of(page: str | None, options: OutputOptions) -> tuple[str | None, OutputOptions]:
    """Return the file of the page and the options of the answer; `-o NAME.html` is the old name of `--html`."""
    name = options.output
    if page is None and name is not None and name.endswith(".html") and options.format == "text":
        if not options.quiet:
            print(f"kcheck: -o {printable(name)} is now --html {printable(name)}", file=sys.stderr)
        return name, options._replace(output=None)
    return page, options


@with_output_options
@with_judging
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="The earlier run, or a directory with runs.")],
    judging: FindingFilter,
    output_options: OutputOptions,
    after: Annotated[
        str | None, typer.Argument(metavar="[AFTER]", help="The later run. [default: the newest two runs in BEFORE]")
    ] = None,
    storage_option: StorageOption = None,
) -> None:
    """Show new, gone and changed findings between two scan runs."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import newest_two, open_run
    from kcheck.fleet.runs.diff import diff as compare

    shown, fails = judging.chosen()
    with mounted([before, *([] if after is None else [after])], storage_options(storage_option)):
        runs = newest_two(before) if after is None else (open_run(before), open_run(after))
        summary, has_failed = compare(*runs, shown, fails)
        write_answer(summary, output_options)
    _end_news(summary, failed=has_failed(), finished=runs[1].finished)


@with_output_options
@with_judging
def trend(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Runs, or a directory with runs, for all of them.")
    ],
    judging: FindingFilter,
    output_options: OutputOptions,
    storage_option: StorageOption = None,
) -> None:
    """Show when findings appeared and disappeared over several scan runs."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import newest, open_runs
    from kcheck.fleet.runs.history import history as over_runs

    shown, fails = judging.chosen()
    with mounted(runs, storage_options(storage_option)):
        opened = open_runs(runs)
        answer, has_failed = over_runs(opened, shown, fails)
        write_answer(answer, output_options)
    _end_news(answer, failed=has_failed(), finished=newest(opened).finished)


def _end_news(report: Report, *, failed: bool, finished: bool) -> NoReturn:
    """End the command: 1 for new trouble, else 3 if the newest run is incomplete."""
    end(report._replace(body={"finished": failed or finished}), failed=failed)


@with_output_options
def prune(
    out: Annotated[str, typer.Argument(metavar="DIR", help="The directory with the runs.")],
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=0, help="Number of runs to keep, the newest ones.")],
    output_options: OutputOptions,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be removed; remove nothing.")] = False,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Object stores: also remove unfinished runs. Stop all scans first.")
    ] = False,
    storage_option: StorageOption = None,
) -> None:
    """Remove old runs and leftovers of killed scans."""
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
        typer.Option(
            "--catalog-option",
            metavar="NAME=VALUE",
            help="Option of the catalog, in addition to its configuration; repeatable.",
        ),
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
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="The dialect of SQL: duckdb or spark.")],
    run: Annotated[
        str, typer.Argument(metavar="[RUN]", help="A run, or a directory with runs, for all of them.")
    ] = ".",
    storage_option: StorageOption = None,
) -> None:
    """Print the tables of complete runs as SQL views."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.run import open_runs
    from kcheck.fleet.runs.sql import views

    with mounted([run], storage_options(storage_option)):
        print(*views(engine, open_runs([run])), sep="\n", end="")


COMMANDS: dict[str, Callable[..., None]] = {
    "report": report, "diff": diff, "trend": trend, "sql": sql, "publish": publish, "prune": prune,
}  # fmt: skip
"""The commands of this module, by their names below `fleet`."""


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

    options = OutputOptions("prometheus", file, color="never", quiet=True, option="--prometheus")
    write(summarize(open_run(run), shown), options)


def can_be_written(option: str, file: str | None) -> None:
    """Raise UsageError before the work begins if the output file cannot be written."""
    folder = os.path.dirname(file or "") or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{option} {file}: no such directory: {folder}")
    if file is not None and os.path.isdir(file):
        raise UsageError(f"{option} {file} is a directory")
