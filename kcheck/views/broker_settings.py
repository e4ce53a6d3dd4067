"""Which settings of a broker are meant: those of a server.properties, and those that were said one by one."""

from kcheck.core.startup import INDEX_SIZE, SETTINGS, Settings, settings
from kcheck.errors import UsageError
from kcheck.model.names import META_PROPERTIES
from kcheck.model.release import Release
from kcheck.views.targets import read_properties

_ALIKE = 0.85
"""Two names that share so much of their letters are one, mistyped."""


def settings_of(paths: list[str], config: str | None, defined: tuple[str, ...], release: Release) -> Settings:
    """Return the settings: of `config`, else of a `.properties` among the paths, then those of `KEY=VALUE`.

    UsageError: a file cannot be read, a value makes no sense, or a name that was said is nearly one that is known.
    """
    named = [path for path in paths if path.endswith(".properties") and not path.endswith(META_PROPERTIES)]
    from_files: dict[str, str] = {}
    for path in [config] if config is not None else named[:1]:
        from_files |= read_properties(path)
    said: dict[str, str] = {}
    for text in defined:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"-D {text} is no KEY=VALUE")
        said[_known(name.strip())] = value
    return settings(from_files | said, release)._replace(index_size_said=not INDEX_SIZE.isdisjoint(said))


def _known(name: str) -> str:
    """Return the name of a setting: any that a broker may have, but none that is mistyped."""
    if name not in SETTINGS:
        from difflib import get_close_matches  # only for a name that changes nothing

        meant = get_close_matches(name, SETTINGS, 1, _ALIKE)
        if meant:
            raise UsageError(f"-D {name} is not known: is {meant[0]} meant?")
    return name
