"""`kcheck fleet`: checks all brokers at once."""

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kcheck.cli import fleet_report
from kcheck.cli.command import CommandGroup, RunnableCommand
from kcheck.cli.fleet_report import Metrics, StorageOption, can_be_written, measure, storage_options
from kcheck.cli.long_commands import Nice, ShowProgress, at_length, parse_jobs
from kcheck.cli.options import Common, DepthOption, with_common_of_fleet
from kcheck.cli.report_output import OutputOptions, end, formats, write_answer, written_line
from kcheck.errors import UsageError
from kcheck.model.evidence import AUTO
from kcheck.words import shell_line, shell_word

if TYPE_CHECKING:
    from kcheck.fleet.scan.identify import ScanOptions
    from kcheck.fleet.scan.local_engine import ScanRun
    from kcheck.model.report import Report

Roots = Annotated[
    list[str],
    typer.Argument(
        metavar="ROOT...",
        help="Layouts such as /mnt/{cluster}/{broker}/{log_dir}, folders, or .csv files with the column log_dir"
        " (cluster, broker, kafka).",
    ),
]
TimeLimit = Annotated[
    float, typer.Option("--time-limit", metavar="SECONDS", help="Stop reading a directory after this time.")
]
MinCoverage = Annotated[
    float,
    typer.Option(
        "--min-coverage", metavar="PERCENT", help="Write no run if fewer of the log dirs found can be listed."
    ),
]
RemoteStore = Annotated[
    str | None,
    typer.Option("--store", metavar="PLACE", help="The store of remote segments (a folder, a URL or a listing)."),
]
OwnersFile = Annotated[
    str | None,
    typer.Option("--owners", metavar="FILE", help="Teams by topic pattern, in a .csv, .tsv or .json file."),
]
SinceRun = Annotated[
    str | None,
    typer.Option("--since-run", metavar="RUN", help="Read only files that changed since RUN (made with --remember)."),
]
BrokerLogs = Annotated[
    list[str] | None,
    typer.Option(
        "--server-logs", metavar="LAYOUT", help="Logs of the brokers, such as '/logs/{cluster}/{broker}/server.log*'."
    ),
]
Resume = Annotated[
    str | None, typer.Option("--resume", metavar="ID", help="Continue a stopped run (made with --remember).")
]
ScanJobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        metavar="N",
        help="Number of processes, or of requests for URLs. [default: one per CPU]",
        show_default=False,
    ),
]
_ENGINES = ("local", "spark")
_FOR_SPARK = "kcheck.fleet.spark"

app: typer.Typer = typer.Typer(cls=CommandGroup, rich_markup_mode=None, add_completion=False, no_args_is_help=True)


@app.callback()
def fleet() -> None:
    """Scan all brokers into Parquet tables; report and compare the runs."""


@app.command("scan", cls=RunnableCommand)
@with_common_of_fleet
def scan(
    roots: Roots,
    common: Common,
    out: Annotated[
        str, typer.Option("--output-dir", metavar="DIR", help="Write the tables of the scan run below DIR.")
    ],
    logs: BrokerLogs = None,
    depth: DepthOption = "checkpoints",
    engine: Annotated[
        str, typer.Option("--engine", metavar="local|spark", help="Run the scan on this machine or with Spark.")
    ] = "local",
    master: Annotated[
        str | None, typer.Option("--master", metavar="URL", help="Spark master. [default: local[*]]")
    ] = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="ID", help="Name of the run. [default: the current time]")
    ] = None,
    time_limit: TimeLimit = 600,
    min_coverage: MinCoverage = 100,
    since: SinceRun = None,
    store: RemoteStore = None,
    owners: OwnersFile = None,
    resume: Resume = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Keep the state that --since-run and --resume need.")
    ] = False,
    prometheus: Metrics = None,
    jobs: ScanJobs = None,
    storage_option: StorageOption = None,
    nice: Nice = False,
    progress: ShowProgress = None,
) -> None:
    """Scan the log dirs of all brokers, and write Parquet tables."""
    from kcheck.disk.store import mounted
    from kcheck.fleet.lost import RULE as LOST
    from kcheck.fleet.scan.identify import ScanOptions
    from kcheck.fleet.scan.local_engine import ScanRun
    from kcheck.fleet.scan.owners import owner_rules
    from kcheck.fleet.scan.releases import ReleaseOptions
    from kcheck.model.depth import parse_depth

    level = parse_depth(depth)
    _check_output(common.output_options)
    _check_engine(engine, master, jobs, roots)
    _check_run(run, time_limit, min_coverage)
    can_be_written("--prometheus", prometheus)
    shown, fails = common.chosen()
    auto = ReleaseOptions(common.ibp, common.message_format) if common.kafka == AUTO else None
    how = ScanOptions(depth=level, wanted=common.wanted(), release=common.release(), auto=auto)
    options = storage_options(storage_option)
    jobs = None if jobs is None else parse_jobs(jobs)
    with mounted([*roots, *(logs or ()), out, since or "", store or "", owners or ""], options):
        if remember or since is not None or resume is not None:
            run, how = _remembering(how, out, run, since, resume)
        name = _name(_now()) if run is None else run
        with at_length(progress, nice=nice, quiet=common.output_options.quiet) as showing:
            scan_run = ScanRun(
                name, out, how, jobs=jobs, seconds=time_limit, now=_now, shown=shown, fails=fails, tell=showing.tell,
                options=options, logs=tuple(logs or ()), min_coverage=min_coverage,
                since=since, store=store, owners=owner_rules(owners), is_part=common.judging.ignores(LOST),
            )  # fmt: skip
            report, failed = _scan(engine, master, roots, scan_run)
        written = [str(report.body["path"]), *filter(None, [common.output_options.output])]
        if prometheus is not None:
            measure(written[0], shown, prometheus)
            written.append(prometheus)
    write_answer(report, common.output_options, last_line=written_line(" and ".join(written)))
    end(report, failed=failed)


for _name_of, _function in fleet_report.COMMANDS.items():
    app.command(_name_of, cls=RunnableCommand)(_function)


class _Submit(RunnableCommand):
    """Keeps the arguments after `--` for spark-submit."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Pass the options of scan on unchanged."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_FOR_SPARK] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@app.command(
    "submit", cls=_Submit, context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    options_metavar="[ROOT...] [SCAN OPTIONS] -- [SPARK OPTIONS]",
)  # fmt: skip
def submit(
    context: typer.Context,
    show: Annotated[bool, typer.Option("--print", help="Print the command; do not run it.")] = False,
) -> None:
    """Run a fleet scan on a Spark cluster with spark-submit."""
    from kcheck.fleet.spark.submit import run, submission

    # Refuse here what scan would refuse, before starting anything.
    command = typer.main.get_command(app)
    scan_command = command.commands["scan"]  # type: ignore[attr-defined]  # a group
    scan_context = scan_command.make_context("scan", [*context.args], parent=context.parent)
    if (scan_context.params["engine"], scan_context.params["master"]) != ("local", None):
        raise UsageError("--engine and --master are not for submit; write kcheck fleet submit ... -- --master URL")
    wanted = submission(context.args, context.meta[_FOR_SPARK], os.environ)
    if not show:
        run(wanted)
    assignments = (f"{name}={shell_word(value)}" for name, value in wanted.environment)
    print(*assignments, shell_line(wanted.command))


def _check_output(options: OutputOptions) -> None:
    """Raise UsageError for a format that a scan does not write, or for a file that cannot be written."""
    can_be_written("-o", options.output)
    if options.format != "text" and options.format not in formats(None):
        raise UsageError(f"--format {options.format}: the tables are Parquet; use {', '.join(formats(None))}")


def _check_engine(engine: str, master: str | None, jobs: int | None, roots: Sequence[str]) -> None:
    """Raise UsageError for an engine that is not known, or options of another one."""
    from kcheck.disk.paths import is_url
    from kcheck.fleet.scan.inventory import is_inventory

    if engine not in _ENGINES:
        raise UsageError(f"--engine {engine}: not one of {', '.join(_ENGINES)}")
    if engine != "spark" and master is not None:
        raise UsageError(f"--master {master} needs --engine spark")
    if engine == "spark" and jobs is not None and not any(is_url(root) or is_inventory(root) for root in roots):
        raise UsageError(f"--jobs {jobs}: not with --engine spark; use --master 'local[{jobs}]'")


def _check_run(run: str | None, time_limit: float, min_coverage: float) -> None:
    """Raise UsageError for a name of a run, or a limit, that no run can have."""
    if not time_limit > 0:
        raise UsageError(f"--time-limit {time_limit:g}: must be more than 0 seconds")
    if not 0 <= min_coverage <= 100:
        raise UsageError(f"--min-coverage {min_coverage:g}: must be from 0 to 100 percent")
    from kcheck.fleet.run import is_run_id

    if run is not None and not is_run_id(run):
        raise UsageError(f"--run {run}: use up to 64 letters, digits and ._-, the first a letter or digit")


def _remembering(
    how: "ScanOptions", out: str, run: str | None, since: str | None, resume: str | None
) -> "tuple[str | None, ScanOptions]":
    """Return the name of a run with --remember, and its options with the earlier run to build on."""
    from kcheck.fleet.run import open_run
    from kcheck.fleet.scan.remembered import kept_by, left_by

    if resume is None:
        folder = None if since is None else kept_by(open_run(since).path)
        return run, how._replace(since=folder, remembers=True)
    if run is not None or since is not None:
        raise UsageError(f"--resume {resume}: leave out --run and --since-run; the stopped run has both")
    name = os.path.basename(os.path.normpath(resume)).removeprefix("run=")
    return name, how._replace(since=left_by(out, name), remembers=True)


def _scan(engine: str, master: str | None, roots: Sequence[str], scan_run: "ScanRun") -> "tuple[Report, bool]":
    from kcheck.fleet.runs.by_cluster import needing_a_person
    from kcheck.fleet.runs.recover import decision_columns

    scan_run = scan_run._replace(decide=decision_columns, needed=needing_a_person)
    if engine == "local":
        from kcheck.cli.arrow import without_pandas
        from kcheck.fleet.scan.local_engine import scan as scan_here

        without_pandas()
        return scan_here(roots, scan_run)
    from kcheck.fleet.spark.session import session, spark_version

    spark_version()
    from kcheck.fleet.spark.engine import scan as scan_by_spark

    return scan_by_spark(roots, scan_run, session(master))


def _now() -> int:
    return time.time_ns() // 1_000_000


def _name(now: int) -> str:
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now // 1000))}.{now % 1000:03}Z"
