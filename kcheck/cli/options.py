"""The options that mean the same in every command, and how a report leaves."""

import functools
import importlib
import inspect
import io
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, NoReturn

import typer

from kcheck.core.releases import NEWEST_TESTED, release, with_profile
from kcheck.errors import UsageError
from kcheck.model.finding import Severity, parse_severity
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS
from kcheck.model.release import Release
from kcheck.model.report import Report, Wanted
from kcheck.registry import plug_names
from kcheck.renderers._printable import printable

if TYPE_CHECKING:
    from kcheck.renderers._contract import Renderer

Paths = Annotated[list[str], typer.Argument(metavar="PATH...", help="Files, partition directories, log dirs.")]
Replicas = Annotated[list[str], typer.Argument(metavar="BROKER=PATH...", help="A replica of each broker.")]
Profile = Annotated[str | None, typer.Option("--profile", metavar="P0..P5", help="Force a truncation profile.")]


Chosen = Callable[[str, Severity], bool]
"""Tells by the id of its rule and by its severity whether a finding is meant."""


class Leaving(NamedTuple):
    """How a report leaves."""

    format: str
    output: str | None
    no_color: bool
    quiet: bool


class Judging(NamedTuple):
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
    judging: Judging
    leaving: Leaving

    def release(self, profile: str | None = None) -> Release:
        """Return the Kafka whose behaviour is meant."""
        chosen = release(self.kafka, ibp=self.ibp, message_format=self.message_format)
        return with_profile(chosen, profile) if profile else chosen

    def wanted(self) -> Wanted:
        """Return which partitions are meant."""
        return Wanted(topics=tuple(self.topic or ()), partitions=tuple(self.partition or ()))

    def chosen(self) -> tuple[Chosen, Chosen]:
        """Return which findings are shown, and which end in exit code 1."""
        return self.judging.chosen()

    def leave(self, report: Report, tell: Callable[[], None] = lambda: None) -> None:
        """Write the report and end the command with its exit code."""
        shown, fails = self.chosen()
        leave(report._replace(keep=lambda finding: shown(finding.id, finding.severity)), self.leaving, tell)
        end(report, failed=any(fails(finding.id, finding.severity) for finding in report.collected))


def end(report: Report, *, failed: bool) -> NoReturn:
    """End a command with its exit code."""
    raise typer.Exit(130 if report.interrupted else 3 if report.unfinished else 1 if failed else 0)


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
        _renderer(leaving)  # What makes no sense is told before anything is read.
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
) -> Judging:
    judging = Judging(select=select, ignore=ignore, severity=severity, fail_on=fail_on)
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
    judging = _judging(**{name: others.pop(name) for name in Judging._fields})
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
    """Give a command the options of `Judging`; it gets them as its argument `judging`."""
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


def leave(
    report: Report,
    how: Leaving,
    tell: Callable[[], None] = lambda: None,
    written: str | None = None,
    changed: str | None = None,
) -> None:
    """Write a report to stdout or a file, which must not stand inside of what was checked, and the last line.

    `tell` says on stderr, before that line, what the answer has no place for. `written` is what the command wrote,
    `changed` a line that says what it changed.
    """
    write(report, how)
    if not how.quiet:
        tell()
        last_line(written, changed)


def rate(size: int, seconds: float) -> None:
    """Say on stderr how much was read, and how fast."""
    speed = size / max(seconds, 1e-9) / (1 << 20)
    print(f"{size} bytes checked in {seconds:.1f} s, {speed:.{0 if speed >= 10 else 1}f} MiB/s", file=sys.stderr)


def last_line(written: str | None = None, changed: str | None = None) -> None:
    """Say on stderr what was written, as every command does at its end."""
    line = "No files were changed." if written is None else f"Written: {printable(written)}"
    print(changed or line, file=sys.stderr)


def changed_line(count: int, backup: str) -> str:
    """Return the last line of a command that changed files."""
    import shlex  # only where something was changed

    files = "1 file" if count == 1 else f"{count} files"
    return f"Changed {files}; undo with: kcheck undo {printable(shlex.quote(backup))}"


def _renderer(how: Leaving) -> "Renderer":
    """Return the renderer; UsageError where there is none, or where it needs a file."""
    from kcheck.renderers._contract import Renderer

    # Only the chosen renderer is imported: the one for text costs as much as all the rest of a start.
    known = plug_names("kcheck.renderers")
    if how.format not in known:
        raise UsageError(f"--format {how.format} is not known; known are {', '.join(known)}")
    renderer = importlib.import_module(f"kcheck.renderers.{how.format}").RENDERER
    assert isinstance(renderer, Renderer)
    if renderer.binary and how.output is None:
        raise UsageError(f"--format {how.format} needs -o FILE")
    return renderer


def can_leave(report: Report, how: Leaving) -> "Renderer":
    """Return the renderer; UsageError if the report cannot leave like this."""
    renderer = _renderer(how)
    if renderer.one_table and report.table is None:
        raise UsageError(f"--format {how.format}: the answer of {report.verb} is not one table; use json or ndjson")
    if renderer.verbs and report.verb not in renderer.verbs:
        raise UsageError(f"--format {how.format} is for {', '.join(renderer.verbs)} alone, not for {report.verb}")
    if how.output is not None:
        keep_outside(report, how.output)
    return renderer


def write(report: Report, how: Leaving) -> None:
    """Write a report to stdout or a file; UsageError where that is not possible."""
    from kcheck.disk.output import replacing
    from kcheck.renderers._contract import Options

    renderer = can_leave(report, how)
    if renderer.name == "parquet":
        from kcheck.cli.arrow import without_pandas

        without_pandas()
    if how.output is None:
        color = sys.stdout.isatty() and not how.no_color and not os.environ.get("NO_COLOR")
        try:
            renderer.render(report, sys.stdout, Options(width=_width(), color=color))
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has seen enough; Python must not complain about it when it flushes at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return
    try:
        with replacing(how.output) if renderer.whole else open(how.output, "wb") as stream:
            if renderer.binary:
                renderer.render(report, stream, Options())
            else:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
                renderer.render(report, text, Options())
                text.detach()  # the file is closed by what opened it
    except OSError as error:
        raise UsageError(f"-o {how.output}: {error.strerror}") from error


def keep_outside(report: Report, file: str) -> None:
    """UsageError where a file would be written into what was checked."""
    target = os.path.realpath(file)
    for path in itertools.chain.from_iterable(map(_looked_at, report.checked)):
        if target == os.path.realpath(path) or target.startswith(os.path.realpath(path) + os.sep):
            raise UsageError(f"-o {file} stands inside of {path}, where kcheck writes nothing")


def _looked_at(path: str) -> Iterator[str]:
    """Yield what was looked at for a path: a bare file without its options, the log dir around a partition."""
    yield path
    while not os.path.lexists(path) and "," in path:
        path = path.rpartition(",")[0]
        yield path
    around = os.path.dirname(os.path.realpath(path))
    if any(os.path.lexists(os.path.join(around, name)) for name in (*OFFSET_CHECKPOINTS, META_PROPERTIES)):
        yield around


def _width() -> int:
    """Return the columns of the terminal, 80 on a pipe unless COLUMNS says otherwise."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


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
