"""The options of a command that reads much: by how many processes, which span of time, behind whom, what is shown."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from kcheck.errors import UsageError

if TYPE_CHECKING:
    from kcheck.cli.progress import TerminalProgress

_JOBS_MAX = 256

Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Read segments by so many processes.")]
Since = Annotated[
    str | None, typer.Option("--since", metavar="TIME", help="Only segments with a timestamp from TIME on.")
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only segments that begin at TIME or before.")
]
Nice = Annotated[bool, typer.Option("--nice", help="Leave CPU and disk to others.")]
ShowProgress = Annotated[
    bool | None,
    typer.Option("--progress/--no-progress", help="Show how far it is, on a terminal.", show_default=False),
]


def parse_jobs(jobs: int) -> int:
    """Return a number of processes; UsageError if it makes no sense."""
    if not 1 <= jobs <= _JOBS_MAX:
        raise UsageError(f"--jobs {jobs}: a number from 1 to {_JOBS_MAX} is needed")
    return jobs


def parse_span(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Return both ends in ms since 1970; UsageError if one is no time, or if nothing lies between them."""
    begin = None if since is None else _parse_time("--since", since)
    end = None if until is None else _parse_time("--until", until)
    if begin is not None and end is not None and begin > end:
        raise UsageError(f"--since {since} is later than --until {until}")
    return begin, end


def _parse_time(option: str, text: str) -> int:
    """Return ISO 8601, in UTC where it names no zone, or ms since 1970, as the latter."""
    from datetime import UTC, datetime, timedelta  # only where a time is given

    try:
        if text.isascii() and text.isdigit():
            return int(text)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option} {text} is no time: 2025-06-30, 2025-06-30T12:00, 2025-06-30T12:00:00+02:00, 1751284800000"
        ) from None
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return (found - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@contextlib.contextmanager
def at_length(progress: bool | None, *, nice: bool, quiet: bool) -> Iterator["TerminalProgress"]:
    """Give what shows the progress, at the priority that is wanted; SIGTERM ends all that was begun inside."""
    from kcheck.cli.progress import TerminalProgress

    if nice:
        _lower(quiet=quiet)
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        with TerminalProgress(progress, quiet=quiet) as shown:
            yield shown
    finally:
        signal.signal(signal.SIGTERM, before)


def _lower(*, quiet: bool) -> None:
    from kcheck.cli.priority import lower

    left = lower()
    if left is not None and not quiet:
        print(f"kcheck: {left}", file=sys.stderr)


def _terminate(number: int, frame: object) -> NoReturn:
    del frame
    sys.exit(128 + number)
