"""Applies a plan, and undoes it. No other module changes a log dir.

`apply` locks the log dirs first. Then it checks every operation, and copies files to be replaced into the backup. It
writes every new file next to the old one, and syncs all of it. Only then does it rename the new files to the old names.
A rename is atomic, so each file is old or new whenever the process ends. After a crash `apply` continues and `undo`
goes back.
"""

import contextlib
import errno
import hashlib
import os
import signal
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.disk import signals
from kcheck.disk.attributes import Attributes
from kcheck.disk.backup import APPLIED, APPLYING, PLAN, UNDONE, Backup, Journal, own_attributes
from kcheck.disk.identity import check_not_another, check_same
from kcheck.disk.lock import held
from kcheck.disk.places import PathAt, Places, attributes_at, chunks_at, digest_at, remove, status_at, write_new
from kcheck.errors import ApplyError, KcheckError, PlanError, StalePlanError, StoppedError, UndoError, UsageError
from kcheck.model.plan import FileOp, Plan, Rename, SetAside, Write, edited, lacks_digest, new_directories
from kcheck.model.plan_json import parse_plan

NEW_FILE_MODE = 0o644


class ApplyResult(NamedTuple):
    """The result of `apply` or `undo`."""

    plan: Plan
    """The plan."""
    changed: tuple[int, ...]
    """The numbers of the operations that changed something."""


def apply(data: bytes, folder: str) -> ApplyResult:
    """Apply a plan; `data` is the plan file. A file that already matches the plan stays as it is.

    After a PlanError, StalePlanError, LogDirInUseError or StoppedError nothing is changed. An ApplyError means that the
    disk failed, and gives the extent of the changes. The folder must be empty or missing, or have the backup of
    this plan. In this case `apply` continues.
    """
    plan = parse_plan(data)
    if any(map(lacks_digest, plan.operations)):
        raise PlanError("the plan is of a bundle; plan_here computes the digests that it lacks")
    with _os_errors_as_apply_error(folder), Backup(folder) as backup:
        backup.check_apart(plan.log_dirs)
        check_same(plan, begun=backup.journal() is not None)
        with held(plan.log_dirs), Places(plan.log_dirs, new_directories(plan)) as places:
            journal = backup.journal()
            plan_run = _PlanRun(plan, data, places, backup)
            if journal is None or journal.state == UNDONE:
                pending = [number for number in range(len(plan.operations)) if plan_run.is_pending(number)]
                if not pending:
                    return ApplyResult(plan, ())
                if journal is None:
                    plan_run.refuse_leftovers()
                journal = plan_run.back_up(pending)
            else:
                plan_run.check_belongs(journal)
                pending = [number for number in journal.entries if plan_run.is_pending(number)]
            plan_run.carry_out(journal, pending)
            return ApplyResult(plan, tuple(pending))


def undo(folder: str) -> ApplyResult:
    """Undo the plan of a backup folder, byte for byte. A file that is already as it was stays as it is.

    PlanError: the folder is not a backup. StalePlanError: a file has changed since. StoppedError: a signal arrived. In
    these cases nothing is changed. UndoError: the disk failed, or a signal arrived; run undo again to continue.
    """
    if not os.path.lexists(folder):
        raise UsageError(f"{folder}: no such file or directory")
    with _os_errors_as_apply_error(folder), Backup(folder) as backup:
        if backup.journal() is None:
            raise PlanError(f"{folder}: no backup of an applied plan in it")
        data = backup.read(PLAN)
        plan = parse_plan(data)
        check_not_another(plan)
        with held(plan.log_dirs), Places(plan.log_dirs, new_directories(plan)) as places:
            journal = backup.journal()
            assert journal is not None
            plan_run = _PlanRun(plan, data, places, backup)
            plan_run.check_belongs(journal)
            applied = [number for number in journal.entries if not plan_run.is_pending(number)]
            plan_run.take_back(journal, applied)
            return ApplyResult(plan, tuple(applied))


@contextlib.contextmanager
def _os_errors_as_apply_error(folder: str) -> Iterator[None]:
    """Turn an error of the operating system, before anything is changed, into an ApplyError."""
    try:
        yield
    except OSError as error:
        raise ApplyError(f"{_message(error)}: nothing is changed", changed=0, backup=folder) from error


def _message(error: BaseException) -> str:
    if not isinstance(error, OSError):
        return str(error) or type(error).__name__
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


def _exit_code(error: BaseException) -> int:
    """Return the exit code for the error that prevented or stopped a run."""
    if isinstance(error, KeyboardInterrupt):
        return StoppedError(signal.SIGINT).exit_code
    return error.exit_code if isinstance(error, StoppedError) else ApplyError.exit_code


class _PlanRun:
    """A plan while `apply` or `undo` works on it."""

    def __init__(self, plan: Plan, data: bytes, places: Places, backup: Backup) -> None:
        self.plan, self.data, self.places, self.backup = plan, data, places, backup
        self.name = hashlib.sha256(data).hexdigest()
        self._signatures: dict[int, tuple[int, ...] | None] = {}
        self._done: set[int] = set()

    def check_belongs(self, journal: Journal) -> None:
        """Raise PlanError if the journal is of another plan."""
        numbers = range(len(self.plan.operations))
        if journal.plan != self.name or not all(
            number in numbers and (saved is None) == (self.plan.operations[number].before is None)
            for number, saved in journal.entries.items()
        ):
            raise PlanError(f"{self.backup.path} is corrupt, or the backup of another plan")

    def is_pending(self, number: int) -> bool:
        """Return whether an operation is still to do; StalePlanError if the file is neither `before` nor `after`."""
        operation = self.plan.operations[number]
        directory = _is_directory(operation)
        place = self._place(operation)
        now = digest_at(place, directory=directory)
        self._signatures[number] = _signature(place)
        if isinstance(operation, Rename):
            at_target = digest_at(self._target(operation), directory=directory)
            before, after = (operation.before, None), (None, operation.after)
            if (now, at_target) in (before, after):
                return (now, at_target) == before
        elif now == operation.after:
            return False
        elif now == operation.before:
            self._check_device(operation, place)
            return True
        raise StalePlanError(f"{operation.path} has changed: it matches neither before nor after in the plan")

    def _check_device(self, operation: FileOp, place: PathAt) -> None:
        if isinstance(operation, SetAside) and operation.directory:
            status = status_at(place)
            if status is not None and status.st_dev != self.backup.device():
                raise PlanError(
                    f"{operation.path} is a directory; put the backup on the same file system, so that it can be moved"
                )

    def refuse_leftovers(self) -> None:
        """Raise PlanError if an earlier run of this plan, with another backup, is unfinished."""
        for number, operation in enumerate(self.plan.operations):
            place = self._temporary(number)
            if status_at(place) is not None:
                where = os.path.join(os.path.dirname(operation.path), place.name)
                raise PlanError(
                    f"an earlier apply of this plan used another backup; use that one, or remove {where} if it is lost"
                )

    def back_up(self, pending: list[int]) -> Journal:
        """Copy what the operations will replace; write the journal when the copies are on the disk."""
        self.backup.make()
        self.backup.write(PLAN, self.data)
        entries: dict[int, Attributes | None] = {}
        directories = {*self.plan.log_dirs, *(os.path.dirname(self.plan.operations[number].path) for number in pending)}
        times: dict[str, tuple[int, int]] = {}
        for directory in sorted(directories):
            if (descriptor := self.places.directory(directory)) >= 0:  # else apply creates it
                status = os.fstat(descriptor)
                times[directory] = (status.st_atime_ns, status.st_mtime_ns)
        for number in pending:
            operation = self.plan.operations[number]
            place = self._place(operation)
            entries[number] = attributes_at(place)
            if operation.before is not None and not _is_directory(operation):
                copied = write_new(self.backup.place(number), chunks_at(place), own_attributes())
                if copied != operation.before:
                    raise StalePlanError(f"{operation.path} changed while kcheck read it")
        journal = Journal(plan=self.name, state=APPLYING, entries=entries, directories=times)
        self.backup.publish(journal)
        return journal

    def carry_out(self, journal: Journal, pending: list[int]) -> None:
        """Do the pending operations; if the disk fails or a signal arrives, undo every operation of the journal."""
        self._done = set(journal.entries) - set(pending)
        try:
            self.places.create(journal.directories)
            for number in pending:
                self._stage(number)
            for number in pending:
                signals.step()
                self._exchange(number)
            self._clear(journal)
            if pending or journal.state != APPLIED:
                self._restore_directory_times(journal)
                self.backup.publish(journal._replace(state=APPLIED))
        except BaseException as error:
            self._give_up(journal, error)
            if isinstance(error, (OSError, StoppedError)):
                message = f"{_message(error)}: nothing is changed, every file is as it was"
                raise ApplyError(message, changed=0, backup=self.backup.path, exit_code=_exit_code(error)) from error
            raise

    def _give_up(self, journal: Journal, error: BaseException) -> None:
        """Undo what was done; ApplyError if that fails too, or if a second signal stops it."""
        try:
            self._clear(journal)
            self.take_back(journal, [number for number in journal.entries if self._is_done(number)])
        except (OSError, KcheckError, KeyboardInterrupt) as second:
            if self._done:
                message = (
                    f"{_message(error)}; undoing the changes failed too ({_message(second)}): run apply again, or undo"
                )
                raise ApplyError(
                    message, changed=len(self._done), backup=self.backup.path, exit_code=_exit_code(error)
                ) from error

    def _is_done(self, number: int) -> bool:
        try:
            return not self.is_pending(number)
        except StalePlanError:
            return False  # Somebody else has changed the file; kcheck must not touch it.

    def take_back(self, journal: Journal, done: list[int]) -> None:
        """Restore what the operations `done` replaced, then the times of their directories."""
        self._done, directories = set(done), journal.directories.keys()
        try:
            for number in done:
                self._stage_back(number, journal.entries[number])
            for number in done:
                signals.step()
                self._exchange_back(number, journal.entries[number])
                if os.path.dirname(self.plan.operations[number].path) in directories:
                    self._done.discard(number)
            self._clear(journal)
            self.places.remove(journal.directories)
            self._done.clear()
            if done or journal.state != UNDONE:
                self._restore_directory_times(journal)
                self.backup.publish(journal._replace(state=UNDONE))
        except (OSError, PlanError, StoppedError, KeyboardInterrupt) as error:
            restored = len(done) - len(self._done)
            if isinstance(error, PlanError) and not restored:
                raise
            message = f"{_message(error)}: {len(self._done)} of {len(done)} files are not restored yet; run undo again"
            raise UndoError(
                message,
                restored=restored,
                changed=len(self._done),
                backup=self.backup.path,
                exit_code=_exit_code(error),
            ) from error
        finally:
            with contextlib.suppress(OSError, PlanError):  # The first error of a failing disk is the one to report.
                self._clear(journal)

    def _restore_directory_times(self, journal: Journal) -> None:
        """Give the directories the times that they had before apply, and sync them."""
        directories = {*self.plan.log_dirs, *(os.path.dirname(operation.path) for operation in self.plan.operations)}
        for path, times in journal.directories.items():
            directory = path if path in directories else os.path.dirname(path)
            if directory in directories:
                descriptor = self.places.directory(directory)
                os.utime(descriptor, ns=times)
                os.fsync(descriptor)

    def _stage(self, number: int) -> None:
        """Write the new file next to the old one."""
        operation = self.plan.operations[number]
        if isinstance(operation, (Rename, SetAside)):
            return
        place = self._place(operation)
        attributes = attributes_at(place)
        if attributes is None:
            parent = os.fstat(place.parent)
            attributes = Attributes(NEW_FILE_MODE, (parent.st_uid, parent.st_gid))
        old: Iterator[bytes] = iter(()) if isinstance(operation, Write) else chunks_at(place)
        now = attributes._replace(times=None)  # Its bytes are new: backups and `fleet scan --since-run` go by its time.
        if write_new(self._temporary(number), edited(operation, old), now) != operation.after:
            raise PlanError(f"{operation.path}: the result of the operation does not match after")

    def _exchange(self, number: int) -> None:
        """Rename the new file over the old one, or do the rename or move of the operation."""
        operation = self.plan.operations[number]
        place = self._place(operation)
        if _signature(place) != self._signatures[number]:
            raise StalePlanError(f"another process changed {operation.path} during apply")
        if isinstance(operation, Rename):
            _move(place, self._target(operation))
        elif not isinstance(operation, SetAside):
            _move(self._temporary(number), place)
        elif operation.directory:
            _move(place, self.backup.place(number))
        else:
            remove(place)
        self._done.add(number)
        if _is_directory(operation):
            self.backup.settle()
        os.fsync(place.parent)
        if self.is_pending(number):
            raise StalePlanError(
                f"{operation.path} is unchanged after its operation; another process may have restored it"
            )

    def _stage_back(self, number: int, saved: Attributes | None) -> None:
        """Write the old file, from the backup, next to the new one."""
        operation = self.plan.operations[number]
        if isinstance(operation, Rename) or saved is None or _is_directory(operation):
            return
        source = self.backup.place(number)
        if write_new(self._temporary(number), chunks_at(source), saved) != operation.before:
            raise PlanError(f"{os.path.join(self.backup.path, source.name)} is corrupt; {operation.path} is unchanged")

    def _exchange_back(self, number: int, saved: Attributes | None) -> None:
        """Put the old file in its place again; remove a file that did not exist before."""
        operation = self.plan.operations[number]
        place = self._place(operation)
        if isinstance(operation, Rename):
            _move(self._target(operation), place)
        elif _is_directory(operation):
            _move(self.backup.place(number), place)
        elif saved is None:
            remove(place)
        else:
            _move(self._temporary(number), place)
        os.fsync(place.parent)

    def _clear(self, journal: Journal) -> None:
        """Remove new files that were not renamed over an old one."""
        for number in journal.entries:
            temporary = self._temporary(number)
            if remove(temporary):
                os.fsync(temporary.parent)

    def _place(self, operation: FileOp) -> PathAt:
        try:
            return self.places.at(operation.path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            raise StalePlanError(f"{operation.path}: its directory is missing, or a symbolic link") from error

    def _target(self, operation: Rename) -> PathAt:
        return self._place(operation)._replace(name=operation.to)

    def _temporary(self, number: int) -> PathAt:
        # A broker does not know this name: it skips the file if it starts in between.
        return self._place(self.plan.operations[number])._replace(name=f".kcheck-{self.name[:12]}-{number}")


def _is_directory(operation: FileOp) -> bool:
    """Return whether an operation moves a directory, which keeps its attributes, and is never copied."""
    return isinstance(operation, (Rename, SetAside)) and operation.directory


def _signature(place: PathAt) -> tuple[int, ...] | None:
    """Return values that change when another process changes the file; None without a file."""
    status = status_at(place)  # Not its ctime: that also changes if this plan removes another hard link of the file.
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _move(source: PathAt, target: PathAt) -> None:
    os.rename(source.name, target.name, src_dir_fd=source.parent, dst_dir_fd=target.parent)
