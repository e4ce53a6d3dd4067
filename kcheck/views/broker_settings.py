"""The broker settings for a simulated start: from a server.properties and from `-D KEY=VALUE`."""

from collections.abc import Mapping

from kcheck.core.start.startup import INDEX_INTERVAL, INDEX_SIZE, SETTINGS, Settings, settings
from kcheck.errors import UsageError
from kcheck.model.release import Release
from kcheck.views.targets import is_configuration, read_properties, replica_argument

_ALIKE = 0.85
"""The similarity above which a setting name counts as a typing error."""


def settings_of(paths: list[str], config: str | None, defined: tuple[str, ...], release: Release) -> Settings:
    """Return the settings from `config`, or from a server.properties among the paths; `KEY=VALUE` overrides them.

    UsageError: an unreadable file, an invalid value, or a mistyped name.
    """
    from_files = _named_properties(paths, config)
    said: dict[str, str] = {}
    for text in defined:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"-D {text}: write KEY=VALUE")
        said[_known(name.strip())] = value
    return settings({**from_files, **said}, release)._replace(
        index_size_said=not INDEX_SIZE.isdisjoint(said), index_interval_said=not INDEX_INTERVAL.isdisjoint(said)
    )


def _named_properties(paths: list[str], config: str | None) -> Mapping[str, str]:
    """Return the settings in `config`, or in the first server.properties among paths or `BROKER=PATH`."""
    places = (path for _, path in map(replica_argument, paths))
    return next(map(read_properties, filter(is_configuration, places) if config is None else [config]), {})


def _known(name: str) -> str:
    """Return the name of a setting: any name except a mistyped one."""
    if name not in SETTINGS:
        from difflib import get_close_matches  # only for a name that kcheck does not use

        meant = get_close_matches(name, SETTINGS, 1, _ALIKE)
        if meant:
            raise UsageError(f"-D {name}: unknown setting; did you mean {meant[0]}?")
    return name
