"""`kcheck fleet report` and `kcheck fleet diff`: what runs found; the metrics of a run."""

import json
import os
from collections.abc import Sequence
from typing import Annotated

import typer

from kcheck.cli.leaving import Leaving, end, keep_outside, leave, write
from kcheck.cli.options import FindingFilter, with_judging, with_leaving
from kcheck.errors import UsageError
from kcheck.model.finding import Chosen

Run = Annotated[str, typer.Argument(metavar="RUN", help="The directory run=ID, or --out: the newest run in it.")]
Metrics = Annotated[
    str | None, typer.Option("--prometheus", metavar="FILE", help="Write metrics to FILE, for the textfile collector.")
]
Format = Annotated[str, typer.Option("--format", metavar="text|json|ndjson", help="How the summary is written.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour; as NO_COLOR in the environment.")]
StorageOption = Annotated[
    list[str] | None, typer.Option("--storage-option", metavar="NAME=VALUE", help="What a URL needs, for fsspec.")
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Nothing on stderr but errors.")]


@with_judging
def report(
    run: Run,
    judging: FindingFilter,
    page: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Write the page to FILE.")
    ] = "report.html",
    prometheus: Metrics = None,
    storage_option: StorageOption = None,
    format: Format = "text",
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Tell what a run found, worst first; writes a page."""
    from kcheck.disk.remote import mounted
    from kcheck.fleet.report import report as look
    from kcheck.fleet.run import open_run

    can_be_written("-o", page)
    can_be_written("--prometheus", prometheus)
    shown, fails = judging.chosen()
    with mounted([run], storage_options(storage_option)):
        found = look(open_run(run), shown, fails)
    how = Leaving(format="html", output=page, no_color=no_color, quiet=quiet)
    written = {page: "html"} if prometheus is None else {page: "html", prometheus: "prometheus"}
    for file in written:
        keep_outside(found, file)
    for file, style in written.items():
        write(found, how._replace(format=style, output=file))
    leave(found, how._replace(format=format, output=None), written=" and ".join(written))
    end(found, failed=bool(found.body["failing"]))


@with_leaving
@with_judging
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A run, as for report.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="A later one.")],
    judging: FindingFilter,
    leaving: Leaving,
    storage_option: StorageOption = None,
) -> None:
    """Tell what is new, gone and changed between two runs."""
    from kcheck.disk.remote import mounted
    from kcheck.fleet.diff import diff as look
    from kcheck.fleet.run import open_run

    shown, fails = judging.chosen()
    with mounted([before, after], storage_options(storage_option)):
        found, has_failed = look(open_run(before), open_run(after), shown, fails)
        leave(found, leaving)
    end(found, failed=has_failed())


def storage_options(texts: Sequence[str] | None) -> dict[str, object]:
    """Return options of a file system: a value that is JSON stands for what it says, any other for itself."""
    found: dict[str, object] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise UsageError(f"--storage-option {text}: NAME=VALUE is needed")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def measure(run: str, shown: Chosen, file: str) -> None:
    """Write the metrics of a run that was just written."""
    from kcheck.fleet.report import report as look
    from kcheck.fleet.run import open_run

    write(look(open_run(run), shown), Leaving(format="prometheus", output=file, no_color=True, quiet=True))


def can_be_written(option: str, file: str | None) -> None:
    """UsageError where a file could not be written at the end, before the work is begun."""
    folder = os.path.dirname(file or "") or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{option} {file}: there is no directory {folder}")
    if file is not None and os.path.isdir(file):
        raise UsageError(f"{option} {file} is a directory")
