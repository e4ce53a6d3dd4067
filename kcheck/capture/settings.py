"""The part of a server.properties that goes into a bundle (settings for the next start, log dirs by their names)."""

import re
from collections.abc import Mapping

from kcheck.core.start.startup import SETTINGS
from kcheck.formats.meta_properties import MetaProperties, properties, serialize
from kcheck.model.cluster import MIN_ISR, UNCLEAN

_LOG_DIRS = ("log.dirs", "log.dir", "metadata.log.dir")
_KEPT = {
    *SETTINGS, UNCLEAN, MIN_ISR, "node.id", "broker.id", "inter.broker.protocol.version",
    "log.message.format.version",
}  # fmt: skip
_PLAIN = re.compile(r"[ \t]*(?:[+-]?[0-9]{1,19}|true|false|broker|controller|broker,controller|controller,broker|"
                    r"[0-9]\.[0-9]{1,2}(?:\.[0-9]{1,2}){0,2}(?:-IV[0-9]{1,2})?)[ \t]*", re.IGNORECASE)  # fmt: skip
"""A number, a flag, roles or a version. No other value affects the next start."""


def kept_settings(data: bytes, names: Mapping[str, str]) -> bytes:
    """Return a server.properties without secrets, hosts and paths; `names` are its log dirs' names in the bundle.

    Any other value is `x`, in which a config provider can still be seen.
    """
    kept = {}
    for key, value in properties(data).items():
        if key in _LOG_DIRS:
            places = (place.strip() for place in value.split(","))
            kept[key] = ",".join(names.get(place, "x") for place in places if place)
        elif key in _KEPT:
            kept[key] = value if _PLAIN.fullmatch(value) else "${x}" if "${" in value else "x"
    return serialize(MetaProperties(kept))
