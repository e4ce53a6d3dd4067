"""Finds the server.properties that lists the log dirs of a broker."""

from collections.abc import Iterable, Mapping

from kcheck.core.rescue.broker_role import VOTERS
from kcheck.core.start.node_settings import ids_of_voters, stated_id
from kcheck.disk.paths import join, split
from kcheck.disk.tree import real_path, tree_of
from kcheck.errors import UsageError
from kcheck.model.cluster import PROVIDER
from kcheck.model.java import java_int
from kcheck.views.metadata_paths import identity_of
from kcheck.views.targets import SERVER_PROPERTIES, Target, log_dirs_in, read_properties, written_log_dirs


def settings_path(targets: Iterable[Target]) -> str | None:
    """Return the server.properties that lists log dirs, or of their broker next to them; None without one."""
    given = {target.tree.real(target.path): target for target in targets}
    return next((target.config for target in given.values() if target.config is not None), None) or beside(given)


def settings_beside(targets: Iterable[Target]) -> Mapping[str, str] | None:
    """Return the settings of the broker of log dirs, in a server.properties next to them; None without one."""
    path = settings_path(targets)
    return None if path is None else read_properties(path)


def number_of(target: Target) -> int | None:
    """Return the node of a log dir, as named, or by meta.properties or settings; None if nothing does."""
    if target.broker_id is not None:
        return target.broker_id
    own = identity_of(target.tree, target.path).node_id
    return stated_id(settings_beside((target,)) or {}) if own is None else own


def configured_voters(targets: Iterable[Target]) -> frozenset[int]:
    """Return the controllers in the settings of the nodes of log dirs."""
    paths = {path for target in targets if (path := settings_path((target,))) is not None}
    return frozenset().union(*(ids_of_voters(read_properties(path).get(VOTERS, "")) for path in paths))


def are_all_log_dirs(targets: Iterable[Target], config: str | None) -> bool:
    """Return whether one broker has no other log dirs than these targets, by its settings or its folder."""
    targets = tuple(targets)
    path = next((target.config for target in targets if target.config is not None), config) or settings_path(targets)
    return all(target.folder is not None for target in targets) if path is None else _names_no_other(path, targets)


def names_no_other(targets: Iterable[Target]) -> bool:
    """Return whether the settings of one broker are known, and name no other log dir than these targets."""
    targets = tuple(targets)
    path = settings_path(targets)
    return path is not None and _names_no_other(path, targets)


def _names_no_other(path: str, targets: Iterable[Target]) -> bool:
    return _places_in(path) <= {target.tree.real(target.path) for target in targets}


def beside(given: Mapping[str, Target]) -> str | None:
    """Return the server.properties next to log dirs that lists one, or has the id of their node; None without one."""
    near = dict.fromkeys(
        (join(folder, SERVER_PROPERTIES), target)
        for target in given.values()
        for folder in (target.folder or split(target.path)[0], split(target.path)[0])
    )
    there = [(path, target) for path, target in near if target.tree.exists(path)]
    listing = (path for path, target in there if target.tree.real(target.path) in _places_in(path))
    return next(listing, None) or next((path for path, target in there if _has_id_of(path, target)), None)


def _has_id_of(path: str, target: Target) -> bool:
    """Return True if a server.properties lists log dirs and has the id in the meta.properties of this one.

    Where variables hide both, the file counts.
    """
    try:
        settings = read_properties(path) if _places_in(path) else {}
    except UsageError:
        return False
    own = identity_of(target.tree, target.path).node_id
    named = (settings.get("node.id") or settings.get("broker.id") or "").strip()
    is_hidden = PROVIDER in named and any(PROVIDER in place for place in written_log_dirs(settings))
    return own is not None and (is_hidden or own == java_int(named))


def _places_in(path: str) -> frozenset[str]:
    """Return the real paths of the log dirs in a server.properties; none if it cannot be read."""
    try:
        return frozenset(map(real_path, log_dirs_in(tree_of(path), path, read_properties(path))))
    except UsageError:
        return frozenset()
