"""The tables that are part of the package: the catalogue of broker messages."""

import pkgutil
from functools import cache

from kcheck.messages.catalogue import Catalogue, catalogue


@cache
def log_catalogue() -> Catalogue:
    """Return the catalogue of broker messages."""
    return catalogue(*map(_text, ("rules.tsv", "patterns.tsv", "loggers.tsv")))


def _text(name: str) -> str:
    data = pkgutil.get_data("kcheck.messages", name)
    assert data is not None
    return data.decode()
