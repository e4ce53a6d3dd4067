"""Every exception that kcheck raises, with its exit code.

The content of a file never raises: damage is data (see `kcheck.model.parsed`). An exception means a bad argument, a
failing disk, or a bug in kcheck.
"""

from typing import ClassVar


class KcheckError(Exception):
    """The command could not finish."""

    exit_code: ClassVar[int] = 3


class UsageError(KcheckError):
    """An argument is invalid; the message names it and the valid values."""

    exit_code: ClassVar[int] = 2


class NotALogDirError(UsageError):
    """A path holds nothing that kcheck can read: no log dir, no partition directory, no Kafka file."""


class LogDirInUseError(KcheckError):
    """Another process, usually a broker, holds the lock of a log dir that kcheck would change."""


class PlanError(KcheckError):
    """A plan is invalid; nothing is changed. The message names the operation."""


class StalePlanError(PlanError):
    """A file has changed since the plan was made; nothing is changed."""


class PlanVersionError(PlanError):
    """Another version of kcheck wrote the plan."""


class ApplyError(KcheckError):
    """The operating system failed while kcheck applied or undid a plan."""

    changed: int
    """How many files or directories are changed nevertheless."""
    backup: str
    """The folder that `undo` needs."""

    def __init__(self, message: str, *, changed: int, backup: str) -> None:
        super().__init__(message)
        self.changed = changed
        self.backup = backup


class TooMuchReadError(KcheckError):
    """kcheck gave up on one directory in a store: it needed more bytes than any sound directory; others are read."""
