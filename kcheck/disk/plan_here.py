"""A plan for the log dirs of this machine, with their paths here, and the digests missing in a bundle."""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256

from kcheck import __version__
from kcheck.disk.backup import PLAN, Backup
from kcheck.disk.identity import check_same
from kcheck.disk.places import Places, chunks_at, digest_of
from kcheck.errors import StalePlanError, UsageError
from kcheck.model.names import BUNDLE_SUFFIX
from kcheck.model.plan import Digest, FileOp, Patch, Plan, Truncate, edited, lacks_digest, placed, serialize_plan
from kcheck.model.plan_json import parse_plan


def plan_here(data: bytes, at: Sequence[str], folder: str) -> bytes:
    """Return a plan file for `apply`; `at` are the paths of its log dirs, `folder` is the backup's folder.

    A text of `at` is `NAME=PATH`, or the path alone if the plan has one log dir. The name is the path in the plan, or
    its last part. If the backup has begun with this plan, its copy is returned. Changed files no longer show their
    former state. UsageError if a log dir is not named, or a name is not known. StalePlanError if a file has changed
    since.
    """
    plan = parse_plan(data)
    here = placed(plan, dict(_places(plan, at)))
    missing = next(filter(_is_in_bundle, here.log_dirs), None)
    if missing is not None:
        name = "" if len(plan.log_dirs) == 1 else f"{os.path.basename(missing)}="
        raise UsageError(f"{missing} is in a bundle: say where the log dir is on this machine, with --map {name}PATH")
    if here == plan and not any(map(lacks_digest, plan.operations)):
        return data
    begun = _begun(folder)
    if begun is not None and _without_computed(parse_plan(begun)) == _without_computed(here):
        return begun
    check_same(here, begun=False)
    with Places(here.log_dirs) as places:
        operations = tuple(_completed(operation, places) for operation in here.operations)
    return serialize_plan(here._replace(operations=operations), kcheck=__version__)


def _places(plan: Plan, at: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each log dir of the plan that is named, with its path here."""
    named = set[str]()
    for text in at:
        name, _, path = text.partition("=")
        matches = [log_dir for log_dir in plan.log_dirs if path and name in (log_dir, os.path.basename(log_dir))]
        if not matches and len(plan.log_dirs) == 1:
            matches, path = [*plan.log_dirs], text
        if len(matches) != 1 or matches[0] in named:
            known = ", ".join(map(os.path.basename, plan.log_dirs))
            raise UsageError(f"--map {text}: must be NAME=PATH, once for each log dir of the plan: {known}")
        if not os.path.isdir(path):
            raise UsageError(f"--map {text}: {path} is not a directory")
        named.add(matches[0])
        yield matches[0], os.path.realpath(path)


def _is_in_bundle(log_dir: str) -> bool:
    return any(part.endswith(BUNDLE_SUFFIX) for part in log_dir.split("/"))


def _begun(folder: str) -> bytes | None:
    """Return the plan of a backup that has begun; None without one."""
    with Backup(folder) as backup:
        return None if backup.journal() is None else backup.read(PLAN)


def _without_computed(plan: Plan) -> Plan:
    """Return a plan without the digests that can be computed from the files."""
    operations = (
        operation._replace(after=operation.after._replace(sha256=None))
        if isinstance(operation, Truncate | Patch)
        else operation
        for operation in plan.operations
    )
    return plan._replace(operations=tuple(operations))


def _completed(operation: FileOp, places: Places) -> FileOp:
    """Return an operation with the digest after it; StalePlanError if the file is not as before it."""
    if not (isinstance(operation, Truncate | Patch) and lacks_digest(operation)):
        return operation
    before, size = sha256(), 0

    def chunks() -> Iterator[bytes]:
        nonlocal size
        for chunk in chunks_at(places.at(operation.path)):
            before.update(chunk)
            size += len(chunk)
            yield chunk

    try:
        after = digest_of(edited(operation, chunks()))
    except OSError as error:
        raise StalePlanError(f"{operation.path} cannot be read: {error.strerror or error}") from error
    if Digest(before.hexdigest(), size) != operation.before:
        raise StalePlanError(f"{operation.path} has changed: it does not match before in the plan")
    return operation._replace(after=operation.after._replace(sha256=after.sha256))
