"""The tables that are part of the package: the catalogue of broker messages."""

import pkgutil
from functools import cache

from kcheck.core.log_catalogue import Catalogue, catalogue


@cache
def log_catalogue() -> Catalogue:
    """Return the catalogue of broker messages."""
    return catalogue(*map(_text, ("log_rules.tsv", "log_patterns.tsv", "log_loggers.tsv")))


def _text(name: str) -> str:
    data = pkgutil.get_data("kcheck.core", name)
    assert data is not None
    return data.decode()
