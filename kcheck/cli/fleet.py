"""`kcheck fleet`: every broker at once."""

import os
import re
import shlex
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from kcheck.cli import fleet_report
from kcheck.cli.fleet_report import Metrics, StorageOption, can_be_written, measure, storage_options
from kcheck.cli.leaving import end, leave
from kcheck.cli.options import Common, with_common
from kcheck.cli.reading import Nice, ShowProgress, at_length, parse_jobs
from kcheck.errors import UsageError

if TYPE_CHECKING:
    from kcheck.fleet.local_engine import ScanRun
    from kcheck.fleet.steps import ScanOptions
    from kcheck.model.report import Report

Roots = Annotated[
    list[str],
    typer.Argument(metavar="ROOT...", help="A layout such as /mnt/{cluster}/{broker}/{log_dir}, folders, inventories."),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", help="Give up a directory that takes longer.")
]
Since = Annotated[
    str | None, typer.Option("--since", metavar="RUN", help="Look only at what changed since a run that remembers.")
]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="ID", help="Go on with a run that remembers and was stopped.")
]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", help="So many processes; of a store, requests at once.", show_default=False),
]
_ENGINES = ("local", "spark")
_FORMATS = ("text", "json", "ndjson")
"""Those of the summary."""
_FOR_SPARK = "kcheck.fleet.spark"
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

app = typer.Typer(rich_markup_mode=None, add_completion=False, no_args_is_help=True)


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
    engine: Annotated[str, typer.Option("--engine", metavar="local|spark", help="What runs the scan.")] = "local",
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Where Spark runs; without it, local[*].")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="The name of the run; without it, the time.")
    ] = None,
    time_limit: TimeLimit = 600,
    since: Since = None,
    resume: Resume = None,
    remember: Annotated[bool, typer.Option("--remember", help="Keep what --since and --resume need.")] = False,
    prometheus: Metrics = None,
    jobs: Jobs = None,
    storage_option: StorageOption = None,
    nice: Nice = False,
    progress: ShowProgress = None,
) -> None:
    """Check all log dirs of a fleet; writes Parquet tables."""
    from kcheck.disk.remote import is_url, mounted
    from kcheck.fleet.inventory import is_inventory
    from kcheck.fleet.local_engine import ScanRun
    from kcheck.fleet.steps import ScanOptions
    from kcheck.model.depth import parse_depth

    looked = parse_depth(depth)
    if common.leaving.format not in _FORMATS:
        raise UsageError(f"--format {common.leaving.format}: the tables are Parquet; use {', '.join(_FORMATS)}")
    if common.leaving.output is not None:
        raise UsageError(f"-o {common.leaving.output}: the tables are written to --out, the summary to stdout")
    if engine not in _ENGINES:
        raise UsageError(f"--engine {engine} is not known; known are {', '.join(_ENGINES)}")
    if engine != "spark" and master is not None:
        raise UsageError(f"--master {master}: only --engine spark has one")
    if engine == "spark" and jobs is not None and not any(is_url(root) or is_inventory(root) for root in roots):
        raise UsageError(f"--jobs {jobs}: Spark tells by itself how many; use --master 'local[{jobs}]'")
    if not time_limit > 0:
        raise UsageError(f"--time-limit {time_limit:g}: more than 0 seconds are needed")
    if run is not None and not _RUN.fullmatch(run):
        raise UsageError(f"--run {run}: letters, digits and ._- are needed, 64 at most, the first no sign")
    can_be_written("--prometheus", prometheus)
    shown, fails = common.chosen()
    how = ScanOptions(depth=looked, wanted=common.wanted(), release=common.release())
    options = storage_options(storage_option)
    jobs = None if jobs is None else parse_jobs(jobs)
    with mounted([*roots, out, since or ""], options):
        if remember or since is not None or resume is not None:
            run, how = _remembering(how, out, run, since, resume)
        name = _name(_now()) if run is None else run
        with at_length(progress, nice=nice, quiet=common.leaving.quiet) as showing:
            asked = ScanRun(
                name, out, how, jobs=jobs, seconds=time_limit, now=_now, shown=shown, fails=fails, tell=showing.tell,
                options=options,
            )  # fmt: skip
            report, failed = _scan(engine, master, roots, asked)
        written = [str(report.body["path"])]
        if prometheus is not None:
            measure(written[0], shown, prometheus)
            written.append(prometheus)
    leave(report, common.leaving, written=" and ".join(written))
    end(report, failed=failed)


app.command("report")(fleet_report.report)
app.command("diff")(fleet_report.diff)


class _Submit(TyperCommand):
    """Keeps what stands behind `--` apart: that is for spark-submit."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leave options of scan as they are written."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_FOR_SPARK] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@app.command(
    "submit", cls=_Submit, context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="[OPTIONS] [ROOT...] [OPTIONS OF SCAN] -- [OPTIONS OF SPARK-SUBMIT]",
)  # fmt: skip
def submit(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--print", help="Show the command, and run nothing.")] = False,
) -> None:
    """Have spark-submit run a scan on a cluster."""
    from kcheck.fleet.spark.submit import run, submission

    # What scan would refuse is refused here, before anything is started.
    command = typer.main.get_command(app)
    asked = command.commands["scan"].make_context("scan", [*context.args], parent=context.parent)  # type: ignore[attr-defined]  # a group
    if (asked.params["engine"], asked.params["master"]) != ("local", None):
        raise UsageError(
            "--engine is spark here, --master is for spark-submit: kcheck fleet submit ... -- --master URL"
        )
    wanted = submission(context.args, context.meta[_FOR_SPARK], os.environ)
    if not show:
        run(wanted)
    assignments = (f"{name}={shlex.quote(value)}" for name, value in wanted.environment)
    print(*assignments, shlex.join(wanted.command))


def _remembering(
    how: "ScanOptions", out: str, run: str | None, since: str | None, resume: str | None
) -> "tuple[str | None, ScanOptions]":
    """Return the name of a run that remembers, and how it is done: with what which run has left."""
    from kcheck.fleet.remembered import kept_by, left_by
    from kcheck.fleet.run import open_run

    if resume is None:
        folder = None if since is None else kept_by(open_run(since).path)
        return run, how._replace(since=folder, remembers=True)
    if run is not None or since is not None:
        raise UsageError(f"--resume {resume}: it has its name, and what it was begun with; leave out --run and --since")
    name = os.path.basename(os.path.normpath(resume)).removeprefix("run=")
    return name, how._replace(since=left_by(out, name), remembers=True)


def _scan(engine: str, master: str | None, roots: Sequence[str], asked: "ScanRun") -> "tuple[Report, bool]":
    if engine == "local":
        from kcheck.cli.arrow import without_pandas
        from kcheck.fleet.local_engine import scan as scan_here

        without_pandas()
        return scan_here(roots, asked)
    from kcheck.fleet.spark.session import session, spark_version

    spark_version()
    from kcheck.fleet.spark.engine import scan as scan_by_spark

    return scan_by_spark(roots, asked, session(master))


def _now() -> int:
    return time.time_ns() // 1_000_000


def _name(now: int) -> str:
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now // 1000))}.{now % 1000:03}Z"
