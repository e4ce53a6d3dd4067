"""Every exception that kcheck raises, with the exit code it ends in.

Content of a file never raises: damage is data (see `kcheck.model.parsed`). An exception means a bad argument, a disk
that does not answer, or a bug in kcheck.
"""

from typing import ClassVar


class KcheckError(Exception):
    """What was asked for could not be finished."""

    exit_code: ClassVar[int] = 3


class UsageError(KcheckError):
    """The arguments do not say what to do; the message names the argument and what is known."""

    exit_code: ClassVar[int] = 2


class NotALogDirError(UsageError):
    """A path holds nothing that kcheck knows."""


class LogDirInUseError(KcheckError):
    """A broker holds a log dir that is to be changed."""


class PlanError(KcheckError):
    """A plan cannot be carried out; nothing is changed. The message names the operation."""


class StalePlanError(PlanError):
    """A file is neither what a plan says it is before nor what it says it is after; nothing is changed."""


class PlanVersionError(PlanError):
    """A plan has the schema of another kcheck."""


class ApplyError(KcheckError):
    """The operating system did not let a plan be carried out, or taken back.

    `changed` is how many files or directories are changed nevertheless; `backup` is the folder that `undo` needs.
    """

    def __init__(self, message: str, *, changed: int, backup: str) -> None:
        """Keep both."""
        super().__init__(message)
        self.changed = changed
        self.backup = backup


class TooMuchReadError(KcheckError):
    """So much is read of one directory in a store that something is wrong with it; the others are looked at."""
