"""`kcheck fleet`: every broker at once."""

import os
import re
import time
from typing import Annotated

import typer

from kcheck.cli.options import (
    Chosen,
    Common,
    Judging,
    Leaving,
    end,
    keep_outside,
    leave,
    with_common,
    with_judging,
    with_leaving,
    write,
)
from kcheck.cli.reading import Jobs, Nice, ShowProgress, at_length, parse_jobs
from kcheck.errors import UsageError

Roots = Annotated[
    list[str],
    typer.Argument(metavar="ROOT...", help="A layout such as /mnt/{cluster}/{broker}/{log_dir}, folders, inventories."),
]
Run = Annotated[str, typer.Argument(metavar="RUN", help="The directory run=ID, or --out: the newest run in it.")]
Metrics = Annotated[
    str | None, typer.Option("--prometheus", metavar="FILE", help="Write metrics to FILE, for the textfile collector.")
]
Format = Annotated[str, typer.Option("--format", metavar="text|json|ndjson", help="How the summary is written.")]
NoColor = Annotated[bool, typer.Option("--no-color", help="No colour; as NO_COLOR in the environment.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Nothing on stderr but errors.")]
_FORMATS = ("text", "json", "ndjson")
"""Those of the summary."""
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

app = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def fleet() -> None:
    """Look at every broker at once; what is found is tables."""


@app.command("scan")
@with_common
def scan(
    roots: Roots,
    common: Common,
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Write the tables of the run below DIR.")],
    depth: Annotated[
        str, typer.Option("--depth", metavar="checkpoints|headers|crc|records", help="How much is read.")
    ] = "checkpoints",
    engine: Annotated[str, typer.Option("--engine", metavar="local", help="What runs the scan.")] = "local",
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="The name of the run; without it, the time.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Give up a directory that takes longer.")
    ] = 600,
    prometheus: Metrics = None,
    jobs: Jobs = 1,
    nice: Nice = False,
    progress: ShowProgress = None,
) -> None:
    """Check all log dirs of a fleet; writes Parquet tables."""
    from kcheck.scan import fleet as local
    from kcheck.scan.check import Depth
    from kcheck.scan.fleet_stages import How

    if depth not in tuple(Depth):
        raise UsageError(f"--depth {depth} is not known; known are {', '.join(Depth)}")
    if common.leaving.format not in _FORMATS:
        raise UsageError(f"--format {common.leaving.format}: the tables are Parquet; use {', '.join(_FORMATS)}")
    if common.leaving.output is not None:
        raise UsageError(f"-o {common.leaving.output}: the tables are written to --out, the summary to stdout")
    if engine != "local":
        raise UsageError(f"--engine {engine} is not known; known is local")
    if not time_limit > 0:
        raise UsageError(f"--time-limit {time_limit:g}: more than 0 seconds are needed")
    if run is not None and not _RUN.fullmatch(run):
        raise UsageError(f"--run {run}: letters, digits and ._- are needed, 64 at most, the first no sign")
    _can_be_written("--prometheus", prometheus)
    shown, fails = common.chosen()
    how = How(depth=depth, wanted=common.wanted(), release=common.release())
    name = _name(_now()) if run is None else run
    with at_length(progress, nice=nice, quiet=common.leaving.quiet) as showing:
        asked = local.Run(
            name, out, how, jobs=parse_jobs(jobs), seconds=time_limit, now=_now, shown=shown, fails=fails,
            tell=showing.tell,
        )  # fmt: skip
        report, failed = local.scan(roots, asked)
    written = [str(report.body["path"])]
    if prometheus is not None:
        _measure(written[0], shown, prometheus)
        written.append(prometheus)
    leave(report, common.leaving, written=" and ".join(written))
    end(report, failed=failed)


@app.command("report")
@with_judging
def report(
    run: Run,
    judging: Judging,
    page: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Write the page to FILE.")
    ] = "report.html",
    prometheus: Metrics = None,
    format: Format = "text",
    no_color: NoColor = False,
    quiet: Quiet = False,
) -> None:
    """Tell what a run found, worst first; writes a page."""
    from kcheck.scan.fleet_report import report as look
    from kcheck.scan.fleet_run import open_run

    _can_be_written("-o", page)
    _can_be_written("--prometheus", prometheus)
    shown, fails = judging.chosen()
    found = look(open_run(run), shown, fails)
    how = Leaving(format="html", output=page, no_color=no_color, quiet=quiet)
    written = {page: "html"} if prometheus is None else {page: "html", prometheus: "prometheus"}
    for file in written:
        keep_outside(found, file)
    for file, style in written.items():
        write(found, how._replace(format=style, output=file))
    leave(found, how._replace(format=format, output=None), written=" and ".join(written))
    end(found, failed=bool(found.body["failing"]))


@app.command("diff")
@with_leaving
@with_judging
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A run, as for report.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="A later one.")],
    judging: Judging,
    leaving: Leaving,
) -> None:
    """Tell what is new, gone and changed between two runs."""
    from kcheck.scan.fleet_diff import diff as look
    from kcheck.scan.fleet_run import open_run

    shown, fails = judging.chosen()
    found, has_failed = look(open_run(before), open_run(after), shown, fails)
    leave(found, leaving)
    end(found, failed=has_failed())


def _measure(run: str, shown: Chosen, file: str) -> None:
    """Write the metrics of a run that was just written."""
    from kcheck.scan.fleet_report import report as look
    from kcheck.scan.fleet_run import open_run

    write(look(open_run(run), shown), Leaving(format="prometheus", output=file, no_color=True, quiet=True))


def _can_be_written(option: str, file: str | None) -> None:
    """UsageError where a file could not be written at the end, before the work is begun."""
    folder = os.path.dirname(file or "") or "."
    if not os.path.isdir(folder):
        raise UsageError(f"{option} {file}: there is no directory {folder}")
    if file is not None and os.path.isdir(file):
        raise UsageError(f"{option} {file} is a directory")


def _now() -> int:
    return time.time_ns() // 1_000_000


def _name(now: int) -> str:
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now // 1000))}.{now % 1000:03}Z"
