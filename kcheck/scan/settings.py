"""Which settings of a broker are meant: those of a server.properties, and those that were said one by one."""

from kcheck.core.startup import INDEX_SIZE, Settings, settings
from kcheck.disk.read import UnreadableError, read_whole
from kcheck.errors import UsageError
from kcheck.formats.meta_properties import properties
from kcheck.model.names import META_PROPERTIES
from kcheck.model.release import Release

_SIZE_MAX = 1 << 20


def settings_of(paths: list[str], config: str | None, defined: tuple[str, ...], release: Release) -> Settings:
    """Return the settings: of `config`, else of a `.properties` among the paths, then those of `KEY=VALUE`.

    UsageError: a file cannot be read, or a value makes no sense.
    """
    named = [path for path in paths if path.endswith(".properties") and not path.endswith(META_PROPERTIES)]
    found: dict[str, str] = {}
    for path in [config] if config is not None else named[:1]:
        try:
            found |= properties(read_whole(path, follow=True, size_max=_SIZE_MAX))
        except UnreadableError as error:
            raise UsageError(f"{path}: {error}") from error
    said: dict[str, str] = {}
    for text in defined:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"-D {text} is no KEY=VALUE")
        said[name.strip()] = value
    return settings(found | said, release)._replace(index_size_said=not INDEX_SIZE.isdisjoint(said))
