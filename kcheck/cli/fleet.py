"""`kcheck fleet`: every broker at once."""

import json
import re
import time
from typing import Annotated

import typer

from kcheck.cli.options import Common, end, leave, with_common
from kcheck.cli.reading import Nice, ShowProgress, at_length, parse_jobs
from kcheck.errors import UsageError

Roots = Annotated[
    list[str],
    typer.Argument(metavar="ROOT...", help="A layout such as /mnt/{cluster}/{broker}/{log_dir}, folders, inventories."),
]
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
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", metavar="N", help="So many processes, or requests at once of a store.", show_default=False
        ),
    ] = None,
    storage_option: Annotated[
        list[str] | None, typer.Option("--storage-option", metavar="NAME=VALUE", help="What a URL needs, for fsspec.")
    ] = None,
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
    shown, fails = common.chosen()
    how = How(depth=depth, wanted=common.wanted(), release=common.release())
    name = _name(_now()) if run is None else run
    jobs = None if jobs is None else parse_jobs(jobs)
    with at_length(progress, nice=nice, quiet=common.leaving.quiet) as showing:
        asked = local.Run(
            name, out, how, jobs=jobs, seconds=time_limit, now=_now, shown=shown, fails=fails,
            tell=showing.tell, options=dict(map(_option, storage_option or ())),
        )  # fmt: skip
        report, failed = local.scan(roots, asked)
    leave(report, common.leaving, written=str(report.body["path"]))
    end(report, failed=failed)


def _option(text: str) -> tuple[str, object]:
    """Return an option of a file system: a value that is JSON stands for what it says, any other for itself."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--storage-option {text}: NAME=VALUE is needed")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _now() -> int:
    return time.time_ns() // 1_000_000


def _name(now: int) -> str:
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now // 1000))}.{now % 1000:03}Z"
