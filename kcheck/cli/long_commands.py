"""The options of long-running commands (worker processes, time span, priority, progress)."""

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

Jobs = Annotated[int, typer.Option("--jobs", metavar="N", help="Number of worker processes.")]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="Only segments with records from TIME on: ISO 8601 (UTC), or ms."),
]
Until = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="Only segments that begin at or before TIME.")
]
Nice = Annotated[bool, typer.Option("--nice", help="Run with the lowest CPU and I/O priority.")]
ShowProgress = Annotated[
    bool | None,
    typer.Option(
        "--progress/--no-progress", help="Show progress on stderr. [default: on a terminal]", show_default=False
    ),
]


def parse_jobs(jobs: int) -> int:
    """Return the number of processes; UsageError if it is out of range."""
    if not 1 <= jobs <= _JOBS_MAX:
        raise UsageError(f"--jobs {jobs}: must be from 1 to {_JOBS_MAX}")
    return jobs


def parse_span(since: str | None, until: str | None) -> tuple[int | None, int | None]:
    """Return both ends in ms since 1970; UsageError if one is invalid, or if the span is empty."""
    begin = None if since is None else _parse_time("--since", since)
    end = None if until is None else _parse_time("--until", until)
    if begin is not None and end is not None and begin > end:
        raise UsageError(f"--since {since} is later than --until {until}")
    return begin, end


def _parse_time(option: str, text: str) -> int:
    """Return the time in ms since 1970, from ISO 8601 (UTC unless it names a zone) or ms."""
    from datetime import UTC, datetime, timedelta  # only if a time is given

    try:
        if text.isascii() and text.isdigit():
            return int(text)
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            f"{option}: invalid time '{text}'; for example 2025-06-30, 2025-06-30T12:00:00+02:00, 1751284800000"
        ) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


@contextlib.contextmanager
def at_length(progress: bool | None, *, nice: bool, quiet: bool) -> Iterator["TerminalProgress"]:
    """Run the body with progress and the chosen priority; SIGTERM ends it and its processes."""
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
