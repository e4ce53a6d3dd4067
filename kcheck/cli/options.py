"""The options that mean the same in every command."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

from kcheck.api import release
from kcheck.cli.leaving import Leaving, end, leave, renderer_of
from kcheck.core.releases import NEWEST_TESTED
from kcheck.errors import UsageError
from kcheck.model.finding import Chosen, parse_severity
from kcheck.model.release import Release
from kcheck.model.report import PartitionFilter, Report
from kcheck.registry import plug_names

Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, partition directories, log dirs.")]
Replicas = Annotated[list[str], typer.Argument(metavar="BROKER=PATH...", help="A replica of each broker.")]
Profile = Annotated[str | None, typer.Option("--profile", metavar="P0..P5", help="Force a truncation profile.")]


class FindingFilter(NamedTuple):
    """Which findings are meant, as it was given."""

    select: list[str] | None
    ignore: list[str] | None
    severity: str
    fail_on: str

    def chosen(self) -> tuple[Chosen, Chosen]:
        """Return which findings are shown, and which end in exit code 1."""
        fail_on, least = parse_severity(self.fail_on), parse_severity(self.severity)
        selected, ignored = _ids("--select", self.select), _ids("--ignore", self.ignore)

        def counts(rule: str) -> bool:
            return (not selected or rule.startswith(selected)) and not (ignored and rule.startswith(ignored))

        return (
            lambda rule, severity: counts(rule) and severity.rank >= least.rank,
            lambda rule, severity: counts(rule) and severity.rank >= fail_on.rank,
        )


class Common(NamedTuple):
    """The options that every command over paths has, as they were given."""

    topic: list[str] | None
    partition: list[str] | None
    kafka: str
    ibp: str | None
    message_format: str | None
    judging: FindingFilter
    leaving: Leaving

    def release(self, profile: str | None = None) -> Release:
        """Return the Kafka whose behaviour is meant."""
        return release(self.kafka, ibp=self.ibp, message_format=self.message_format, profile=profile)

    def wanted(self) -> PartitionFilter:
        """Return which partitions are meant."""
        return PartitionFilter(topics=tuple(self.topic or ()), partitions=tuple(self.partition or ()))

    def chosen(self) -> tuple[Chosen, Chosen]:
        """Return which findings are shown, and which end in exit code 1."""
        return self.judging.chosen()

    def leave(self, report: Report, tell: Callable[[], None] = lambda: None) -> None:
        """Write the report and end the command with its exit code."""
        shown, fails = self.chosen()
        leave(report._replace(keep=lambda finding: shown(finding.id, finding.severity)), self.leaving, tell)
        end(report, failed=any(fails(finding.id, finding.severity) for finding in report.collected))


def _leaving(
    format: Annotated[
        str, typer.Option("--format", metavar="text|json|ndjson|csv|parquet", help="How the answer is written.")
    ] = "text",
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the answer to FILE.")
    ] = None,
    no_color: Annotated[bool, typer.Option("--no-color", help="No colour; as NO_COLOR in the environment.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Nothing on stderr but errors.")] = False,
) -> Leaving:
    leaving = Leaving(format=format, output=output, no_color=no_color, quiet=quiet)
    if format != "text":
        renderer_of(leaving)  # What makes no sense is told before anything is read.
    return leaving


def _judging(
    select: Annotated[
        list[str] | None, typer.Option("--select", metavar="IDS", help="Only these rules: KC201,KC3.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="IDS", help="Not these rules.")] = None,
    severity: Annotated[
        str, typer.Option("--severity", metavar="LEVEL", help="Show findings from this level up.")
    ] = "info",
    fail_on: Annotated[
        str, typer.Option("--fail-on", metavar="LEVEL", help="Exit 1 on findings from this level up.")
    ] = "error",
) -> FindingFilter:
    judging = FindingFilter(select=select, ignore=ignore, severity=severity, fail_on=fail_on)
    judging.chosen()  # What makes no sense is told before anything is read.
    return judging


def _common(
    topic: Annotated[list[str] | None, typer.Option("--topic", metavar="GLOB", help="Only topics like this.")] = None,
    partition: Annotated[
        list[str] | None, typer.Option("--partition", metavar="N|TOPIC-N", help="Only this partition; repeatable.")
    ] = None,
    kafka: Annotated[
        str, typer.Option("--kafka", metavar="VERSION", help="The Kafka whose behaviour is meant.")
    ] = NEWEST_TESTED,
    ibp: Annotated[
        str | None, typer.Option("--ibp", metavar="VERSION", help="Its protocol or metadata version, if older.")
    ] = None,
    message_format: Annotated[
        str | None, typer.Option("--message-format", metavar="VERSION", help="Its message format, if older.")
    ] = None,
    **others: Any,
) -> Common:
    judging = _judging(**{name: others.pop(name) for name in FindingFilter._fields})
    return Common(
        topic=topic, partition=partition, kafka=kafka, ibp=ibp, message_format=message_format, judging=judging,
        leaving=_leaving(**others),
    )  # fmt: skip


def with_leaving(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Leaving`; it gets them as its argument `leaving`."""
    return _with(command, "leaving", _leaving, _options(_leaving))


def with_common(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `Common`; it gets them as its argument `common`."""
    return _with(command, "common", _common, {**_options(_common), **_options(_judging), **_options(_leaving)})


def with_judging(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `FindingFilter`; it gets them as its argument `judging`."""
    return _with(command, "judging", _judging, _options(_judging))


def _options(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(function).parameters
    return {name: part for name, part in parameters.items() if part.kind is not part.VAR_KEYWORD}


def _with(
    command: Callable[..., None], name: str, build: Callable[..., Any], added: dict[str, inspect.Parameter]
) -> Callable[..., None]:
    """Return `command` with the options `added` in the place of its argument `name`, for typer to read."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        command(**{name: build(**{option: given.pop(option) for option in added})}, **given)

    own = [part for part in inspect.signature(command).parameters.values() if part.name != name]
    parameters = [part.replace(kind=inspect.Parameter.KEYWORD_ONLY) for part in (*own, *added.values())]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # inspect reads it
    run.__annotations__ = {part.name: part.annotation for part in parameters}
    return run


def within(option: str, value: int | None, least: int, most: int) -> None:
    """UsageError where a number that was given is not one that Kafka could have there."""
    if value is not None and not least <= value <= most:
        raise UsageError(f"{option} {value}: a number from {least} to {most} is needed")


def _ids(option: str, values: list[str] | None) -> tuple[str, ...]:
    """Return how the ids begin that are meant; UsageError where no rule has such a one."""
    found = tuple(part.strip().upper() for value in values or () for part in value.split(",") if part.strip())
    known = ("KC000", *(name.partition("_")[0].upper() for name in plug_names("kcheck.rules"))) if found else ()
    for begin in found:
        if not any(each.startswith(begin) for each in known):
            raise UsageError(f"{option} {begin}: no rule has such an id; kcheck rules lists them")
    return found
