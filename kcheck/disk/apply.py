"""Applies a plan, and undoes it: the only module that changes a log dir.

`apply` locks the log dirs first. Then it checks every operation, copies what it replaces into the backup, writes every
new file beside the old one, and syncs all of it. Only then does it rename the new files over the old ones. A rename is
atomic, so each file is old or new whenever the process ends. After a crash `apply` continues and `undo` goes back.
"""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.disk.backup import APPLIED, APPLYING, PLAN, UNDONE, Backup, Journal, SavedAttributes
from kcheck.disk.lock import held
from kcheck.disk.places import PathAt, Places, chunks_at, digest_at, remove, status_at, write_new
from kcheck.errors import ApplyError, PlanError, StalePlanError
from kcheck.model.plan import FileOp, Plan, Rename, SetAside, Write, edited
from kcheck.model.plan_json import parse_plan

NEW_FILE_MODE = 0o644


class ApplyResult(NamedTuple):
    """What `apply` or `undo` did."""

    plan: Plan
    """The plan."""
    changed: tuple[int, ...]
    """The numbers of the operations that changed something."""


def apply(data: bytes, folder: str) -> ApplyResult:
    """Apply a plan; `data` is the plan file. A file that already matches the plan stays as it is.

    PlanError, StalePlanError, LogDirInUseError: nothing is changed. ApplyError: the disk failed; the error says how
    much is changed. The folder must be empty or missing, or hold the backup of this plan; `apply` then continues.
    """
    plan = parse_plan(data)
    with (
        _os_errors_as_apply_error(folder),
        held(plan.log_dirs),
        Places(plan.log_dirs) as places,
        Backup(folder) as backup,
    ):
        backup.check_apart(plan.log_dirs)
        plan_run = _PlanRun(plan, data, places, backup)
        journal = backup.journal()
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

    PlanError: the folder is not a backup. StalePlanError: a file has changed since. In both cases nothing is changed.
    ApplyError: the disk failed; run undo again to continue.
    """
    with _os_errors_as_apply_error(folder), Backup(folder) as backup:
        journal = backup.journal()
        if journal is None:
            raise PlanError(f"{folder} holds no backup of an applied plan")
        data = backup.read(PLAN)
        plan = parse_plan(data)
        with held(plan.log_dirs), Places(plan.log_dirs) as places:
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
        raise ApplyError(f"{_os_message(error)}: nothing is changed", changed=0, backup=folder) from error


def _os_message(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


class _PlanRun:
    """A plan while `apply` or `undo` works on it."""

    def __init__(self, plan: Plan, data: bytes, places: Places, backup: Backup) -> None:
        self.plan, self.data, self.places, self.backup = plan, data, places, backup
        self.name = hashlib.sha256(data).hexdigest()
        self._signatures: dict[int, tuple[int, ...] | None] = {}

    def check_belongs(self, journal: Journal) -> None:
        """Raise PlanError if the journal is of another plan."""
        if journal.plan != self.name or not set(journal.entries) <= set(range(len(self.plan.operations))):
            raise PlanError(f"{self.backup.path} is damaged, or the backup of another plan")

    def is_pending(self, number: int) -> bool:
        """Whether an operation is still to do; StalePlanError if the file matches neither `before` nor `after`."""
        operation = self.plan.operations[number]
        directory = isinstance(operation, (Rename, SetAside)) and operation.directory
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
                    f"{operation.path} is a directory: put the backup on the same file system, so that it can be moved"
                )

    def refuse_leftovers(self) -> None:
        """Raise PlanError if an earlier run of this plan, with another backup, is unfinished."""
        for number, operation in enumerate(self.plan.operations):
            place = self._temporary(number)
            if status_at(place) is not None:
                where = os.path.join(os.path.dirname(operation.path), place.name)
                raise PlanError(
                    f"an earlier apply of this plan used another backup: use that one, or remove {where} if it is lost"
                )

    def back_up(self, pending: list[int]) -> Journal:
        """Copy what the operations will replace; write the journal when the copies are on the disk."""
        self.backup.make()
        self.backup.write(PLAN, self.data)
        entries: dict[int, SavedAttributes | None] = {}
        directory_times: dict[str, tuple[int, int]] = {}
        for number in pending:
            operation = self.plan.operations[number]
            place = self._place(operation)
            status = status_at(place)
            entries[number] = None if status is None else _attributes(status)
            parent = os.fstat(place.parent)
            directory_times[operation.path] = (parent.st_atime_ns, parent.st_mtime_ns)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                copied = write_new(
                    self.backup.place(number), chunks_at(place), mode=0o600, owner=(os.geteuid(), os.getegid())
                )
                if copied != operation.before:
                    raise StalePlanError(f"{operation.path} changed while kcheck read it")
        journal = Journal(plan=self.name, state=APPLYING, entries=entries, directories=directory_times)
        self.backup.publish(journal)
        return journal

    def carry_out(self, journal: Journal, pending: list[int]) -> None:
        """Do the pending operations; if the disk fails, undo every operation of the journal."""
        try:
            for number in pending:
                self._stage(number)
            for number in pending:
                self._exchange(number)
            self._clear(journal)
            if pending or journal.state != APPLIED:
                self.backup.publish(journal._replace(state=APPLIED))
        except BaseException as error:
            cause = _os_message(error) if isinstance(error, OSError) else str(error) or type(error).__name__
            self._give_up(journal, cause, error)
            if isinstance(error, OSError):
                message = f"{cause}: nothing is changed, every file is as it was"
                raise ApplyError(message, changed=0, backup=self.backup.path) from error
            raise

    def _give_up(self, journal: Journal, cause: str, error: BaseException) -> None:
        """Undo what was done; ApplyError if that fails too."""
        done = list(journal.entries)
        try:
            self._clear(journal)
            done = [number for number in journal.entries if self._is_done(number)]
            self.take_back(journal, done)
        except (OSError, ApplyError, PlanError) as second:
            left = second.changed if isinstance(second, ApplyError) else len(done)
            if left:
                message = f"{cause}; undoing the changes failed too ({second}): run apply again, or undo"
                raise ApplyError(message, changed=left, backup=self.backup.path) from error

    def _is_done(self, number: int) -> bool:
        try:
            return not self.is_pending(number)
        except StalePlanError:
            return False  # Somebody else has changed the file; kcheck must not touch it.

    def take_back(self, journal: Journal, done: list[int]) -> None:
        """Restore what the operations `done` replaced, then the times of their directories."""
        left = len(done)
        try:
            for number in done:
                self._stage_back(number, journal.entries[number])
            for number in done:
                self._exchange_back(number, journal.entries[number])
                left -= 1
            self._clear(journal)
            for operation in map(self.plan.operations.__getitem__, journal.entries):
                if operation.path in journal.directories:
                    os.utime(self._place(operation).parent, ns=journal.directories[operation.path])
            if done or journal.state != UNDONE:
                self.backup.publish(journal._replace(state=UNDONE))
        except OSError as error:
            message = f"{_os_message(error)}: {left} of {len(done)} files are not restored yet; run undo again"
            raise ApplyError(message, changed=left, backup=self.backup.path) from error
        finally:
            with contextlib.suppress(OSError):  # The first error of a failing disk is the one to report.
                self._clear(journal)

    def _stage(self, number: int) -> None:
        """Write the new file beside the old one."""
        operation = self.plan.operations[number]
        if isinstance(operation, (Rename, SetAside)):
            return
        place = self._place(operation)
        status = status_at(place)
        parent = os.fstat(place.parent)
        mode, owner = NEW_FILE_MODE, (parent.st_uid, parent.st_gid)
        if status is not None:
            mode, owner = stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid)
        old: Iterator[bytes] = iter(()) if isinstance(operation, Write) else chunks_at(place)
        if write_new(self._temporary(number), edited(operation, old), mode=mode, owner=owner) != operation.after:
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
            self.backup.settle()
        else:
            remove(place)
        os.fsync(place.parent)
        if self.is_pending(number):
            raise StalePlanError(
                f"{operation.path} is unchanged after its operation: another process may have restored it"
            )

    def _stage_back(self, number: int, saved: SavedAttributes | None) -> None:
        """Write the old file, from the backup, beside the new one."""
        operation = self.plan.operations[number]
        if isinstance(operation, Rename) or saved is None or (isinstance(operation, SetAside) and operation.directory):
            return
        source, temporary = self.backup.place(number), self._temporary(number)
        if write_new(temporary, chunks_at(source), mode=saved.mode, owner=saved.owner) != operation.before:
            raise PlanError(f"{os.path.join(self.backup.path, source.name)} is damaged; {operation.path} is unchanged")
        os.utime(temporary.name, ns=saved.times, dir_fd=temporary.parent, follow_symlinks=False)

    def _exchange_back(self, number: int, saved: SavedAttributes | None) -> None:
        """Put the old file in its place again; remove a file that did not exist before."""
        operation = self.plan.operations[number]
        place = self._place(operation)
        if isinstance(operation, Rename):
            _move(self._target(operation), place)
        elif isinstance(operation, SetAside) and operation.directory:
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


def _attributes(status: os.stat_result) -> SavedAttributes:
    return SavedAttributes(
        mode=stat.S_IMODE(status.st_mode),
        owner=(status.st_uid, status.st_gid),
        times=(status.st_atime_ns, status.st_mtime_ns),
    )


def _signature(place: PathAt) -> tuple[int, ...] | None:
    """Return values that change when somebody else changes the file; None if there is no file."""
    status = status_at(place)  # Not its ctime: that also changes if this plan removes another hard link of the file.
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _move(source: PathAt, target: PathAt) -> None:
    os.rename(source.name, target.name, src_dir_fd=source.parent, dst_dir_fd=target.parent)
