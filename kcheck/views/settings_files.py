"""Finds the server.properties that lists the log dirs of a broker."""

from collections.abc import Iterable, Mapping

from kcheck.disk.paths import join, split
from kcheck.disk.tree import real_path, tree_of
from kcheck.errors import UsageError
from kcheck.views.targets import SERVER_PROPERTIES, Target, log_dirs_in, read_properties


def settings_path(targets: Iterable[Target]) -> str | None:
    """Return the server.properties that lists log dirs, or that is next to one and lists it; None without one."""
    given = {target.tree.real(target.path): target for target in targets}
    return next((target.config for target in given.values() if target.config is not None), None) or beside(given)


def settings_beside(targets: Iterable[Target]) -> Mapping[str, str] | None:
    """Return the settings in the server.properties next to log dirs that lists one of them; None without one."""
    path = settings_path(targets)
    return None if path is None else read_properties(path)


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
    """Return the server.properties next to the log dirs that lists one of them; None without one."""
    for place, target in given.items():
        for folder in dict.fromkeys((target.folder or split(target.path)[0], split(target.path)[0])):
            path = join(folder, SERVER_PROPERTIES)
            if target.tree.exists(path) and place in _places_in(path):
                return path
    return None


def _places_in(path: str) -> frozenset[str]:
    """Return the real paths of the log dirs in a server.properties; none if it cannot be read."""
    try:
        return frozenset(map(real_path, log_dirs_in(tree_of(path), path, read_properties(path))))
    except UsageError:
        return frozenset()
