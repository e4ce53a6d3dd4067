"""The identity of the log dirs of a broker, in their meta.properties."""

from typing import NamedTuple

from kcheck.core.start.meta_properties import names_nothing
from kcheck.model.names import META_PROPERTIES
from kcheck.model.views import FileView, LogDirView

META_PROPERTIES_KIND = "meta-properties"
KRAFT_VERSION = 1
"""Version 1 of the file names a node.id: a KRaft broker formatted the log dir."""


class Identity(NamedTuple):
    """One log dir's meta.properties."""

    view: LogDirView
    file: FileView
    version: int
    broker_id: int | None
    properties: tuple[tuple[str, str], ...]

    def get(self, key: str) -> str | None:
        """Return an entry of the file."""
        return dict(self.properties).get(key)


def identity(view: LogDirView) -> Identity | None:
    """Return the identity of a log dir; None without a file, or with an empty one."""
    file = view.files.get(META_PROPERTIES)
    if file is None or names_nothing(file.parsed.value.properties):
        return None
    value = file.parsed.value
    return Identity(view, file, value.version, value.broker_id, tuple(sorted(value.properties.items())))


def formatted_for_kraft(view: LogDirView) -> bool:
    """Return whether a KRaft broker formatted the log dir, or took it over from ZooKeeper.

    After a takeover the version stays 0. In 3.7 and later the broker adds directory.id when its cluster begins to
    migrate.
    """
    own = identity(view)
    return own is not None and (own.version >= KRAFT_VERSION or own.get("directory.id") is not None)
