"""The broker settings for a simulated start, from a server.properties and from `-D KEY=VALUE`."""

from collections.abc import Mapping

from kcheck.core.start.startup import INDEX_INTERVAL, INDEX_SIZE, SETTINGS, Settings, of_file, settings
from kcheck.errors import UsageError
from kcheck.model.release import Release
from kcheck.views.settings_files import settings_beside
from kcheck.views.targets import TargetKind, is_configuration, read_properties, replica_argument, replica_targets

_ALIKE = 0.85
"""The similarity above which a setting name counts as a typing error."""


def settings_of(paths: list[str], config: str | None, defined: tuple[str, ...], release: Release) -> Settings:
    """Return the settings from `config`, or from a server.properties among the paths; `KEY=VALUE` overrides them.

    Without either, the first broker with a server.properties next to its log dirs counts. UsageError for an unreadable
    file, an invalid value, or a mistyped name.
    """
    from_files = of_file(_named_properties(paths, config))
    said: dict[str, str] = {}
    for text in defined:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"-D {text}: write KEY=VALUE")
        said[_known(name.strip())] = value
    return settings({**from_files, **said}, release)._replace(
        defined=frozenset(said),
        index_size_said=not INDEX_SIZE.isdisjoint(said),
        index_interval_said=not INDEX_INTERVAL.isdisjoint(said),
    )


def _named_properties(paths: list[str], config: str | None) -> Mapping[str, str]:
    """Return the settings in `config`, or in the first server.properties among or next to paths or `BROKER=PATH`."""
    places = (path for _, path in map(replica_argument, paths))
    named = next(filter(is_configuration, places) if config is None else iter([config]), None)
    if named is not None:
        return read_properties(named)
    return settings_beside(target for target in replica_targets(paths) if target.kind is TargetKind.LOG_DIR) or {}


def _known(name: str) -> str:
    """Return the name of a setting; UsageError for a mistyped one."""
    if name not in SETTINGS:
        from difflib import get_close_matches  # only for a name that kcheck does not use

        meant = get_close_matches(name, SETTINGS, 1, _ALIKE)
        if meant:
            raise UsageError(f"-D {name}: unknown setting; did you mean {meant[0]}?")
    return name
