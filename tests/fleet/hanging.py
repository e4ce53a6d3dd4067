"""A disk that does not answer, for which nobody waits: while a process hangs, hours pass for the one that waits for it.

So no directory that is only slow is taken for one that hangs, however busy the machine is.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from kcheck.jobs import threads, workers

SECONDS = 300
"""The limit of a scan: nothing that goes on takes so long."""


def _mark(pid: int) -> Path:
    return Path(f"{os.environ['KCHECK_TEST_MARKS']}-hang-{pid}")


def begin_to_hang(waiting: int) -> None:
    """Tell the process that waits."""
    with _mark(waiting).open("ab") as mark:
        mark.write(b"h")


def hang(*_: object) -> None:
    """Never end, in a process of which another one waits for an answer.

    That one may still be busy with the answer before, and begin to wait only after hours have passed: more of them do.
    """
    for seconds in (3, 3600):
        begin_to_hang(os.getppid())
        time.sleep(seconds)


class _Hours:
    """The time of a process: hours later each time that something hangs for which it waits."""

    def monotonic(self) -> float:
        """Return seconds."""
        mark = _mark(os.getpid())
        return time.monotonic() + 7200 * (len(mark.read_bytes()) if mark.exists() else 0)


@contextmanager
def hours_pass() -> Iterator[None]:
    """Have the limit pass at once for the one process, or thread, that is waited for."""
    with mock.patch.object(workers, "time", _Hours()), mock.patch.object(threads, "time", _Hours()):
        yield
