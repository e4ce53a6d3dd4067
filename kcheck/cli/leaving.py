"""How a report leaves: by which renderer, onto which stream, with which last line and exit code."""

import importlib
import io
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import typer

from kcheck.errors import UsageError
from kcheck.model.java import java_int
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS
from kcheck.model.report import Report
from kcheck.registry import plug_names
from kcheck.renderers._printable import printable

if TYPE_CHECKING:
    from kcheck.renderers._contract import Renderer


class Leaving(NamedTuple):
    """How a report leaves."""

    format: str
    output: str | None
    no_color: bool
    quiet: bool


def end(report: Report, *, failed: bool) -> NoReturn:
    """End a command with its exit code."""
    raise typer.Exit(130 if report.interrupted else 3 if report.unfinished else 1 if failed else 0)


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


def last_line(written: str | None = None, changed: str | None = None) -> None:
    """Say on stderr what was written, as every command does at its end."""
    line = "No files were changed." if written is None else f"Written: {printable(written)}"
    print(changed or line, file=sys.stderr)


def changed_line(count: int, backup: str) -> str:
    """Return the last line of a command that changed files."""
    import shlex  # only where something was changed

    files = "1 file" if count == 1 else f"{count} files"
    return f"Changed {files}; undo with: kcheck undo {printable(shlex.quote(backup))}"


def renderer_of(how: Leaving) -> "Renderer":
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
    renderer = renderer_of(how)
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
    columns = java_int(os.environ.get("COLUMNS", ""))
    if columns is not None and columns > 0:
        return columns
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
