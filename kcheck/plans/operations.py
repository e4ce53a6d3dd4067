"""Turns edits into the operations of a plan, one for each path, with the digests before and after."""

import os
import stat
from collections.abc import Iterator

from kcheck.capture.contents import may_be_masked
from kcheck.disk.paths import join
from kcheck.disk.places import chunks_of, digest_of, digest_of_directory, digest_of_file
from kcheck.disk.tree import Tree
from kcheck.errors import PlanError
from kcheck.model.java import INT_MAX
from kcheck.model.plan import (
    CONTENT_SIZE_MAX,
    Change,
    FileOp,
    Patch,
    Rename,
    SetAside,
    Truncate,
    Why,
    Write,
    digest,
    edited,
)
from kcheck.model.report import Row
from kcheck.model.unreadable import UnreadableError
from kcheck.plans.edited_log_dir import EditedLogDir
from kcheck.repairs import AsideEdit, CutEdit, Edit, EntryEdit, PatchEdit, RenameEdit, RepairStep, WriteEdit
from kcheck.words import partition_name, some_of, some_reasons

_REASON_COUNT = 4
"""An operation names at most this many reasons."""


class Operations:
    """The last edit of each path and its reason; all edits for patches and truncations."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[str, tuple[EditedLogDir, list[Edit], Why]] = {}
        self._reasons: dict[str, dict[str, None]] = {}
        self._lines: dict[str, dict[str, None]] = {}
        self._masked: dict[str, bool] = {}

    def refuses(self, log_dir: EditedLogDir, step: RepairStep) -> str | None:
        """Return why no plan can hold the edits of a step."""
        try:
            return next(filter(None, (self._refuses(log_dir, edit) for edit in step.edits)), None)
        except UnreadableError as error:
            return f"a file of it cannot be read: {error}"

    def _refuses(self, log_dir: EditedLogDir, edit: Edit) -> str | None:
        tree, path = log_dir.tree, join(log_dir.real, edit.path)
        kind = tree.file_type(path)
        if kind == stat.S_IFLNK:
            return f"{edit.path} is a symbolic link; move it by hand"
        owner = log_dir.by_dir.get(edit.path.partition("/")[0])
        if isinstance(edit, RenameEdit):
            taken = tree.file_type(join(log_dir.real, edit.to)) is not None
            return f"{edit.to} is there already; move it by hand" if taken else None
        if owner is not None and owner.named[0] != owner.dir:
            return f"{owner.dir} is renamed first; apply this plan, then plan again"
        if isinstance(edit, WriteEdit) and self._sets_aside(tree, path):
            return f"{edit.path} is a directory, which is moved first; apply this plan, then plan again"
        if kind not in (None, stat.S_IFREG) and not isinstance(edit, AsideEdit):
            return f"{edit.path} is not a regular file; move it by hand"
        if kind == stat.S_IFREG and (size := tree.size(path)) > INT_MAX:
            return f"{edit.path} has {size} bytes, more than a file of a broker can have"
        if isinstance(edit, WriteEdit) and len(edit.data) > CONTENT_SIZE_MAX:
            return f"{edit.path} would have {len(edit.data)} bytes, too many for a plan"
        return self._refuses_in_bundle(tree, path, edit) if kind == stat.S_IFREG and tree.is_bundle else None

    def _refuses_in_bundle(self, tree: Tree, path: str, edit: Edit) -> str | None:
        """Return why the edit of a file in a bundle cannot be planned; UnreadableError if its digest is missing.

        A plan must not write masked lines.
        """
        before, top = digest_of_file(tree, path), "/" not in edit.path
        if isinstance(edit, EntryEdit) or (top and isinstance(edit, WriteEdit) and may_be_masked(edit.data)):
            if path not in self._masked:
                self._masked[path] = digest(tree.read_whole(path)) != before
            if self._masked[path]:
                return f"a line of {edit.path} is masked in the bundle"
        return None

    def _sets_aside(self, tree: Tree, path: str) -> bool:
        """Return whether a directory of this path is moved aside."""
        edits = self._found[path][1] if path in self._found else []
        return bool(edits) and isinstance(edits[-1], AsideEdit) and tree.is_directory(path)

    def add(self, log_dir: EditedLogDir, step: RepairStep, loses: Row | None, now: str, after: str) -> None:
        """Take the edits of a step. The operations that truncate or move a `.log` carry the loss."""
        first, *more = step.evidence
        evidence = {**first._asdict(), "more": [part._asdict() for part in more]}
        for edit in step.edits:
            takes = isinstance(edit, CutEdit | AsideEdit) and (edit.path.endswith(".log") or "/" not in edit.path)
            why = Why(step.finding.id, step.reason, evidence, loses if takes else None, now, after)
            path = join(log_dir.real, edit.path)
            _, edits, old = self._found.get(path, (log_dir, [], why))
            stay = edits if all(isinstance(part, CutEdit | PatchEdit) for part in (*edits, edit)) else []
            reasons = self._reasons.setdefault(path, {})
            if isinstance(edit, AsideEdit):
                reasons.clear()
            elif edits:
                why = why._replace(broker_now=old.broker_now)
            reasons[step.reason] = None
            if isinstance(edit, EntryEdit):
                self._lines.setdefault(path, {})[partition_name(edit.topic, edit.partition)] = None
                if len(self._lines[path]) > 1:  # No start of one partition is that of all.
                    why = why._replace(evidence=None, broker_now=None, broker_after=None)
            self._found[path] = (log_dir, [*stay, edit], why)

    def build(self) -> tuple[FileOp, ...]:
        """Return the operations; those below a directory that is moved aside go with it, unchanged.

        PlanError: a file cannot be read any more.
        """
        gone = {path for path, (_, edits, _) in self._found.items() if isinstance(edits[-1], AsideEdit)}
        left = {path: planned for path, planned in self._found.items() if os.path.dirname(path) not in gone}
        shared = [path for path in left if len(self._lines.get(path, ())) > 1]
        left |= {path: left.pop(path) for path in shared}
        operations: list[FileOp] = []
        for path, (log_dir, edits, why) in left.items():
            try:
                whole = _written(log_dir, edits)
                operations.extend(_operation(log_dir.tree, path, whole, why._replace(reason=self._reason(path))))
            except (UnreadableError, OSError) as error:
                raise PlanError(f"{path}: {error.strerror if isinstance(error, OSError) else error}") from error
        return tuple(operations)

    def _reason(self, path: str) -> str:
        """Return why a file changes; a checkpoint has a line for every partition, so only the first reasons."""
        names, reasons = list(self._lines.get(path, ())), list(self._reasons[path])
        if len(names) > 1 and len(reasons) == 1:
            return f"change the lines of {some_of(names, _REASON_COUNT)}: {reasons[0]}"
        return some_reasons(reasons, _REASON_COUNT, "reason")


def _written(log_dir: EditedLogDir, edits: list[Edit]) -> list[Edit]:
    """Return the edits of a file; edits of lines become one edit of the complete file."""
    last = edits[-1]
    return [WriteEdit(last.path, log_dir.read(last.path) or b"")] if isinstance(last, EntryEdit) else edits


def _operation(tree: Tree, path: str, edits: list[Edit], why: Why) -> Iterator[FileOp]:
    match edits[-1]:
        case AsideEdit() if tree.is_directory(path):
            yield SetAside(path, digest_of_directory(tree, tree.real(path)), None, why, directory=True)
        case AsideEdit() if tree.file_type(path) is not None:
            yield SetAside(path, digest_of_file(tree, path), None, why, directory=False)
        case RenameEdit(_, to):
            whole = digest_of_directory(tree, tree.real(path))
            yield Rename(path, whole, whole, why, to, directory=True)
        case WriteEdit(_, data):
            before = None if tree.file_type(path) is None else digest_of_file(tree, path)
            if before != digest(data):
                yield Write(path, before, digest(data), why, data)
        case CutEdit() | PatchEdit():
            before = digest_of_file(tree, path)
            after = before._replace(
                size=min((edit.size for edit in edits if isinstance(edit, CutEdit)), default=before.size)
            )
            patches = [edit for edit in edits if isinstance(edit, PatchEdit) and edit.position < after.size]
            changes = tuple(
                Change(edit.position, _bytes(tree, path, edit), edit.data) for edit in sorted(patches, key=_at)
            )
            if changes:
                yield _with_after(tree, Patch(path, before, after, why, changes))
            else:
                yield _with_after(tree, Truncate(path, before, after, why))


def _at(edit: PatchEdit) -> int:
    return edit.position


def _with_after(tree: Tree, operation: Truncate | Patch) -> FileOp:
    if tree.is_bundle:  # It does not have the bytes: `apply` computes the digest at home.
        return operation._replace(after=operation.after._replace(sha256=None))
    after = digest_of(edited(operation, chunks_of(tree, operation.path)))
    return operation._replace(after=operation.after._replace(sha256=after.sha256))


def _bytes(tree: Tree, path: str, edit: PatchEdit) -> bytes:
    with tree.open(path) as source:
        return source.pread(len(edit.data), edit.position)
