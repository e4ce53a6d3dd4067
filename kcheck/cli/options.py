"""The options that all commands share."""

import functools
import inspect
import sys
from collections.abc import Callable, Iterable
from typing import Annotated, Any, NamedTuple

import typer

from kcheck.api import release
from kcheck.cli.renamed import IGNORED
from kcheck.cli.report_output import COLORS, OutputOptions, end, formats, renderer_of, write_answer
from kcheck.cli.settings import source_of
from kcheck.errors import UsageError
from kcheck.model.evidence import AUTO
from kcheck.model.finding import Chosen, Severity, parse_severity
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.registry import plug_names
from kcheck.screen.printable import printable

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Log dirs, partition directories, a server.properties, a bundle; BROKER=PATH for several brokers.",
    ),
]
ReplicaArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="BROKER=PATH...", help="One replica per broker: a log dir, a partition directory or a file."
    ),
]
BrokerArguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="BROKER=PATH...", help="Log dirs or bundles, each with the id of its broker, or one folder with all."
    ),
]
Metadata = Annotated[
    list[str] | None,
    typer.Option(
        "--metadata",
        metavar="PATH",
        help="Cluster metadata: a controller's log dir, a KRaft snapshot, or ZooKeeper's data directory; repeatable.",
    ),
]
DepthOption = Annotated[
    str,
    typer.Option(
        "--depth",
        metavar="checkpoints|headers|crc|records",
        help="Read small files, batch headers, every byte, or every record.",
    ),
]
ProfileOption = Annotated[
    str | None, typer.Option("--profile", metavar="P0..P5", help="Force a truncation profile.", hidden=True)
]


Color = Annotated[
    str | None,
    typer.Option("--color", metavar="auto|always|never", help="Color of text. [default: auto]"),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print only errors on stderr.")]
TopicOption = Annotated[
    list[str] | None, typer.Option("--topic", metavar="GLOB", help="Only topics that match; repeatable.")
]
PartitionOption = Annotated[
    list[str] | None, typer.Option("--partition", metavar="N|TOPIC-N", help="Only this partition; repeatable.")
]
IbpOption = Annotated[
    str | None,
    typer.Option(
        "--ibp",
        metavar="RELEASE",
        help="inter.broker.protocol.version or metadata.version, if lower than the release.",
    ),
]


class FindingFilter(NamedTuple):
    """The options that choose findings, as given."""

    select: list[str] | None
    ignore: list[str] | None
    severity: str | None
    fail_on: str

    def chosen(self) -> tuple[Chosen, Chosen]:
        """Return which findings to show, and which ones set exit code 1."""
        fail_on = parse_severity(self.fail_on, "--fail-on")
        least = parse_severity(self.severity or Severity.INFO, "--severity")
        selected, ignored = _ids("--select", self.select), _ids("--ignore", self.ignore)

        def counts(rule: str) -> bool:
            return (not selected or rule.startswith(selected)) and not (ignored and rule.startswith(ignored))

        return (
            lambda rule, severity: counts(rule) and severity.rank >= least.rank,
            lambda rule, severity: counts(rule) and severity.rank >= fail_on.rank,
        )

    def ignores(self, rule: str) -> bool:
        """Return whether --ignore names a rule. --select and --severity only choose the shown findings."""
        return rule.startswith(_ids("--ignore", self.ignore))


class Common(NamedTuple):
    """The options of every command that takes paths, as given."""

    topic: list[str] | None
    partition: list[str] | None
    kafka: str
    ibp: str | None
    message_format: str | None
    judging: FindingFilter
    output_options: OutputOptions
    config: str | None = None
    log: str | None = None

    def release(self, paths: Iterable[str] = (), profile: str | None = None) -> Release:
        """Return the Kafka release to model; warn if the files in `paths` contradict it."""
        chosen = release(
            self.kafka, paths=paths, ibp=self.ibp, message_format=self.message_format, profile=profile,
            config=self.config, log=self.log,
        )  # fmt: skip
        said = chosen.evidence
        if said is not None and said.given:
            said = said._replace(given_by=source_of("kafka"))
            chosen = chosen._replace(evidence=said)
        if said is not None and said.contradicted and not self.output_options.quiet:
            between = said.lowest if said.lowest == said.highest else f"{said.lowest} to {said.highest}"
            warning = (
                f"{said.given_by or '--kafka'} {self.kafka}, but the files are of Kafka {between} ({said.sources})"
            )
            print(f"kcheck: {printable(warning)}", file=sys.stderr)
        return chosen

    def wanted(self) -> PartitionFilter:
        """Return which partitions to read."""
        return PartitionFilter(topics=tuple(self.topic or ()), partitions=tuple(self.partition or ()))

    def chosen(self) -> tuple[Chosen, Chosen]:
        """Return which findings to show, and which ones set exit code 1."""
        return self.judging.chosen()

    def write_answer(
        self, report: Report, tell: Callable[[], None] = lambda: None, *, failed: Callable[[], bool] = lambda: False
    ) -> None:
        """Write the report and end the command with its exit code; `failed` is asked after the report was written."""
        shown, fails = self.chosen()
        write_answer(
            report._replace(keep=lambda finding: shown(finding.id, finding.severity)), self.output_options, tell
        )
        end(report, failed=any(fails(finding.id, finding.severity) for finding in report.collected) or failed())

    def write_whole(self, report: Report, *, failed: Callable[[], bool]) -> None:
        """Write a complete report, even after ^C."""
        from kcheck.disk.signals import held_back

        with held_back():
            try:
                self.write_answer(report, failed=failed)
            finally:
                sys.stdout.flush()


class Formats:
    """The formats of a verb, as `--help` shows them: only help imports every renderer."""

    def __init__(self, verb: str | None) -> None:
        """Take the verb of the report; None for a summary, which is no table."""
        self.verb = verb

    def __str__(self) -> str:
        """Return the names, with a bar between."""
        return "|".join(formats(self.verb))


def format_option(verb: str | None, words: str = "Output format.") -> Any:
    """Return the option `--format` of a command whose report is of this verb."""
    names: Any = Formats(verb)  # typer formats it when it writes the help
    return Annotated[str, typer.Option("--format", metavar=names, help=words)]


def parse_color(color: str | None) -> str | None:
    """Return the value of --color; UsageError if it is unknown."""
    if color not in (None, *COLORS):
        raise UsageError(f"--color {color}: not one of {', '.join(COLORS)}")
    return color


_LEFT_OUT = {"preflight": {"config"}}
"""Options of all other commands for log dirs. This command has the server.properties as argument."""
_VERBS = {
    "apply": "plan", "diff": "fleet-diff", "list_histories": None, "overview": "check", "prune": "fleet-prune",
    "publish": "fleet-publish", "repair": "plan", "report": None, "run": "simulate", "scan": None, "search": None,
    "trend": "fleet-history", "undo": "plan", "write": "simulate",
}  # fmt: skip
"""The verbs of reports that differ from the names of the commands; None if the report is only a summary."""


def _output_options(
    format: Annotated[str, typer.Option("--format")] = "text",
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the output to FILE.")
    ] = None,
    color: Color = None,
    quiet: Quiet = False,
) -> OutputOptions:
    output_options = OutputOptions(format=format, output=output, color=parse_color(color), quiet=quiet)
    if format != "text":
        renderer_of(output_options)  # Refuse a bad value before reading anything.
    return output_options


def _judging(
    select: Annotated[
        list[str] | None,
        typer.Option("--select", metavar="IDS", help="Only findings of these rules, such as KC201,KC3; repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", metavar="IDS", help="No findings of these rules; repeatable.")
    ] = None,
    severity: Annotated[
        str | None,
        typer.Option(
            "--severity",
            metavar="LEVEL",
            help="Lowest severity to show: info, warning, error or fatal. [default: info; text only counts info]",
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option("--fail-on", metavar="LEVEL", help="Exit 1 at this severity or higher.")
    ] = "error",
) -> FindingFilter:
    judging = FindingFilter(select=select, ignore=ignore, severity=severity, fail_on=fail_on)
    judging.chosen()  # Refuse a bad value before reading anything.
    return judging


def _common(
    topic: TopicOption = None,
    partition: PartitionOption = None,
    every: Annotated[
        bool, typer.Option("--all", help="Show every finding and partition; without it, text shows the worst of many.")
    ] = False,
    kafka: Annotated[
        str,
        typer.Option(
            "--kafka",
            metavar="RELEASE",
            help="Kafka release, such as 3.6. [default: detected from the files]",
            show_default=False,
        ),
    ] = AUTO,
    ibp: IbpOption = None,
    message_format: Annotated[
        str | None,
        typer.Option(
            "--message-format", metavar="RELEASE", help="log.message.format.version, if lower than the release."
        ),
    ] = None,
    **others: Any,
) -> Common:
    judging = _judging(**{name: others.pop(name) for name in FindingFilter._fields if name in others})
    infos = every or judging.severity is not None or judging.select is not None
    return Common(
        topic=topic, partition=partition, kafka=kafka, ibp=ibp, message_format=message_format, judging=judging,
        output_options=_output_options(**others)._replace(every=every, infos=infos),
    )  # fmt: skip


def _common_of_broker(
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="server.properties of the broker.")
    ] = None,
    server_log: Annotated[
        str | None,
        typer.Option("--server-log", metavar="FILE", help="server.log of the broker, to detect the release from."),
    ] = None,
    **others: Any,
) -> Common:
    return _common(**others)._replace(config=config, log=server_log)


def with_output_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `OutputOptions` to a command, as its argument `output_options`."""
    return _with(command, "output_options", _output_options, _options(_output_options))


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `Common` to a command, as its argument `common`; it looks at each log dir once."""

    @functools.wraps(command)
    def looking_once(**given: Any) -> None:
        from kcheck.disk.kept import one_look

        with one_look():
            command(**given)

    left_out = {option[2:].replace("-", "_") for option in IGNORED.get(command.__name__.replace("_", "-"), ())}
    left_out |= _LEFT_OUT.get(command.__name__, set())
    offered = {**_COMMON, **_options(_common_of_broker)}
    added = {name: part for name, part in offered.items() if name not in left_out}
    return _with(looking_once, "common", _common_of_broker, added)


def with_common_of_fleet(command: Callable[..., None]) -> Callable[..., None]:
    """Add them without the files that one broker has."""
    return _with(command, "common", _common, _COMMON)


def with_judging(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of `FindingFilter` to a command, as its argument `judging`."""
    return _with(command, "judging", _judging, _options(_judging))


def _options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: part for name, part in parameters.items() if part.kind is not part.VAR_KEYWORD}


def _with(
    command: Callable[..., None], name: str, build: Callable[..., Any], added: dict[str, inspect.Parameter]
) -> Callable[..., None]:
    """Return `command` with its argument `name` replaced by the options `added`, as typer reads them."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(**{name: build(**{option: given.pop(option) for option in added})}, **given)

    if "format" in added:
        option = format_option(_VERBS.get(command.__name__, command.__name__.replace("_", "-")))
        added = {**added, "format": added["format"].replace(annotation=option)}
    own = [part for part in inspect.signature(command).parameters.values() if part.name != name]
    parameters = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in (*own, *added.values())]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect reads it
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run


_COMMON = {**_options(_common), **_options(_judging), **_options(_output_options)}


def within(option: str, value: int | None, least: int, most: int) -> None:
    """Raise UsageError if a number is outside the range that Kafka allows."""
    if value is not None and not least <= value <= most:
        raise UsageError(f"{option} {value}: must be from {least} to {most}")


def _ids(option: str, values: list[str] | None) -> tuple[str, ...]:
    """Return prefixes of rule ids; UsageError if no rule matches one."""
    prefixes = tuple(part.strip().upper() for value in values or () for part in value.split(",") if part.strip())
    known = ("KC000", *(name.partition("_")[0].upper() for name in plug_names("kcheck.rules"))) if prefixes else ()
    for prefix in prefixes:
        if not any(rule.startswith(prefix) for rule in known):
            raise UsageError(f"{option} {prefix}: no such rule; kcheck rules lists all")
    return prefixes
