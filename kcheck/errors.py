"""Every exception that kcheck raises, with its exit code.

The content of a file never raises, as corruption is data (see `kcheck.model.parsed`). An exception means an invalid
argument, a failing disk, or a bug in kcheck.
"""

_INTERRUPT = 2
"""The number of SIGINT everywhere."""


EMPTY_PATH = "a path is empty; a variable may not be set"
"""The text of the error for an empty path, wherever it is typed."""


def no_such_file(path: str) -> str:
    """Return the text of the error for a path that does not exist; `a=PATH` may be meant to name a broker."""
    name, equals, _ = path.partition("=")
    is_named = equals and "/" not in name and not name.isdigit()
    return f"{path}: no such file or directory{'; the broker id before = is a number' if is_named else ''}"


class KcheckError(Exception):
    """The command could not finish."""

    exit_code: int = 3


class UsageError(KcheckError):
    """An argument is invalid; the message names it and the valid values."""

    exit_code: int = 2


class NotALogDirError(UsageError):
    """A path without anything that kcheck can read (no log dir, no partition directory, no Kafka file)."""


def why_not_text(error: Exception) -> str:
    """Return why bytes are not read as a text, with the position of bytes that are not UTF-8."""
    return f"not UTF-8 at position {error.start}" if isinstance(error, UnicodeDecodeError) else str(error)


class LogDirInUseError(KcheckError):
    """Another process, usually a broker, holds the lock of a log dir that kcheck would change."""


class PlanError(KcheckError):
    """A plan is invalid; nothing is changed. The message names the operation."""


class StalePlanError(PlanError):
    """A file has changed since the plan was made; nothing is changed."""


class PlanVersionError(PlanError):
    """Another version of kcheck wrote the plan."""


class StoppedError(KcheckError):
    """A signal asked kcheck to stop."""

    def __init__(self, number: int) -> None:
        super().__init__("stopped by ^C" if number == _INTERRUPT else f"stopped by signal {number}")
        self.exit_code: int = 128 + number


class ApplyError(KcheckError):
    """Applying a plan failed, or was stopped, and its files may not be as they were."""

    changed: int
    """Number of files or directories that are changed nevertheless."""
    backup: str
    """The folder that `undo` needs."""

    def __init__(self, message: str, *, changed: int, backup: str, exit_code: int = 3) -> None:
        super().__init__(message)
        self.changed = changed
        self.backup = backup
        self.exit_code = exit_code


class UndoError(ApplyError):
    """Undoing a plan failed, or was stopped."""

    restored: int
    """Number of files or directories that are as they were before the plan; `changed` are not yet."""

    def __init__(self, message: str, *, restored: int, changed: int, backup: str, exit_code: int = 3) -> None:
        super().__init__(message, changed=changed, backup=backup, exit_code=exit_code)
        self.restored = restored


class TooMuchReadError(KcheckError):
    """kcheck gave up on one directory in a store that needed too many bytes. Others are read."""


class ScratchFailedError(OSError):
    """The disk refused a temporary file of kcheck. This says nothing about the place that is checked."""


class StoreFailedError(KcheckError):
    """A store kept failing while kcheck read a file or listed a directory, so the command cannot finish.

    The failure says nothing about the file or directory.
    """
