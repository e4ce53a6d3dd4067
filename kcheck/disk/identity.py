"""The identity of a log dir. A plan is for the log dirs that `repair` has read, not for others of the same path."""

from collections.abc import Iterable, Iterator

from kcheck.disk.paths import join
from kcheck.disk.places import digest_of_file
from kcheck.disk.tree import Tree, tree_of
from kcheck.errors import PlanError, StalePlanError
from kcheck.formats import meta_properties
from kcheck.model.names import META_PROPERTIES, OFFSET_CHECKPOINTS, ids_differ, is_stranger_in_log_dir, parse_directory
from kcheck.model.plan import LogDirIdentity, Plan, digest, touched
from kcheck.model.unreadable import UnreadableCause, UnreadableError


def identity_of(tree: Tree, log_dir: str) -> LogDirIdentity:
    """Return the identity of a log dir, from its meta.properties; UnreadableError if that cannot be read."""
    path = join(log_dir, META_PROPERTIES)
    try:
        data = tree.read_whole(path)
    except UnreadableError as error:
        if error.cause is not UnreadableCause.MISSING:
            raise
        return LogDirIdentity(log_dir, None)
    value = meta_properties.parse(data).value
    return LogDirIdentity(
        log_dir=log_dir,
        meta_properties=digest_of_file(tree, path) if tree.is_bundle else digest(data),
        broker_id=value.broker_id,
        cluster_id=value.properties.get("cluster.id"),
        directory_id=value.properties.get("directory.id"),
    )


def known_identities(log_dirs: Iterable[tuple[Tree, str]]) -> tuple[LogDirIdentity, ...]:
    """Return the identities of log dirs for a plan; one whose meta.properties cannot be read has none to compare."""
    identities = []
    for tree, log_dir in log_dirs:
        try:
            identities.append(identity_of(tree, log_dir))
        except UnreadableError:
            identities.append(LogDirIdentity(log_dir, None))
    return tuple(identities)


def check_same(plan: Plan, *, begun: bool) -> None:
    """Raise PlanError unless each log dir is the planned one; `begun` if apply has changed some."""
    if len(plan.identities) != len(plan.log_dirs):
        raise PlanError("the plan does not name its log dirs (identities); make it again with kcheck repair")
    for planned, now in _untouched(plan):
        if now != planned:
            raise StalePlanError(f"{planned.log_dir}/{META_PROPERTIES} has changed since repair made the plan")
        if now.meta_properties is None and not begun and not _has_kafka_names(planned.log_dir):
            raise PlanError(f"{planned.log_dir}: not a log dir; it has no file and no directory of Kafka")


def check_not_another(plan: Plan) -> None:
    """Raise PlanError if a log dir names another broker, cluster or directory than the plan.

    A broker may have written its meta.properties again since. A plan of an older kcheck names nothing.
    """
    for _ in _untouched(plan):
        pass


def _untouched(plan: Plan) -> Iterator[tuple[LogDirIdentity, LogDirIdentity]]:
    """Yield the identities in the plan and now, except of log dirs whose meta.properties the plan itself changes."""
    changed = {path for operation in plan.operations for path in touched(operation)}
    for planned in plan.identities:
        path = join(planned.log_dir, META_PROPERTIES)
        if path in changed:
            continue
        try:
            now = identity_of(tree_of(path), planned.log_dir)
        except UnreadableError as error:
            raise PlanError(f"{path}: {error}") from error
        for name in ("broker_id", "cluster_id", "directory_id"):
            ids = [None if value is None else str(value) for value in (getattr(planned, name), getattr(now, name))]
            if ids_differ(*ids):
                key = name.replace("_", ".")
                raise PlanError(f"{planned.log_dir} is another log dir; its {key} is {ids[1]}, in the plan {ids[0]}")
        yield planned, now


def _has_kafka_names(log_dir: str) -> bool:
    """Return whether a directory holds a checkpoint or a partition directory."""
    try:
        listing = tree_of(log_dir).listing(log_dir, is_stranger_in_log_dir)
    except UnreadableError as error:
        raise PlanError(f"{log_dir}: {error}") from error
    checkpoints = not set(OFFSET_CHECKPOINTS).isdisjoint(listing.files)
    return checkpoints or any(parse_directory(name) is not None for name in listing.directories)
