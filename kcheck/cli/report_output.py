"""Writes a report. Chooses the renderer and the stream, prints the written path, sets the exit code."""

import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TextIO

import typer

from kcheck.errors import ApplyError, UndoError, UsageError
from kcheck.model.java import java_int
from kcheck.model.report import CommandLine, Report
from kcheck.registry import plug, plug_names
from kcheck.screen.options import UNWRAPPED
from kcheck.screen.printable import printable
from kcheck.words import agree, counted, shell_word

if TYPE_CHECKING:
    from kcheck.renderers import Renderer


COLORS = ("auto", "always", "never")
"""The values of --color."""
UNCHANGED = "No files were changed."
"""The last line of a command that could have changed files."""


class OutputOptions(NamedTuple):
    """The output options, as given."""

    format: str
    output: str | None
    color: str | None
    """`auto`, `always` or `never`; None if the user has not said it."""
    quiet: bool
    every: bool = False
    infos: bool = True
    option: str = "-o"
    """The option that names `output`."""


def end(report: Report, *, failed: bool) -> NoReturn:
    """End the command: 130 after ^C, 3 if something was not read, 1 if `failed`, else 0."""
    raise typer.Exit(130 if report.interrupted else 3 if report.unfinished else 1 if failed else 0)


def write_answer(
    report: Report,
    options: OutputOptions,
    tell: Callable[[], None] = lambda: None,
    last_line: str | None = None,
) -> None:
    """Write a report to stdout or to a file outside the checked paths.

    `tell` and the last line print to stderr.
    """
    closed = None
    try:
        write(report, options)
    except typer.Exit as error:
        if last_line is None:
            raise
        closed = error  # Nobody reads stdout, but what was changed is for stderr.
    if not options.quiet:
        if options.format == "concise":
            print(_counts(report), file=sys.stderr)
        tell()
        if last_line or options.output:
            print(last_line or written_line(options.output or ""), file=sys.stderr)
    if closed is not None:
        raise closed


def _counts(report: Report) -> str:
    """Return how many findings of each severity there are, worst first."""
    counts = {name: count for name, count in reversed(report.summary().items()) if count}
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "no findings"


def written_line(path: str) -> str:
    """Return the last line of a command that wrote files outside the checked paths."""
    return f"Written: {printable(path)}"


def changed_line(count: int, backup: str) -> str:
    """Return the last line of a command that changed files."""
    if not count:
        return UNCHANGED
    return f"Changed {counted(count, 'file')}; undo with: {_undo(backup)}"


def restored_line(count: int, left: int, backup: str) -> str:
    """Return the last line of a command that restored `count` files, and `left` others not yet."""
    if not count:
        return UNCHANGED
    if left:
        return f"Changed {count} of {count + left} files back; continue with: {_undo(backup)}"
    return f"Changed {counted(count, 'file')} back to what {agree(count, 'it was', 'they were')}."


def _undo(backup: str) -> str:
    return f"kcheck undo {shell_word(backup)}"


class _Done:
    """The command line, and what the command has done to files, whatever happens to its answer."""

    line = UNCHANGED
    typed: CommandLine | None = None


def remember_command(typed: CommandLine) -> None:
    """Keep the command line, as the next command repeats parts of it."""
    _Done.typed = typed


def typed_command() -> CommandLine:
    """Return the command line."""
    return _Done.typed or CommandLine()


def remember(line: str) -> None:
    """Keep the last line of a command for the case that its answer cannot be written."""
    _Done.line = line


def failed_line(error: BaseException) -> str:
    """Return the last line of a command that could have changed files and failed."""
    if isinstance(error, UndoError):
        return restored_line(error.restored, error.changed, error.backup)
    return changed_line(error.changed, error.backup) if isinstance(error, ApplyError) else _Done.line


def renderer_of(options: OutputOptions) -> "Renderer":
    """Return the renderer; UsageError if the format is unknown or needs `-o FILE`."""
    # Import the chosen renderer only: the text renderer doubles start-up time.
    known = plug_names("kcheck.renderers")
    if options.format not in known:
        some = [name for name in known if not plug("kcheck.renderers", name, "RENDERER").verbs]
        raise UsageError(f"--format {options.format}: not one of {', '.join(some)}")
    renderer: Renderer = plug("kcheck.renderers", options.format, "RENDERER")
    if renderer.binary and options.output is None:
        raise UsageError(f"--format {options.format} needs -o FILE")
    return renderer


def formats(verb: str | None) -> tuple[str, ...]:
    """Return the formats of a verb's report, general ones first; None means a summary, which is no table."""
    renderers: list[Renderer] = [plug("kcheck.renderers", name, "RENDERER") for name in plug_names("kcheck.renderers")]
    fit = [one for one in renderers if (verb in one.verbs if one.verbs else verb is not None or not one.one_table)]
    fit.sort(key=lambda one: (one.verbs != (), one.one_table, one.name != "text", one.name))
    return tuple(one.name for one in fit)


def checked_renderer(report: Report, options: OutputOptions) -> "Renderer":
    """Return the renderer; UsageError for a report that the renderer cannot write."""
    renderer = renderer_of(options)
    if renderer.one_table and report.table is None:
        raise UsageError(f"--format {options.format}: kcheck {report.verb} has more than one table; use json or ndjson")
    if renderer.verbs and report.verb not in renderer.verbs:
        words = f"--format {options.format} works with {', '.join(renderer.verbs)} only, not with {report.verb}"
        raise UsageError(words.replace("fleet-history", "fleet trend").replace("fleet-", "fleet "))
    if options.output is not None:
        from kcheck.disk.output import keep_outside  # only for a file

        keep_outside(report.checked, options.output, option=options.option)
    return renderer


def write(report: Report, options: OutputOptions) -> None:
    """Write a report to stdout or a file; UsageError if that fails."""
    from kcheck.disk.output import replacing
    from kcheck.renderers import Options

    renderer, report = checked_renderer(report, options), report._replace(typed=_Done.typed)
    if renderer.name == "parquet":
        from kcheck.cli.arrow import without_pandas

        without_pandas()
    if options.output is None:
        layout = Options(width_of(sys.stdout), has_color(options.color), options.every, options.infos)
        try:
            renderer.render(report, sys.stdout, layout)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader closed the pipe; keep Python's flush at exit from failing.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        return
    try:
        with replacing(options.output) as stream:
            if renderer.binary:
                renderer.render(report, stream, Options())
            else:
                text = io.TextIOWrapper(stream, encoding="utf-8", errors="backslashreplace", newline="")
                renderer.render(report, text, Options(width_of(None), every=options.every, infos=options.infos))
                text.detach()  # `with` closes the file
    except OSError as error:
        raise UsageError(f"{options.option} {options.output}: {error.strerror}") from error


def has_color(chosen: str | None) -> bool:
    """Return whether text on stdout has color, by the option, then the environment, then the terminal."""
    if chosen in ("always", "never"):
        return chosen == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and sys.stdout.isatty()


def width_of(stream: TextIO | None) -> int:
    """Return the width in the environment, or of a terminal; text in a pipe or a file is not wrapped."""
    for name in ("KCHECK_WIDTH", "COLUMNS"):
        columns = java_int(os.environ.get(name, ""))
        if columns is not None and columns > 0:
            return columns
    if stream is None:
        return UNWRAPPED
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return UNWRAPPED
