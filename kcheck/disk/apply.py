"""Carries a plan out, and takes it back: the only place that changes a checked log dir.

Log dirs are held first. Each operation is checked, what it replaces is copied into the backup, and every new file
written beside the old one, all of it on the disk, before the first file is exchanged. An exchange is one rename, so a
file is old or new whenever the process ends. If it ends in between, `apply` goes on and `undo` goes back.
"""

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple

from kcheck.disk.backup import APPLIED, APPLYING, PLAN, UNDONE, Backup, Journal, Kept
from kcheck.disk.lock import held
from kcheck.disk.places import Place, Places, chunks_at, remove, seen_at, status_at, write_new
from kcheck.errors import ApplyError, PlanError, StalePlanError
from kcheck.model.plan import FileOp, Patch, Plan, Rename, SetAside, Truncate, Write, edited
from kcheck.model.plan_json import parse_plan

NEW_FILE_MODE = 0o644
Edit = Write | Patch | Truncate


class Outcome(NamedTuple):
    """What was done: the plan, and the numbers of its operations that changed something."""

    plan: Plan
    changed: tuple[int, ...]


def apply(data: bytes, folder: str) -> Outcome:
    """Carry a plan out; `data` is the plan file. A file that is already as it should be is left alone.

    PlanError, StalePlanError, LogDirInUseError: nothing is changed. ApplyError: the disk failed; it tells what is
    changed. The folder must be empty, or hold the backup of this plan, which is then gone on with.
    """
    plan = parse_plan(data)
    with _named(folder), held(plan.log_dirs), Places(plan.log_dirs) as places, Backup(folder) as backup:
        backup.check_apart(plan.log_dirs)
        run = _Run(plan, data, places, backup)
        journal = backup.journal()
        if journal is None or journal.state == UNDONE:
            todo = [number for number in range(len(plan.operations)) if run.is_before(number)]
            if not todo:
                return Outcome(plan, ())
            if journal is None:
                run.refuse_leftovers()
            journal = run.back_up(todo)
        else:
            run.check_belongs(journal)
            todo = [number for number in journal.entries if run.is_before(number)]
        run.carry_out(journal, todo)
        return Outcome(plan, tuple(todo))


def undo(folder: str) -> Outcome:
    """Take back what a backup folder tells of, byte for byte; what is already as it was is left alone.

    PlanError: the folder is no backup; StalePlanError: a file was changed since; nothing is changed. ApplyError: the
    disk failed; undo again goes on.
    """
    with _named(folder), Backup(folder) as backup:
        journal = backup.journal()
        if journal is None:
            raise PlanError(f"{folder} holds no backup of a plan that was carried out")
        data = backup.read(PLAN)
        plan = parse_plan(data)
        with held(plan.log_dirs), Places(plan.log_dirs) as places:
            run = _Run(plan, data, places, backup)
            run.check_belongs(journal)
            todo = [number for number in journal.entries if not run.is_before(number)]
            run.take_back(journal, todo)
            return Outcome(plan, tuple(todo))


@contextlib.contextmanager
def _named(folder: str) -> Iterator[None]:
    """Make an ApplyError of what the operating system refuses before anything is changed."""
    try:
        yield
    except OSError as error:
        raise ApplyError(f"{_words(error)}: nothing is changed", changed=0, backup=folder) from error


def _words(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename is not None else ""
    return f"{where}{error.strerror or error}"


class _Run:
    """A plan that is being carried out or taken back."""

    def __init__(self, plan: Plan, data: bytes, places: Places, backup: Backup) -> None:
        self.plan, self.data, self.places, self.backup = plan, data, places, backup
        self.name = hashlib.sha256(data).hexdigest()
        self._seen: dict[int, tuple[int, ...] | None] = {}

    def check_belongs(self, journal: Journal) -> None:
        """Raise PlanError if the journal tells of another plan."""
        if journal.plan != self.name or not set(journal.entries) <= set(range(len(self.plan.operations))):
            raise PlanError(f"{self.backup.path} is the backup of another plan, or damaged")

    def is_before(self, number: int) -> bool:
        """Whether the operation is still to be done; StalePlanError if neither it is nor it was."""
        operation = self.plan.operations[number]
        directory = isinstance(operation, (Rename, SetAside)) and operation.directory
        place = self._place(operation)
        found = seen_at(place, directory=directory)
        other = seen_at(self._target(operation), directory=directory) if isinstance(operation, Rename) else None
        self._seen[number] = _signature(place)
        if isinstance(operation, Rename):
            before, after = (operation.before, None), (None, operation.after)
            if (found, other) in (before, after):
                return (found, other) == before
        elif found == operation.after:
            return False
        elif found == operation.before:
            self._check_device(operation, place)
            return True
        raise StalePlanError(f"{operation.path} is neither as the plan found it nor as the plan leaves it")

    def _check_device(self, operation: FileOp, place: Place) -> None:
        if isinstance(operation, SetAside) and operation.directory:
            status = status_at(place)
            if status is not None and status.st_dev != self.backup.device():
                raise PlanError(f"{operation.path}: the backup must stand on the same file system to take a directory")

    def refuse_leftovers(self) -> None:
        """Raise PlanError if another backup of this plan is not done with."""
        for number, operation in enumerate(self.plan.operations):
            place = self._temporary(number)
            if status_at(place) is not None:
                where = os.path.join(os.path.dirname(operation.path), place.name)
                raise PlanError(
                    f"this plan was begun with another backup: go on with that, or remove {where} if it is gone"
                )

    def back_up(self, todo: list[int]) -> Journal:
        """Copy what is going to be replaced; the journal tells of it as soon as all of it is on the disk."""
        self.backup.make()
        self.backup.write(PLAN, self.data)
        entries: dict[int, Kept | None] = {}
        around: dict[str, tuple[int, int]] = {}
        for number in todo:
            operation = self.plan.operations[number]
            place = self._place(operation)
            status = status_at(place)
            entries[number] = None if status is None else _kept(status)
            parent = os.fstat(place.parent)
            around[operation.path] = (parent.st_atime_ns, parent.st_mtime_ns)
            if status is not None and not stat.S_ISDIR(status.st_mode):
                kept = write_new(
                    self.backup.place(number), chunks_at(place), mode=0o600, owner=(os.geteuid(), os.getegid())
                )
                if kept != operation.before:
                    raise StalePlanError(f"{operation.path} changes while it is read")
        journal = Journal(self.name, APPLYING, entries, around)
        self.backup.publish(journal)
        return journal

    def carry_out(self, journal: Journal, todo: list[int]) -> None:
        """Do what is still to be done; if the disk fails, take all of the journal back."""
        try:
            for number in todo:
                self._stage(number)
            for number in todo:
                self._exchange(number)
            self._clear(journal)
            if todo or journal.state != APPLIED:
                self.backup.publish(journal._replace(state=APPLIED))
        except BaseException as error:
            words = _words(error) if isinstance(error, OSError) else str(error) or type(error).__name__
            self._give_up(journal, words, error)
            if isinstance(error, OSError):
                message = f"{words}: nothing is changed, every file is as it was"
                raise ApplyError(message, changed=0, backup=self.backup.path) from error
            raise

    def _give_up(self, journal: Journal, words: str, error: BaseException) -> None:
        """Take back what was done; ApplyError if that fails too."""
        todo = list(journal.entries)
        try:
            self._clear(journal)
            todo = [number for number in journal.entries if self._is_done(number)]
            self.take_back(journal, todo)
        except (OSError, ApplyError, PlanError) as second:
            left = second.changed if isinstance(second, ApplyError) else len(todo)
            if left:
                message = f"{words}, and it cannot be taken back now ({second}): run apply again, or undo"
                raise ApplyError(message, changed=left, backup=self.backup.path) from error

    def _is_done(self, number: int) -> bool:
        try:
            return not self.is_before(number)
        except StalePlanError:
            return False  # somebody else's change: it is his to take back

    def take_back(self, journal: Journal, todo: list[int]) -> None:
        """Bring back what the operations `todo` replaced, then the times of the directories around."""
        left = len(todo)
        try:
            for number in todo:
                self._stage_back(number, journal.entries[number])
            for number in todo:
                self._exchange_back(number, journal.entries[number])
                left -= 1
            self._clear(journal)
            for operation in map(self.plan.operations.__getitem__, journal.entries):
                if operation.path in journal.directories:
                    os.utime(self._place(operation).parent, ns=journal.directories[operation.path])
            if todo or journal.state != UNDONE:
                self.backup.publish(journal._replace(state=UNDONE))
        except OSError as error:
            message = f"{_words(error)}: {left} of {len(todo)} files are still to be brought back; run undo again"
            raise ApplyError(message, changed=left, backup=self.backup.path) from error
        finally:
            with contextlib.suppress(OSError):  # of a disk that fails the first error is the one to tell
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
            raise PlanError(f"{operation.path}: the operation does not give what after says")

    def _exchange(self, number: int) -> None:
        operation = self.plan.operations[number]
        place = self._place(operation)
        if _signature(place) != self._seen[number]:
            raise StalePlanError(f"{operation.path} was changed meanwhile")
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
        if self.is_before(number):
            raise StalePlanError(f"{operation.path} is not as the plan leaves it")

    def _stage_back(self, number: int, kept: Kept | None) -> None:
        operation = self.plan.operations[number]
        if isinstance(operation, Rename) or kept is None or (isinstance(operation, SetAside) and operation.directory):
            return
        source, temporary = self.backup.place(number), self._temporary(number)
        if write_new(temporary, chunks_at(source), mode=kept.mode, owner=kept.owner) != operation.before:
            raise PlanError(f"{os.path.join(self.backup.path, source.name)} is damaged: {operation.path} is left alone")
        os.utime(temporary.name, ns=kept.times, dir_fd=temporary.parent, follow_symlinks=False)

    def _exchange_back(self, number: int, kept: Kept | None) -> None:
        operation = self.plan.operations[number]
        place = self._place(operation)
        if isinstance(operation, Rename):
            _move(self._target(operation), place)
        elif isinstance(operation, SetAside) and operation.directory:
            _move(self.backup.place(number), place)
        elif kept is None:
            remove(place)
        else:
            _move(self._temporary(number), place)
        os.fsync(place.parent)

    def _clear(self, journal: Journal) -> None:
        """Remove new files that no exchange has taken."""
        for number in journal.entries:
            temporary = self._temporary(number)
            if remove(temporary):
                os.fsync(temporary.parent)

    def _place(self, operation: FileOp) -> Place:
        try:
            return self.places.at(operation.path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            raise StalePlanError(f"{operation.path}: its directory is not there, or is a symbolic link") from error

    def _target(self, operation: Rename) -> Place:
        return self._place(operation)._replace(name=operation.to)

    def _temporary(self, number: int) -> Place:
        # No name that a broker knows: it would be passed over even if a broker started in between.
        return self._place(self.plan.operations[number])._replace(name=f".kcheck-{self.name[:12]}-{number}")


def _kept(status: os.stat_result) -> Kept:
    times = (status.st_atime_ns, status.st_mtime_ns)
    return Kept(stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid), times)


def _signature(place: Place) -> tuple[int, ...] | None:
    status = status_at(place)  # Its ctime changes as well where another name of it goes by this plan.
    return None if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _move(source: Place, target: Place) -> None:
    os.rename(source.name, target.name, src_dir_fd=source.parent, dst_dir_fd=target.parent)
